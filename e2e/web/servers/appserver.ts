import { cases, type AppCase } from './appcases.ts'
import { listen, type Listening } from '../../rig/harness.ts'

/** A server whose tools have apps, most of them hostile. */
export interface AppServer extends Listening {
  /** The reports of apps, by their names. */
  reports: Map<string, unknown>
  /** Resolves once an app has reported. */
  reported(name: string): Promise<unknown>
  /** The clients' capabilities of the last handshake. */
  capabilities: Record<string, unknown>
  /** Changes the html of all apps. */
  version: number
}

const helpers = `
const pending = new Map(); let n = 0; const heard = []
const post = (m) => parent.postMessage({ jsonrpc: '2.0', ...m }, '*')
const rpc = (method, params = {}) => new Promise((resolve) => { const id = ++n; pending.set(id, resolve); post({ id, method, params }) })
const note = (method, params = {}) => post({ method, params })
addEventListener('message', ({ data }) => { heard.push(data); if (data && data.method === undefined) pending.get(data.id)?.(data) })
const shake = async () => { const a = await rpc('ui/initialize', { protocolVersion: '2026-01-26', appInfo: { name: 'x', version: '1' }, appCapabilities: {} }); note('ui/notifications/initialized'); return a.result }
const report = (value) => rpc('tools/call', { name: 'report', arguments: { of: NAME, value } })
const tried = async (work) => { try { await work(); return 'worked' } catch (e) { return e.name } }
`

/** Apps that behave. `heard` is reported once the result is there. */
const good: AppCase[] = [
  {
    name: 'friendly',
    script:
      `document.body.innerHTML = '<main style="font: 16px system-ui; padding: 1rem"><h1>Tide</h1><p id=result></p><button id=again>Ask again</button></main>'
      document.querySelector('#again').onclick = () => report('again')
      const theme = (t) => { document.documentElement.style.colorScheme = t; document.documentElement.dataset.theme = t }
      theme(context.hostContext.theme)
      addEventListener('message', ({ data }) => { if (data.params?.theme) theme(data.params.theme) })
      while (!heard.some((m) => m.method === 'ui/notifications/tool-result')) await new Promise((r) => addEventListener('message', r, { once: true }))
      document.querySelector('#result').textContent = heard.find((m) => m.method === 'ui/notifications/tool-result').params.content[0].text
      note('ui/notifications/size-changed', { height: 180 })
      return heard.filter((m) => m.method).map((m) => m.method.split('/').at(-1)).join()`,
  },
  {
    name: 'listens',
    script:
      `const locale = new Promise((r) => addEventListener('message', ({ data }) => data.params?.locale && r(data.params.locale)))
      while (!heard.some((m) => m.method === 'ui/notifications/tool-cancelled')) await new Promise((r) => addEventListener('message', r, { once: true }))
      const { method, params: { reason } } = heard.at(-1)
      await report(method.split('/').at(-1) + ': ' + reason)
      return locale`,
  },
  {
    name: 'measures',
    script: `const { dataset } = document.documentElement
      dataset.width = context.hostContext.containerDimensions.width
      addEventListener('message', ({ data: { params } }) => {
        if (params?.containerDimensions) dataset.width = params.containerDimensions.width
      })`,
  },
  {
    name: 'links',
    script: `return (await rpc('ui/open-link', { url: 'https://pilot.example/book?x=1' })).result`,
  },
  {
    name: 'declares',
    meta: { csp: { connectDomains: ['SPY'] } },
    script: `return (await fetch(SPY)).status`,
  },
  {
    name: 'is_listed',
    meta: { csp: { connectDomains: ['SPY'] } },
    script: `return (await fetch(SPY)).status`,
  },
  {
    name: 'says_one',
    script: `return (await rpc('ui/message', { role: 'user', content: { type: 'text', text: 'alone' } })).result`,
  },
  {
    name: 'knows_modes',
    raw: true,
    script:
      `await rpc('ui/initialize', { appCapabilities: { availableDisplayModes: ['inline', 'pip'] } }); note('ui/notifications/initialized')
      const ask = async (mode) => (await rpc('ui/request-display-mode', { mode })).result.mode
      return [await ask('fullscreen'), await ask('pip'), await ask('inline'), await ask('none')].join()`,
  },
  { name: 'asks_both', meta: { permissions: { camera: {}, microphone: {} } }, script: '' },
  { name: 'ticks', script: `setInterval(() => report(++n), 100); return 0` },
]

export async function startApps(spy: string): Promise<AppServer> {
  const all = [...cases, ...good]
  const waits = new Map<string, (value: unknown) => void>()
  const htmlOf = ({ name, script, raw, before = '' }: AppCase) =>
    `${before}<html lang=en><title>${name}</title><body><script>const NAME = ${JSON.stringify(name)}, SPY = ${
      JSON.stringify(spy)
    }, VERSION = ${server.version};${helpers}
;(async () => { ${
      raw ? '' : 'const context = await shake();'
    } const value = await (async () => { ${script} })(); if (value !== undefined) await report(value) })()</script>`
  const uiOf = ({ meta = {} }: AppCase) => ({
    ui: JSON.parse(JSON.stringify(meta).replaceAll('SPY', spy)) as object,
  })
  const tool = (name: string, rest: object = {}) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    ...rest,
  })
  const answers: Record<string, (params: Record<string, unknown>) => object | undefined> = {
    initialize: (params) => {
      server.capabilities = params['capabilities'] as Record<string, unknown>
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 'apps', version: '1' },
      }
    },
    'tools/list': () => ({
      tools: [
        ...all.map((c, i) =>
          tool(c.name, {
            _meta: i % 2 ? { 'ui/resourceUri': `ui://${c.name}` } : { ui: { resourceUri: `ui://${c.name}` } },
          })
        ),
        tool('report'),
        tool('slow'),
        tool('for_models', { _meta: { ui: { visibility: ['model'] } } }),
        tool('for_apps', { _meta: { ui: { visibility: ['app'] } } }),
      ],
    }),
    'resources/list': () => ({
      resources: [{ uri: 'ui://is_listed', name: 'is_listed', _meta: uiOf(all.find((c) => c.name === 'is_listed')!) }],
    }),
    'resources/read': ({ uri }) => {
      if (uri === 'own://words') return { contents: [{ uri, text: 'own words' }] }
      const found = all.find((c) => `ui://${c.name}` === uri)
      if (!found) return undefined
      const mimeType = found.mimeType ?? 'text/html;profile=mcp-app'
      const _meta = found.name === 'is_listed' ? {} : uiOf(found)
      return { contents: [{ uri, mimeType, text: htmlOf(found), _meta }] }
    },
    'tools/call': ({ name, arguments: args }) => {
      const text = (text: string) => ({ content: [{ type: 'text', text }] })
      if (name === 'for_apps') return text('only apps hear this')
      if (name !== 'report') return text(`High water at 12:40 <b>says</b> ${String(name)}.`)
      const { of, value } = args as { of: string; value: unknown }
      server.reports.set(of, value)
      waits.get(of)?.(value)
      return text('noted')
    },
  }
  const listening = await listen(async (req, res) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (req.method !== 'POST') return void res.writeHead(req.method === 'OPTIONS' ? 204 : 405, cors).end()
    let body = ''
    for await (const chunk of req) body += chunk
    const { id, method, params = {} } = JSON.parse(body) as {
      id?: number
      method: string
      params?: Record<string, unknown>
    }
    if (id === undefined) return void res.writeHead(202, cors).end()
    const result = answers[method]?.(params)
    const answer = result ? { result } : { error: { code: -32_602, message: `unknown: ${method}` } }
    res.writeHead(200, { 'content-type': 'application/json', ...cors }).end(
      JSON.stringify({ jsonrpc: '2.0', id, ...answer }),
    )
  })
  const server: AppServer = {
    ...listening,
    reports: new Map(),
    capabilities: {},
    version: 1,
    reported: (name) =>
      server.reports.has(name)
        ? Promise.resolve(server.reports.get(name))
        : new Promise((resolve) => waits.set(name, resolve)),
  }
  return server
}
