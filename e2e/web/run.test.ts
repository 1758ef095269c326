import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, afterEach, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { ModelMessage } from '../../web/loop/types.ts'
import type { RunEvent, RunMetrics, RunOptions } from '../../web/run/types.ts'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { happens, launchChromium, openPage, root, servePackage, type Listening } from '../rig/harness.ts'
import { caseUrl, found, lawServer, type LawServer } from './servers/lawserver.ts'

// The rows O1 to O14 of the host run, in Node and in Chromium, over the built package and a real MCP server. The model
// is a function that says what the test has written for it.

interface Library {
  createRegistry(options: RegistryOptions): Promise<Registry>
  run: typeof import('../../web/run/types.ts').run
}

/** The task of one run, or of several on the same registry. */
interface Play {
  url: string
  headers?: Record<string, string>
  /** The model's texts, in turn. `hang` waits for its signal, `fail` throws, and `cut:` begins what is cut. */
  says: string[]
  replies?: string[]
  options?: Partial<Omit<RunOptions, 'model' | 'registry'>>
  /** The number of runs. */
  times?: number
  /** Aborts at the first event of this type. */
  abortAt?: RunEvent['type']
  /** Removes the server before the run, or gives the run a view in place of the registry. */
  prepare?: 'remove' | 'view'
}

interface Played {
  events: RunEvent[]
  asked: { messages: ModelMessage[]; json: boolean; tools: number }[]
  metrics: RunMetrics
  /** Errors that were thrown. */
  thrown: string[]
}

/** Plays in any realm: it uses nothing from outside. */
async function play(lib: Library, p: Play): Promise<Played> {
  const registry = await lib.createRegistry({
    storage: 'memory',
    mode: 'main',
    servers: { law: { url: p.url, transport: 'streamable-http', headers: p.headers ?? {} } },
  })
  await registry.discover()
  if (p.prepare === 'remove') await registry.removeServer('law')
  const view: RunOptions['view'] = {
    getTools: (options) => registry.getTools({ ...options, include: ['law__*'] }),
    has: (name) => registry.has(name),
    call: (name, args, options) => registry.call(name, args, options),
  }
  const asked: Played['asked'] = [], events: RunEvent[] = [], thrown: string[] = []
  let metrics!: RunMetrics, turn = 0
  const modelKey = 'key-of-the-model'
  const model: RunOptions['model'] = async (messages, { json = false, tools, signal }) => {
    asked.push({ messages: messages.slice(), json, tools: tools.length })
    const say = p.says[turn++]
    if (say === 'hang') return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    if (say === 'fail' || say === undefined) throw new Error(`the provider refuses ${modelKey}`)
    if (say.startsWith('cut:')) return { text: say.slice('cut:'.length), incomplete: 'length' }
    return say
  }
  const replies = p.replies?.slice() ?? []
  for (let i = 0; i < (p.times ?? 1); i++) {
    const ends = new AbortController()
    try {
      const run = lib.run({
        prompt: 'Liability of carriers',
        ...(p.prepare === 'view' ? { view } : { registry }),
        model,
        signal: ends.signal,
        roles: { list: 'list_databases', search: ['search_with_progress', 'search'], link: 'build_search_url' },
        ...p.options,
      })
      metrics = run.metrics
      for await (const event of run) {
        events.push(event)
        if (event.type === p.abortAt) ends.abort()
        if (event.type === 'clarify' && replies.length) run.reply(replies.shift()!)
      }
    } catch (e) {
      thrown.push(String((e as { code?: string }).code ?? e))
    }
  }
  await registry.close()
  return { events, asked, metrics: JSON.parse(JSON.stringify(metrics ?? {})) as RunMetrics, thrown }
}

let browser: Browser, site: Listening, law: LawServer, wild: LawServer, page: Page & { faults: string[] }
before(async () => {
  ;[browser, site, law, wild] = await Promise.all([
    launchChromium(),
    servePackage(),
    lawServer(),
    lawServer({ readOnly: false }),
  ])
  page = await openPage(browser, site.url, /status of 503|ERR_/)
})
after(async () => {
  await browser?.close()
  await Promise.all([site, law, wild].map((s) => s?.close()))
})
afterEach(() => {
  law.reset()
  wild.reset()
})

const realms: Record<string, (p: Play) => Promise<Played>> = {
  Node: async (p) => {
    const [{ createRegistry }, { run }] = await Promise.all([
      import(`${root}dist/npm/index.js`),
      import(`${root}dist/npm/run.js`),
    ]) as [Library, Library]
    return play({ createRegistry, run }, p)
  },
  Chromium: (p) =>
    page.evaluate(
      `(async () => {
        const [{ createRegistry }, { run }] = await Promise.all([import('/index.js'), import('/run.js')])
        return (${play.toString()})({ createRegistry, run }, ${JSON.stringify(p)})
      })()`,
    ),
}

/** Runs a test in each realm, and that its row says so. */
const row = (name: string, body: (run: (p: Partial<Play>) => Promise<Played>) => Promise<void>) => {
  for (const [realm, run] of Object.entries(realms))
    test(`${name} (${realm})`, () => body((p) => run({ url: law.url, says: [], ...p })))
}

/** Runs tests that wait in each realm, all side by side: each has servers of its own. */
const waits = (
  rows: Record<string, (run: (p: Partial<Play>) => Promise<Played>, law: LawServer, wild: LawServer) => Promise<void>>,
) =>
  test('O8 and O9, side by side', { concurrency: true }, async (t) => {
    const each = Object.entries(rows).flatMap(([name, body]) =>
      Object.entries(realms).map(([realm, run]) =>
        t.test(`${name} (${realm})`, async (t) => {
          const [law, wild] = await Promise.all([lawServer(), lawServer({ readOnly: false })])
          t.after(() => Promise.all([law.close(), wild.close()]))
          await body((p) => run({ url: law.url, says: [], ...p }), law, wild)
        })
      )
    )
    await Promise.all(each)
  })

const plan = (databases = ['au/cases/cth/HCA'], more = {}) =>
  JSON.stringify({ query: 'carrier liability', databases, ...more })
const summary = (links = [caseUrl(1)], words = 'Carriers are liable.') =>
  `## Summary\n${words}\n## Key Cases\n${links.map((url) => `- [A case](${url})`).join('\n')}\n## Notes\nLook further.`
const shareUrl = 'https://law.example/search?q=carrier%20liability'

/** All events of a run. */
async function read(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of run) events.push(event)
  return events
}

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>
const all = <T extends RunEvent['type']>({ events }: Played, type: T) =>
  events.filter((e) => e.type === type) as Of<T>[]
const one = <T extends RunEvent['type']>(played: Played, type: T): Of<T> => {
  const [event, ...more] = all(played, type)
  assert.ok(event && !more.length, `one ${type} in ${JSON.stringify(played.events)}`)
  return event
}
const stagesOf = ({ events }: Played) => [
  ...new Set(events.map((e) => e.type === 'progress' ? e.stage : e.type)),
]

row('O1: over streamable HTTP after a handshake, only the tools of the roles are called', async (run) => {
  const played = await run({ says: [plan(), summary()] })
  assert.deepEqual(stagesOf(played), ['health', 'plan', 'search', 'results_preview', 'summarise', 'answer'])
  assert.deepEqual([...law.calls].sort(), ['build_search_url', 'list_databases', 'search_with_progress'])
  assert.ok(law.requests.some(({ body }) => body.includes('"method":"initialize"')))
  const calls = law.requests.filter(({ body }) => body.includes('tools/call'))
  for (const { headers } of calls) {
    assert.match(headers['accept']!, /application\/json.*text\/event-stream/)
    assert.ok(headers['mcp-session-id'])
  }
  assert.deepEqual(law.searched, { query: 'carrier liability', databases: ['au/cases/cth/HCA'] })
  assert.equal(played.metrics.toolCalls, 3)
})

row('O1: roles may have the names for models, and a view may stand for the registry', async (run) => {
  const roles = { list: 'law__list_databases', search: 'law__search', link: 'law__build_search_url' }
  for (const prepare of [undefined, 'view'] as const) {
    law.reset()
    one(await run({ says: [plan(), summary()], prepare, options: { roles } }), 'answer')
    assert.deepEqual([...law.calls].sort(), ['build_search_url', 'list_databases', 'search'])
  }
  one(await run({ says: [plan(), summary()], prepare: 'view' }), 'answer')
  assert.equal(law.calls.at(-2) === 'search_with_progress' || law.calls.at(-1) === 'search_with_progress', true)
})

row('O2: progress is the server’s, and none is made up', async (run) => {
  const steps = (played: Played) => all(played, 'progress').filter((e) => e.stage === 'search' && e.message)
  let played = await run({ says: [plan(), summary()] })
  const said = steps(played)
  assert.ok(said.length)
  for (const { pct, message } of said) assert.equal(message, `Searched ${pct! / 25} of the courts`)
  assert.equal(said.at(-1)!.pct, 100)
  law.faults.noTotal = true
  played = await run({ says: [plan(), summary()] })
  assert.ok(steps(played).length && steps(played).every((e) => !('pct' in e)), 'without a total there is no per cent')
  law.faults.noProgressTool = 'unlisted'
  played = await run({ says: [plan(), summary()] })
  assert.deepEqual(all(played, 'progress').map(({ type: _, ...rest }) => rest), [
    { stage: 'health' },
    { stage: 'plan' },
    { stage: 'search' },
    { stage: 'summarise' },
  ])
})

row('O4: a plan is JSON and nothing else, is repaired once, and names listed sources only', async (run) => {
  const bad: Record<string, RegExp> = {
    'Here you are: {"query": "x"}': /no JSON/,
    [`\`\`\`json\n${plan()}\n\`\`\``]: /no JSON/,
    '[]': /no JSON object/,
    '{"query": "x"}': /lacks databases/,
    '{"query": "", "databases": ["au/cases"]}': /query has less/,
    '{"query": "x", "databases": []}': /databases has less/,
    '{"query": "x", "databases": "au/cases"}': /databases is no array/,
    '{"query": 7, "databases": ["au/cases"]}': /query is no string/,
    [plan(['au/cases/cth/NONE'])]: /not listed/,
    [plan(undefined, { run: 'rm' })]: /unknown member \\?"run/,
  }
  for (const [said, why] of Object.entries(bad)) {
    const played = await run({ says: [said, plan(), summary()] })
    one(played, 'answer')
    assert.match(played.asked[1]!.messages.at(-1)!.content, why)
    assert.ok(played.asked[0]!.json && played.asked[1]!.json && !played.asked[2]!.json)
    assert.ok(played.asked.every(({ tools }) => !tools))
  }
  law.reset()
  const played = await run({ says: ['no', plan(['nowhere']), summary()] })
  const { code, detail } = one(played, 'error')
  assert.deepEqual([code, detail], ['bad_plan', 'databases has "nowhere", which is not listed.'])
  assert.equal(played.asked.length, 2)
  assert.deepEqual(law.calls, ['list_databases'])
})

row('O4: more than five sources are cut to five, specific ones before masks', async (run) => {
  const names = ['au/cases', 'au/cases/cth', 'HCA', 'FCA', 'NSWCA', 'NSWSC', 'VSCA', 'QCA'].map((name) =>
    ({ HCA: 'au/cases/cth/HCA', FCA: 'au/cases/cth/FCA', NSWCA: 'au/cases/nsw/NSWCA' })[name] ??
      ({ NSWSC: 'au/cases/nsw/NSWSC', VSCA: 'au/cases/vic/VSCA', QCA: 'au/cases/qld/QCA' })[name] ?? name
  )
  const played = await run({ says: [plan(names), summary()] })
  assert.deepEqual(law.searched!['databases'], names.slice(2, 7))
  assert.match(played.asked[0]!.messages[0]!.content, /au\/cases \(mask\): All Australian cases/)
  await run({ says: [plan(['au/cases', 'au/cases/cth/HCA']), summary()], options: { maxSources: 1 } })
  assert.deepEqual(law.searched!['databases'], ['au/cases/cth/HCA'])
})

row('O4: a schema of the host’s own says what a plan is', async (run) => {
  const schema = {
    type: 'object',
    properties: { query: { type: 'string' }, databases: { enum: ['all'] }, year: { type: 'integer', minimum: 1900 } },
    required: ['query', 'year'],
  }
  const options = { schema, roles: { search: 'search' } }
  const says = ['{"query": "x", "year": 1.5}', '{"query": "x", "databases": "all", "year": 1999}', summary()]
  const played = await run({ says, options })
  one(played, 'answer')
  assert.match(played.asked[1]!.messages.at(-1)!.content, /year is no integer/)
  assert.deepEqual(law.searched, { query: 'x', databases: 'all' }, 'the tool has no parameter for a year')
})

row('O5: one question, whose reply restarts the plan; a second ambiguity goes on', async (run) => {
  const asks = plan(['au/cases'], { clarify: 'By sea or by air?' })
  let played = await run({ says: [asks, plan(), summary()], replies: ['By sea'] })
  assert.equal(one(played, 'clarify').question, 'By sea or by air?')
  assert.deepEqual(played.asked[1]!.messages.slice(1).map(({ role, content }) => [role, content]), [
    ['user', 'Liability of carriers'],
    ['assistant', 'By sea or by air?'],
    ['user', 'By sea'],
  ])
  assert.match(played.asked[1]!.messages[0]!.content, /Do not ask/)
  assert.equal(played.metrics.clarifications, 1)
  played = await run({ says: [asks, plan(undefined, { clarify: 'Which sea?' }), summary()], replies: ['By sea'] })
  one(played, 'clarify')
  one(played, 'answer')
  played = await run({
    says: ['{"clarify": "Which?"}', '{"clarify": "Which sea?"}', plan(), summary()],
    replies: ['By sea'],
  })
  one(played, 'clarify')
  one(played, 'answer')
  played = await run({
    says: [plan(), summary()],
    options: { answered: { question: 'By sea or by air?', reply: 'By air' } },
  })
  assert.equal(all(played, 'clarify').length, 0)
  assert.equal(played.asked[0]!.messages.at(-1)!.content, 'By air')
})

row('O5: a person who leaves at the question ends the run', async (run) => {
  const asks = plan(['au/cases'], { clarify: 'By sea or by air?' })
  const played = await run({ says: [asks], abortAt: 'clarify' })
  assert.equal(one(played, 'error').code, 'aborted')
  assert.equal(played.asked.length, 1)
})

row('O6: the preview is capped, each address is there once, the total and the address are kept', async (run) => {
  let played = await run({ says: [plan(), summary()] })
  let preview = one(played, 'results_preview')
  assert.equal(preview.items.length, 10)
  assert.equal(preview.total, found.total)
  assert.deepEqual(preview.items[0], {
    title: 'Carrier v Harbour Trust (No 1)',
    url: caseUrl(1),
    metadata: { court: 'High Court of Australia', year: 2001 },
  })
  assert.equal(one(played, 'answer').url, shareUrl)
  law.faults.duplicates = true
  played = await run({ says: [plan(), summary()], options: { preview: 50 } })
  preview = one(played, 'results_preview')
  assert.deepEqual(preview.items.map(({ url }) => url), Array.from({ length: 25 }, (_, i) => caseUrl(i + 1)))
  assert.equal(preview.total, 25)
  assert.deepEqual([played.metrics.results, played.metrics.listed], [25, 75])
  for (const says of [[plan(), 'fail'], [plan(), ''], [plan(), `cut:${summary()}`]]) { // no summary
    played = await run({ says })
    const { markdown, url, partial } = one(played, 'answer')
    assert.equal(partial, true)
    assert.equal(url, shareUrl)
    assert.ok(markdown.endsWith(`<${shareUrl}>`))
    assert.ok(
      markdown.includes(`- [Carrier v Harbour Trust \\(No 10\\)](${caseUrl(10)})`) || markdown.includes(caseUrl(10)),
    )
    assert.doesNotMatch(markdown, /key-of-the-model/)
  }
})

row('O6: without a tool that makes the address, the answer has the next best one', async (run) => {
  const options = { roles: { search: 'search' } }
  const address = async (p: Partial<Play>) => {
    const { url, markdown } = one(await run({ says: ['{"query": "carriers"}', summary()], options, ...p }), 'answer')
    assert.ok(!url || markdown.endsWith(`<${url}>`))
    return url
  }
  assert.equal(await address({}), caseUrl(1))
  law.faults.namesAddress = true
  assert.equal(await address({}), 'https://law.example/s/7')
  assert.equal(await address({ options: {}, says: [plan(), summary()] }), shareUrl)
  Object.assign(law.faults, { namesAddress: false, empty: true })
  assert.equal(await address({}), `${new URL(law.url).origin}/`)
  assert.equal(await address({ prepare: 'view' }), '')
})

row('O7: the answer has its sections, a short summary, and no link that is not in the results', async (run) => {
  law.faults.foreignLinks = true
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ')
  const links = [caseUrl(1), `${caseUrl(2)}#para`, 'https://elsewhere.example/1', 'javascript:alert(1)', caseUrl(25)]
  const written = `${summary(links, words)}
Bare https://elsewhere.example/bare and <https://elsewhere.example/auto>, www.elsewhere.example, ![x](https://elsewhere.example/pixel.png),
htt[](https://elsewhere.example/a)ps://elsewhere.example/joined <img src=x onerror=alert(1)> [ref][1] mail@elsewhere.example
[1]: https://elsewhere.example/ref`
  const played = await run({ says: [plan(), written] })
  const { markdown, removedLinks } = one(played, 'answer')
  assert.deepEqual(markdown.match(/^## .*/gm), ['## Summary', '## Key Cases', '## Notes'])
  const text = markdown.slice('## Summary'.length, markdown.indexOf('## Key Cases'))
  assert.equal(text.match(/\S+/g)!.length, 120)
  assert.doesNotMatch(markdown, /elsewhere|javascript|<img|onerror/)
  assert.deepEqual([...markdown.matchAll(/\]\(([^)]*)\)/g)].map(([, url]) => url), [caseUrl(1), caseUrl(2)])
  // Three of the list, because number 25 is beyond the preview, and eight others, each of its own kind.
  assert.equal(removedLinks, 11)
  assert.equal(played.metrics.removedLinks, 11)
  assert.ok(markdown.endsWith(`<${shareUrl}>`))
  const given = played.asked.at(-1)!.messages.at(-1)!.content
  assert.ok(given.includes(caseUrl(10)) && !given.includes(caseUrl(11)), 'the model gets the preview')
  const none = one(await run({ says: [plan(), '## Summary\nCarriers are liable.'] }), 'answer')
  assert.ok(none.markdown.includes(`](${caseUrl(1)})`), 'without key cases, they are the first results')
})

waits({
  'O8: a server that does not answer ends the run before the model is asked': async (run, law) => {
    for (const fault of ['unhealthy', 'silent'] as const) {
      law.reset()
      law.faults[fault] = true
      const began = Date.now()
      const played = await run({ says: [plan(), summary()], options: {} })
      const { code, detail, hint } = one(played, 'error')
      assert.equal(code, 'unhealthy')
      assert.ok(detail && hint, JSON.stringify({ detail, hint }))
      assert.equal(played.asked.length, 0)
      assert.deepEqual(law.calls, [])
      assert.ok(Date.now() - began < 30_000)
    }
    law.reset()
    const gone = await run({ says: [plan()], prepare: 'remove' })
    assert.equal(one(gone, 'error').code, 'unhealthy')
    assert.match(one(gone, 'error').detail!, /search_with_progress or search/)
    const lacking = await run({ says: [plan()], options: { roles: { search: 'search', link: 'no_such_tool' } } })
    assert.match(one(lacking, 'error').detail!, /no_such_tool/)
  },

  'O9: a tool that only reads is tried three times, another one once': async (run, law, wild) => {
    law.faults.failures = 2
    const played = await run({ says: [plan(), summary()] })
    one(played, 'answer')
    assert.equal(played.metrics.retries, 2)
    law.reset()
    law.faults.failures = 9
    const failed = one(await run({ says: [plan(), summary()] }), 'error')
    assert.equal(failed.code, 'search_failed')
    assert.ok(failed.detail && failed.hint)
    assert.equal(law.calls.filter((name) => name === '503').length, 3)
    wild.faults.failures = 1
    assert.equal(one(await run({ url: wild.url, says: [plan(), summary()] }), 'error').code, 'search_failed')
    law.reset()
    law.faults.broken = true
    const broken = one(await run({ says: [plan(), summary()] }), 'error')
    assert.equal(broken.code, 'search_failed')
    assert.match(broken.detail!, /The index is being rebuilt/)
    const silent = one(await run({ says: ['fail'] }), 'error')
    assert.deepEqual(silent, { type: 'error', code: 'model_failed' }, 'what the model threw may have its key')
  },

  'O9: the time of a run ends it: with what was found, or as an error': async (run, law) => {
    law.faults.slow = true
    const late = one(await run({ says: [plan(), summary()], options: { timeoutMs: 1500 } }), 'error')
    assert.equal(late.code, 'timeout')
    law.reset()
    const played = await run({ says: [plan(), 'hang'], options: { timeoutMs: 5000 } })
    const { partial, markdown, url } = one(played, 'answer')
    assert.equal(partial, true)
    assert.equal(url, shareUrl)
    assert.ok(markdown.includes(caseUrl(10)))
  },

  'O9: one signal ends the call on the server too': async (run, law) => {
    law.faults.slow = true
    const waiting = law.waits()
    const played = run({ says: [plan(), summary()], options: { timeoutMs: 5000 } })
    await Promise.race([waiting, played])
    assert.equal(one(await played, 'error').code, 'timeout')
    await happens(() => law.cancelled === 1)
    law.reset()
    assert.equal(one(await run({ says: [plan(), summary()], abortAt: 'results_preview' }), 'error').code, 'aborted')
  },
})

test('O8: the servers of all roles are looked at, and no other one', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const silent = await lawServer()
  t.after(() => silent.close())
  silent.faults.silent = true
  const servers = { law: { url: law.url }, silent: { url: silent.url }, wild: { url: wild.url } }
  const registry = await createRegistry({ storage: 'memory', servers })
  t.after(() => registry.close())
  let asked = 0
  const model = (_: unknown, { json }: { json?: boolean }) => {
    asked++
    return json ? plan() : summary()
  }
  const last = async (roles: RunOptions['roles']) =>
    (await read(run({ prompt: 'x', registry, roles, model, cache: false }))).at(-1)!
  const list = 'law__list_databases'
  assert.equal((await last({ list, search: 'law__search' })).type, 'answer', 'a server without a role may be silent')
  await registry.discover(['wild'])
  wild.faults.unhealthy = true
  asked = 0
  const event = await last({ list, search: 'wild__search', link: 'law__build_search_url' })
  assert.ok(event.type === 'error' && event.code === 'unhealthy' && event.hint, JSON.stringify(event))
  assert.equal(asked, 0)
})

row('O9: a search falls back where the server lacks the tool with progress', async (run) => {
  for (const how of ['unlisted', 'unknown', 'method'] as const) {
    law.reset()
    law.faults.noProgressTool = how
    one(await run({ says: [plan(), summary()] }), 'answer')
    assert.equal(law.calls.filter((name) => name === 'search').length, 1, how)
  }
})

test('O9: through a view too, a call is tried three times in all', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const retry = { attempts: 3 }
  const registry = await createRegistry({
    storage: 'memory',
    servers: { law: { url: law.url, trust: 'trust', retry } },
  })
  t.after(() => registry.close())
  await registry.discover()
  law.faults.failures = 20
  const view = registry.view({})
  const events = await read(
    run({ prompt: 'x', view, model: () => '{"query": "x"}', roles: { search: 'search' } }),
  )
  const end = events.at(-1)!
  assert.ok(end.type === 'error' && end.code === 'search_failed', JSON.stringify(end))
  assert.equal(law.calls.filter((name) => name === '503').length, 1)
  law.reset()
  law.faults.failures = 20
  await read(
    run({ prompt: 'x', registry, view, model: () => '{"query": "x"}', roles: { search: 'search' } }),
  )
  assert.equal(law.calls.filter((name) => name === '503').length, 3)
})

row('O10: a quota bounds the runs of a day, and answers say how many are left', async (run) => {
  const key = `ada-${Math.random()}` // a new one for each realm
  const played = await run({
    times: 3,
    says: [plan(), summary(), plan(), summary()],
    options: { quota: { key, perDay: 2 } },
  })
  assert.deepEqual(all(played, 'answer').map(({ remaining }) => remaining), [1, 0])
  const { code, resetsAt } = one(played, 'error')
  assert.equal(code, 'quota')
  assert.ok(resetsAt! > Date.now() && resetsAt! <= Date.now() + 86_400_000 && resetsAt! % 86_400_000 === 0)
  assert.equal(played.asked.length, 4, 'the model is not asked for it')
})

row('O11: the same plan is searched once, and sources are listed once', async (run) => {
  const played = await run({ times: 2, says: [plan(), summary(), plan(), summary()] })
  assert.equal(all(played, 'answer').length, 2)
  const count = (name: string) => law.calls.filter((n) => n === name).length
  assert.deepEqual([count('list_databases'), count('search_with_progress')], [1, 1])
  assert.equal(played.metrics.cacheHits, 2)
  law.reset()
  await run({ times: 2, says: [plan(), summary(), plan(), summary()], options: { cache: false } })
  assert.deepEqual([count('list_databases'), count('search_with_progress')], [2, 2])
})

test('O11: what one connection has answered is no answer of another', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const server = { url: law.url, transport: 'streamable-http' } as const
  const registry = await createRegistry({ storage: 'memory', servers: { law: server, other: { url: wild.url } } })
  t.after(() => registry.close())
  await registry.discover()
  // Most tools are those of the other server, and the search is not.
  const roles = { list: 'other__list_databases', search: 'law__search', link: 'other__build_search_url' }
  const once = async () => {
    const says = [plan(), summary()]
    for await (const e of run({ prompt: 'x', registry, roles, model: () => says.shift()! }))
      assert.notEqual(e.type, 'error')
    return law.calls.filter((n) => n === 'search').length
  }
  assert.deepEqual([await once(), await once()], [1, 1])
  await registry.removeServer('law')
  await registry.addServer('law', { ...server, headers: { 'X-User': 'another' } })
  await registry.discover()
  assert.deepEqual([await once(), await once()], [2, 2])
})

test('O11: results are kept for five minutes, sources for an hour', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const registry = await createRegistry({ storage: 'memory', servers: { law: { url: law.url } } })
  t.after(() => registry.close())
  const roles = { list: 'list_databases', search: 'search' }
  const once = async () => {
    const says = [plan(), summary()]
    for await (const e of run({ prompt: 'x', registry, roles, model: () => says.shift()! }))
      assert.notEqual(e.type, 'error')
  }
  const count = (name: string) => law.calls.filter((n) => n === name).length
  await once()
  const at = Date.now()
  let later = 0
  t.mock.method(Date, 'now', () => at + later)
  for (const [minutes, lists, searches] of [[4, 1, 1], [6, 1, 2], [59, 1, 3], [61, 2, 3]] as const) {
    later = minutes * 60_000
    await once()
    assert.deepEqual([count('list_databases'), count('search')], [lists, searches], `${minutes} min`)
  }
})

test('the results of a search may stand behind other lists', async () => {
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const results = [{ title: 'Carrier v Harbour Trust', url: caseUrl(1) }]
  const previews = []
  for (const structuredContent of [{ results }, { databases: ['HCA', 'FCA'], warnings: [], results }]) {
    const view = {
      getTools: () => [{ type: 'function', function: { name: 'law__search', parameters: {} } }],
      has: () => true,
      call: async () => ({ content: [], text: '', structuredContent }),
    } as unknown as NonNullable<RunOptions['view']>
    const model: RunOptions['model'] = (_, { json }) => json ? '{"query":"carriers"}' : '## Summary\nLiable.'
    for await (const event of run({ prompt: 'Carriers', view, model, roles: { search: 'search' } }))
      if (event.type === 'results_preview') previews.push(event.items)
  }
  assert.deepEqual(previews, [results, results])
})

for (const [what, found] of Object.entries({ results: [{ title: 'Carrier', url: caseUrl(1) }], nothing: [] }))
  test(`a tool of the role link that hangs keeps an answer of ${what} for 2 s only`, async (t) => {
    const { run } = await import(`${root}dist/npm/run.js`) as Library
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let left: AbortSignal | undefined
    const view = {
      getTools: () =>
        ['law__search', 'law__link'].map((name) => ({ type: 'function', function: { name, parameters: {} } })),
      has: () => true,
      call: async (name: string, _: unknown, { signal }: { signal: AbortSignal }) => {
        if (name === 'law__search') return { content: [], text: '', structuredContent: { found } }
        left = signal
        return new Promise(() => {})
      },
    } as unknown as NonNullable<RunOptions['view']>
    const model: RunOptions['model'] = (_, { json }) => json ? '{"query":"carriers"}' : summary()
    const events: RunEvent[] = []
    const reading = (async () => {
      for await (const e of run({ prompt: 'Carriers', view, model, roles: { search: 'search', link: 'link' } }))
        events.push(e)
    })()
    const settled = () => new Promise((resolve) => setImmediate(resolve))
    const stage = () => events.findLast((e) => e.type === 'progress')?.stage
    while (stage() !== 'summarise') await settled()
    await settled()
    t.mock.timers.tick(2000)
    await settled()
    const answer = events.at(-1)!
    t.mock.timers.tick(60_000)
    await reading
    assert.ok(answer.type === 'answer', JSON.stringify(answer))
    assert.match(answer.markdown, found.length ? /Carriers are liable/ : /Nothing was found/)
    assert.ok(left!.aborted, 'the call has ended, too')
  })

test('a run leaves no listener at its signal when it has ended', async () => {
  const [{ createRegistry }, { run }] = await Promise.all([
    import(`${root}dist/npm/index.js`),
    import(`${root}dist/npm/run.js`),
  ]) as [Library, Library]
  const registry = await createRegistry({ storage: 'memory', servers: { law: { url: law.url } } })
  await registry.discover()
  const signals = new Set<AbortSignal>()
  const says = [plan(), summary()]
  const model: RunOptions['model'] = async (_, { signal }) => {
    signals.add(signal)
    return says.shift()!
  }
  const { signal } = new AbortController()
  const roles = { list: 'list_databases', search: ['search'], link: 'build_search_url' }
  for await (const event of run({ prompt: 'Liability of carriers', registry, model, signal, roles })) void event
  assert.ok(signals.size)
  for (const made of [...signals, signal]) assert.equal(getEventListeners(made, 'abort').length, 0)
  await registry.close()
})

test('O10: a store that hangs once does not keep later runs', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const registry = await createRegistry({ storage: 'memory', servers: { law: { url: law.url } } })
  t.after(() => registry.close())
  const kept = new Map<string, string>()
  let hangs = true
  const store = {
    get: (key: string) => hangs ? new Promise<null>(() => {}) : kept.get(key) ?? null,
    set: (key: string, value: string) => void kept.set(key, value),
    remove: (key: string) => void kept.delete(key),
  }
  const quota = { key: 'ada', perDay: 2, store }
  const model = (_: unknown, { json }: { json?: boolean }) => json ? plan() : summary()
  const last = async (timeoutMs?: number) =>
    (await read(
      run({ prompt: 'x', registry, model, quota, timeoutMs, roles: { search: 'search', list: 'list_databases' } }),
    ))
      .at(-1)!
  assert.equal((await last(500)).type, 'error')
  hangs = false
  const event = await last()
  assert.ok(event.type === 'answer' && event.remaining === 1, JSON.stringify(event))
})

test('O11: another endpoint under the same name is searched itself', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const registry = await createRegistry({ storage: 'memory', servers: { law: { url: law.url } } })
  t.after(() => registry.close())
  const model = (_: unknown, { json }: { json?: boolean }) => json ? plan() : summary()
  const once = () => read(run({ prompt: 'x', registry, model, roles: { search: 'search', list: 'list_databases' } }))
  await once()
  await registry.updateServer('law', { url: wild.url })
  await once()
  assert.deepEqual(wild.calls, ['list_databases', 'search'])
})

row('O12: the key of the model and the headers of the servers do not meet', async (run) => {
  const headers = { Authorization: 'Bearer key-of-the-server' }
  const played = await run({ headers, says: [plan(), 'fail'] })
  const calls = law.requests.filter(({ body }) => body.includes('tools/call'))
  assert.ok(calls.length && calls.every((r) => r.headers['authorization'] === 'Bearer key-of-the-server'))
  assert.doesNotMatch(JSON.stringify(law.requests), /key-of-the-model/)
  assert.doesNotMatch(JSON.stringify([played.asked, played.events, played.metrics]), /key-of-the-(server|model)/)
  assert.doesNotMatch(JSON.stringify(law.requests), /sampling|elicitation/, 'servers get no model')
})

row('O12: metrics are counts and times without texts', async (run) => {
  const { metrics } = await run({ says: [plan(), summary()] })
  const { ms, ...counts } = metrics
  for (const value of [...Object.values(counts), ...Object.values(ms)]) assert.equal(typeof value, 'number')
  assert.deepEqual(Object.keys(ms), ['health', 'plan', 'search', 'summarise'])
  assert.deepEqual([counts.modelCalls, counts.toolCalls, counts.results], [2, 3, 25])
})

row('O14: the server has one tool for each step, and the host puts them together', async (run) => {
  one(await run({ says: [plan(), summary()] }), 'answer')
  for (const { body } of law.requests.filter((r) => r.body.includes('tools/call'))) {
    const { params } = JSON.parse(body) as { params: { name: string; arguments: object } }
    assert.ok(['list_databases', 'search_with_progress', 'build_search_url'].includes(params.name), params.name)
    assert.doesNotMatch(JSON.stringify(params.arguments), /Liability of carriers/, 'the prompt stays with the host')
  }
})

test('hostile: what a model says is made a text, and a question takes one reply', async (t) => {
  const { createRegistry } = await import(`${root}dist/npm/index.js`) as Library
  const { run } = await import(`${root}dist/npm/run.js`) as Library
  const registry = await createRegistry({ storage: 'memory', servers: { law: { url: law.url } } })
  t.after(() => registry.close())
  const roles = { search: 'search', list: 'list_databases' }
  const play = (says: unknown[], quota?: RunOptions['quota']) =>
    run({ prompt: 'x', registry, roles, quota, model: () => says.shift() as string })
  const bad = (await read(play([{ text: 5 }, { text: {} }]))).at(-1)!
  assert.ok(bad.type === 'error' && bad.code === 'bad_plan', JSON.stringify(bad))
  assert.equal((await read(play([plan(), { text: ['## Summary\nYes.'] }]))).at(-1)!.type, 'answer')
  assert.throws(() => play([], { key: 'x', perDay: NaN }), { code: 'invalid_option' })
  for (const none of [undefined, null]) assert.throws(() => run(none as never), { code: 'invalid_option' })
  const asking = play(['{"clarify": "Which?"}', plan(), summary()])
  const taken: boolean[] = []
  for await (const event of asking)
    if (event.type === 'clarify') taken.push(asking.reply('this'), asking.reply('that'))
  assert.deepEqual(taken, [true, false])
})

row('hostile: wrong options throw, and long texts are bounded', async (run) => {
  for (
    const options of [
      { prompt: '' },
      { prompt: 'x'.repeat(4001) },
      { roles: { search: [] } },
      { timeoutMs: -1 },
      {
        maxSources: NaN,
      },
      { maxSource: 3 },
      { signal: {} },
    ] as Play['options'][]
  ) assert.deepEqual((await run({ options })).thrown, ['invalid_option'])
  const long = one(await run({ says: [plan(), `## Summary\n${'**'.repeat(50_000)}`] }), 'answer')
  assert.ok(long.markdown.length < 30_000)
  const deep = one(await run({ says: [plan(), `## Summary\n${'['.repeat(30_000)}${'](x)'.repeat(9000)}`] }), 'answer')
  assert.ok(deep.markdown.length < 60_000)
})
