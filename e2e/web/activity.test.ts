import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createRegistry } from '../../dist/npm/index.js'
import type { Activity, Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { freePort, listen } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// The activities that registry.observe reports, of the built package.

let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer()
})
after(() => server.close())

async function observed(
  options: RegistryOptions,
  body: (r: Registry, seen: Activity[]) => Promise<void>,
): Promise<void> {
  const registry = await createRegistry({ storage: 'memory', ...options })
  const seen: Activity[] = []
  registry.observe((a) => seen.push(a))
  try {
    await body(registry, seen)
  } finally {
    await registry.close()
  }
}

/** The events of the one activity that the filter finds, in order, checked for what holds for all. */
function one(seen: Activity[], match: (a: Activity) => boolean): Activity[] {
  const ids = new Set(seen.filter(match).map((a) => a.id))
  assert.equal(ids.size, 1, JSON.stringify(seen))
  const events = seen.filter((a) => ids.has(a.id))
  assert.equal(events[0]!.phase, 'begin')
  assert.equal(events.filter((a) => a.phase === 'begin').length, 1)
  assert.deepEqual(events.slice(1, -1).filter((a) => a.phase !== 'progress'), [])
  const end = events.at(-1)!
  assert.equal(end.phase, 'end')
  assert.ok(end.durationMs! >= 0 && end.at >= events[0]!.at)
  const parts = end.parts?.reduce((sum, p) => sum + p.ms, 0)
  assert.equal((parts ?? end.durationMs!).toFixed(6), end.durationMs!.toFixed(6), JSON.stringify(end))
  return events
}

test('calls are reported as they go on', () =>
  observed({ servers: { demo: { url: 'builtin:demo' } } }, async (r, seen) => {
    await r.discover()
    seen.length = 0
    const progress: number[] = []
    await r.call('demo__count', { to: 2, delayMs: 1 }, { onProgress: (p) => progress.push(p.progress) })
    await r.call('demo__fail', { reason: 'a storm' })
    await assert.rejects(r.call('demo__nope', { secret: 'canary' }))
    await assert.rejects(r.call('demo__count', { to: 100, delayMs: 50 }, { signal: AbortSignal.timeout(20) }))
    const count = one(seen, (a) => a.tool === 'demo__count' && a.outcome === 'ok')
    assert.deepEqual(count.map((a) => a.progress?.progress), [undefined, 1, 2, undefined])
    assert.deepEqual(progress, [1, 2], 'who calls hears of it as well')
    assert.deepEqual(count.at(-1)!.parts!.map((p) => p.name), ['waiting', 'server'])
    assert.equal(count[0]!.server, 'demo')
    assert.equal(one(seen, (a) => a.tool === 'demo__fail').at(-1)!.outcome, 'tool_error')
    const nope = one(seen, (a) => a.tool === 'demo__nope').at(-1)!
    assert.deepEqual([nope.outcome, nope.errorCode, nope.parts], ['error', 'unknown_tool', undefined])
    assert.equal(one(seen, (a) => a.outcome === 'cancelled').at(-1)!.errorCode, 'aborted')
    assert.ok(
      !JSON.stringify(seen).includes('canary') && !JSON.stringify(seen).includes('storm'),
      'neither arguments nor results',
    )
  }))

test('connections are reported, good and bad', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}/`
  await observed({ servers: { s: { url: server.url }, gone: { url: nobody } } }, async (r, seen) => {
    await r.discover()
    const good = one(seen, (a) => a.server === 's')
    assert.deepEqual(good.map((a) => [a.kind, a.phase, a.outcome]), [['connection', 'begin', undefined], [
      'connection',
      'end',
      'ok',
    ]])
    assert.deepEqual(good.at(-1)!.parts!.map((p) => p.name), ['connect', 'list'])
    const bad = one(seen, (a) => a.server === 'gone').at(-1)!
    assert.deepEqual([bad.outcome, bad.errorCode, bad.message], [
      'error',
      r.getHealth().gone!.errorCode,
      r.getHealth().gone!.lastError,
    ])
    seen.length = 0
    await r.call('s__raw', {})
    assert.deepEqual(seen.map((a) => a.kind), ['call', 'call'], 'a call on a live session connects nothing')
  })
})

test('a connection is over once the tools are listed', async () => {
  let list = () => {}
  const listable = new Promise<void>((resolve) => {
    list = resolve
  })
  const slow = await listen(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const c of req) chunks.push(c as Buffer)
    const body = Buffer.concat(chunks)
    if (body.includes('tools/list')) await listable
    const answer = await fetch(server.url, {
      method: req.method!,
      headers: req.headers as Record<string, string>,
      ...(body.length && { body }),
    }).catch(() => undefined)
    if (!answer) return void res.destroy()
    res.writeHead(
      answer.status,
      Object.fromEntries([...answer.headers].filter(([k]) => /^(content-type|mcp-)/.test(k))),
    )
    res.end(req.method === 'GET' ? undefined : Buffer.from(await answer.arrayBuffer()))
  })
  await observed({ servers: { s: { url: slow.url } } }, async (r, seen) => {
    const connected = new Promise<void>((resolve) => {
      r.subscribe(() => {
        if (r.getHealth().s!.lastConnected) resolve()
      })
    })
    const discovered = r.discover()
    await connected
    await Promise.resolve()
    assert.equal(r.getHealth().s!.status, 'connecting')
    assert.deepEqual(seen.map((a) => a.phase), ['begin'])
    list()
    await discovered
    assert.equal(one(seen, (a) => a.server === 's').at(-1)!.outcome, 'ok')
  })
  await slow.close()
})

test('a server that is removed while it connects', async () => {
  const slow = await sdkServer()
  await observed({}, async (r, seen) => {
    const begun = new Promise<void>((resolve) => r.observe(() => resolve()))
    await r.addServer('s', { url: slow.url })
    const discovered = r.discover().catch(() => {})
    await begun
    await r.removeServer('s')
    await discovered
    const last = one(seen, (a) => a.server === 's').at(-1)!
    assert.ok(last.outcome === 'cancelled' || last.outcome === 'ok', JSON.stringify(last))
  })
  await slow.close()
})

test('closing is no fault of a connection that was never tried', async () => {
  const registry = await createRegistry({ storage: 'memory', servers: { s: { url: server.url } } })
  const seen: Activity[] = []
  const states = new Set<unknown>()
  registry.observe((a) => seen.push(a))
  registry.subscribe(() => states.add(registry.getHealth()['s']!.errorCode))
  await registry.close()
  await setImmediate()
  assert.ok(states.has('closed'))
  assert.deepEqual(seen, [])
})

test('who has stopped listening hears nothing', () =>
  observed({ servers: { demo: { url: 'builtin:demo' } } }, async (r, seen) => {
    const heard: Activity[] = []
    const stop = r.observe((a) => {
      heard.push(a)
      stop()
    })
    await r.discover()
    await r.call('demo__echo', { text: 'x' })
    assert.equal(heard.length, 1)
    assert.ok(seen.length >= 4)
  }))

test('contents have arguments and answers, without header values', async () => {
  const secret = 'canary-2f81c3d4'
  const config = { url: server.url, headers: { 'X-Key': secret } }
  const registry = await createRegistry({
    storage: 'memory',
    servers: { steered: config, demo: { url: 'builtin:demo' } },
  })
  const seen: Activity[] = [], bare: Activity[] = []
  registry.observe((a) => seen.push(a), { contents: true })
  registry.observe((a) => bare.push(a))
  assert.throws(() => registry.observe(() => {}, { content: true } as never), /unknown option "content" of observe/)
  try {
    await registry.discover()
    await registry.call('demo__echo', { text: `said ${secret}` })
    await registry.call('demo__echo', JSON.stringify({ text: 'x'.repeat(100_000) }))
    const calls = seen.filter((a) => a.kind === 'call')
    assert.deepEqual(JSON.parse(calls[0]!.args!), { text: 'said [redacted]' })
    const answer = JSON.parse(calls[1]!.answer!) as { content: { text: string }[]; isError: boolean }
    assert.deepEqual([answer.content[0]!.text, answer.isError], ['said [redacted]', false])
    for (const text of [calls[2]!.args!, calls[3]!.answer!]) {
      assert.equal(text.length, 65_537)
      assert.equal(text.at(-1), '…')
    }
    assert.ok(bare.length >= seen.length && bare.every((a) => !('args' in a) && !('answer' in a)))
    assert.ok(!JSON.stringify(seen).includes(secret))
  } finally {
    await registry.close()
  }
})

test('exchanges are reported while somebody watches, without secrets', async () => {
  const secret = 'canary-90aa17fe'
  const config = { url: `${server.url}?key=${secret}`, headers: { Authorization: `Bearer ${secret}` } }
  const registry = await createRegistry({ storage: 'memory', servers: { steered: config } })
  const seen: Activity[] = []
  const isCall = (a: Activity) => /"tools\/call"/.test(a.exchange?.requestBody ?? '')
  let over = () => {}
  const ended = new Promise<void>((resolve) => (over = resolve))
  const stop = registry.observe((a) => {
    if (a.kind === 'exchange') seen.push(a)
    if (isCall(a) && a.phase === 'end') over()
  }, { exchanges: true })
  try {
    await registry.discover()
    await registry.call('steered__steps', { steps: 1, everyMs: 1, note: secret } as never).catch(() => {})
    await ended
    const calls = seen.filter(isCall)
    assert.deepEqual(calls.map((a) => [a.phase, a.server, a.outcome]), [['begin', 'steered', undefined], [
      'end',
      'steered',
      'ok',
    ]])
    const { exchange: x, durationMs } = calls[1]!
    assert.ok(durationMs! >= 0)
    assert.equal(x!.method, 'POST')
    assert.equal(x!.url, `${server.url}?key=%E2%80%A6`)
    assert.equal(x!.status, 200)
    assert.deepEqual(x!.requestHeaders.find(([name]) => name === 'Authorization'), ['Authorization', '[redacted]'])
    assert.ok(x!.responseHeaders!.some(([name]) => name === 'content-type'))
    assert.match(x!.responseBody!, /"jsonrpc":"2\.0"/)
    assert.ok(!JSON.stringify(seen).includes(secret), 'no secret is in it')
    stop()
    const before = seen.length
    await registry.call('steered__steps', { steps: 1, everyMs: 1 })
    assert.equal(seen.length, before)
  } finally {
    await registry.close()
  }
})

test('observers that come after others have left hear no number twice', async () => {
  const r = await createRegistry({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
  await r.discover()
  const heard: Activity[] = []
  const stop = r.observe((a) => heard.push(a))
  const slow = r.call('demo__count', { to: 2, delayMs: 20 })
  while (!heard.length) await setImmediate()
  stop()
  r.observe((a) => heard.push(a))
  await Promise.all([slow, r.call('demo__echo', { text: 'x' })])
  await r.close()
  for (const tool of ['demo__count', 'demo__echo']) one(heard, (a) => a.tool === tool)
})
