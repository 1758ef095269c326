import { css } from 'lit'

/** Looks of a run beside those of the panel. */
export const runStyles = css`
form, section, .panel > * { min-inline-size: 0; }
.ask { display: grid; gap: .7rem; grid-template-columns: minmax(0, 1fr); }
.ask textarea { field-sizing: content; min-block-size: 4.4rem; max-block-size: 14rem; padding: .6rem .8rem; }
.foot { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: start; justify-content: space-between; }
.foot > button { min-inline-size: 7rem; }
.foot details { flex: 1 1 14rem; } .foot summary { min-block-size: 2.4rem; color: var(--_dim); }
.limits { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); }
.box { background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius); padding: .8rem 1rem;
  display: grid; gap: .6rem; grid-template-columns: minmax(0, 1fr); }
ol.stages { list-style: none; margin: 0; padding: 0; display: grid; gap: .35rem;
  grid-template-columns: minmax(0, 1fr); }
.stages li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .1rem .6rem; align-items: center;
  color: var(--_dim); font-variant-numeric: tabular-nums; }
.stages li[data-state=running] { color: var(--_ink); font-weight: 600; }
.stages li[data-state=running] .icon { color: var(--_accent); } .stages li[data-state=done] .icon { color: var(--_good); }
.stages li[data-state=failed] .icon { color: var(--_bad); }
.stages .said, .stages progress { grid-column: 2 / -1; font-weight: 400; font-size: .86rem; overflow-wrap: anywhere; }
.stages progress { inline-size: 100%; block-size: .5rem; }
.question { border-inline-start: 4px solid var(--_accent); }
.question label { font-weight: 600; overflow-wrap: anywhere; }
.reply { display: flex; flex-wrap: wrap; gap: .5rem; } .reply input { flex: 1 1 14rem; }
.head { display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: baseline; justify-content: space-between; }
ol.items { list-style: none; margin: 0; padding: 0; gap: .55rem; }
ol.items li { display: block; border-block-start: 1px solid var(--_line); padding-block-start: .55rem; }
ol.items li:first-child { border: 0; padding: 0; }
ol.items a, .words a { overflow-wrap: anywhere; text-underline-offset: .18em; }
ol.items a { font-weight: 600; } .items .dim { overflow-wrap: anywhere; }
.words { display: grid; gap: .6rem; grid-template-columns: minmax(0, 1fr); overflow-wrap: anywhere; }
.words h3 { font-size: .95rem; margin-block-start: .3rem; } .words ul { list-style: disc; padding-inline-start: 1.2rem;
  display: grid; gap: .3rem; }
.words p { max-inline-size: 68ch; }
.fault { border-inline-start: 4px solid var(--_bad); background: var(--_bad-wash); }
.spoken { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
.share { border-block-start: 1px solid var(--_line); padding-block-start: .7rem; }
.share a { flex: 1 1 18rem; direction: ltr; text-align: start; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
`
