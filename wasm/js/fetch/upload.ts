// Sends requests that must not reach a server twice. Chromium repeats a POST if a reused connection breaks before the
// response. A streamed body cannot be repeated. It needs HTTP/2 or newer.

import { originOf } from '../shared/origin.ts'

/** The most attempts to find the protocol of an origin. */
const LOOKS = 4

/** The protocol of an origin that refuses streamed bodies. */
const PLAIN = 'plain'

export class Uploads {
  readonly #fetch: typeof fetch
  readonly #protocols = new Map<string, string | number>() // by origin; a number counts failed attempts

  constructor(fetcher: typeof fetch) {
    this.#fetch = fetcher
  }

  /** Whether the origin is known to use HTTP/2 or newer. */
  multiplexed(origin: string): boolean {
    const protocol = this.#protocols.get(origin)
    return protocol === 'h2' || protocol === 'h3'
  }

  /** The protocol of the URL's origin, if known. */
  protocol(url: string): string | undefined {
    const protocol = this.#protocols.get(originOf(url))
    return typeof protocol === 'string' ? protocol : undefined
  }

  /** Sets the protocol of the URL's origin. */
  teach(url: string, protocol: string): void {
    this.#protocols.set(originOf(url), protocol)
  }

  /**
   * Sends the request, with `once` as a stream if the origin takes one. The body is sent without a stream if the
   * network refuses the stream before reading it, or if the server requires a length (411).
   */
  async send(url: string, init: RequestInit, body: Uint8Array<ArrayBuffer>, once: boolean): Promise<Response> {
    const origin = this.#learn(url)
    if (!once || !this.multiplexed(origin) || !streams()) return this.#fetch(url, { ...init, body })
    let pulled = false
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled = true
        controller.enqueue(body)
        controller.close()
      },
    }, { highWaterMark: 0 })
    try {
      const response = await this.#fetch(url, { ...init, body: stream, duplex: 'half' } as RequestInit)
      if (response.status !== 411) return response
      response.body?.cancel().catch(() => {})
    } catch (error) {
      if (init.signal?.aborted) throw error
      if (pulled) {
        this.#protocols.set(origin, PLAIN)
        throw error
      }
    }
    this.#protocols.set(origin, PLAIN)
    return this.#fetch(url, { ...init, body })
  }

  // Resource timing shows the protocol of an earlier exchange, if the server allows it (Timing-Allow-Origin). A lookup
  // costs time.
  #learn(url: string): string {
    const origin = originOf(url)
    const known = this.#protocols.get(origin)
    if (typeof known === 'string' || (known ?? 0) >= LOOKS) return origin
    const entries = performance.getEntriesByName?.(url, 'resource') as PerformanceResourceTiming[] | undefined
    this.#protocols.set(origin, entries?.at(-1)?.nextHopProtocol || (known ?? 0) + 1)
    return origin
  }
}

let supported: boolean | undefined

// A browser without streamed bodies would send the text `[object ReadableStream]`.
function streams(): boolean {
  if (supported !== undefined) return supported
  let asked = false
  const init = {
    method: 'POST',
    body: new ReadableStream(),
    get duplex() {
      asked = true
      return 'half'
    },
  }
  const typed = new Request('https://a.invalid/', init as RequestInit).headers.has('content-type')
  return (supported = asked && !typed)
}
