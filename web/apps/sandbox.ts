// The script of apps-sandbox.html: a page on an origin of its own, between a host page and an app. The app's frame has
// an opaque origin inside it, so that apps reach neither the host, nor this page, nor the storage of another app.
import { mostChars, Pace } from './pace.ts'
import { features, featuresIn, policyOf, type Csp } from './policy.ts'

interface Resource {
  html?: unknown
  csp?: Csp
  permissions?: unknown
}

/** Messages of this page itself, which an app must not send. */
const own = 'ui/notifications/sandbox-'

/** The origin of the page that embeds this one. Messages go to no other. */
const host = decodeURIComponent(location.hash.slice(1))
let app: HTMLIFrameElement | undefined
const pace = new Pace()

const tell = (method: string) => parent.postMessage({ jsonrpc: '2.0', method: own + method, params: {} }, host)

/** A text as the value of an attribute in double quotation marks. */
const quoted = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

function open({ html, csp, permissions }: Resource = {}): void {
  if (app || typeof html !== 'string') return
  const policy = policyOf(csp, ['localhost', '127.0.0.1'].includes(location.hostname))
  // A frame with srcdoc inherits the policy of this page, which also decides where the frame may go.
  const meta = document.createElement('meta')
  meta.httpEquiv = 'Content-Security-Policy'
  meta.content = policy
  document.head.append(meta)
  app = document.createElement('iframe')
  app.title = 'App'
  app.setAttribute('sandbox', 'allow-scripts allow-forms')
  app.allow = featuresIn(permissions).map((name) => `${features[name]} *`).join('; ')
  app.referrerPolicy = 'no-referrer'
  app.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${quoted(policy)}">${html}`
  let loads = 0
  app.addEventListener('load', () => {
    if (++loads > 1) close('left') // for another document
  })
  document.body.append(app)
}

/** Removes the app. Its window is no source of messages from here on. */
function close(why: 'left' | 'flood'): void {
  app!.remove()
  tell(why)
}

/** The JSON of a message, or undefined for what JSON cannot say. */
function jsonOf(data: unknown): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

/** Passes on a message of the app, as plain JSON. */
function pass(data: unknown): void {
  const text = jsonOf(data)
  if (!pace.admits(text?.length ?? 0, performance.now())) return close('flood')
  const { id, method } = (data ?? {}) as { id?: unknown; method?: unknown }
  if (typeof method === 'string' && method.startsWith(own)) return
  if (text !== undefined && text.length <= mostChars) return parent.postMessage(JSON.parse(text), host)
  if (typeof id !== 'number' && typeof id !== 'string') return
  const error = { code: -32_600, message: 'not JSON, or too large' }
  app!.contentWindow!.postMessage({ jsonrpc: '2.0', id, error }, '*')
}

function relay({ source, origin, data }: MessageEvent): void {
  if (source === parent && origin === host) {
    const { method, params } = (data ?? {}) as { method?: unknown; params?: Resource }
    if (method === `${own}resource-ready`) open(params)
    else app?.contentWindow?.postMessage(data, '*')
  } else if (source && source === app?.contentWindow) pass(data)
}

// On the origin of its host this page would protect nothing.
if (parent !== window && URL.canParse(host) && new URL(host).origin === host && host !== location.origin) {
  addEventListener('message', relay)
  tell('proxy-ready')
}
