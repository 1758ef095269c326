// The first request of each server that is on leaves while the module is being compiled. The module sends the same
// request and gets the response of this one.

import type { Begin, StartOptions } from '../shared/protocol.ts'
import { version } from '../shared/version.ts'
import { firstRequests } from './first.gen.ts'

/** The most early requests. */
const MOST = 64

/** The time that the module has to send the same requests once it runs, in ms. */
const EARLY_MS = 10_000

/** The distance of the module's request ids (registry/client/platform.go). */
const ID_STEP = 4

interface Sent {
  /** Method, URL, headers and body, to compare. */
  readonly text: string
  readonly abort: AbortController
  readonly response: Promise<Response>
}

export class Early {
  readonly #urls: string[] = []
  readonly #sent = new Map<number, Sent>()

  constructor({ elicit, elicitUrl, sample, roots, apps, hints = '', remember }: StartOptions, { servers }: Begin) {
    // A line of wasm/memory.go: URL, transport, version, and two more words.
    const known = new Map(hints.split('\n').map((line) => [line.split('\t')[0], line.split('\t')]))
    if (apps) return // whose hosts announce more than these requests do
    for (const { url, enabled, transport, proxy, auth, headers } of Object.values(servers)) {
      const href = hrefOf(url)
      if (!href || enabled === false || transport === 'sse' || proxy === true || auth) continue
      if (this.#urls.length === MOST || this.#urls.includes(href)) continue
      const hint = known.get(href)
      // The module may have a token for a server that it knows, and needs no first request to a server of 2026-07-28.
      // initialize to it would lack capabilities of the older versions.
      if (hint && (remember || sample || roots || hint[1] !== 'streamable-http' || hint[2]! >= '2026' || hint[4]))
        continue
      const first = hint ? firstRequests.legacy : firstRequests.unknown
      const id = this.#urls.push(href) * ID_STEP
      const body = first.body.replace('{id}', `${id}`).replace('{version}', version)
        .replace('{capabilities}', first.capabilities[(elicit ? 1 : 0) + (elicitUrl ? 2 : 0)]!)
      this.#send(id, href, [...Object.entries(headers ?? {}), ...first.headers] as [string, string][], body)
    }
  }

  /** The URLs of the requests, in the order of their ids, for the module that starts now. */
  offer(): string[] {
    setTimeout(() => {
      for (const id of this.#sent.keys()) this.#drop(id)
    }, EARLY_MS)
    return this.#urls
  }

  /** The request of that id, once, if it is the same. Otherwise it is aborted. */
  take(id: number, url: string, headers: [string, string][], body: Uint8Array | undefined): Sent | undefined {
    const sent = this.#sent.get(id)
    if (sent?.text !== textOf(url, headers, new TextDecoder().decode(body))) return void this.#drop(id)
    this.#sent.delete(id)
    return sent
  }

  #send(id: number, url: string, headers: [string, string][], body: string): void {
    const abort = new AbortController()
    const response = fetch(url, requestOf('POST', headers, abort.signal, body))
    response.catch(() => {}) // until the module awaits it
    this.#sent.set(id, { text: textOf(url, headers, body), abort, response })
  }

  #drop(id: number): void {
    this.#sent.get(id)?.abort.abort()
    this.#sent.delete(id)
  }
}

/** A request as the platform sends it. */
export function requestOf(
  method: string,
  headers: [string, string][],
  signal: AbortSignal,
  body?: string,
): RequestInit {
  return { method, headers, signal, credentials: 'omit', redirect: 'manual', ...(body && { body }) }
}

/** The order of configured headers is not known. */
const textOf = (url: string, headers: [string, string][], body: string) =>
  [url, ...headers.map((h) => h.join(': ')).sort(), body].join('\n')

/** The URL as the module sends it. Undefined for one that it may refuse. */
function hrefOf(text: string): string | undefined {
  if (/[\0- \x7f\\]/.test(text)) return undefined
  try {
    const url = new URL(text)
    url.hash = ''
    return /^https?:$/.test(url.protocol) && !url.username && !url.password ? url.href : undefined
  } catch {
    return undefined
  }
}
