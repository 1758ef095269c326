import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createRegistry as createInNode } from '../../dist/npm/index.js'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { launchChromium, openPage, root, serveFolder, type Listening } from './harness.ts'
import { sdkServer } from './sdkserver.ts'

// portolan-sdk.wasm in the place of portolan.wasm: all that a page sees must be the same.

let browser: Browser
let site: Listening
let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  const schema = {
    type: 'object',
    properties: {
      steps: { type: 'integer', minimum: 0, maximum: 9007199254740991 },
      mode: { anyOf: [{ const: 'a' }, { type: 'null' }] },
    },
    $defs: { x: { type: 'string' } },
    additionalProperties: false,
  }
  const odd = [{
    name: 'käse/1',
    title: 'Käse',
    description: 'Zeile\n2',
    inputSchema: schema,
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    _meta: { x: [1, { y: null }] },
  }]
  ;[browser, site, server] = await Promise.all([launchChromium(), serveFolder(`${root}dist/npm`), sdkServer(odd)])
})
after(async () => {
  await Promise.all([browser.close(), site.close(), server.close()])
})

/** All that two modules can be compared by. Runs in the page, so it refers to nothing outside. */
async function observe(createRegistry: (o: RegistryOptions) => Promise<Registry>, wasm: string, url: string) {
  const r = await createRegistry({ wasm, storage: 'memory', servers: { demo: { url: 'builtin:demo' }, s: { url } } })
  const { status, tools } = await r.discover()
  const progress: unknown[] = []
  const results = [
    await r.call('demo__add', { a: 0.1, b: 0.2 }),
    await r.call('demo__weather', { city: 'Palma' }),
    await r.call('demo__picture', {}),
    await r.call('demo__fail', { reason: 'storm' }),
    await r.call('s__raw', '{"n":123456789012345678901234567890}'),
    await r.call('s__steps', { steps: 3, everyMs: 5 }, { onProgress: (p) => progress.push(p) }),
  ].map(({ durationMs: _, ...rest }) => rest)
  const errors: string[] = []
  for (
    const call of [
      () => r.call('s__nope', {}),
      () => r.call('s__wait', {}, { timeoutMs: 150 }),
      () => r.call('s__wait', {}, { signal: AbortSignal.timeout(100) }),
      () => r.call('s__raw', '[]'),
      () => r.addServer('s', { url }),
      () => r.addServer('x', { url: 'ftp://x' }),
    ]
  ) errors.push(await call().then(() => 'none', (e: { code: string }) => e.code))
  const health = Object.fromEntries(
    Object.entries(r.getHealth()).map(([name, { lastSuccessful, lastConnected, latencyMs, ...rest }]) => [
      name,
      {
        ...rest,
        times: [lastSuccessful, lastConnected].map((t) => Math.abs(t! - Date.now()) < 60_000),
        measured: latencyMs! >= 0,
      },
    ]),
  )
  const dialects = (['openai', 'anthropic', 'gemini'] as const).map((format) => r.getTools({ format }))
  await r.close()
  return { mode: r.mode, version: r.version, status, tools, dialects, results, progress, errors, health }
}

type Observed = Awaited<ReturnType<typeof observe>>

/** The request ids and tokens that a server sees are each module's own. */
const plain = (o: Observed) =>
  JSON.parse(
    JSON.stringify(
      o,
      (k, v) => (typeof v === 'string' && v.includes('"jsonrpc"') ? v.match(/"arguments":\{[^}]*\}/)![0] : v),
    ),
  )

function same(sdk: Observed, lean: Observed, mode: string): void {
  assert.equal(sdk.mode, mode)
  assert.equal(lean.status, 'ready')
  assert.equal(lean.tools.length, 6 + 4)
  assert.deepEqual(lean.errors, [
    'unknown_tool',
    'timeout',
    'aborted',
    'invalid_arguments',
    'invalid_config',
    'invalid_config',
  ])
  assert.match(lean.results[4]!.text, /"n":123456789012345678901234567890/)
  assert.deepEqual(plain(sdk), plain(lean))
}

test('the module on the Go SDK is the same to a program in Node', async () => {
  // One after the other: on one thread, what one does takes the other's time.
  const seen = (file: string) => observe(createInNode, pathToFileURL(`${root}dist/npm/${file}`).href, server.url)
  same(await seen('portolan-sdk.wasm'), await seen('portolan.wasm'), 'main')
})

test('the module on the Go SDK is the same to a page', async () => {
  const page = await openPage(browser, `${site.url}/package.json`, /status of 40[04]/)
  const seen = (file: string) =>
    page.evaluate(
      `import('/index.js').then(({ createRegistry }) => (${observe})(createRegistry, '/${file}', '${server.url}'))`,
    ) as Promise<Observed>
  same(await seen('portolan-sdk.wasm'), await seen('portolan.wasm'), 'worker')
  assert.deepEqual(page.faults, [])
  await page.close()
})
