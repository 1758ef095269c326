import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Activity, ApprovalRequest, Registry, RegistryError } from '../../wasm/js/shared/types.ts'
import { launchChromium, openPage, servePackage, startChromium, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Functions of the page in Chromium's own document.modelContext (WebMCP), listed and called by the browser's getTools,
// executeTool and its DevTools domain.

interface Listed {
  name: string
  title: string
  description: string
  inputSchema?: object
  annotations?: Record<string, boolean>
}
interface ModelContext extends EventTarget {
  registerTool(tool: object, options?: object): Promise<void>
  getTools(): Promise<Listed[]>
  executeTool(tool: Listed, args: object, options?: { signal?: AbortSignal }): Promise<string>
}
declare global {
  interface Document {
    readonly modelContext: ModelContext
  }
  /** The values that a test keeps in its page. */
  var published: {
    registry: Registry
    seen: string[]
    refused: [tool: string, code: string, message: string][]
    onRefused(error: RegistryError, tool: string): void
    names(): Promise<string[]>
    run(name: string, args: object, signal?: AbortSignal): Promise<unknown>
  }
}

let browser: Browser, site: Listening
before(async () => {
  ;[browser, site] = await Promise.all([startChromium(['--enable-features=WebMCP']), servePackage()])
})
after(async () => {
  await browser?.close()
  await site?.close()
})

/** Opens a page with a registry that has the tools `page__greet` and `page__add`. */
async function open(of: Browser = browser, url = site.url): Promise<Page & { faults: string[] }> {
  const page = await openPage(of, `${url}/`, /status of 400/)
  await page.evaluate(async (base) => {
    const { createRegistry } = await import(`${base}/index.js`) as typeof import('../../dist/npm/index.js')
    const registry = await createRegistry({ storage: 'memory', mode: 'main' })
    const refused: typeof published.refused = []
    globalThis.published = {
      registry,
      seen: [],
      refused,
      onRefused: (error, tool) => void refused.push([tool, error.code, error.message]),
      names: async () => (await document.modelContext.getTools()).map((t) => t.name).sort(),
      run: async (name, args, signal) => {
        const tool = (await document.modelContext.getTools()).find((t) => t.name === name)
        if (!tool) throw new Error(`the browser has no ${name}`)
        return JSON.parse(await document.modelContext.executeTool(tool, args, { signal }))
      },
    }
    await registry.addTools('page', [
      {
        name: 'greet',
        title: 'Greet',
        description: 'Greets a person.',
        inputSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
        annotations: { readOnlyHint: true },
        run: ({ who }) => ({ greeting: `Hello ${who}` }),
      },
      { name: 'add', run: () => 'added', annotations: { openWorldHint: true, destructiveHint: true } },
    ])
  }, url)
  return page
}

test('the browser lists the functions of the page, and its calls are calls of the registry', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { registry } = published
    const activities: Activity[] = []
    registry.observe((a) => activities.push(a), { contents: true })
    const stop = await registry.publishTools()
    const listed = (await document.modelContext.getTools()).map(
      ({ name, title, description, inputSchema, annotations }) => (
        { name, title, description, inputSchema, annotations }
      ),
    )
    const results = [
      await published.run('page__greet', { who: 'Ada' }),
      await published.run('page__add', {}),
      await published.run('page__greet', { who: 5 }),
    ]
    stop()
    const [begun, ended] = (['begin', 'end'] as const).map((phase) => activities.filter((a) => a.phase === phase))
    return {
      listed,
      results,
      after: await published.names(),
      calls: ended!.map((a, i) => [a.tool, a.outcome, begun![i]!.args]),
    }
  })
  const [add, greet] = got.listed
  assert.deepEqual(greet, {
    name: 'page__greet',
    title: 'Greet',
    description: 'Greets a person.',
    inputSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] },
    annotations: { readOnlyHint: true, untrustedContentHint: false, consequentialHint: false, debugging: false },
  })
  assert.equal(add!.description, 'add', 'the browser takes no empty description')
  assert.deepEqual(add!.annotations, {
    readOnlyHint: false,
    untrustedContentHint: true,
    consequentialHint: true,
    debugging: false,
  })
  assert.deepEqual(got.results, [
    { content: [{ type: 'text', text: '{"greeting":"Hello Ada"}' }], structuredContent: { greeting: 'Hello Ada' } },
    { content: [{ type: 'text', text: 'added' }] },
    {
      content: [{ type: 'text', text: 'invalid arguments: /who: want a string, not a number (invalid_arguments)' }],
      isError: true,
    },
  ])
  assert.deepEqual(got.calls, [
    ['page__greet', 'ok', '{"who":"Ada"}'],
    ['page__add', 'ok', '{}'],
    ['page__greet', 'error', '{"who":5}'],
  ])
  assert.deepEqual(got.after, [])
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('a person approves the calls of the browser as those of a model', async () => {
  const page = await open()
  const got = await page.evaluate(async (base) => {
    const { createRegistry } = await import(`${base}/index.js`) as typeof import('../../dist/npm/index.js')
    const asked: Partial<ApprovalRequest>[] = []
    const registry = await createRegistry({
      storage: 'memory',
      mode: 'main',
      onApprove: ({ name, args, annotations }) => {
        asked.push({ name, args, annotations })
        return asked.length === 1 ? 'once' : 'deny'
      },
    })
    await registry.addTools('own', [{ name: 'pay', annotations: { destructiveHint: true }, run: () => 'paid' }])
    await registry.publishTools(document)
    return { results: [await published.run('own__pay', {}), await published.run('own__pay', {})], asked }
  }, site.url)
  assert.deepEqual(got.asked[0], { name: 'own__pay', args: {}, annotations: { destructiveHint: true } })
  const [paid, denied] = got.results as { content: { text: string }[]; isError?: boolean }[]
  assert.equal(paid!.content[0]!.text, 'paid')
  assert.equal(denied!.isError, true)
  assert.match(denied!.content[0]!.text, /\(denied\)$/)
  assert.equal(got.asked.length, 2)
  await page.close()
})

test('tools that come, change, are switched off or go are followed, until they are taken back', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { registry } = published
    const steps: Record<string, string[]> = {}
    const step = async (name: string) => {
      await Promise.resolve() // listeners run in a microtask
      steps[name] = await published.names()
    }
    const stop = await registry.publishTools()
    await registry.addTools('page', [{ name: 'later', annotations: null as never, run: () => 'later' }])
    await step('added')
    await registry.addTools('page', [{ name: 'later', description: 'Better', run: () => 'again' }])
    await step('changed')
    const changed = (await document.modelContext.getTools()).find((t) => t.name === 'page__later')!.description
    const answer = await published.run('page__later', {})
    await registry.updateServer('page', { tools: { deny: ['add'] } })
    await step('denied')
    await registry.setEnabled('page', false)
    await step('off')
    await registry.setEnabled('page', true)
    await step('on')
    await registry.removeServer('page')
    await step('removed')
    await registry.addTools('other', [{ name: 'x', run: () => '' }])
    await step('another')
    stop()
    stop()
    await step('stopped')
    await registry.addTools('other', [{ name: 'y', run: () => '' }])
    await step('unfollowed')
    await registry.publishTools()
    await step('once more')
    await registry.close()
    await step('closed')
    await registry.publishTools()
    await step('after close')
    return { steps, changed, answer }
  })
  const all = ['page__add', 'page__greet', 'page__later']
  assert.deepEqual(got.steps, {
    added: all,
    changed: all,
    denied: ['page__greet', 'page__later'],
    off: [],
    on: ['page__greet', 'page__later'],
    removed: [],
    another: ['other__x'],
    stopped: [],
    unfollowed: [],
    'once more': ['other__x', 'other__y'],
    closed: [],
    'after close': [],
  })
  assert.equal(got.changed, 'Better')
  assert.deepEqual(got.answer, { content: [{ type: 'text', text: 'again' }] })
  assert.deepEqual(page.faults, [])
  await page.close()
})

test("the browser's abort ends the function, and so does the end of the publication", async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { registry, seen } = published
    const began = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    await registry.addTools('page', [{
      name: 'wait',
      run: (_, { signal }) => {
        began[calls++]!.resolve()
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            seen.push('aborted')
            reject(signal.reason)
          })
        )
      },
    }])
    const stop = await registry.publishTools()
    const control = new AbortController()
    const first = published.run('page__wait', {}, control.signal).catch((e: Error) => e.message)
    await began[0]!.promise
    control.abort(new Error('enough'))
    const outcomes = [await first]
    const second = published.run('page__wait', {}).catch((e: Error) => e.name)
    await began[1]!.promise
    stop()
    outcomes.push(await second)
    return { outcomes, seen }
  })
  assert.deepEqual(got, { outcomes: ['enough', 'UnknownError'], seen: ['aborted', 'aborted'] })
  await page.close()
})

test('tools of servers are not offered to the browser', async () => {
  const server = await sdkServer([{ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } }], {
    results: { ask: { content: [] } },
  })
  const page = await open()
  try {
    const got = await page.evaluate(async (url) => {
      const { registry } = published
      await registry.publishTools()
      await registry.addServer('ship', { url })
      await registry.discover()
      const refused = await registry.addTools('ship', [{ name: 'x', run: () => '' }]).catch((e: Error) => e.message)
      return { models: registry.has('ship__ask'), browser: await published.names(), refused }
    }, server.url)
    assert.deepEqual(got, {
      models: true,
      browser: ['page__add', 'page__greet'],
      refused: 'ship is an MCP server',
    })
  } finally {
    await page.close()
    await server.close()
  }
})

test('a name that the page has registered itself stays its own, and the other tools are offered', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const own = { name: 'page__add', description: 'the own one of the page', execute: async () => 'own' }
    await document.modelContext.registerTool(own)
    const stop = await published.registry.publishTools(document, published.onRefused)
    const names = await published.names()
    const late: string[] = []
    const second = await published.registry.publishTools(document, (_, tool) => late.push(tool))
    stop()
    const joined = await published.names()
    second()
    return { names, late, joined, after: await published.names(), refused: published.refused }
  })
  assert.deepEqual(got, {
    names: ['page__add', 'page__greet'],
    late: ['page__add'],
    joined: ['page__add', 'page__greet'],
    after: ['page__add'],
    refused: [['page__add', 'unsupported', 'the browser refused page__add: Duplicate tool name']],
  })
  await page.close()
})

test('two publications that overlap, as in an effect that runs twice, leave the tools of the last', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { registry, onRefused } = published
    const first = registry.publishTools(document, onRefused)
    const ended = first.then((stop) => stop())
    const second = registry.publishTools(document, onRefused)
    await ended
    const stop = await second
    const names = await published.names()
    stop()
    return { names, after: await published.names(), refused: published.refused }
  })
  assert.deepEqual(got, { names: ['page__add', 'page__greet'], after: [], refused: [] })
  await page.close()
})

test('a name that another registry has taken back is offered, and is refused once', async () => {
  const page = await open()
  const got = await page.evaluate(async (base) => {
    const { createRegistry } = await import(`${base}/index.js`) as typeof import('../../dist/npm/index.js')
    const { registry, names, refused, onRefused, run } = published
    await registry.publishTools()
    const second = await createRegistry({ storage: 'memory', mode: 'main' })
    await second.addTools('page', [{ name: 'add', run: () => 'of the second' }])
    const stop = await second.publishTools(document, onRefused)
    await registry.addTools('page', [{ name: 'other', run: () => '' }])
    const both = await names()
    const freed = new Promise((resolve) => document.modelContext.addEventListener('toolchange', resolve))
    await registry.close()
    await freed
    const result = { both, after: await names(), text: await run('page__add', {}), refused: [...refused] }
    stop()
    return { ...result, left: await names() }
  }, site.url)
  assert.deepEqual(got, {
    both: ['page__add', 'page__greet', 'page__other'],
    after: ['page__add'],
    text: { content: [{ type: 'text', text: 'of the second' }] },
    refused: [['page__add', 'unsupported', 'the browser refused page__add: Duplicate tool name']],
    left: [],
  })
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('tools of a frame go with it, and what ends them later does no harm', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { registry, onRefused } = published
    const framed = async () => {
      const frame = document.createElement('iframe')
      document.body.append(frame)
      const stop = await registry.publishTools(frame.contentDocument!, onRefused)
      return { frame, stop }
    }
    const frames = [await framed(), await framed(), await framed()]
    const [removed, gone] = frames
    removed!.frame.remove()
    removed!.stop()
    gone!.frame.src = '/elsewhere'
    await new Promise((resolve) => (gone!.frame.onload = resolve))
    gone!.stop()
    const stop = await registry.publishTools(document.implementation.createHTMLDocument())
    stop()
    const offered = await published.names()
    await registry.removeServer('page')
    frames[2]!.frame.remove()
    await registry.close()
    return { offered, left: await published.names(), refused: published.refused }
  })
  assert.deepEqual(got, { offered: ['page__add', 'page__greet'], left: [], refused: [] })
  assert.equal(await page.evaluate(() => document.title), 'tab', 'the page is not crashed')
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('a permissions policy that forbids tools refuses each one', async () => {
  const closed = await servePackage({ 'permissions-policy': 'tools=()' })
  const page = await open(browser, closed.url)
  const got = await page.evaluate(async () => {
    await published.registry.publishTools(document, published.onRefused)
    await document.modelContext.registerTool({ name: 'x', description: 'x', execute: async () => '' }).catch(() => {})
    return { refused: published.refused, text: await published.registry.dispatch('page__add', {}) }
  })
  assert.deepEqual(got.refused.map(([tool, code]) => [tool, code]), [
    ['page__greet', 'unsupported'],
    ['page__add', 'unsupported'],
  ])
  assert.equal(got.text, 'added', 'the registry has its tools')
  await page.close()
  await closed.close()
})

test('DevTools call a published tool, too', async () => {
  const page = await open()
  await page.evaluate(() => published.registry.publishTools())
  const session = await page.context().newCDPSession(page)
  const devtools = session as unknown as {
    send(method: string, params?: object): Promise<{ invocationId: string; frameTree: { frame: { id: string } } }>
    once(event: string, listener: (e: { status: string; output: unknown }) => void): void
  }
  await devtools.send('WebMCP.enable')
  const { frameTree: { frame } } = await devtools.send('Page.getFrameTree')
  const responded = new Promise<{ status: string; output: unknown }>((resolve) =>
    devtools.once('WebMCP.toolResponded', resolve)
  )
  await devtools.send('WebMCP.invokeTool', { frameId: frame.id, toolName: 'page__greet', input: { who: 'Grace' } })
  const { status, output } = await responded
  assert.equal(status, 'Completed')
  assert.match(JSON.stringify(output), /Hello Grace/)
  await page.close()
})

test('where the browser has no modelContext, nothing happens and nothing is loaded twice', async () => {
  const plain = await launchChromium()
  const page = await open(plain)
  const got = await page.evaluate(async () => {
    const stop = await published.registry.publishTools(document, published.onRefused)
    stop()
    return {
      has: 'modelContext' in document,
      refused: published.refused,
      text: await published.registry.dispatch('page__add', {}),
    }
  })
  assert.deepEqual(got, { has: false, refused: [], text: 'added' })
  assert.deepEqual(page.faults, [])
  await page.close()
  await plain.close()
})

// Scripts of the page that stand in the browser's place, or use it badly. Those above are the proof that it works.

/** The values of modelContext in a page. Each row: the value, and the outcome of publishing. */
const impostors: [name: string, make: string, outcome: object][] = [
  ['a getter that throws', 'Object.defineProperty({}, "modelContext", { get() { throw null } })', {
    code: 'unsupported',
  }],
  ['no registerTool', '({ modelContext: {} })', { code: 'unsupported' }],
  ['a registerTool that throws on read', '({ modelContext: { get registerTool() { throw 1n } } })', {
    code: 'unsupported',
  }],
  ['no document', 'null', { code: 'invalid_option' }],
  ['a text', '"document"', { code: 'invalid_option' }],
  ['registerTool throws nothing', '({ modelContext: { registerTool() { throw undefined } } })', { refused: 2 }],
  [
    'registerTool throws an error without text',
    `({ modelContext: { registerTool() {
    throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })
  } } })`,
    { refused: 2 },
  ],
  [
    'registerTool rejects with 10 MB',
    `({ modelContext: { async registerTool() {
    throw new Error('x'.repeat(10e6))
  } } })`,
    { refused: 2 },
  ],
  ['registerTool never answers', '({ modelContext: { registerTool: () => new Promise(() => {}) } })', { refused: 0 }],
  [
    'registerTool returns a thenable that throws',
    `({ modelContext: { registerTool: () => (
    { get then() { throw new Error('then') } }
  ) } })`,
    { refused: 2 },
  ],
  [
    'registerTool rejects each tool again and again',
    `({ modelContext: { registerTool: () => (
    { then(_, no) { for (let i = 0; i < 1000; i++) no(i) } }
  ) } })`,
    { refused: 2 },
  ],
  [
    'an element named modelContext',
    '(document.body.innerHTML = "<form name=modelContext></form>", document)',
    { code: 'unsupported' },
  ],
  [
    'a refused name that unregisterTool would take away',
    `({ modelContext: {
    registerTool() { throw new Error('Duplicate tool name') },
    unregisterTool(name) { document.title = name + ' was taken away' },
  } })`,
    { refused: 2 },
  ],
  [
    'unregisterTool throws',
    `({ modelContext: {
    registerTool() {}, unregisterTool() { throw new Error('no') }
  } })`,
    { refused: 0 },
  ],
]

test('a modelContext of the page that is hostile is bounded, and nothing is lost', async () => {
  const page = await open()
  for (const [name, make, outcome] of impostors) {
    const got = await page.evaluate(async (make) => {
      published.refused.length = 0
      const { registry } = published
      const outcome = await registry.publishTools((0, eval)(make) as object, published.onRefused).then(
        async (stop) => {
          await new Promise((resolve) => setTimeout(resolve)) // all microtasks
          stop()
          return { refused: published.refused.length }
        },
        (e: RegistryError) => ({ code: e.code }),
      )
      const longest = Math.max(0, ...published.refused.map(([, , message]) => message.length))
      return { outcome, longest, text: await registry.dispatch('page__add', {}) }
    }, make)
    assert.deepEqual(got.outcome, outcome, name)
    assert.ok(got.longest < 3000, name)
    assert.equal(got.text, 'added', name)
  }
  assert.equal(await page.title(), 'tab', 'a name that was refused is not ours to take away')
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('execute is called with what no browser gives, after the tool is gone, and by an older draft', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const tools = new Map<string, { execute(...args: unknown[]): Promise<unknown> }>()
    // An older draft: navigator.modelContext, no signal, unregisterTool.
    const older = {
      defaultView: {
        navigator: {
          modelContext: {
            registerTool: (tool: { name: string; execute(): Promise<unknown> }) => void tools.set(tool.name, tool),
            unregisterTool: (name: string) => void tools.delete(name),
          },
        },
      },
    }
    const stop = await published.registry.publishTools(older)
    const offered = [...tools.keys()].sort()
    const { execute } = tools.get('page__greet')!
    const cyclic: Record<string, unknown> = { who: 'x' }
    cyclic.self = cyclic
    const throwing = {
      get who() {
        throw new Error('a getter')
      },
    }
    const outcomes: unknown[] = []
    for (const args of [cyclic, throwing, [1], 5, 'no json', '{"who":"text"}', null, { who: 'x', n: 1n }])
      outcomes.push(await execute(args))
    const context = {
      get signal() {
        throw new Error('a signal')
      },
    }
    outcomes.push(await execute({ who: 'x' }, context).catch((e: Error) => e.message))
    outcomes.push(await execute({ who: 'Alan' }, { signal: 'none', requestUserInteraction() {} }))
    await published.registry.removeServer('page')
    const gone = await execute({ who: 'x' })
    const left = [...tools.keys()]
    stop()
    const over = await execute({ who: 'x' }).catch((e: Error) => e.name)
    return { offered, texts: outcomes.map((o) => JSON.stringify(o)), gone, left, over }
  })
  assert.deepEqual(got.offered, ['page__add', 'page__greet'])
  const code = (text: string) => /\((\w+)\)"\}\],"isError":true/.exec(text)?.[1] ?? text
  const refused = Array.from({ length: 5 }, () => 'invalid_arguments')
  assert.deepEqual(got.texts.slice(0, 5).map(code), refused)
  assert.match(got.texts[5]!, /Hello text/)
  assert.deepEqual(got.texts.slice(6, 8).map(code), ['invalid_arguments', 'invalid_arguments'])
  assert.equal(got.texts[8], '"a signal"')
  assert.match(got.texts[9]!, /Hello Alan/)
  assert.deepEqual(got.gone, {
    content: [{ type: 'text', text: 'page__greet was removed (unknown_tool)' }],
    isError: true,
  })
  assert.deepEqual([got.left, got.over], [[], 'RegistryError'])
  await page.close()
})
