import { RegistryError } from '../shared/registry-error.ts'
import type { AuthorizeEvent, Authorized, RequestBody } from '../shared/protocol.ts'
import { openVault } from '../shared/vault.ts'
import type { SignInOptions } from '../shared/types.ts'

// How a person signs in: in a popup, or where that is blocked, by a redirect of
// the page. callback.ts is the page that both come back to.

/** What a redirect leaves for the page that it comes back to, in sessionStorage. Without secrets. */
export interface Left {
  server: string
  state: string
  back: string
  url?: string
}

export const leftKey = 'portolan.signin'

/**
 * The channel on which a window and the page that opened it talk: by its ticket before it goes, by `state` when it
 * comes back.
 */
export const channelOf = (id: string) => new BroadcastChannel(`portolan sign-in ${id}`)

/** In the vault, what completes a sign-in after a redirect. No server has that name. */
const resumeKey = '\nsign-in'

/** How long a person who closed the window may still come back: a page may hide from us that it is open. */
const patience = 120_000

interface Visit {
  window: Window | null
  channel: BroadcastChannel
  ready: boolean
  /** Where the window is to go, once it is ready. */
  go?: string
  /** Ends it early. */
  leave(why: string): void
}

type Request = NonNullable<AuthorizeEvent['request']>

/** Opens windows for one registry. */
export class SignInWindow {
  readonly #onAuthorize: SignInOptions['onAuthorize']
  readonly #redirectUrl: string
  readonly #visits = new Map<string, Visit>()
  readonly #asks = new Map<number, () => void>()

  constructor(onAuthorize: SignInOptions['onAuthorize'], redirectUrl: string | undefined) {
    this.#onAuthorize = onAuthorize
    this.#redirectUrl = redirectUrl ?? ''
  }

  /** To be called in a click: the window opens now, and goes where `ask` finds out that it has to. */
  async signIn(server: string, ask: () => Promise<unknown>): Promise<unknown> {
    if (this.#onAuthorize || typeof window !== 'object') return ask()
    const { href, origin } = new URL(this.#redirectUrl)
    if (origin !== location.origin) {
      throw new RegistryError(
        'sign_in_failed',
        `people would come back to ${href}, which is not of this page's origin`,
        {
          server,
          hint: "Serve callback.html of the package from the page's origin, and set signIn.redirectUrl to it.",
        },
      )
    }
    this.#visits.get(server)?.leave('another sign-in was begun')
    const ticket = crypto.randomUUID()
    const visit: Visit = { channel: channelOf(ticket), ready: false, window: null, leave: () => {} }
    visit.channel.onmessage = () => {
      visit.ready = true
      if (visit.go) visit.channel.postMessage({ go: visit.go })
    }
    visit.window = window.open(`${href}#${ticket}`, '_blank', 'popup,width=520,height=720')
    this.#visits.set(server, visit)
    try {
      return await ask()
    } finally {
      if (this.#visits.get(server) === visit) this.#visits.delete(server)
      visit.channel.close()
      visit.window?.close()
    }
  }

  /** Shows a page, or stops waiting for one. */
  hear(m: AuthorizeEvent, answer: (a: Authorized) => void): void {
    if (!m.request) return this.#asks.get(m.ask)?.()
    const ends = new AbortController()
    this.#asks.set(m.ask, () => ends.abort())
    this.#show(m.request, ends.signal)
      .then((url) => answer({ url }), (e: unknown) => answer({ error: e instanceof Error ? e.message : String(e) }))
      .finally(() => this.#asks.delete(m.ask))
  }

  async #show(request: Request, signal: AbortSignal): Promise<string> {
    const { server, url, host, state } = request
    if (!/^https?:\/\//i.test(url)) throw new Error('the authorization page is not of the web')
    if (this.#onAuthorize) return this.#onAuthorize({ server, url, host, signal })
    const visit = this.#visits.get(server)
    if (!visit) throw new Error('signing in begins with signIn()')
    if (!visit.window) return this.#redirect(request)
    visit.go = url
    if (visit.ready) visit.channel.postMessage({ go: url })
    const back = channelOf(state)
    let watch: ReturnType<typeof setInterval> | undefined
    try {
      return await new Promise<string>((resolve, reject) => {
        let closed = 0
        watch = setInterval(() => {
          if (!visit.window!.closed) closed = 0
          else if (visit.ready ? (closed ||= Date.now()) < Date.now() - patience : true)
            reject(new Error('the window was closed'))
        }, 500)
        back.onmessage = ({ data }: MessageEvent<{ url?: unknown }>) => {
          if (typeof data?.url !== 'string') return
          back.postMessage({ taken: true })
          resolve(data.url)
        }
        visit.leave = (why) => reject(new Error(why))
        signal.addEventListener('abort', () => reject(new Error('nobody waits any more')))
      })
    } finally {
      clearInterval(watch)
      setTimeout(() => back.close(), 1000) // lets what was said last arrive
    }
  }

  /** The page leaves, and what it began is completed by the next one. */
  async #redirect({ server, url, state, resume }: Request): Promise<never> {
    const vault = await openVault().catch(() => {
      throw new Error('the window was blocked; allow popups here')
    })
    await vault.setText(resumeKey, resume)
    sessionStorage.setItem(leftKey, JSON.stringify({ server, state, back: location.href } satisfies Left))
    location.assign(url)
    return new Promise(() => {})
  }

  /** Completes what an earlier page began, if a person has come back from a redirect. */
  resume(ask: (m: RequestBody) => Promise<unknown>): void {
    this.#resume(ask).catch(() => {}) // how it went is in the health
  }

  async #resume(ask: (m: RequestBody) => Promise<unknown>): Promise<void> {
    const left = JSON.parse(sessionStorage.getItem(leftKey) ?? 'null') as Left | null
    sessionStorage.removeItem(leftKey)
    if (!left) return
    const vault = await openVault()
    const resume = await vault.text(resumeKey)
    await vault.setText(resumeKey, '')
    if (left.url && resume) await ask({ method: 'signIn', name: left.server, resume, url: left.url })
  }
}
