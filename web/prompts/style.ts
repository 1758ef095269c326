import { css } from 'lit'

/** Looks of the menu. It is outside a shadow root, because the field refers to its options by their ids. */
export const menuStyles = css`
portolan-prompts > .portolan-menu {
  color-scheme: inherit;
  position: fixed; inset: auto; margin: 0; padding: 4px; box-sizing: border-box; overflow: hidden auto;
  border: 1px solid light-dark(#dcd7c8, #2c3e46); border-radius: var(--portolan-radius, 12px);
  background: var(--portolan-paper, light-dark(#fffefa, #172329));
  color: var(--portolan-ink, light-dark(#14252c, #e7eeec));
  font: var(--portolan-font, .9375rem/1.5 system-ui, sans-serif); text-align: start;
  box-shadow: 0 8px 30px #0003;
}
portolan-prompts > .portolan-menu [role=option] {
  display: grid; grid-template-columns: minmax(0, 1fr) fit-content(40%); gap: 0 10px; align-items: baseline;
  padding: 6px 10px; border-radius: 8px; cursor: pointer;
}
portolan-prompts > .portolan-menu [role=option]:hover {
  background: color-mix(in oklab, var(--portolan-ink, light-dark(#14252c, #e7eeec)) 6%, transparent);
}
portolan-prompts > .portolan-menu [aria-selected=true] {
  background: color-mix(in oklab, var(--portolan-accent, light-dark(#0d5265, #86ccd9)) 18%, transparent);
}
portolan-prompts > .portolan-menu .title { font-weight: 600; overflow-wrap: anywhere; justify-self: start; }
portolan-prompts > .portolan-menu .server,
portolan-prompts > .portolan-menu .about,
portolan-prompts > .portolan-menu .note { font-size: .8125rem; color: light-dark(#4c5f66, #a3b5ba); }
portolan-prompts > .portolan-menu .server { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
portolan-prompts > .portolan-menu .about {
  grid-column: 1 / -1; justify-self: start; max-inline-size: 100%; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap;
}
portolan-prompts > .portolan-menu .flag { grid-column: 1 / -1; color: light-dark(#7d5700, #ebc76f); font-size: .8125rem; }
portolan-prompts > .portolan-menu .note { padding: 6px 10px; overflow-wrap: anywhere; }
portolan-prompts > .portolan-menu .bad { color: light-dark(#a92f15, #ff9d84); }
@media (forced-colors: active) {
  portolan-prompts > .portolan-menu [aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px; }
}
`
