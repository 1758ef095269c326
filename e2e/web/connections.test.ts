import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createRegistry, RegistryError } from '../../dist/npm/index.js'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { faultServer, result, tool, type Asked } from './servers/faultserver.ts'
import { pacedServer } from './servers/pacedserver.ts'
import { sdkServer } from './servers/sdkserver.ts'

// The connections that a registry keeps, and their traces at a server.

async function using(options: RegistryOptions, body: (r: Registry) => Promise<void>): Promise<void> {
  const registry = await createRegistry({ storage: 'memory', ...options })
  try {
    await body(registry)
  } finally {
    await registry.close()
  }
}

const said = (text: string) => ({ content: [{ type: 'text', text }] })

test('W9: the session id is sent, and an expired session begins again, but no other refusal does that', async () => {
  const sessions: unknown[] = []
  const server = await faultServer({
    on: {
      'tools/call'(a) {
        sessions.push(a.req.headers['mcp-session-id'])
        const refusal = { 1: 404, 3: 403 }[a.nth]
        if (refusal) a.res.writeHead(refusal).end()
        else result(a, said(`call ${a.nth}`))
      },
    },
  })
  try {
    await using({ servers: { s: { url: server.url } } }, async (r) => {
      await r.discover()
      assert.equal(await r.dispatch('s__t', {}), 'call 2')
      assert.deepEqual(sessions, ['session-1', 'session-2'])
      assert.equal(server.seen['initialize'], 2)
      await assert.rejects(r.dispatch('s__t', {}), (e) => e instanceof RegistryError && e.status === 403)
      assert.equal(server.seen['initialize'], 2)
    })
  } finally {
    await server.close()
  }
})

test('W11: servers come and go while a call to another goes on, and listeners hear of each change', async () => {
  const [stays, goes] = [await sdkServer(), await sdkServer()]
  try {
    await using({ servers: { stays: { url: stays.url } } }, async (r) => {
      await r.discover()
      const names = () => Object.keys(r.getHealth()).sort()
      const heard: string[][] = []
      const stop = r.subscribe(() => heard.push(names()))
      const ends = new AbortController()
      const call = r.call('stays__wait', {}, { signal: ends.signal })
      const over = assert.rejects(call, (e) => e instanceof RegistryError && e.code === 'aborted')
      while (!stays.calls.length) await setImmediate()

      await r.addServer('goes', { url: goes.url })
      await r.discover()
      assert.ok(r.has('goes__raw') && r.has('stays__raw'))
      assert.equal(r.getTools().length, 6)
      assert.deepEqual([names(), r.getHealth()['goes']!.status], [['goes', 'stays'], 'connected'])
      await r.removeServer('goes')
      assert.ok(!r.has('goes__raw') && r.has('stays__raw'))
      assert.deepEqual(names(), ['stays'])
      await r.discover()

      assert.deepEqual(stays.calls, ['wait'])
      assert.ok(heard.some((list) => list.includes('goes')) && !heard.at(-1)!.includes('goes'))
      assert.equal(stays.methods.filter((m) => m === 'initialize').length, 1)
      ends.abort()
      await over
      stop()
    })
  } finally {
    await Promise.all([stays.close(), goes.close()])
  }
})

test('W13: streamable HTTP is tried first, and then the older transport', async () => {
  const server = await pacedServer(0)
  try {
    await using(
      { servers: { now: { url: `${server.url}/json` }, old: { url: `${server.url}/legacy` } } },
      async (r) => {
        await r.discover()
        const { now, old } = r.getHealth()
        assert.deepEqual([now!.transport, old!.transport], ['streamable-http', 'sse'], old!.lastError ?? '')
        for (const name of ['now__say', 'old__say']) assert.equal(await r.dispatch(name, { text: name }), name)
      },
    )
  } finally {
    await server.close()
  }
})

test('W17: a server sees the name of its tool, the arguments and its headers; results are texts and do nothing', async () => {
  const asked: Asked[] = []
  const script = 'globalThis.ran = true</script><img src=x onerror="ran = true">'
  const server = await faultServer({
    on: {
      'tools/list': (a) => result(a, { tools: [tool('spell')] }),
      'tools/call'(a) {
        asked.push(a)
        result(a, said(script))
      },
    },
  })
  const headers = { Authorization: 'Bearer own', 'X-Team': 'a' }
  try {
    await using({
      servers: {
        s: { url: server.url, headers },
        other: { url: 'builtin:demo', headers: { Authorization: 'Bearer others' } },
      },
    }, async (r) => {
      await r.discover()
      assert.equal(await r.dispatch('s__spell', { word: 'ahoy' }), script)
      assert.ok(!('ran' in globalThis))
    })
    const [{ message, req }] = asked as [Asked]
    const { _meta, ...params } = message.params!
    assert.deepEqual(params, { name: 'spell', arguments: { word: 'ahoy' } })
    assert.deepEqual(Object.keys(_meta ?? {}).filter((key) => key !== 'progressToken'), [])
    assert.equal(req.headers['authorization'], 'Bearer own')
    assert.equal(req.headers['x-team'], 'a')
    const text = JSON.stringify([message, req.headers])
    for (const foreign of ['others', 'demo', 's__spell', 'cookie', 'referer'])
      assert.ok(!text.includes(foreign), foreign)
  } finally {
    await server.close()
  }
})
