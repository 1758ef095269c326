// A Worker with the endpoint of host runs. Each request has a registry of its own, because what one request opens in
// workerd no other one may use.
import { createRegistry } from './index.js'
import { endpoint } from './run-endpoint.js'
import { Host } from './service.js'
import wasm from './portolan.wasm'

const plan = JSON.stringify({ query: 'carrier liability', databases: ['au/cases/cth/HCA'] })
const model = (messages, { json, signal }) => {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  if (said[0] === 'hang')
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  if (json) return said.join() === 'ambiguous' ? '{"clarify": "By sea or by air?"}' : plan
  return '## Summary\nCarriers are liable.'
}
let serve
const endpointOf = (env) =>
  endpoint({
    origins: ['https://app.example'],
    perMinute: 1000,
    run: async () => {
      const registry = await createRegistry({
        wasm,
        host: Host,
        mode: 'main',
        storage: 'memory',
        servers: { law: { url: env.LAW } },
      })
      const roles = { list: 'list_databases', search: ['search_with_progress', 'search'], link: 'build_search_url' }
      return { registry, model, roles }
    },
  })

export default { fetch: (request, env) => (serve ??= endpointOf(env))(request, env) }
