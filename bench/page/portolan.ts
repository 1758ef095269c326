import { createRegistry } from '../../dist/npm/index.js'
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
    registry = await createRegistry({
      mode: (params.get('mode') ?? 'worker') as 'worker',
      limits: most,
      wasm: params.get('wasm') ?? undefined,
      storage: (params.get('storage') ?? 'local') as 'local',
    })
    for (const name of Object.keys(registry.getSnapshot().servers)) await registry.removeServer(name)
    // The module and its worker come with the first server that is on.
    if (params.get('start') !== 'lazy') {
      await registry.addServer('here', { url: 'builtin:demo' })
      await registry.removeServer('here')
    }
  },
  async list(urls) {
    urls.forEach((url, i) => void registry.addServer(`s${i}`, { url }))
    await registry.discover()
    return registry.getTools().length
  },
  call: (server, args) => registry.dispatch(`s${server}__tool_0`, args),
  close: () => registry.close(),
} satisfies Variant
