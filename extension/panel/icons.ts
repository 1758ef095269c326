import { svg } from 'lit'
import { icon } from '../../web/ui/icons.ts'

/** One for each tab. */
export const placeIcon = {
  home: icon(svg`<path d="m3 9.5 7-6 7 6M5 8v8.5h3.5V12h3v4.5H15V8" class="line"/>`),
  chats: icon(svg`<path d="M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5Z" class="line"/><path d="M7 8h6M7 10.5h4" class="line"/>`),
  history: icon(
    svg`<path d="M4 10a6.2 6.2 0 1 1 1.8 4.4M4 10 2.4 8.2M4 10l1.9-1.6M10 6.6V10l2.4 1.6" class="line"/>`,
  ),
  servers: icon(
    svg`<path
      d="M5 3.5h10A1.5 1.5 0 0 1 16.5 5v2.5A1.5 1.5 0 0 1 15 9H5a1.5 1.5 0 0 1-1.5-1.5V5A1.5 1.5 0 0 1 5 3.5Z
      m0 7.5h10a1.5 1.5 0 0 1 1.5 1.5V15a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 15v-2.5A1.5 1.5 0 0 1 5 11Z
      m1.7-4.8h.1m-.1 7.5h.1" class="line"/>`,
  ),
  tools: icon(
    svg`<path d="M12.2 4.6a3.6 3.6 0 0 1 4.4-.9l-2.4 2.4.3 1.6 1.6.3 1.4-1.5a3.6 3.6 0 0 1-4.9 4.3l-6 6a1.5 1.5 0 0 1-2.2-2.2
      l6-6a3.6 3.6 0 0 1 1.8-4Z" class="line"/>`,
  ),
  activity: icon(svg`<path d="M2.5 10.5H6l2.2-6 3.6 11 2.2-5h3.5" class="line"/>`),
}

export const octagon = icon(
  svg`<path d="M6.9 2.5h6.2l4.4 4.4v6.2l-4.4 4.4H6.9l-4.4-4.4V6.9Z" class="fill"/><rect x="7" y="7" width="6"
    height="6" rx=".8" class="hole"/>`,
)
export const hand = icon(
  svg`<path
    d="M6 10.5V5.2a1.2 1.2 0 0 1 2.4 0V9m0-.5v-4a1.2 1.2 0 0 1 2.4 0V9m0-3
    a1.2 1.2 0 0 1 2.4 0v3.5m0-1.5a1.2 1.2 0 0 1 2.3.3v3.4a5 5 0 0 1-5 5
    c-2.2 0-3.3-1-4.2-2.6L4 11.3a1.2 1.2 0 0 1 2-1.2" class="line"/>`,
)
export const question = icon(
  svg`<circle cx="10" cy="10" r="7" class="line"/><path d="M7.8 8a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5m0 2.2v.1"
    class="line"/>`,
)
export const play = icon(svg`<path d="m6.5 4 9 6-9 6Z" class="fill"/>`)
export const denied = icon(
  svg`<circle cx="10" cy="10" r="6.5" class="line"/><path d="m7.5 7.5 5 5m0-5-5 5" class="line"/>`,
)
export const cancelled = icon(
  svg`<circle cx="10" cy="10" r="6.5" class="line dashed"/><path d="M7 10h6" class="line"/>`,
)
