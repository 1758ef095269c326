import { css } from 'lit'

/** The panel's looks. A page may change the --portolan-* properties and the CSS parts. */
export const styles = css`
:host {
  color-scheme: light dark;
  --_ground: var(--portolan-ground, light-dark(#f6f4ed, #0f171b));
  --_paper: var(--portolan-paper, light-dark(#fffefa, #172329));
  --_raised: light-dark(#fff, #1e2c33);
  --_ink: var(--portolan-ink, light-dark(#14252c, #e7eeec));
  --_dim: light-dark(#4c5f66, #a3b5ba);
  --_line: light-dark(#dcd7c8, #2c3e46);
  --_edge: light-dark(#7d8b8f, #6c8088);
  --_accent: var(--portolan-accent, light-dark(#0d5265, #86ccd9));
  --_on-accent: var(--portolan-on-accent, light-dark(#fff, #08171c));
  --_good: light-dark(#17703f, #63d69d);
  --_wait: light-dark(#7d5700, #ebc76f);
  --_bad: light-dark(#a92f15, #ff9d84);
  --_wait-wash: color-mix(in oklab, var(--_wait) 10%, var(--_paper));
  --_bad-wash: color-mix(in oklab, var(--_bad) 9%, var(--_paper));
  --_radius: var(--portolan-radius, 12px);
  display: block;
  container: panel / inline-size;
  font: var(--portolan-font, .9375rem/1.5 system-ui, sans-serif);
  font-variant-numeric: tabular-nums;
  text-align: start;
  text-indent: 0;
  text-transform: none;
  white-space: normal;
}
:host([hidden]) { display: none; }
*, ::before, ::after { box-sizing: border-box; }
.panel, dialog { color: var(--_ink); }
.panel { background: var(--_ground); border-radius: var(--_radius); padding: 1rem; display: grid; gap: 1rem;
  min-inline-size: 0; }
dialog, .add { overflow-wrap: anywhere; } :is(dialog, .add) button { overflow-wrap: normal; }
h2, h3, h4, p, ul, pre, .items { margin: 0; }
ul, .items { list-style: none; padding: 0; }
h2 { font-size: 1.15rem; } [role=heading] { font-weight: 700; } h3, [role=heading] { font-size: 1rem; overflow-wrap: anywhere; min-inline-size: 0; }
.dim { color: var(--_dim); font-size: .86rem; }
.mono, pre, code { font-family: var(--portolan-mono, ui-monospace, "Cascadia Mono", Menlo, monospace);
  font-size: .86rem; overflow-wrap: anywhere; }
pre, .diff { background: var(--_ground); border: 1px solid var(--_line); border-radius: 8px; padding: .6rem .7rem;
  white-space: pre-wrap; max-block-size: 22rem; overflow: auto; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } .row.center { justify-content: center; }
.grow { flex: 1 1 12rem; }

button, input, select, textarea { font: inherit; color: inherit; border-radius: 8px; border: 1px solid var(--_edge);
  background: var(--_raised); padding: .4rem .7rem; min-inline-size: 0; }
button, select { min-block-size: 2.4rem; } button { cursor: pointer; border-color: var(--_line); font-weight: 500; }
button:hover { border-color: var(--_edge); }
button.primary { background: var(--_accent); color: var(--_on-accent); border-color: transparent; font-weight: 600; }
button.primary:hover { background: color-mix(in oklab, var(--_accent) 88%, var(--_ink)); }
button.small { min-block-size: 1.9rem; padding: .1rem .65rem; font-size: .86rem; }
button.quiet { background: none; border-color: transparent; }
button.quiet:hover { background: color-mix(in oklab, var(--_ink) 7%, transparent); }
button.link { background: none; border: 0; padding: 0; min-block-size: 24px; color: var(--_accent);
  text-decoration: underline; text-underline-offset: .2em; font-weight: 400; border-radius: 3px; }
button.round { padding: .3rem; min-block-size: 2rem; inline-size: 2rem; display: inline-grid; place-items: center;
  border-radius: 50%; }
button.danger { color: var(--_bad); }
button:disabled, button[aria-disabled=true], input:disabled { opacity: .55; cursor: default; }
[type=checkbox], [type=radio] { accent-color: var(--_accent); inline-size: 1.15rem; block-size: 1.15rem;
  margin: 0; flex: none; padding: 0; }
[readonly] { background: none; border-color: var(--_line); }
textarea { resize: vertical; inline-size: 100%; } ::placeholder { color: var(--_dim); opacity: 1; }
:focus-visible { outline: 3px solid var(--_accent); outline-offset: 2px; }
:not(button)[tabindex="-1"]:focus-visible { outline: none; }
.field { display: grid; gap: .2rem; min-inline-size: 0; align-content: start; }
.field label, legend { font-size: .86rem; font-weight: 600; }
.field :is(input, select) { inline-size: 100%; min-block-size: 2.4rem; }
fieldset { border: 1px solid var(--_line); border-radius: 10px; margin: 0; padding: .6rem .8rem .8rem;
  min-inline-size: 0; display: grid; gap: .5rem; }
.choice { display: grid; grid-template-columns: auto 1fr; gap: .6rem; align-items: start; }
.choice input { margin-block-start: .2rem; }
.hint { border-inline-start: 3px solid var(--_edge); padding-inline-start: .6rem; font-size: .9rem; }
.hint.warn { border-color: var(--_wait); } .hint.bad { border-color: var(--_bad); }
summary { cursor: pointer; font-size: .9rem; inline-size: fit-content; min-block-size: 24px; padding-inline-end: .4rem;
  align-content: center; border-radius: 6px; }
details[open] > summary { margin-block-end: .4rem; }
meter { inline-size: 100%; block-size: .8rem; }

.icon { display: block; flex: none; inline-size: 1.25rem; }
.icon :is(.line, .track, .cut) { fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round;
  stroke-linejoin: round; }
.icon .track { opacity: .3; } .icon .fill { fill: currentcolor; }
.icon .cut { stroke: var(--_paper); }
.icon .dashed { stroke-dasharray: 2 3.6; }

.bar { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: end; border-block-end: 1px solid var(--_line); }
[role=tablist] { display: flex; flex-wrap: wrap; gap: .2rem; }
[role=tab] { background: none; border: 0; border-block-end: 3px solid transparent; border-radius: 8px 8px 0 0;
  color: var(--_dim); padding: .4rem .8rem; }
[role=tab][aria-selected=true] { color: var(--_ink); border-block-end-color: var(--_accent); font-weight: 650; }
.count { font-weight: 500; font-size: .8rem; color: var(--_dim);
  background: color-mix(in oklab, var(--_ink) 8%, transparent); border-radius: 9px; padding: .05rem .45rem; }
.summary { margin-inline-start: auto; padding-block-end: .5rem; color: var(--_dim); font-size: .86rem; }
[role=tabpanel] { display: grid; gap: 1rem; min-inline-size: 0; grid-template-columns: minmax(0, 1fr); }

.cards, .credentials, .entries { display: grid; gap: .7rem; grid-template-columns: minmax(0, 1fr); }
portolan-card, portolan-add, portolan-headers, portolan-combo, portolan-json { display: block; min-inline-size: 0; }
portolan-tools, portolan-activity, portolan-resources, portolan-prompt-list, portolan-skill-list, portolan-log,
.content > [role=tabpanel], portolan-try, portolan-export, portolan-preview, portolan-catalogue {
  display: grid; gap: .9rem; min-inline-size: 0; grid-template-columns: minmax(0, 1fr); }
.card { --_tone: var(--_dim); background: var(--_paper); border: 1px solid var(--_line);
  border-inline-start: 4px solid var(--_tone); border-radius: var(--_radius); padding: .7rem .9rem; display: grid;
  gap: .45rem; grid-template-columns: minmax(0, 1fr); }
.card[data-standing=connected] { --_tone: var(--_good); }
.card:is([data-standing=connecting], [data-standing=sign_in], [data-standing=paused], [data-standing=local_network]) {
  --_tone: var(--_wait); }
.card:is([data-standing=failed], [data-standing=cors]) { --_tone: var(--_bad); }
.card:is([data-standing=off], [data-standing=idle]) { --_tone: var(--_line); }
.card > header { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: center; }
.card > header:has(> .title) { flex-wrap: nowrap; align-items: start; }
.title { flex: 1; min-inline-size: 0; display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: center;
  min-block-size: 2rem; }
.standing { color: var(--_tone); } .card:is([data-standing=off], [data-standing=idle]) .standing { color: var(--_dim); }
.status { font-size: .86rem; color: var(--_dim); }
.actions { margin-inline-start: auto; display: flex; gap: .4rem; align-items: center; }
.facts { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem 1rem; color: var(--_dim); font-size: .86rem;
  overflow: clip; padding-block: 4px; margin-block: -4px; }
.facts li { overflow-wrap: anywhere; }
/* The dot before the first fact of a line is outside the list, which clips it. */
.facts li::before { content: "·" / ""; display: inline-block; inline-size: 0; position: relative; inset-inline-start: -.65rem; }
.spark polyline { fill: none; stroke: var(--_accent); stroke-width: 1.5; stroke-linejoin: round; }
.spark, .strip { flex: none; }
.strip .ok { fill: var(--_good); } .strip .bad { fill: none; stroke: var(--_bad); stroke-width: 1.2; }
:dir(rtl) > .spark, :dir(rtl) > .strip { scale: -1 1; }
.diagnosis { background: color-mix(in oklab, var(--_tone) 8%, var(--_paper)); border-radius: 8px; padding: .6rem .7rem;
  display: grid; gap: .5rem; grid-template-columns: minmax(0, 1fr); font-size: .92rem; }
.held { display: flex; flex-wrap: wrap; gap: .4rem .8rem; align-items: center; justify-content: space-between;
  background: var(--_wait-wash); border-radius: 8px; padding: .5rem .7rem; font-size: .92rem; }
.part { display: grid; gap: .2rem; grid-template-columns: minmax(0, 1fr); } h4 { font-size: .86rem; }
del { color: var(--_dim); }
ins { background: color-mix(in oklab, var(--_accent) 16%, transparent); text-underline-offset: .2em;
  font-weight: 600; }
.warnings { font-size: .88rem; }

.switch { appearance: none; inline-size: 2.5rem; block-size: 1.45rem; border-radius: 1rem;
  border: 1.5px solid var(--_edge); background: var(--_ground); position: relative; cursor: pointer; }
.switch::before { content: ""; position: absolute; inset-block: 2.5px; inset-inline-start: 3px; inline-size: .95rem;
  border-radius: 50%; background: var(--_edge); }
.switch:checked { background: var(--_accent); border-color: var(--_accent); }
.switch:checked::before { inset-inline-start: auto; inset-inline-end: 3px; background: var(--_on-accent); }

.menu { position: fixed; inset: auto; margin: 0; background: var(--_raised); color: var(--_ink);
  border: 1px solid var(--_line); border-radius: 10px; padding: .3rem; box-shadow: 0 8px 30px #0003;
  min-inline-size: 11rem; max-block-size: calc(100dvh - 1rem); }
.menu button { display: block; inline-size: 100%; text-align: start; background: none; border-color: transparent;
  font-weight: 400; }
.menu button:is(:hover, :focus-visible) { background: color-mix(in oklab, var(--_accent) 14%, transparent);
  outline-offset: -3px; }

.empty { text-align: center; padding: 2.2rem 1rem; overflow-wrap: anywhere; display: grid;
  grid-template-columns: minmax(0, 1fr); gap: .6rem; justify-items: center; }
.compass .track { fill: none; stroke: var(--_edge); } .compass .thin { stroke-width: .6; opacity: .7; }
.compass .rose { fill: var(--_paper); stroke: var(--_accent); stroke-width: 1; }
.compass .dark { fill: var(--_accent); }
.nothing { color: var(--_dim); }

.filters, .header { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; }
.budget { display: grid; grid-template-columns: auto minmax(6rem, 9rem) minmax(4rem, 1fr); gap: .3rem .7rem;
  align-items: center; background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius);
  padding: .7rem .9rem; }
.budget label { font-size: .9rem; font-weight: 600; } .budget > p, .fit { grid-column: 1 / -1; }
.budget[data-over=true] #budget-says { color: var(--_bad); }
p.budget { display: block; }
.fit, .items, .lints { display: grid; gap: .5rem; } .fit { justify-items: start; }
.group { background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius); padding: .4rem .5rem;
  display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem; }
.group > ul { contain: content; }
.group-head { display: flex; flex-wrap: wrap; align-items: center; gap: .2rem .5rem; padding-inline: .4rem;
  min-block-size: 2.25rem; }
.group-head button { display: inline-flex; gap: .3rem; align-items: center; padding-inline: .3rem; font-weight: 650;
  text-align: start; }
[aria-expanded=true] > .chevron { rotate: 90deg; }
:dir(rtl) > .chevron { scale: -1 1; } :dir(rtl)[aria-expanded=true] > .chevron { rotate: -90deg; }
.tool { display: flex; align-items: center; gap: .5rem; padding-inline: .4rem; border-radius: 8px; }
.tool:hover { background: color-mix(in oklab, var(--_ink) 4%, transparent); }
.about { flex: 1 1 0; display: flex; gap: .2rem .7rem; align-items: baseline; text-align: start; font-weight: 400;
  overflow: hidden; padding-inline: .4rem; outline-offset: -3px !important; }
.clip { flex: 1 1 0; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  text-align: -webkit-match-parent; text-align: match-parent; }
.badge { display: inline-flex; gap: .2rem; align-items: center; font-size: .78rem; border-radius: 9px;
  padding: .05rem .5rem; border: 1px solid var(--_line); color: var(--_dim); overflow-wrap: anywhere; }
.badge .icon { inline-size: .9rem; }
.badge.warn { color: var(--_wait); background: var(--_wait-wash); border-color: transparent; }

dialog { background: var(--_paper); scroll-padding-block: 4.5rem; border: 1px solid var(--_line); border-radius: 14px; padding: 0;
  inline-size: min(36rem, 100vw - 1.5rem); max-block-size: min(46rem, 100dvh - 1.5rem); box-shadow: 0 20px 60px #0005; }
dialog.wide { inline-size: min(52rem, 100vw - 1.5rem); }
dialog::backdrop { background: #0a151a99; }
dialog > header { display: flex; gap: 1rem; align-items: center; justify-content: space-between; padding: .8rem 1rem;
  border-block-end: 1px solid var(--_line); position: sticky; inset-block-start: 0; background: inherit; z-index: 1; }
dialog > form, dialog > .content { padding: 1rem; display: grid; gap: .9rem; grid-template-columns: minmax(0, 1fr); }
dialog form > footer { position: sticky; inset-block-end: 0; background: var(--_paper); margin: 0 -1rem -1rem;
  padding: .7rem 1rem; border-block-start: 1px solid var(--_line); }
[aria-invalid=true] { border-color: var(--_bad); } .header > .hint { flex-basis: 100%; }
.apart { flex: 1; } dialog footer { display: flex; flex-wrap: wrap; gap: .5rem; justify-content: end; }
.header .field { flex: 1 1 9rem; }
.header .grow { flex: 2 1 12rem; }
.secret, .kept { display: flex; gap: .4rem; align-items: center; min-block-size: 2.4rem; } .secret input { flex: 1; }
.columns { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); }

:is(pre, .description) bdi { display: block; }
.description { white-space: pre-line; overflow-wrap: anywhere; max-block-size: 16rem; overflow: auto; }
.task { display: grid; gap: .5rem; grid-template-columns: minmax(0, 1fr); padding: .4rem; }
.task + .task { border-block-start: 1px solid var(--_line); padding-block-start: .8rem; }
:is([role=status], [role=alert]):empty { position: absolute; }
[part=log] li { display: flex; flex-wrap: wrap; gap: .2rem .6rem; align-items: baseline;
  padding: .25rem .4rem; overflow-wrap: anywhere; } [part=log] .mono { flex: 1 1 16rem; white-space: pre-wrap; }
[role=listbox] { margin: .2rem 0 0; padding: .2rem; max-block-size: 12rem; overflow: auto;
  background: var(--_raised); border: 1px solid var(--_line); border-radius: 8px; }
[role=option] { padding: .35rem .6rem; border-radius: 6px; cursor: pointer; }
[role=option]:is(:hover, [aria-selected=true]) { background: color-mix(in oklab, var(--_accent) 18%, transparent); }
portolan-try > form, portolan-wording > form { display: grid; gap: .8rem; grid-template-columns: minmax(0, 1fr); }
button[aria-pressed=true] { background: color-mix(in oklab, var(--_accent) 16%, var(--_raised));
  border-color: var(--_accent); }
.items li { display: flex; gap: .4rem; align-items: end; } .items li > div { flex: 1; min-inline-size: 0; }
progress { accent-color: var(--_accent); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; inline-size: 100%; font-size: .9rem; }
caption { text-align: start; font-weight: 600; padding-block-end: .3rem; }
th, td { text-align: start; vertical-align: top; padding: .35rem .6rem .35rem 0;
  border-block-start: 1px solid var(--_line); overflow-wrap: anywhere; }
thead th { border: 0; font-size: .8rem; color: var(--_dim); overflow-wrap: normal; } th { font-weight: 500; }
th.mono { inline-size: 25%; } td.dim { min-inline-size: min(5.4rem, 25vw); }
portolan-json { direction: ltr; }
.branch { padding-inline-start: 1rem; border-inline-start: 1px solid var(--_line); margin-inline-start: .3rem; }
.leaf { white-space: pre-wrap; }
.key { color: var(--_accent); } .string { color: var(--_good); } .number, .boolean { color: var(--_wait); }
.null { color: var(--_dim); }
.result { display: grid; gap: .7rem; grid-template-columns: minmax(0, 1fr); border-block-start: 1px solid var(--_line);
  padding-block-start: .8rem; justify-items: start; }
.result > * { max-inline-size: 100%; }
.block { inline-size: 100%; display: grid; gap: .4rem; grid-template-columns: minmax(0, 1fr); }
.result[data-error=true] .block { border-inline-start: 3px solid var(--_bad); padding-inline-start: .6rem; }
.block h3 { font-size: .9rem; }
canvas { max-inline-size: 100%; border-radius: 8px; border: 1px solid var(--_line); image-rendering: pixelated;
  min-inline-size: 3rem; }
.add { background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius); padding: .8rem .9rem;
  display: grid; gap: .5rem; grid-template-columns: minmax(0, 1fr); }
.add > .row { align-items: end; }
.add textarea { resize: none; field-sizing: content; max-block-size: 12rem; }
a { color: var(--_accent); } .start { justify-self: start; }
.listing { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between;
  border-block-start: 1px solid var(--_line); padding-block-start: .7rem; }
.listing > div { flex: 1 1 12rem; min-inline-size: 0; }
.flags { background: var(--_wait-wash); border-radius: 8px; padding: .6rem .7rem; display: grid; gap: .4rem;
  justify-items: start; }
:is(.flags, .warnings) li { padding-block: .1rem; overflow-wrap: anywhere; }
.entry { border-block-start: 1px solid var(--_line); padding-block-start: .7rem; display: grid; gap: .5rem;
  grid-template-columns: minmax(0, 1fr); }
portolan-preview footer { display: flex; justify-content: end; }
.timeline { block-size: 26rem; overflow: auto; background: var(--_paper); border: 1px solid var(--_line);
  border-radius: var(--_radius); }
.line { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr) 7rem 5rem; gap: .6rem; align-items: center;
  block-size: 2.125rem; padding-inline: .8rem; font-size: .9rem; }
.space { block-size: calc(2.125rem * var(--_rows)); }
.heads { position: sticky; inset-block-start: 0; background: var(--_paper); border-block-end: 1px solid var(--_line);
  color: var(--_dim); z-index: 1; }
.line button { max-inline-size: 100%; overflow: hidden; text-overflow: ellipsis; padding-inline: .3rem;
  outline-offset: -3px !important; }
.line:is([data-outcome=error], [data-outcome=tool_error]) { background: var(--_bad-wash); }
.line[data-outcome=running] { background: var(--_wait-wash); }
.pairs { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem 1rem; margin: 0; }
.pairs dt { color: var(--_dim); font-size: .86rem; } .pairs dd { margin: 0; overflow-wrap: anywhere; }
.phases li { display: grid; grid-template-columns: 6rem minmax(4rem, 1fr) 5rem; gap: .6rem; align-items: center;
  font-size: .86rem; }

.notices { position: sticky; inset-block-end: .8rem; z-index: 2; margin-inline: auto; inline-size: fit-content; }
dialog > .notices { margin-block-end: 1rem; max-inline-size: calc(100% - 2rem); }
.notice { background: var(--_ink); color: var(--_ground); border-radius: 10px; padding: .5rem .6rem .5rem 1rem;
  display: flex; gap: .8rem; align-items: center; max-inline-size: 100%; box-shadow: 0 8px 30px #0004; }
.notice.bad { background: var(--_bad); color: var(--_paper); } .notice p { overflow-wrap: anywhere; max-block-size: 9rem; overflow: auto; }
.notice button { flex: none; background: none; color: inherit; } .notice .small { border-color: currentcolor; }
:has(> * > .notice) :focus-visible { scroll-margin-block-end: 12rem; }
.notice :focus-visible { outline-color: currentcolor; scroll-margin: 0; }

@container panel (inline-size < 30rem) {
  .panel { padding: .7rem; } .summary { margin-inline-start: 0; inline-size: 100%; } .spark, .strip { display: none; }
  .about { flex-wrap: wrap; } .about .clip { flex-basis: 100%; }
  .budget { grid-template-columns: minmax(0, 1fr); }
  .line { grid-template-columns: minmax(0, 1fr) 6.5rem; } .line > :is(:first-child, :last-child) { display: none; }
}
@media (prefers-reduced-motion: no-preference) { .chevron { transition: rotate .15s; }
.turning { animation: turn 1.1s linear infinite; }
@keyframes turn { to { rotate: 360deg; } } }
@media (prefers-contrast: more) { :host { --_dim: var(--_ink); --_edge: var(--_ink); --_line: var(--_ink); } }
@media (forced-colors: active) {
  button[aria-pressed=true], [role=option][aria-selected=true] { forced-color-adjust: none; background: Highlight;
    color: HighlightText; outline-color: Highlight; }
  .switch { forced-color-adjust: none; background: Canvas; border-color: ButtonText; }
  .switch::before { background: ButtonText; }
  .switch:checked { background: Highlight; } .switch:checked::before { background: HighlightText; }
  [role=tab][aria-selected=true] { border-block-end-color: Highlight; } .icon .cut { stroke: Canvas; }
  .spark polyline { stroke: CanvasText; }
  .notice, .notice.bad { color: CanvasText; border: 1px solid CanvasText; }
}
`
