import { svg, type SVGTemplateResult } from 'lit'

/** An icon of 20 by 20, in the colour of the text. */
export const icon = (paths: SVGTemplateResult, name = '') =>
  svg`<svg class="icon ${name}" viewBox="0 0 20 20" aria-hidden="true">${paths}</svg>`

/** The state of a server or a link, as a person sees it. */
export type Standing =
  | 'connected'
  | 'connecting'
  | 'sign_in'
  | 'paused'
  | 'cors'
  | 'local_network'
  | 'failed'
  | 'idle'
  | 'off'

/** A shape for each standing: colour is never the only sign. */
export const standingIcon: Record<Standing, SVGTemplateResult> = {
  connected: icon(svg`<circle cx="10" cy="10" r="7" class="fill"/><path d="m6.8 10.2 2.2 2.2 4.2-4.6" class="cut"/>`),
  connecting: icon(
    svg`<circle cx="10" cy="10" r="6.5" class="track"/><path d="M10 3.5a6.5 6.5 0 0 1 6.5 6.5" class="line"/>`,
    'turning',
  ),
  sign_in: icon(svg`<circle cx="7" cy="10" r="3.5" class="line"/><path d="M10.5 10H17m-2.5 0v3" class="line"/>`),
  paused: icon(
    svg`<rect x="5" y="4" width="3.5" height="12" rx="1" class="fill"/><rect x="11.5" y="4" width="3.5" height="12"
      rx="1" class="fill"/>`,
  ),
  cors: icon(svg`<circle cx="10" cy="10" r="6.5" class="line"/><path d="m5.5 5.5 9 9" class="line"/>`),
  local_network: icon(
    svg`<path d="m3.5 9.5 6.5-6 6.5 6M5.5 8.5V16h9V8.5" class="line"/><path d="M10 10v2.5m0 1.6v.1" class="line"/>`,
  ),
  failed: icon(svg`<path d="M10 3 17.5 16h-15Z" class="fill"/><path d="M10 8v3.5m0 1.9v.2" class="cut"/>`),
  idle: icon(svg`<circle cx="10" cy="10" r="6" class="line dashed"/>`),
  off: icon(svg`<circle cx="10" cy="10" r="6" class="line"/><path d="M6.5 10h7" class="line"/>`),
}

export const more = icon(
  svg`<circle cx="4.5" cy="10" r="1.6" class="fill"/><circle cx="10" cy="10" r="1.6" class="fill"/><circle cx="15.5"
    cy="10" r="1.6" class="fill"/>`,
)
export const cross = icon(svg`<path d="m5 5 10 10M15 5 5 15" class="line"/>`)
export const chevron = icon(svg`<path d="m7.5 5 5 5-5 5" class="line"/>`, 'chevron')
export const flag = icon(svg`<path d="M5 17V3.5h9l-2 3.5 2 3.5H5" class="line"/>`)
/** A compass rose: Portolan's sign. */
export const compass =
  svg`<svg class="compass" viewBox="0 0 96 96" width="96" height="96" aria-hidden="true" focusable="false">
  <circle cx="48" cy="48" r="34" class="track"/><circle cx="48" cy="48" r="26" class="track thin"/>
  <path d="M48 6v84M6 48h84M18 18l60 60M78 18 18 78" class="track thin"/>
  <path d="m48 8 7 33 33 7-33 7-7 33-7-33-33-7 33-7Z" class="rose"/><path
    d="m48 8 7 33-7 7Zm40 40-33 7-7-7Zm-40 40-7-33 7-7ZM8 48l33-7 7 7Z" class="rose dark"/>
</svg>`
