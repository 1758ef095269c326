import { RegistryError } from '../shared/registry-error.ts'
import type { AuthorizeEvent, Authorized, RequestBody } from '../shared/protocol.ts'
import { openVault } from '../shared/vault.ts'
import type { SignInOptions } from '../shared/types.ts'

// Sign-in in a popup or, if popups are blocked, by a redirect of the page. Both return to the page of callback.ts.

/** The note in sessionStorage for the page after a redirect. It has no secrets. */
export interface Left {
  server: string
  state: string
  back: string
  url?: string
}

export const leftKey = 'portolan.signin'

/**
 * The channel between a window and its opener. Its name has the window's ticket at first, and `state` after the
 * redirect.
 */
export const channelOf = (id: string) => new BroadcastChannel(`portolan sign-in ${id}`)

/** In the vault, the entry that completes a sign-in after a redirect is this and its state. No server has that name. */
const resumeKey = '\nsign-in '

/** The wait after a window seems closed, in ms: a page with an opener policy looks closed while it is open. */
const patience = 120_000
/** Such a page may look closed before it says that it is ready, in ms. */
const opening = 3000

interface Visit {
  window: Window | null
  channel: BroadcastChannel
  ready: boolean
  /** The URL for the window, once it is known. */
  go?: string
  /** Ends the sign-in early. */
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

  /** Signs in. Call it in a click handler: the window opens at once and gets its URL from the reply of `ask`. */
  async signIn(server: string, ask: () => Promise<unknown>): Promise<unknown> {
    if (globalThis.isSecureContext === false) {
      throw new RegistryError('sign_in_failed', 'a page over plain HTTP has no cryptography for a sign-in', {
        server,
        hint: 'Serve the page over https, or from localhost.',
      })
    }
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
    const earlier = this.#visits.get(server)
    earlier?.leave('another sign-in was begun')
    earlier?.window?.close() // if no URL is known yet, both sign-ins share the next window
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

  /** Shows an authorization page, or withdraws it. */
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
          else if ((closed ||= performance.now()) < performance.now() - (visit.ready ? patience : opening))
            reject(new Error('the window was closed'))
        }, 500)
        back.onmessage = ({ data }: MessageEvent<{ url?: unknown }>) => {
          if (typeof data?.url !== 'string') return
          back.postMessage({ taken: true })
          resolve(data.url)
        }
        visit.leave = (why) => reject(new Error(why))
        signal.addEventListener('abort', () => reject(new Error('the window was closed')))
      })
    } finally {
      clearInterval(watch)
      setTimeout(() => back.close(), 1000) // after the last message has arrived
    }
  }

  /** Redirects the page. The next page completes the sign-in. */
  async #redirect({ server, url, state, resume }: Request): Promise<never> {
    const vault = await openVault().catch(() => {
      throw new Error('the window was blocked; allow popups here')
    })
    await vault.setText(resumeKey + state, resume)
    sessionStorage.setItem(leftKey, JSON.stringify({ server, state, back: location.href } satisfies Left))
    location.assign(url)
    return new Promise(() => {})
  }

  /** Completes the sign-in of an earlier page after a redirect. */
  async resume(ask: (m: RequestBody) => Promise<unknown>): Promise<void> {
    const left = JSON.parse(sessionStorage.getItem(leftKey) ?? 'null') as Left | null
    sessionStorage.removeItem(leftKey)
    if (!left) return
    const vault = await openVault(), key = resumeKey + left.state, resume = await vault.text(key)
    await vault.setText(key, '')
    if (left.url && resume) await ask({ method: 'signIn', name: left.server, resume, url: left.url })
  }
}
