import { readFile } from 'node:fs/promises'
import { policy } from '../panel/site.ts'
import type { PortolanApp, AppState } from '../../web/apps/types.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { listen, root, servePage, type Listening } from '../rig/harness.ts'

declare global {
  interface Window {
    registry: Registry
    /**
     * Calls a tool and shows its app. Resolves to what becomes of it. With `partial`, the model still writes the
     * arguments until the app is ready.
     */
    showApp(
      name: string,
      options?: { sandbox?: string; server?: string; args?: object; partial?: boolean },
    ): Promise<AppState>
    app: PortolanApp
    events: { type: string; detail: unknown }[]
  }
}

const script = `import { connectRegistry, createRegistry, portChannel, serveRegistry } from './npm/index.js'
import './npm/apps.js'
const params = new URLSearchParams(location.search)
const servers = JSON.parse(params.get('servers'))
const owned = await createRegistry({ mode: 'main', storage: 'memory', apps: params.get('apps') !== 'off', servers, proxy: params.get('proxy') ?? undefined })
await owned.discover()
let registry = owned
if (params.has('connected')) {
  const { port1, port2 } = new MessageChannel()
  serveRegistry(owned, portChannel(port1))
  registry = await connectRegistry(portChannel(port2))
  await registry.discover()
}
const events = []
for (const type of ['app-message', 'app-context', 'app-state']) addEventListener(type, (e) => {
  events.push({ type, detail: e.detail })
  if (type === 'app-message' && /refuse/.test(e.detail.content[0].text)) e.preventDefault()
})
window.showApp = async (name, { sandbox = params.get('sandbox'), server = 'apps', args = {}, partial = false } = {}) => {
  document.querySelector('portolan-app')?.remove()
  const info = registry.getSnapshot().tools.find((t) => t.server === server && t.tool === name)
  const result = await registry.call(info.name, args)
  const app = document.createElement('portolan-app')
  Object.assign(app, { registry, tool: partial ? info.name : undefined, result: partial ? undefined : result, args, partial })
  if (sandbox) app.sandbox = sandbox
  if (params.has('locale')) Object.assign(app, { locale: params.get('locale'), messages: (await import('./npm/locales/' + params.get('locale') + '.js')).default })
  const state = new Promise((resolve) => app.addEventListener('app-state', (e) => resolve(e.detail), { once: true }))
  window.app = app
  document.querySelector('main').append(app)
  if (partial) state.then(() => Object.assign(app, { partial: false, result }))
  return state
}
Object.assign(window, { registry, events })
document.documentElement.dataset.ready = ''
`
const page = `<!doctype html><html lang="en"><title>Apps</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="page.css"><script type="module" src="page.js"></script>
<main><h1>Apps</h1></main>`
const style =
  `:root { color-scheme: light dark; background: light-dark(#fff, #0b1114); color: light-dark(#14252c, #e7eeec) }
body { font-family: system-ui, sans-serif; margin: 0 } main { padding: 1rem; max-width: 56rem; margin-inline: auto }`

type Headers = Record<string, string>

/** Serves a page with the built element, under a strict policy that lets only the sandbox page be a frame. */
export const appSite = (sandbox: string, headers: Headers = {}): Promise<Listening> =>
  servePage({ '/': page, '/page.js': script, '/page.css': style }, {
    ...headers,
    'content-security-policy': `${policy}; style-src 'self'; img-src data:; frame-src ${new URL(sandbox).origin}`,
  })

/** Serves the sandbox page, as a host does on its second origin. */
export const sandboxSite = (headers: Headers = {}): Promise<Listening> =>
  listen(async (req, res) =>
    void res.writeHead(200, { ...headers, 'content-type': 'text/html' })
      .end(await readFile(`${root}dist/npm/apps-sandbox.html`))
  )
