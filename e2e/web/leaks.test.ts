import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRegistry } from '../../dist/npm/index.js'
import { record } from '../../dist/npm/cassette.js'
import type { Activity, ApprovalRequest, Registry } from '../../wasm/js/shared/types.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { skill, skillServer } from './servers/skillserver.ts'

// Secrets in arguments and results, over real MCP servers of two origins.

const secret = 'sesame-open-0123456789'
// Parts, so that no scanner of repositories takes them for real ones.
const key = ['sk', 'proj', 'A1b2C3d4E5f6G7h8I9j0K1l2'].join('-')
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'].join('.')

let mine: Awaited<ReturnType<typeof sdkServer>>, other: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  ;[mine, other] = await Promise.all([
    sdkServer(),
    sdkServer([{ name: 'leak', inputSchema: { type: 'object', properties: {} } }], {
      results: {
        leak: {
          content: [{ type: 'text', text: `token ${jwt}` }],
          structuredContent: { a: { b: `Bearer ${secret}` } },
        },
      },
    }),
  ])
})
after(() => Promise.all([mine, other].map((s) => s?.close())))

async function open(options: Parameters<typeof createRegistry>[0]): Promise<Registry> {
  const r = await createRegistry({
    storage: 'memory',
    servers: {
      mine: { url: mine.url, headers: { Authorization: `Bearer ${secret}` } },
      other: { url: other.url, trust: 'trust' },
    },
    ...options,
  })
  await r.discover()
  return r
}

test('P57: block refuses secrets in arguments for other hosts before anything is sent', async () => {
  const r = await open({ secrets: 'block' })
  const calls = other.calls.length
  for (
    const [args, what] of [
      [{ note: `use ${secret} there` }, /^\/arguments\/note has a secret of mine, which would go to other$/],
      [{ deep: [{ [key]: 1 }] }, /^\/arguments\/deep\/0 has an API key/],
      [{ text: `see ${jwt}` }, /has a JSON Web Token/],
      [{ text: '-----BEGIN PRIVATE KEY-----\nMIIE' }, /has a private key/],
    ] as const
  ) {
    await assert.rejects(r.call('other__raw', args), (e: Error & { code?: string; hint?: string }) => {
      assert.equal(e.code, 'secret_blocked')
      assert.match(e.message, what)
      return !!e.hint
    })
  }
  assert.equal(other.calls.length, calls)
  assert.match(await r.dispatch('mine__raw', { note: secret }), /sesame/, "a server's own secret may go to it")
  assert.match(await r.dispatch('other__raw', { note: 'sk-short and plain words' }), /plain words/)
  await r.close()
})

test('P57: a secret behind all that is looked at one by one is found, too', async () => {
  const r = await open({ secrets: 'block' })
  const calls = other.calls.length
  const deep = (value: unknown) => JSON.parse(`${'['.repeat(70)}${JSON.stringify(value)}${']'.repeat(70)}`) as unknown
  const long = 'x'.repeat(1 << 20)
  for (const hidden of [deep(secret), [...Array(30_000).fill(''), key], [long, secret], [deep(1), long, key]])
    await assert.rejects(r.call('other__raw', { hidden }), (e: Error & { code?: string }) => {
      assert.match(e.message, /^\/arguments has an? (?:secret of mine|API key)/)
      return e.code === 'secret_blocked'
    })
  assert.equal(other.calls.length, calls)
  await r.dispatch('other__raw', { hidden: [deep('plain words'), long, 'words'] })
  assert.equal(other.calls.length, calls + 1)
  await r.close()
})

test('P57: flag asks the user in any case, and marks results', async () => {
  const asked: ApprovalRequest[] = []
  const r = await open({ secrets: 'flag', onApprove: (request) => (asked.push(request), 'always') })
  await r.dispatch('other__raw', { note: 'nothing' })
  assert.equal(asked.length, 0, 'the server is trusted')
  for (let i = 0; i < 2; i++) await r.dispatch('other__raw', { note: secret })
  assert.deepEqual(asked.map((a) => a.flags[0]), [
    { rule: 'secret', where: '/arguments/note', excerpt: 'a secret of mine' },
    { rule: 'secret', where: '/arguments/note', excerpt: 'a secret of mine' },
  ])
  const { flags } = await r.call('other__leak', {})
  assert.deepEqual(flags, [
    { rule: 'secret', where: '/content/0/text', excerpt: 'a JSON Web Token' },
    { rule: 'secret', where: '/structuredContent/a/b', excerpt: 'a secret of mine' },
  ])
  await r.close()
})

test('P57: a model sends no secret in the URI of a resource or the path of a skill', async (t) => {
  const shelf = await skillServer([{ ...skill('skill://a/daily', 'Now'), resources: 'dynamic' }])
  t.after(() => shelf.close())
  const asked: string[] = []
  const calls = [
    ['portolan_read_resource', { server: 'demo', uri: `demo://tide/${secret}` }],
    ['portolan_load_skill', { server: 'shelf', skill: `skill://b/${secret}/SKILL.md` }],
    ['portolan_load_skill', { server: 'shelf', skill: 'daily', file: `parts/${secret}.md` }],
    ['portolan_load_skill', { server: 'shelf', skill: 'daily', file: `${secret}/` }],
  ] as const
  for (const secrets of ['block', 'flag'] as const) {
    const r = await open({
      secrets,
      onApprove: (
        a,
      ) => (asked.push(`${a.server} ${a.flags.map((f) => f.rule).join()}`), a.flags.length ? 'deny' : 'once'),
    })
    t.after(() => r.close())
    await r.addServer('demo', { url: 'builtin:demo' })
    await r.addServer('shelf', { url: shelf.url })
    await r.call('portolan_load_skill', { server: 'shelf', skill: 'daily' })
    shelf.asked.length = asked.length = 0
    for (const [name, args] of calls)
      await assert.rejects(r.call(name, args), { code: secrets === 'block' ? 'secret_blocked' : 'denied' })
    assert.deepEqual(shelf.asked.filter((a) => a.includes(secret)), [])
    assert.deepEqual(asked, secrets === 'block' ? [] : calls.map(([, { server }]) => `${server} secret`))
  }
})

test('P57: activities and cassettes have no text that looks like a secret', async () => {
  const seen: Activity[] = []
  const cassette = record()
  const r = await open({ secrets: 'flag', cassette })
  r.observe((a) => seen.push(a), { contents: true })
  await r.call('other__raw', { note: `${key} and ${secret}` })
  await r.call('other__leak', {})
  const text = JSON.stringify(seen) + cassette.text()
  assert.ok(text.includes('[redacted]'))
  for (const hidden of [key, jwt, secret]) assert.ok(!text.includes(hidden), hidden.slice(0, 6))
  await r.close()
})

test('P57: without the option nothing is looked for', async () => {
  const r = await open({})
  assert.match(await r.dispatch('other__raw', { note: secret }), /sesame/)
  assert.equal((await r.call('other__leak', {})).flags, undefined)
  await assert.rejects(open({ secrets: 'always' as never }), /option "secrets" is not one of off, flag, block/)
  await r.close()
})
