/** The looks of an app's surroundings. A page may change the --portolan-* properties and the CSS parts. */
export const style = `
:host { display: block; color-scheme: light dark; font: var(--portolan-font, .9375rem/1.5 system-ui, sans-serif);
  --_ground: var(--portolan-ground, light-dark(#f6f4ed, #0f171b));
  --_paper: var(--portolan-paper, light-dark(#fffefa, #172329));
  --_ink: var(--portolan-ink, light-dark(#14252c, #e7eeec)); --_dim: light-dark(#4c5f66, #a3b5ba);
  --_line: light-dark(#dcd7c8, #2c3e46); --_accent: var(--portolan-accent, light-dark(#0d5265, #86ccd9));
  --_on: var(--portolan-on-accent, light-dark(#fff, #08171c)); color: var(--_ink); }
:host([hidden]), [hidden] { display: none; }
* { box-sizing: border-box; }
section { background: var(--_paper); color: inherit; border: 1px solid var(--_line);
  border-radius: var(--portolan-radius, 12px); overflow: hidden; display: flex; flex-direction: column; padding: 0;
  margin: 0; min-inline-size: 0; }
[data-mode=fullscreen] { inline-size: auto; block-size: auto; border-radius: 0; border: 0; }
[data-mode=pip] { inset: auto 1rem 1rem auto; inline-size: min(24rem, 100vw - 2rem); block-size: min(20rem, 60dvh); }
header, .ask, .row { display: flex; flex-wrap: wrap; gap: .4rem .6rem; align-items: center; }
header, .ask { border-block-end: 1px solid var(--_line); padding: .8rem; }
header { padding: .35rem .4rem .35rem .8rem; background: var(--_ground); font-size: .86rem; }
header > bdi, .ask > p { flex: 1 1 8rem; min-inline-size: 0; overflow-wrap: anywhere; }
header > bdi { color: var(--_dim); flex-basis: 5rem; line-height: 1.25; }
header > button { flex: none; }
p, pre { margin: 0; } .card { padding: .8rem; display: grid; gap: .6rem; grid-template-columns: minmax(0, 1fr); }
.why { color: var(--_dim); font-size: .86rem; }
pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; max-block-size: 22rem; overflow: auto; }
button, a { font: inherit; color: inherit; border: 1px solid var(--_line); border-radius: 8px; cursor: pointer;
  background: light-dark(#fff, #1e2c33); min-block-size: 2rem; padding: .1rem .65rem; text-decoration: none;
  display: inline-grid; align-items: center; }
.primary { background: var(--_accent); color: var(--_on); border-color: transparent; font-weight: 600; }
:focus-visible { outline: 3px solid var(--_accent); outline-offset: -3px; }
:is(button, a):focus-visible { outline-offset: 2px; }
iframe { border: 0; block-size: 12rem; flex: none; color-scheme: inherit; }
[popover] iframe { flex: 1; block-size: auto !important; min-block-size: 0; }
.card:empty, .ask:empty { padding: 0; border: 0; }
`
