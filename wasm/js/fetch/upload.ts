// Requests that must not reach a server twice. Chromium sends a POST again,
// silently, when a reused connection dies before the response; a streamed body
// cannot be sent again (HTTP/2 and newer; HTTP/1.1 has no such body).

import { originOf } from '../shared/origin.ts'

/** How often the protocol of an origin is looked for. */
const LOOKS = 4

/** Stands for the protocol of an origin that takes no streams. */
const PLAIN = 'plain'

export class Uploads {
  readonly #fetch: typeof fetch
  readonly #protocols = new Map<string, string | number>() // of origins, or how often they were not told

  constructor(fetcher: typeof fetch) {
    this.#fetch = fetcher
  }

  /** Whether the origin is known to be spoken to over HTTP/2 or newer. */
  multiplexed(origin: string): boolean {
    const protocol = this.#protocols.get(origin)
    return protocol === 'h2' || protocol === 'h3'
  }

  /** How the URL's origin is spoken to, as far as that is known. */
  protocol(url: string): string | undefined {
    const protocol = this.#protocols.get(originOf(url))
    return typeof protocol === 'string' ? protocol : undefined
  }

  /** The same, from somebody who knows. */
  teach(url: string, protocol: string): void {
    this.#protocols.set(originOf(url), protocol)
  }

  /**
   * Sends the request; with `once`, as a stream where that works. If the
   * network refuses the stream and has read nothing of it, or the server wants
   * a length (411), the body goes plain.
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

  // Resource timing tells the protocol of an earlier exchange with the origin,
  // if the server lets it (Timing-Allow-Origin). Looking is not free.
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

// A browser without streamed bodies would send the text "[object ReadableStream]".
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
