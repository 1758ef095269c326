import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Port } from '../browser.ts'
import type { Registry, ServerConfig, Snapshot } from '../../wasm/js/shared/types.ts'
import { asking, channelOf } from './registry.ts'

/** A registry that writes down what it was asked, over servers that are there. */
function setup(o: { granted?: string[]; says?: boolean; servers?: Record<string, ServerConfig> }) {
  const done: unknown[] = [], asked: string[] = [], refused: string[] = []
  const registry = {
    addServer: async (...a: unknown[]) => void done.push(['addServer', ...a]),
    updateServer: async (...a: unknown[]) => void done.push(['updateServer', ...a]),
    setEnabled: async (...a: unknown[]) => void done.push(['setEnabled', ...a]),
    removeServer: async (...a: unknown[]) => void done.push(['removeServer', ...a]),
    getSnapshot: () =>
      ({
        servers: Object.fromEntries(Object.entries(o.servers ?? {}).map(([name, config]) => [name, { config }])),
      }) as unknown as Snapshot,
  } as unknown as Registry
  const asks = asking(registry, {
    granted: () => o.granted ?? [],
    permit: async (origin) => (asked.push(origin), o.says ?? true),
    refused: (server, origin) => refused.push(`${server} ${origin}`),
    gone: () => new Error('please try again'),
  })
  return { asks, done, asked, refused }
}
const url = 'https://mcp.example:8443/mcp'

test('the origin of a new server is asked, once it is not granted yet', async () => {
  const { asks, done, asked } = setup({})
  await asks.addServer('a', { url })
  assert.deepEqual([asked, done], [['https://mcp.example:8443'], [['addServer', 'a', { url }]]])
  const known = setup({ granted: ['https://mcp.example:8443/*'] })
  await known.asks.addServer('a', { url })
  assert.deepEqual([known.asked, known.done.length], [[], 1])
})

test('a server whose origin is refused is saved, but off, and that is said', async () => {
  const { asks, done, refused } = setup({ says: false })
  await asks.addServer('a', { url, headers: { 'X-Key': 'k' } })
  assert.deepEqual([done, refused], [[['addServer', 'a', { url, headers: { 'X-Key': 'k' }, enabled: false }]], [
    'a https://mcp.example:8443',
  ]])
})

test('nothing is asked for servers that are off, built in, or of no address', async () => {
  const { asks, asked } = setup({ says: false })
  await asks.addServer('off', { url, enabled: false })
  await asks.addServer('demo', { url: 'builtin:demo' })
  await asks.addServer('none', { url: 'nonsense' })
  assert.deepEqual(asked, [])
})

test('switching on asks, and off does not', async () => {
  const no = setup({ says: false, servers: { a: { url, enabled: false } } })
  await no.asks.setEnabled('a', true)
  assert.deepEqual([no.done, no.refused.length], [[], 1])
  await no.asks.setEnabled('a', false)
  assert.deepEqual([no.done, no.asked.length], [[['setEnabled', 'a', false]], 1])
  const yes = setup({ servers: { a: { url, enabled: false } } })
  await yes.asks.setEnabled('a', true)
  assert.deepEqual(yes.done, [['setEnabled', 'a', true]])
})

test('a changed address is asked again; other changes are not', async () => {
  const no = setup({ says: false, servers: { a: { url } } })
  await no.asks.updateServer('a', { timeoutMs: 5 })
  assert.deepEqual([no.asked, no.done], [[], [['updateServer', 'a', { timeoutMs: 5 }]]])
  await no.asks.updateServer('a', { url: 'https://other.example/mcp' })
  assert.deepEqual([no.asked, no.done[1]], [['https://other.example'], ['updateServer', 'a', {
    url: 'https://other.example/mcp',
    enabled: false,
  }]])
  const off = setup({ says: false, servers: { a: { url, enabled: false } } })
  await off.asks.updateServer('a', { url: 'https://other.example/mcp' })
  assert.deepEqual(off.asked, [], 'it is off and stays off')
  await off.asks.updateServer('a', { enabled: true })
  assert.deepEqual(off.asked, ['https://mcp.example:8443'])
})

test('all else is the registry itself', async () => {
  const { asks, done } = setup({})
  await asks.removeServer('a')
  assert.deepEqual(done, [['removeServer', 'a']])
})

test("a request to a registry that has died is named in the page's words; other faults are as they were", async () => {
  const fail = (code: string) =>
    asking({ retry: () => Promise.reject(Object.assign(new Error('no'), { code })) } as unknown as Registry, {
      granted: () => [],
      permit: async () => true,
      refused: () => {},
      gone: () => new Error('please try again'),
    })
  await assert.rejects(fail('closed').retry('a'), /please try again/)
  await assert.rejects(fail('timeout').retry('a'), { code: 'timeout', message: 'no' })
})

test('a port is a channel', () => {
  const posted: unknown[] = []
  const port: Port = {
    post: (m) => void posted.push(m),
    onmessage: null,
    onclose: null,
    close: () => void posted.push('closed'),
  }
  const channel = channelOf(port)
  const got: unknown[] = []
  channel.onmessage = (m) => got.push(m)
  port.onmessage!({ a: 1 })
  channel.post({ b: 2 })
  channel.close()
  assert.deepEqual([got, posted], [[{ a: 1 }], [{ b: 2 }, 'closed']])
})
