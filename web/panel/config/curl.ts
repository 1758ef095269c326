import { basic } from './finish.ts'
import { splitHeader } from './headers.ts'
import type { Draft } from './types.ts'

const shortValued = 'AbcCdDeEFHKmoPQrtTuUwxXyYz'
const longValued = new Set(
  ('header url user oauth2-bearer user-agent cookie cookie-jar data data-raw data-binary data-ascii data-urlencode json request form ' +
    'referer proxy proxy-user max-time connect-timeout output write-out cert key cacert capath resolve connect-to retry retry-delay retry-max-time config ' +
    'range upload-file interface dns-servers tls-max ciphers').split(' '),
)

/** The server that a curl line calls; undefined: it names no URL. */
export function curl(words: string[]): Draft | undefined {
  const draft: Draft = { headers: [], lints: [] }
  const take = (flag: string, value: string) => {
    if (flag === 'H' || flag === 'header') {
      const h = splitHeader(value)
      if (h) draft.headers.push(h)
    } else if (flag === 'u' || flag === 'user') draft.headers.push(['Authorization', basic(value)])
    else if (flag === 'oauth2-bearer') draft.headers.push(['Authorization', 'Bearer ' + value])
    else if (flag === 'b' || flag === 'cookie') draft.headers.push(['Cookie', value])
    else if (flag === 'url') draft.url ??= value
  }
  for (let i = 0; i < words.length; i++) {
    const w = words[i]!
    if (w.startsWith('--')) {
      const [flag = '', ...joined] = w.slice(2).split('=')
      if (longValued.has(flag)) take(flag, joined.length ? joined.join('=') : words[++i] ?? '')
    } else if (/^-./.test(w)) {
      // -sSXPOST: letters up to one that takes the rest, or the next word.
      for (let j = 1; j < w.length; j++) {
        if (!shortValued.includes(w[j]!)) continue
        take(w[j]!, w.slice(j + 1) || (words[++i] ?? ''))
        break
      }
    } else draft.url ??= w
  }
  return draft.url ? draft : undefined
}
