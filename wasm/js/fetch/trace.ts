// Reports exchanges with servers while somebody watches: for protocol views. Secrets are left out.

import type { HttpExchange } from '../shared/types.ts'
import type { ExchangeEvent } from '../shared/protocol.ts'
import { join } from './json-array.ts'
import { isPlainHeader, secretsOf } from './tools.ts'

/** The part of a body that is reported, in characters. */
const BODY_CHARS = 64 << 10

const MASK = '[redacted]'

/** Response headers whose values are reported. Browsers hide most others from a page. */
const PLAIN_RESPONSE =
  /^(content-type|content-length|cache-control|date|retry-after|www-authenticate|mcp-protocol-version|x-proxy-error)$/i

/** Reports one exchange. */
export class Trace {
  readonly #tell: (e: Omit<ExchangeEvent, 'event'>) => void
  readonly #id: number
  readonly #at = Date.now()
  readonly #began = performance.now()
  readonly #secrets: string[]
  readonly #exchange: HttpExchange
  /** Bodies are left out, because they belong to a sign-in. */
  readonly #isPrivate: boolean

  constructor(
    tell: (e: Omit<ExchangeEvent, 'event'>) => void,
    id: number,
    [method, url, headers, body]: [string, string, [string, string][], Uint8Array | undefined],
    isPrivate: boolean,
  ) {
    this.#tell = tell
    this.#id = id
    this.#secrets = secretsOf(headers)
    this.#isPrivate = isPrivate
    this.#exchange = {
      method,
      url: bare(url),
      requestHeaders: headers.map(([name, value]) => [name, isPlainHeader(name) ? value : MASK]),
      ...(body && { requestBody: this.#text(body) }),
    }
    this.#send('begin')
  }

  /** Takes a copy of the response, and reports it when its body has ended. */
  async take(response: Response): Promise<void> {
    const x = this.#exchange
    x.status = response.status
    x.responseHeaders = [...response.headers].map(([name, value]) => [name, PLAIN_RESPONSE.test(name) ? value : MASK])
    const copy = response.body && response.clone().body?.getReader()
    const parts: Uint8Array[] = []
    let size = 0
    try {
      for (let piece; copy && size <= BODY_CHARS && (piece = (await copy.read()).value);) {
        parts.push(piece)
        size += piece.length
      }
    } catch { /* it broke off: what came is reported */ }
    copy?.cancel().catch(() => {})
    if (copy) x.responseBody = this.#text(join(parts))
    this.#send('end')
  }

  fail(): void {
    this.#send('end')
  }

  #text(body: Uint8Array): string {
    if (this.#isPrivate) return MASK
    // A cut before the search would leave a part of a secret, and the end of what was read may be one.
    const shown = this.#secrets.reduce((t, secret) => t.replaceAll(secret, MASK), new TextDecoder().decode(body))
    const end = Math.min(BODY_CHARS, shown.length - (this.#secrets[0] ?? '').length)
    return body.length > BODY_CHARS ? `${shown.substring(0, end)}…` : shown
  }

  #send(phase: 'begin' | 'end'): void {
    const durationMs = performance.now() - this.#began
    this.#tell({
      exchangeId: this.#id,
      phase,
      at: this.#at,
      exchange: this.#exchange,
      ...(phase === 'end' && { durationMs }),
    })
  }
}

/** A URL without the values of its query. An address in the query, as of a proxy, stays without those of its own. */
function bare(href: string): string {
  if (!URL.canParse(href)) return '…'
  const url = new URL(href)
  // Not any value with a colon is an address.
  for (const [name, value] of url.searchParams) url.searchParams.set(name, /^https?:/.test(value) ? bare(value) : '…')
  return url.href
}
