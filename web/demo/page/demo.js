import { startChat } from './chat.js'
import { createRegistry } from './portolan/index.js'
import './portolan/apps.js'
import './portolan/panel.js'

// The policy of this page wants trusted addresses of workers. It trusts the files beside this one.
globalThis.trustedTypes?.createPolicy('default', {
  createScriptURL: (url) => new URL(url).href.startsWith(new URL('./', import.meta.url).href) ? url : null,
})
const runtime = document.getElementById('runtime')
const began = performance.now()
const params = new URLSearchParams(location.search)
const panel = document.querySelector('portolan-panel')
// `portolan up` says here where its proxy is; other hosts of this page have none.
const settings = await fetch('./settings.json').then((r) => (r.ok ? r.json() : {})).catch(() => ({}))
try {
  globalThis.registry = await createRegistry({ // global for the console
    mode: params.get('mode') ?? 'auto',
    proxy: settings.proxy,
    apps: !!settings.sandbox,
    onElicitation: (request) => panel.elicit(request),
    onElicitationUrl: (request) => panel.elicitUrl(request),
    onProgress: ({ phase }) => { if (!globalThis.registry) runtime.textContent = `${phase}…` },
  })
} catch (e) {
  runtime.textContent = `${e.message} ${e.hint ?? ''}`
  throw e
}
runtime.textContent = `Portolan ${registry.version} · ${registry.mode} · ready in ${Math.round(performance.now() - began)} ms`
panel.registry = registry
startChat(registry, settings)
registry.discover()
