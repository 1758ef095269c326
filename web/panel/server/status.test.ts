import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerHealth, Snapshot } from '../../../wasm/js/shared/types.ts'
import { ContactHistory } from './history.ts'
import { causeOf, isLocal, permissionFor, standingOf } from './status.ts'

const health = (h: Partial<ServerHealth>): ServerHealth => ({
  status: 'error',
  suspended: false,
  toolCount: 0,
  toolTotal: 0,
  lastSuccessful: null,
  lastConnected: null,
  lastError: null,
  consecutiveFailures: 0,
  retryAt: null,
  latencyMs: null,
  ...h,
})

test('each health is one standing', () => {
  for (
    const [h, permission, standing] of [
      [{ status: 'disabled', lastError: 'x' }, undefined, 'off'],
      [{ status: 'connected' }, undefined, 'connected'],
      [{ status: 'connecting', lastError: 'x', suspended: true }, undefined, 'connecting'],
      [{ status: 'disconnected' }, undefined, 'idle'],
      [{ lastError: 'x', errorCode: 'unauthorized', suspended: true }, undefined, 'sign_in'],
      [{ lastError: 'x', errorCode: 'sign_in_needed' }, undefined, 'sign_in'],
      [{ lastError: 'no answer', errorCode: 'network' }, undefined, 'failed'],
      [{ lastError: 'no answer', errorCode: 'network' }, 'prompt', 'local_network'],
      [{ lastError: 'no answer', errorCode: 'network' }, 'granted', 'failed'],
      [{ lastError: 'no CORS headers (cors)', errorCode: 'network' }, undefined, 'cors'],
      [{ lastError: 'http status 500', errorCode: 'http_status', suspended: true }, undefined, 'paused'],
    ] as const
  ) assert.equal(standingOf(health(h), permission), standing, JSON.stringify(h))
})

test('causes differ by code, status and what the proxy says', () => {
  for (
    const [errorCode, lastError, cause] of [
      ['http_status', 'http status 404: gone', 'path'],
      ['http_status', 'http status 503', 'server'],
      ['network', 'cannot be found (dns)', 'dns'],
      ['network', 'bad certificate (tls)', 'tls'],
      ['network', 'weird (get)', 'network'],
      ['proxy_refused', 'x', 'proxy'],
      ['timeout', 'x', 'timeout'],
      ['gone', 'x', 'other'],
    ] as const
  ) assert.equal(causeOf({ errorCode, lastError }, undefined), cause, lastError)
})

test('what is local needs a permission of its own range', () => {
  const states = { 'loopback-network': 'prompt', 'local-network': 'denied' } as const
  for (const url of ['http://localhost:1/', 'http://a.localhost/', 'http://127.1.2.3/', 'http://[::1]/'])
    assert.equal(permissionFor(url, states), 'prompt', url)
  for (
    const url of [
      'http://192.168.0.1/',
      'http://10.1.1.1/',
      'http://172.20.0.1/',
      'http://printer.local/',
      'http://[fe80::1]/',
    ]
  ) assert.equal(permissionFor(url, states), 'denied', url)
  for (const url of ['https://example.com/', 'http://172.32.0.1/', 'http://11.0.0.1/', 'nonsense', 'builtin:demo'])
    assert.ok(!isLocal(url), url)
})

test('history keeps what each contact showed, and forgets servers that have gone', () => {
  const history = new ContactHistory()
  const see = (servers: Record<string, Partial<ServerHealth>>) =>
    history.see(
      {
        servers: Object.fromEntries(
          Object.entries(servers).map(([n, h]) => [n, { ...health(h), config: { url: 'x' } }]),
        ),
      } as unknown as Snapshot,
    )
  see({ a: { status: 'connected', lastSuccessful: 1, latencyMs: 10 } })
  see({ a: { status: 'connected', lastSuccessful: 2, latencyMs: 20 } })
  see({ a: { lastSuccessful: 2, latencyMs: 20, consecutiveFailures: 1 } })
  see({ a: { lastSuccessful: 2, latencyMs: 20, consecutiveFailures: 1, toolCount: 3 } })
  assert.deepEqual(history.of('a'), { latencies: [10, 20], outcomes: [true, true, false] })
  for (let i = 3; i < 100; i++) see({ a: { lastSuccessful: i, latencyMs: i } })
  assert.equal(history.of('a').latencies.length, 24)
  see({})
  assert.deepEqual(history.of('a'), { latencies: [], outcomes: [] })
})
