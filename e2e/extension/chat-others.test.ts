import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Asking } from './asking.ts'
import { call, hasTool } from './rig.ts'

// Sites that are data only, a user's own profile of a site, and `portolan chats check`, through all parts.

const sites = ['claude', 'perplexity', 'grok', 'deepseek', 'mistral', 'copilot'] as const

let asking: Asking
before(async () => {
  asking = await Asking.create({}, sites)
})
after(() => asking?.close())
beforeEach(() => asking.pages.reset())

test('S12, T35: six more sites answer at once, each in its own window', async () => {
  const { token, prompt } = asking.prompt()
  const r = await call(asking.client, 'chat_all', { prompt }, { timeout: 200_000 })
  assert.ok(!r.error, r.text)
  const said = r.structured as Record<string, { answer?: string; profile?: string; error?: object }>
  assert.deepEqual(Object.keys(said).sort(), [...sites].sort())
  for (const site of sites) {
    assert.ok(said[site]!.answer?.endsWith(`ends with **${token}**.`), `${site}: ${JSON.stringify(said[site])}`)
    assert.deepEqual(asking.sent(site, token), [prompt], site)
  }
})

test("a user's profile mends a site at once, is checked, and can be reset", async () => {
  const ask = async () => (await asking.call('copilot', asking.prompt().prompt)).structured
  const set = (json: string) => asking.rig.ask('setProfile', { site: 'copilot', json })
  assert.equal((await ask()).confidence, 'high')
  for (
    const [json, why] of [
      ['{', /no JSON/],
      ['{"version":2}', /for another Portolan/],
      ['{"version":1,"layouts":[{"name":"messages","script":"x"}]}', /layouts\/0 has no field script/],
      ['{"version":1,"newChat":"https://evil.example/"}', /newChat is not at https:\/\/copilot/],
      ['{"version":1,"layouts":[{"name":"new"}]}', /layouts\/new is new and lacks present/],
      ['{"version":1,"conversation":"("}', /conversation is no regular expression/],
    ] as const
  ) await assert.rejects(set(json), why)
  const view = await set('{"version":1,"layouts":[{"name":"messages","end":[".never"]}]}')
  assert.deepEqual(view.changes, [{
    path: 'layouts/messages/end',
    shipped: '["[data-testid=\\"message-item-reactions\\"]"]',
    own: '[".never"]',
  }])
  assert.equal((await ask()).confidence, 'medium')
  await asking.rig.killWorker()
  await asking.rig.until('it is kept', (s) => s.chats.copilot.ownProfile)
  await hasTool(asking.client, 'chat_copilot')
  const reset = await set('')
  assert.deepEqual([reset.own, reset.changes], ['', []])
  assert.equal((await ask()).confidence, 'high')
})

test('B32: portolan chats check runs scenarios, and reports in JSON and Markdown', async () => {
  const folder = asking.rig.bridge.folder
  const scenarios = [
    {
      id: 'plain',
      tags: ['smoke'],
      sites: ['claude', 'grok'],
      prompts: ['Please tell me in some detail about token:harbour-lights'],
      expect: {
        bothMustSucceed: true,
        minAnswerLength: 50,
        keywords: ['harbour-lights'],
        relevanceThreshold: 1,
        noFallback: true,
      },
    },
    {
      id: 'limit',
      tags: ['regression'],
      sites: ['mistral', 'copilot'],
      prompts: ['Please tell me in some detail about token:shoals [[ratelimit]]'],
      expect: { bothMustSucceed: true, noEmptyMarkdown: true },
    },
  ]
  const file = join(folder, 'scenarios.json')
  await writeFile(file, JSON.stringify(scenarios))
  const report = join(folder, 'report')
  const check = (...args: string[]) => asking.rig.bridge.command('chats', 'check', '--file', file, ...args)
  const unasked = await check()
  assert.deepEqual([unasked.code, /nobody can be asked here; pass --yes/.test(unasked.text)], [2, true], unasked.text)
  assert.equal(asking.sent('claude', 'harbour').length, 0)

  const good = await check('--tag', 'smoke', '--yes', '--report', report)
  assert.equal(good.code, 0, good.text)
  assert.match(good.text, /2 passed, 0 failed/)
  assert.deepEqual(asking.sent('claude', 'harbour').concat(asking.sent('grok', 'harbour')).length, 2)

  const bad = await check('--yes', '--report', report, '--id', 'limit')
  assert.equal(bad.code, 1, bad.text)
  assert.match(bad.text, /FAIL {2}limit on mistral: .*\(RATE_LIMITED\)/)
  const kept = JSON.parse(await readFile(join(report, 'report.json'), 'utf8')) as {
    failed: number
    results: { id: string; site: string; code: string; snapshot: { health: object } }[]
  }
  assert.equal(kept.failed, 2)
  assert.deepEqual([kept.results[0]!.site, kept.results[0]!.code], ['mistral', 'RATE_LIMITED'])
  assert.ok(kept.results[0]!.snapshot.health)
  assert.match(
    await readFile(join(report, 'report.md'), 'utf8'),
    /\| limit \| mistral \| \*\*failed\*\* RATE_LIMITED \|/,
  )

  // The bridge wrote the bundle of the failed prompt.
  const bundles = await readdir(asking.rig.bridge.debugFolder)
  const [mistral] = bundles.filter((name) => name.startsWith('mistral-'))
  const bundle = JSON.parse(await readFile(join(asking.rig.bridge.debugFolder, mistral!), 'utf8')) as object
  assert.ok('debug_bodyLen' in bundle && !JSON.stringify(bundle).includes('shoals'))
})
