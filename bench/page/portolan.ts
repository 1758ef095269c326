import { createRegistry, preload } from '../../dist/npm/index.js'
import type { Registry } from '../../wasm/js/shared/types.ts'
import type { Variant } from './variant.ts'

const params = new URLSearchParams(location.search)
let registry: Registry

const most = {
  toolsPerServer: 10_000,
  tools: 100_000,
  responseBytes: 64 << 20,
  listBytes: 64 << 20,
  resultBytes: 4 << 20,
}

globalThis.variant = {
  async open() {
    if (params.get('start') === 'cold') return
    const mode = (params.get('mode') ?? 'worker') as 'worker'
    const wasm = params.get('wasm') ?? undefined
    if (params.get('start') === 'preload') await preload({ mode, wasm })
    registry = await createRegistry({
      mode,
      limits: most,
      wasm,
      storage: (params.get('storage') ?? 'local') as 'local',
    })
    if (params.get('start') === 'stored') return
    for (const name of Object.keys(registry.getSnapshot().servers)) await registry.removeServer(name)
    // The module and its worker come with the first server that is on.
    if (!params.has('start')) {
      await registry.addServer('here', { url: 'builtin:demo' })
      await registry.removeServer('here')
    }
  },
  async list(urls) {
    if (params.get('start') === 'cold')
      registry = await createRegistry({
        limits: most,
        mode: (params.get('mode') ?? 'worker') as 'worker',
        storage: 'memory',
        servers: Object.fromEntries(urls.map((url, i) => [`s${i}`, { url }])),
      })
    for (const [i, url] of urls.entries()) {
      const known = registry.getSnapshot().servers[`s${i}`]?.config.url
      if (known && known !== url) await registry.removeServer(`s${i}`)
      if (known !== url) void registry.addServer(`s${i}`, { url })
    }
    await registry.discover()
    return registry.getTools().length
  },
  offered: () => registry.getTools().length,
  call: (server, args) => registry.dispatch(`s${server}__tool_0`, args),
  close: () => registry.close(),
} satisfies Variant
