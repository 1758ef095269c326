import { css } from 'lit'

/** The styles of these pages beyond those of the settings panel, in its custom properties and shapes. */
export const own = css`
:host { min-block-size: 100dvh; max-inline-size: 64rem; margin-inline: auto; }
.app { min-block-size: 100dvh; border-radius: 0; padding-block: 0; display: flex; flex-direction: column; gap: .9rem; }
.app > * { min-inline-size: 0; } main { flex: 1; }
h1 { margin: 0; font-size: 1.1rem; letter-spacing: .01em; }
.card h2 { font-size: 1rem; min-inline-size: 0; }
.card h3 { font-size: .95rem; }
a, h2, p, li, label, summary { overflow-wrap: anywhere; }

.top { display: grid; gap: .5rem; padding-block-start: .8rem; grid-template-columns: minmax(0, 1fr); }
.brand { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .6rem; }
.brand .compass { inline-size: 1.9rem; block-size: 1.9rem; flex: none; }
.brand .compass .track { stroke-width: 2; }
.brand > div { flex: 1 1 5rem; min-inline-size: 0; line-height: 1.3; }
.profile { font-size: .8rem; }
.chip { --_tone: var(--_dim); margin-inline-start: auto; display: inline-flex; gap: .35rem; align-items: center;
  min-block-size: 2rem; padding: .1rem .7rem .1rem .45rem; border-radius: 1rem; font-size: .86rem;
  background: var(--_paper); text-align: start; }
.chip .icon { color: var(--_tone); inline-size: 1.1rem; }
[data-standing=connected] { --_tone: var(--_good); }
:is([data-standing=connecting], [data-standing=paused]) { --_tone: var(--_wait); }
:is([data-standing=failed], [data-standing=off].chip) { --_tone: var(--_bad); }
.places { border-block-end: 1px solid var(--_line); }
.places [role=tablist] { display: grid; grid-template-columns: repeat(6, auto); gap: 0; }
portolan-panel::part(tabs) { display: none; } portolan-panel::part(notices) { inset-block-end: 7rem; }
.places [role=tab] { display: flex; gap: .1rem .45rem; align-items: center; justify-content: center;
  padding: .35rem .1rem .4rem; min-inline-size: 0; overflow-wrap: anywhere; }
.places .icon { inline-size: 1.15rem; }
.places .count { color: var(--_ink); }

portolan-approvals { display: contents; }
.main, portolan-home, portolan-chats, portolan-history, portolan-servers, portolan-log, portolan-runs,
  portolan-comparisons { display: grid; gap: .9rem;
  grid-template-columns: minmax(0, 1fr); align-content: start; min-inline-size: 0; }
portolan-runs:empty, portolan-comparisons:empty { display: none; }
portolan-link, portolan-pairing, portolan-chat, portolan-clients, portolan-origins, portolan-bookmarks,
  portolan-profile, portolan-options, portolan-confirm, portolan-profile-editor { display: block; min-inline-size: 0; }
.pair { display: grid; gap: .9rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
.card.plain { border-inline-start: 1px solid var(--_line); }
.card > p, .card > .row { min-inline-size: 0; }
.card > header h2 { display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; }
.card > header > .actions { min-block-size: 2rem; } .card > header > portolan-confirm { margin-inline-start: auto; }
.lead { font-size: .94rem; }
.lined { border-block-start: 1px solid var(--_line); padding-block-start: .6rem; }
.stack { display: grid; gap: .6rem; grid-template-columns: minmax(0, 1fr); justify-items: start; }
.stack > * { max-inline-size: 100%; } .stack > .field, .stack > .wide { inline-size: 100%; }
.tight { gap: .1rem; }

.card > header:has(+ .says) { flex-wrap: nowrap; align-items: start; } .card.asks h2 { display: block; }
.asks { --_tone: var(--_wait); border-color: var(--_wait); background: var(--_wait-wash); }
.asks .says { white-space: pre-line; max-block-size: 9rem; overflow: auto; }
.asks pre { max-block-size: 12rem; }
.answers { display: grid; gap: .5rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
.answers button { padding-inline: .4rem; }
.visually-hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.client { font-weight: 650; }

.steps { margin: .3rem 0 0; padding: 0; list-style: none; counter-reset: step; display: grid; gap: .8rem;
  grid-template-columns: minmax(0, 1fr); }
.steps > li { counter-increment: step; display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem .7rem;
  align-items: start; color: var(--_dim); }
.steps > li::before { content: counter(step); inline-size: 1.6rem; block-size: 1.6rem; border-radius: 50%;
  border: 1.5px solid currentcolor; display: grid; place-items: center; font-size: .82rem; font-weight: 650; }
.steps > li > div { display: grid; gap: .5rem; grid-template-columns: minmax(0, 1fr); justify-items: start;
  padding-block-start: .08rem; }
.steps > li > div > * { max-inline-size: 100%; }
.steps > [aria-current] { color: var(--_ink); }
.steps > [aria-current]::before { background: var(--_accent); color: var(--_on-accent); border-color: transparent; }
.steps > .done::before { content: "✓" / ""; color: var(--_good); }
.command { display: flex; gap: .4rem; align-items: center; inline-size: 100%; color: var(--_ink); }
portolan-bridges { display: grid; gap: .4rem; grid-template-columns: minmax(0, 1fr); justify-items: start; }
.found { inline-size: 100%; display: grid; gap: .4rem; }
.found > li { display: flex; gap: .6rem; align-items: center; justify-content: space-between; }
.command button, .found > li > :last-child { flex: none; }
.gone { visibility: hidden; }
.command code { flex: 1 1 auto; background: var(--_ground); border: 1px solid var(--_line); border-radius: 8px;
  padding: .35rem .6rem; min-inline-size: 0; }
.digits { font-family: var(--portolan-mono, ui-monospace, "Cascadia Mono", Menlo, monospace); font-size: 1.7rem;
  letter-spacing: .16em; inline-size: 11.5rem !important; text-align: center; padding: .3rem .2rem .3rem .36em;
  direction: ltr; font-variant-numeric: tabular-nums; }
.digits::placeholder { color: var(--_edge); opacity: .55; }
.digits[aria-invalid=true] { border-color: var(--_bad); }

.setting { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .1rem .8rem; align-items: start; }
.setting label, .settings .name { font-weight: 500; } .setting .dim { grid-column: 1; }
.setting .switch { grid-row: 1; grid-column: 2; }
.settings { display: grid; gap: .8rem; grid-template-columns: minmax(0, 1fr); }
.rows { display: grid; gap: .1rem; grid-template-columns: minmax(0, 1fr); }
.rows > li { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: center; justify-content: space-between;
  padding-block: .4rem; border-block-start: 1px solid var(--_line); }
.rows > li:first-child { border: 0; }
.rows > li > :first-child { flex: 1 1 7rem; min-inline-size: 0; }
.rows > li > details { flex: 1 1 100%; } .rows > li > portolan-confirm { flex: none; }
portolan-confirm:has(.asking) { flex: 1 1 100% !important; }
.row:has(> .end) { align-items: end; } .row > .field.grow { flex-basis: 9rem; }
.short { inline-size: 6rem !important; } .rows select { padding-block: .2rem; }
.asking { background: var(--_bad-wash); border-radius: 8px; padding: .6rem .7rem; display: grid; gap: .5rem;
  font-size: .92rem; }

.run { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .3rem .6rem; padding-block: .6rem;
  border-block-start: 1px solid var(--_line); }
li:first-child .run { border: 0; } .run > .icon { color: var(--_wait); margin-block-start: .1rem; }
.run > :not(.icon) { grid-column: 2; }
.quote { border-inline-start: 3px solid var(--_line); padding-inline-start: .6rem; font-size: .9rem;
  max-block-size: 4.5em; overflow: hidden; white-space: pre-line; }

.comparison { min-inline-size: 0; border-block-start: 1px solid var(--_line); padding-block: .5rem; }
.comparison > * + * { margin-block-start: .45rem; }
.whole { max-block-size: 16rem; overflow: auto; }
.comparison .site { display: inline-flex; flex-wrap: wrap; gap: .3rem; align-items: center; min-inline-size: 0; --_tone: var(--_dim); }
.comparison .site::before { margin-inline-end: -.3rem; }
.comparison .site .icon { color: var(--_tone); inline-size: 1rem; }
.comparison [data-state=answered] { --_tone: var(--_good); } .comparison [data-state=failed] { --_tone: var(--_bad); }
.comparison code { overflow-wrap: anywhere; white-space: normal; } .scrolls { overflow-x: auto; position: relative; }
.scrolls table { border-collapse: collapse; inline-size: 100%; font-size: .9rem; }
.scrolls :is(th, td) { text-align: start; vertical-align: top; padding: .3rem .35rem;
  border-block-end: 1px solid var(--_line); font-weight: 400; min-inline-size: 3.5rem; }
.scrolls thead th { font-weight: 650; overflow-wrap: normal; } .scrolls tbody th { min-inline-size: 6.5rem; }
.scrolls :is(th, td):first-child { padding-inline-start: 0; }
[data-position=agree] { color: var(--_good); } [data-position=disagree] { color: var(--_bad); }

.log { list-style: none; margin: 0; display: grid; grid-template-columns: minmax(0, 1fr);
  background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius); padding: .2rem .8rem; }
.log > li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .1rem .6rem; padding-block: .5rem;
  border-block-start: 1px solid var(--_line); --_tone: var(--_dim); }
.log > li:first-child { border: 0; } .log .icon { color: var(--_tone); } .log .facts { grid-column: 2 / -1; }
.log time { color: var(--_dim); font-size: .86rem; }
.log > li > :is(details, .row).facts { display: block; margin-block-start: .25rem; }
.log > li > .row.facts { display: flex; }
.answer { white-space: pre-wrap; font-size: .9rem; max-block-size: 20rem; overflow: auto; padding-block: .3rem; }
.asked { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
portolan-profile-editor textarea { field-sizing: content; min-block-size: 6.5rem; max-block-size: 16rem; }
.changes { display: grid; gap: .6rem; grid-template-columns: minmax(0, 1fr); font-size: .84rem; }
.changes del { color: var(--_bad); } .changes ins { color: var(--_good); text-decoration: none; }
.log [data-outcome=ok] { --_tone: var(--_good); }
.log :is([data-outcome=error], [data-outcome=denied]) { --_tone: var(--_bad); }
.log [data-outcome=running] { --_tone: var(--_wait); }

.foot { position: sticky; inset-block-end: 0; z-index: 3; display: grid; gap: .5rem;
  grid-template-columns: minmax(0, 1fr); margin-inline: -1rem; }
.foot .notices { position: static; padding-inline: 1rem; }
.foot .away { margin-inline: 1rem; box-shadow: 0 8px 30px #0004; border: 1px solid var(--_wait); }
.stopbar { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: center; padding: .5rem 1rem;
  background: var(--_paper); border-block-start: 1px solid var(--_line); }
.stopbar button { display: inline-flex; gap: .4rem; align-items: center; }
.stopbar p { flex: 1 1 6.5rem; font-size: .82rem; line-height: 1.3; }
.stop { color: var(--_bad); border-color: var(--_bad); font-weight: 650; }
.stop:hover { background: var(--_bad-wash); border-color: var(--_bad); }
.places .icon .line { stroke-width: 1.6; }
.icon .hole { fill: var(--_raised); }
.waking { display: grid; place-items: center; gap: .6rem; padding-block: 4rem; color: var(--_dim); text-align: center; }
.away { background: var(--_wait-wash); border-radius: 8px; padding: .4rem .7rem; font-size: .9rem; display: flex;
  gap: .5rem; align-items: center; }
portolan-panel { min-inline-size: 0; background: none; }
portolan-panel::part(panel) { padding: 0; background: none; border-radius: 0; }

@container panel (inline-size < 34rem) {
  .places [role=tab] { flex-direction: column; font-size: .8rem; position: relative; }
  .places .count { position: absolute; inset-block-start: 0; inset-inline-end: .35rem; }
}
@container panel (inline-size < 21rem) { .places [role=tab] { font-size: .7rem; } }
@container panel (inline-size < 30rem) { .foot { margin-inline: -.7rem; }
.stopbar, .foot .notices { padding-inline: .7rem; } .foot .away { margin-inline: .7rem; } }
@container panel (inline-size >= 46rem) {
  .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .answers { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .places [role=tablist] { grid-template-columns: repeat(6, minmax(0, 9rem)); }
}
@media (forced-colors: active) {
  .steps > [aria-current]::before { forced-color-adjust: none; background: Highlight; color: HighlightText; }
  .icon .hole { fill: ButtonFace; } .asks { border-width: 2px; }
}
`
