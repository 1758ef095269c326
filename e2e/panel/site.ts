import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { Registry, SamplingRequest, SamplingResult, ServerConfig } from '../../wasm/js/shared/types.ts'
import { servePage, type Listening } from '../rig/harness.ts'
import type { PortolanPanel } from '../../web/panel/types.ts'

declare global {
  interface Window {
    registry: Registry
    /** The model that answers sampling. */
    generate(request: SamplingRequest, context: { signal: AbortSignal }): Promise<SamplingResult>
    panel: PortolanPanel
  }
}

/** The strictest policy under which the panel works. */
export const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'"

const script = `import { createRegistry } from './npm/index.js'
import './npm/panel.js'
const params = new URLSearchParams(location.search)
const panel = document.createElement('portolan-panel')
for (const name of ['locale', 'view', 'catalogue', 'budget']) if (params.has(name)) panel.setAttribute(name, params.get(name))
if (params.has('messages')) panel.messages = (await import('./npm/locales/' + params.get('messages') + '.js')).default
const registry = await createRegistry({ mode: params.get('mode') ?? 'main', storage: params.get('storage') ?? 'memory', cooldownMs: Number(params.get('cooldown') ?? 60000), proxy: params.get('proxy') ?? undefined, project: params.get('project') ?? undefined, onApprove: params.has('approve') ? (request) => panel.approve(request) : undefined, ...(params.has('elicit') && { onElicitation: (request) => panel.elicit(request), onElicitationUrl: (request) => panel.elicitUrl(request), onSampling: (request, context) => panel.sample(request, (...asked) => window.generate(...asked), context) }) })
Object.assign(window, { registry, panel })
panel.registry = registry
document.querySelector('main').append(panel)
await panel.updateComplete
document.documentElement.dataset.ready = ''
`

const page =
  '<!doctype html><html lang="en"><title>Settings</title><meta name="viewport" content="width=device-width"><script type="module" src="page.js"></script><main></main>'

/** Serves a page with the built panel in it. */
export const panelSite = (): Promise<Listening> =>
  servePage({ '/': page, '/page.js': script }, { 'content-security-policy': policy })

export interface PanelPage {
  page: Page
  panel: Locator
  faults: string[]
}

/** Complaints that a page under that policy may make: requests that servers refuse, and the icon. */
const expected = /CORS policy|Failed to load resource|ERR_|favicon|TrustedScriptURL|Loading the image/

/** Opens the page; servers are added, and listed unless `discover` is false. */
export async function openPanel(
  browser: Browser,
  site: Listening,
  o: {
    servers?: Record<string, ServerConfig>
    query?: Record<string, string>
    context?: BrowserContextOptions
    discover?: boolean
  } = {},
): Promise<PanelPage> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 }, ...o.context })
  const faults: string[] = []
  page.on('pageerror', (e) => faults.push(`page error: ${e.stack ?? e.message}`))
  page.on('console', (m) => {
    if (m.type() === 'error' && !expected.test(m.text())) faults.push(`console: ${m.text()}`)
  })
  await page.goto(`${site.url}/?${new URLSearchParams(o.query)}`)
  await page.locator('html[data-ready]').waitFor()
  if (o.servers) {
    await page.evaluate(async ([servers, discover]) => {
      for (const [name, config] of Object.entries(servers)) await window.registry.addServer(name, config)
      if (discover) await window.registry.discover()
      await (window.panel as unknown as { updateComplete: Promise<void> }).updateComplete
    }, [o.servers, o.discover ?? true] as const)
  }
  return { page, panel: page.locator('portolan-panel'), faults }
}
