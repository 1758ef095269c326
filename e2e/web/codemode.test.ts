import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser, type Page } from 'playwright-core'
import { createRegistry } from '../../dist/npm/index.js'
import { frameDigest, frameDocument } from '../../wasm/js/page/models/codeframe.ts'
import type { DispatchOptions, Registry } from '../../wasm/js/shared/types.ts'
import { soakEngines } from '../rig/engines.ts'
import { chromiumFlags, quickChromium } from '../rig/flags.ts'
import { happens, launchChromium, listen, openPage, root, servePackage, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { blocksOf } from '../rig/snippets.ts'

// Code of a model, in Chromium, over a real MCP server.

declare global {
  interface Window {
    r: Registry
    seen: unknown[]
    held: (() => void)[]
    run(code: string, options?: DispatchOptions, on?: Pick<Registry, 'dispatch'>): Promise<Ran>
  }
}

interface Ran {
  isError?: boolean
  text?: string
  code?: string
  message?: string
  hint?: string
  /** The frames of the page afterwards. */
  frames: number
}

const object = { type: 'object', properties: {} }
const served = [
  { name: 'ask', description: 'Asks a question.', inputSchema: object },
  {
    name: 'depth',
    description: 'The depth of the water, in metres.',
    inputSchema: { type: 'object', required: ['place'], properties: { place: { type: 'string' } } },
    outputSchema: { type: 'object', required: ['metres'], properties: { metres: { type: 'number' } } },
  },
  { name: 'broken', description: 'Fails.', inputSchema: object },
  { name: 'say-hello', description: 'Greets.', inputSchema: object },
]
const results = {
  depth: { content: [{ type: 'text', text: '{"metres":4.5}' }], structuredContent: { metres: 4.5 } },
  broken: { content: [{ type: 'text', text: 'no wind' }], isError: true },
  'say-hello': { content: [{ type: 'text', text: 'hello' }] },
}

let browser: Browser
let site: Listening
let ship: Awaited<ReturnType<typeof sdkServer>>

before(async () => {
  ship = await sdkServer(served, { results })
  ;[browser, site] = await Promise.all([launchChromium(), servePackage()])
})
after(async () => {
  await browser?.close()
  await Promise.all([ship, site].map((s) => s?.close()))
})

/** A page with a registry of the server and the demo. */
const open = async (options = '', from = browser) =>
  furnish(await openPage(from, site.url, /status of 400|Content Security Policy/), options)

async function furnish<P extends Page>(page: P, options: string): Promise<P> {
  await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.seen = []
    window.r = await createRegistry({
      storage: 'memory',
      servers: { demo: { url: 'builtin:demo' }, ship: { url: '${ship.url}' } },
      ${options}
    })
    window.run = async (code, options, on = r) => {
      on.getTools({ codeMode: true })
      const ran = await on.call('portolan_run_code', { code }, options).then(
        ({ isError, text }) => ({ isError, text }),
        ({ code, message, hint }) => ({ code, message, hint }),
      )
      return { ...ran, frames: document.querySelectorAll('iframe').length }
    }
    await r.discover()
  })()`)
  return page
}

const run = (page: Page, code: string): Promise<Ran> => page.evaluate((code) => window.run(code), code)
const ok = (text: string) => ({ isError: false, text, frames: 0 })

const codeWorkers = (page: Page) => page.workers().filter((w) => w.url().startsWith('blob:null')).length

/** Waits until the page has no worker but its host's. */
const noCodeLeft = (page: Page) => happens(() => !codeWorkers(page))

const own = ['portolan_search_api', 'portolan_run_code']

test('P47: two tools stand in for those of servers, in every format', async () => {
  const page = await open()
  const early = await page.evaluate(() => window.r.call('portolan_run_code', { code: 'return 1' }).catch((e) => e.code))
  assert.equal(early, 'not_offered')
  assert.deepEqual(await page.evaluate(() => window.r.getTools({ codeMode: true }).map((t) => t.function.name)), own)
  const got = await page.evaluate((own) => {
    const { r } = window
    const fault = (options: object) => {
      try {
        r.getTools({ codeMode: true, ...options })
      } catch (e) {
        return (e as { code: string }).code
      }
    }
    return {
      anthropic: r.getTools({ codeMode: true, format: 'anthropic' }).map((t) => t.name),
      responses: r.getTools({ codeMode: true, format: 'openai-responses' }).map((t) => t.name),
      gemini: r.getTools({ codeMode: true, format: 'gemini' }).length,
      sdk: Object.keys(r.toolsFor('ai-sdk', { codeMode: true })),
      more: r.getTools({ codeMode: true, resources: true, readResult: true }).length,
      has: own.map((name) => r.has(name)),
      faults: [{ servers: ['ship'] }, { include: ['x'] }, { exclude: ['x'] }, { deferred: true }].map(fault),
    }
  }, own)
  assert.deepEqual(got, {
    anthropic: own,
    responses: own,
    gemini: 2,
    sdk: own,
    more: 5,
    has: [true, true],
    faults: Array(4).fill('invalid_option'),
  })
  await page.close()
})

test('P47: what a search declares compiles with a program, and the program runs', async () => {
  const page = await open()
  const search = (query: Record<string, unknown>) =>
    page.evaluate((q) => window.r.dispatch('portolan_search_api', q), query)
  const declared = await search({ query: 'how deep is the water' })
  assert.match(declared, /^ {2}ship: \{\n {4}\/\*\* The depth of the water, in metres\. \*\/\n {4}depth\(args: /m)
  assert.doesNotMatch(await search({ query: 'depth add numbers', server: 'demo' }), /ship/)
  assert.match(await search({ query: 'zzzzqq' }), /^No tool fits/)
  assert.match(await search({ query: 7 }), /Say what you look for/)
  const program = `const depths = await Promise.all(['bay', 'pier'].map((place) => tools.ship.depth({ place })))
let deepest = 0
for (const { metres } of depths) deepest = Math.max(deepest, metres)
`
  const dir = mkdtempSync(join(tmpdir(), 'portolan-codemode-'))
  try {
    writeFileSync(join(dir, 'good.ts'), `${declared}${program}export {}\n`)
    writeFileSync(join(dir, 'bad.ts'), `${declared}await tools.ship.depth({ plaice: 'bay' })\nexport {}\n`)
    const compile = (file: string) => {
      const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext', '--types', '']
      execFileSync(`${root}node_modules/.bin/tsc`, [...options, file], { cwd: dir, encoding: 'utf8', timeout: 60_000 })
    }
    compile('good.ts')
    assert.throws(() => compile('bad.ts'), { stdout: /plaice/ })
  } finally {
    rmSync(dir, { recursive: true })
  }
  assert.deepEqual(await run(page, `${program}return { deepest }`), ok('{"deepest":4.5}'))
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('P47: code has loops, calls side by side, logs and structured results', async () => {
  const page = await open()
  const cases: [code: string, text: string][] = [
    ['return await tools.demo.add({ a: 1, b: 2 })', '3'],
    ['let sum = 0\nfor (const b of [1, 2, 3]) sum += Number(await tools.demo.add({ a: sum, b }))\nreturn sum', '11'],
    ['return (await Promise.all([1, 2, 3].map((a) => tools.demo.add({ a, b: a })))).join()', '2,4,6'],
    ['return (await tools.ship.depth({ place: "bay" })).metres', '4.5'],
    ['return tools["ship"]["say-hello"]()', 'hello'],
    [
      'return [await tools.ship.ask === undefined, typeof tools.ship.ask, (await tools) === tools]',
      '[false,"function",true]',
    ],
    ['return new Map([["a", new Set([1])]])', '{"a":[1]}'],
    [
      'console.log(tools.ship, [tools])\nreturn { tools, ship: tools.ship }',
      'Logged:\n{} [{}]\n\nReturned:\n{"tools":{},"ship":{}}',
    ],
    ['', 'Give JavaScript in `code`.'],
    ['// nothing', 'The code returned nothing.'],
    ['return ""', 'The code returned an empty text.'],
    ['console.log("a", { b: 1 }, [undefined])\nconsole.warn(new Error("c"))', 'Logged:\na {"b":1} [null]\nError: c'],
    ['console.log(Object.groupBy([1n], () => "a"), 1n, Object.create(null))', 'Logged:\n[object] 1 {}'],
    [
      'console.log({ get message() { throw 1 } }, Object.assign(new Error, { toString() { throw 1 } }))',
      'Logged:\n[object Object] [object]',
    ],
    ['console.info(1)\nreturn 2', 'Logged:\n1\n\nReturned:\n2'],
    ['return "a\\u202eb\\u200bc"', 'abc'],
    ['return "a\\ud800b\\udc00"', 'a\ufffdb\ufffd'],
    ['console.log("a\\ud800b")', 'Logged:\na\ufffdb'],
    ['x = 5 // as in a script\nreturn x', '5'],
  ]
  for (const [code, text] of cases) assert.deepEqual(await run(page, code), { ...ok(text), isError: !code }, code)
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('P47: errors say the line and the column of the code', async () => {
  const page = await open('validate: true,')
  const cases: [code: string, text: RegExp | string][] = [
    [
      'const a = 1\n  return a.b.c',
      "TypeError: Cannot read properties of undefined (reading 'c')\nline 2, column 14: return a.b.c",
    ],
    ['const a = 1\nreturn a +* 2\n', "SyntaxError: Unexpected token '*'\nline 2, column 11: return a +* 2"],
    ['if (true) {\n  return 1', /^SyntaxError: .*\nline 2: return 1$/],
    ['return }) (', /^SyntaxError: .*\nline 1: return }\) \($/],
    ['\n\nawait tools.ship.broken()', 'Error: no wind\nline 3, column 18: await tools.ship.broken()'],
    ['const f = async () => {\n  await tools.ship.broken()\n}\nawait f()', /^Error: no wind\nline 2, column 20: /],
    ['await tools.demo.add({ a: 1n })', /^TypeError: .*BigInt.*\nline 1, column 18: /],
    ['await tools.ship.depth({})', /^Error: invalid arguments: .*place.* \(invalid_arguments\)\nline 1, /],
    [
      'await tools.ship.dept({})',
      /^Error: There is no tools\.ship\.dept\. The nearest are: tools\.ship\.depth.*Find tools with portolan_search_api\. \(unknown_tool\)\nline 1, /,
    ],
    [
      'await tools.ship["say-helo"]()',
      /There is no tools\.ship\["say-helo"\]\. The nearest are: tools\.ship\["say-hello"\]/,
    ],
    ['await tools.a.constructor.prototype', /^TypeError: .*\(reading 'prototype'\)|^The code returned nothing/],
    [
      'setTimeout(() => { throw new Error("late") })\nawait new Promise(() => {})',
      /^Error: late\nline 1, column (20|26): setTimeout\(\(\) => \{ throw new Error\("late"\) \}\)$/,
    ],
    ['const a = "\u2028"\rconst b = 1\r\nnull.x', /\nline 4, column 6: null\.x$/],
    ['throw "a text"', 'a text'],
    ['throw { get message() { throw 1 }, toString() { throw 2 } }', 'the error has no text'],
    ['return 1n', /^The returned value cannot be written as JSON\. TypeError: .*BigInt/],
    ['const a = {}; a.a = a; return a', /^The returned value cannot be written as JSON\. .*circular/],
    ['return () => 1', 'The returned value cannot be written as JSON. TypeError: a function is no JSON'],
    ['console.log("before")\nnull.x', /^Logged:\nbefore\n\nTypeError: .*\nline 2, column 6: null\.x$/],
  ]
  for (const [code, text] of cases) {
    const ran = await run(page, code)
    if (typeof text === 'string') assert.equal(ran.text, text, code)
    else assert.match(ran.text!, text, code)
    assert.ok(ran.frames === 0 && (ran.isError || /nothing/.test(ran.text!)), code)
  }
  assert.deepEqual(
    await run(page, 'try { await tools.ship.broken() } catch (e) { return e.message }\n'),
    ok('no wind'),
    'code may catch what a call throws',
  )
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('P47: each call of code passes the gate of a call by the model', async () => {
  const asked =
    `onApprove: ({ server, tool, args }) => (seen.push([server, tool, args]), tool === 'ask' ? 'deny' : 'once'),`
  const page = await open(asked)
  await page.evaluate(() =>
    void window.r.observe((a) => a.phase === 'end' && window.seen.push(a.server + ':' + a.tool))
  )
  assert.deepEqual(await run(page, 'return (await tools.ship.depth({ place: "bay" })).metres'), ok('4.5'))
  const denied = await run(page, 'try { await tools.ship.ask({ a: 1 }) } catch (e) { return e.code }')
  assert.deepEqual(denied, ok('denied'))
  const calls = ship.calls.filter((name) => name === 'ask')
  assert.deepEqual(calls, [], 'the server was not asked')
  assert.deepEqual(await page.evaluate(() => window.seen), [
    ['ship', 'depth', { place: 'bay' }],
    'ship:ship__depth',
    ':portolan_run_code',
    ['ship', 'ask', { a: 1 }],
    'ship:ship__ask',
    ':portolan_run_code',
  ])
  await page.close()
})

test("P47: a server's question, a secret and flags belong to the run", async () => {
  const page = await open(`secrets: 'block', onElicitation: ({ server, tool, callId }) => {
    seen.push([server, tool, callId])
    return { action: 'accept', content: { name: 'Ann' } }
  },`)
  const got = await page.evaluate(async () => {
    const { r, run, seen } = window
    const asked = await run('return tools.ship.ask({ message: "who?" })', { callId: 'call 7' })
    const key = `ghp_${'aB3dE5gH7j'.repeat(3)}k1M3n5`
    const code = `try { await tools.ship["say-hello"]({ text: '${key}' }) } catch (e) { return e.code }`
    const blocked = await run(code)
    await r.addTools('page', [{ name: 'key', run: () => ({ key }) }])
    const { flags } = await r.call('portolan_run_code', { code: 'await tools.page.key()' })
    return [asked.text, seen, blocked.text, [...new Set(flags?.map((f) => f.rule))]]
  })
  assert.deepEqual(got, ['Ann', [['ship', 'ask', 'call 7']], 'secret_blocked', ['secret']])
  await page.close()
})

test('P47: tools that models may not call are not called by code', async () => {
  const shut = { name: 'shut', inputSchema: object }
  const forApps = { name: 'app_only', inputSchema: object, _meta: { ui: { visibility: ['app'] } } }
  const answers = { results: { app_only: { content: [] }, shut: { content: [] } } }
  const [apps, held] = await Promise.all([sdkServer([forApps, shut], answers), sdkServer([shut], answers)])
  try {
    const page = await open(`servers: {
      held: { url: '${held.url}', trust: 'ask-always' },
      apps: { url: '${apps.url}', tools: { deny: ['shut'] } },
      off: { url: '${held.url}', enabled: false },
    }`)
    const codeOf = async (path: string) =>
      (await run(page, `try { await ${path}({}); return 'called' } catch (e) { return e.code }`)).text
    assert.equal(await codeOf('tools.held.shut'), 'held')
    assert.equal(await codeOf('tools.apps.app_only'), 'unknown_tool')
    assert.equal(await codeOf('tools.apps.shut'), 'unknown_tool')
    assert.equal(await codeOf('tools.off.shut'), 'unknown_tool')
    assert.equal(await codeOf('tools.portolan.run_code'), 'unknown_tool')
    for (
      const path of [
        'tools.__proto__.shut',
        'tools.constructor.constructor',
        'tools.held.__proto__',
        'tools.apps.toString',
        'tools.apps.hasOwnProperty',
      ]
    )
      assert.equal(await codeOf(path), 'unknown_tool', path)
    assert.deepEqual([apps.calls, held.calls], [[], []])
    await page.evaluate(() => window.r.approveTools('held'))
    assert.equal(await codeOf('tools.held.shut'), 'called')
    await page.evaluate(() => window.r.setEnabled('held', false))
    assert.equal(await codeOf('tools.held.shut'), 'disabled')
    await page.close()
  } finally {
    await Promise.all([apps.close(), held.close()])
  }
})

test("P47: code in a view calls the view's tools, and its limits count each call", async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { r, run, seen } = window
    const approve = ({ name, args }: { name: string; args: unknown }) => {
      seen.push([name, args])
      return name !== 'ship__ask'
    }
    const extra = [{ name: 'here', run: () => ({ title: document.title }) }]
    const view = r.view({ servers: ['ship'], approve, limits: { calls: 3 }, extra })
    const caught = (path: string) => run(`try { return await ${path} } catch (e) { return e.code }`, {}, view)
    const texts = [
      view.getTools({ codeMode: true }).length,
      (await caught('tools.demo.add({ a: 1, b: 2 })')).text,
      (await caught('tools.page.here()')).text,
      (await caught('tools.ship.ask()')).text,
      (await caught('tools.ship["say-hello"]({ x: 1 })')).text,
      (await caught('tools.ship["say-hello"]({ x: 2 })')).text,
      view.usage.calls,
      (await view.dispatch('portolan_search_api', { query: 'add two numbers' })).match(/^  \w+: \{|here|demo/gm),
      seen,
    ]
    const other = r.view()
    const ended = run('await new Promise(() => {})', {}, other)
    await new Promise((resolve) => new MutationObserver(resolve).observe(document, { childList: true, subtree: true }))
    other.close()
    return [...texts, await ended]
  })
  const { message: _, ...ended } = got.pop() as Ran
  assert.deepEqual(ended, { code: 'closed', hint: undefined, frames: 0 })
  assert.deepEqual(got, [2, 'unknown_tool', '{"title":"tab"}', 'denied', 'hello', 'budget_exceeded', 3, [
    '  page: {',
    'here',
  ], [
    ['here', {}],
    ['ship__ask', {}],
    ['ship__say-hello', { x: 1 }],
  ]])
  await page.close()
})

test('P47: progress of the calls of code is progress of the run', async () => {
  const page = await open()
  const { ran, steps } = await page.evaluate(async () => {
    const steps: unknown[] = []
    const onProgress = ({ progress, total }: { progress: number; total?: number }) => steps.push([progress, total])
    return { ran: await window.run('return await tools.demo.count({ to: 2, delayMs: 1 })', { onProgress }), steps }
  })
  assert.equal(ran.isError, false)
  assert.deepEqual(steps, [[1, 2], [2, 2]])
  await page.close()
})

test('P47: an extra tool of a view with the name of another function is declared once, and called', async () => {
  const page = await open()
  const [declared, said] = await page.evaluate(async () => {
    const { r, run } = window
    await r.addTools('page', [{ name: 'greet', description: 'Greets from the page.', run: () => 'page' }])
    const view = r.view({ extra: [{ name: 'greet', description: 'Greets from the view.', run: () => 'view' }] })
    const { text } = await run('return await tools.page.greet({})', {}, view)
    return [await view.dispatch('portolan_search_api', { query: 'greets from the page' }), text]
  })
  assert.equal(declared!.match(/\bgreet\(/g)?.length, 1, declared)
  assert.match(declared!, /from the view/)
  assert.equal(said, 'view')
  await page.close()
})

test('P47: code calls a tool under the name of its override', async () => {
  const page = await open()
  const got = await page.evaluate(async () => {
    const { r, run } = window
    await r.updateServer('demo', { overrides: { weather: { name: 'home_weather', fixed: { city: 'Palma' } } } })
    r.getTools({ codeMode: true })
    const declared = await r.dispatch('portolan_search_api', { query: 'weather' })
    const called = await run('return (await tools.demo.home_weather()).city')
    const other = await run('return tools.demo.weather({ city: "Rome" })')
    return [declared.match(/^ {4}\w*weather\(args\?: [^)]*\)/m)?.[0], called.text, other.text]
  })
  const [declared, city, other] = got
  assert.deepEqual([declared, city], ['    home_weather(args?: Record<string, unknown>)', 'Palma'])
  assert.match(other!, /^Error: There is no tools\.demo\.weather\. The nearest are: tools\.demo\.home_weather/)
  await page.close()
})

for (const mode of ['worker', 'main', 'shared']) {
  test(`P47: code runs in mode ${mode}, and over connectRegistry`, async () => {
    const page = await open(`mode: '${mode}',`)
    assert.equal(await page.evaluate(() => window.r.mode), mode)
    const got = await page.evaluate(async (base) => {
      const { connectRegistry, portChannel, serveRegistry } = await import(
        `${base}/index.js`
      ) as typeof import('../../dist/npm/index.js')
      const { port1, port2 } = new MessageChannel()
      serveRegistry(window.r, portChannel(port1 as never))
      const far = await connectRegistry(portChannel(port2 as never))
      const code = 'return [await tools.demo.add({ a: 1, b: 2 }), (await tools.ship.depth({ place: "" })).metres]'
      const declared = await far.dispatch('portolan_search_api', { query: 'add depth' })
      return [await window.run(code), await window.run(code, {}, far), /ship[^]*demo|demo[^]*ship/.test(declared)]
    }, site.url)
    assert.deepEqual(got, [ok('["3",4.5]'), ok('["3",4.5]'), true])
    await page.close()
  })
}

test('P47: a run ends with its signal, and so do its worker and its calls', async () => {
  const page = await open()
  const { length } = ship.calls
  for (const code of ['await tools.ship.wait()', 'for (;;);', 'await new Promise(() => {})']) {
    await page.evaluate((code) => {
      const ends = new AbortController()
      window.seen = [window.run(code, { signal: ends.signal }), () => ends.abort()]
    }, code)
    await happens(() => codeWorkers(page))
    await happens(() => ship.calls.slice(length).includes('wait'))
    // The page is not blocked while the code runs.
    const { message: _, ...ran } = await page.evaluate(() => {
      ;(window.seen[1] as () => void)()
      return window.seen[0] as Promise<Ran>
    })
    assert.deepEqual(ran, { code: 'aborted', hint: undefined, frames: 0 }, code)
    await noCodeLeft(page)
  }
  await happens(() => ship.calls.slice(length).join() === 'wait,cancelled')
  const early = await page.evaluate(() => window.run('return 1', { signal: AbortSignal.abort() }))
  assert.equal(early.code, 'aborted')
  await page.close()
})

test('P47: calls that still run when the code has returned are ended', async () => {
  const page = await open()
  const { length } = ship.calls
  await page.evaluate(() => {
    const { promise, resolve } = Promise.withResolvers<string>()
    window.seen = [resolve]
    return window.r.addTools('page', [{ name: 'arrived', run: () => promise }])
  })
  const code = `const running = tools.ship.wait()
    await tools.page.arrived()
    return 1`
  const ran = run(page, code)
  await happens(() => ship.calls.slice(length).includes('wait'))
  await page.evaluate(() => (window.seen[0] as (text: string) => void)('yes'))
  assert.deepEqual(await ran, ok('1'))
  await happens(() => ship.calls.slice(length).includes('cancelled'))
  await page.close()
})

test('P47: code goes on in a page that replaces its body', async () => {
  const page = await open()
  const ran = await page.evaluate(async () => {
    let began = () => {}
    const begun = new Promise<void>((resolve) => (began = resolve))
    await window.r.addTools('page', [{ name: 'note', run: () => began() }])
    const running = window.run('await tools.page.note()\nawait new Promise((r) => setTimeout(r, 100))\nreturn 1')
    document.body = document.createElement('body')
    await begun
    document.body = document.createElement('body')
    return running
  })
  assert.deepEqual(ran, ok('1'))
  await page.close()
})

/** A page whose clock the test moves. */
async function withClock(): Promise<Page> {
  const page = await browser.newPage()
  await page.clock.install()
  await page.goto(site.url)
  return furnish(page, '')
}

/** Holds the messages of code's workers in `window.held`, until the test lets the page hear them. */
const hold = (page: Page) =>
  page.evaluate(() => {
    window.held = []
    const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')!
    Object.defineProperty(MessagePort.prototype, 'onmessage', {
      set(this: MessagePort, hear: (e: MessageEvent) => void) {
        set!.call(this, (e: MessageEvent) => {
          // The frame makes a plain object of each message of its worker.
          if (e.data?.constructor === Object) window.held.push(() => hear(e))
          else hear(e)
        })
      },
    })
  })

test('P47: an endless loop is ended after 30 seconds, and the page goes on meanwhile', async () => {
  const page = await withClock()
  await hold(page)
  await page.evaluate(() => {
    window.seen = [window.run('console.log("begins")\nfor (;;);')]
  })
  // The own time begins with the worker's first message. The second one is the log.
  await page.waitForFunction(() => window.held.length === 2)
  await page.evaluate(() => window.held.forEach((hear) => hear()))
  const ended = page.evaluate(() => window.seen[0] as Promise<Ran>)
  let isEnded = false
  const done = ended.then(() => (isEnded = true))
  for (let i = 0; i < 60 && !isEnded; i++) {
    await page.clock.runFor(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  const { text, isError, frames } = await ended
  assert.deepEqual([isError, frames], [true, 0])
  assert.match(text!, /^Logged:\nbegins\n\nThe code ran for 30 seconds/)
  await noCodeLeft(page)
  await page.close()
})

test('P47: code whose worker begins late is not taken for code that is no JavaScript', async () => {
  const page = await withClock()
  await hold(page)
  await page.evaluate(() => {
    window.seen = [window.run('return "late"')]
  })
  await page.waitForFunction(() => window.held.length === 2)
  // After the silence a worker without code begins.
  await page.clock.runFor(5000)
  await page.waitForFunction(() => window.held.length === 4)
  await page.evaluate(() => {
    const [begins, , ...other] = window.held
    for (const hear of [begins!, ...other]) hear()
  })
  await page.evaluate(() => window.held[1]!())
  assert.deepEqual(await page.evaluate(() => window.seen[0]), ok('late'))
  await noCodeLeft(page)
  await page.close()
})

test('P47: the own time rests while a person is asked, and the whole time is bounded', async () => {
  const page = await withClock()
  await page.evaluate(async (url) => {
    const { createRegistry } = await import('/index.js' as string) as typeof import('../../dist/npm/index.js')
    window.r = await createRegistry({
      storage: 'memory',
      servers: { ship: { url } },
      onApprove: () => {
        window.seen.push('asked')
        return new Promise(() => {})
      },
    })
    await window.r.discover()
    window.seen = [window.run('return tools.ship["say-hello"]()', {}, window.r)]
  }, ship.url)
  await page.waitForFunction(() => window.seen[1])
  const asked = () => page.evaluate(() => window.r.getSnapshot() && document.querySelectorAll('iframe').length)
  for (let i = 0; i < 30; i++) await page.clock.runFor(1000)
  for (let i = 0; i < 60; i++) await page.clock.runFor(1000)
  assert.equal(await asked(), 1, 'the run waits for the person')
  const late = page.evaluate(() => window.seen[0] as Promise<Ran>)
  await page.clock.runFor(600_000)
  const { text, isError, frames } = await late
  assert.deepEqual([isError, frames, text], [true, 0, 'The run took more than 10 minutes.'])
  await page.close()
})

test('P47: the own time between calls adds up', async () => {
  const page = await open()
  const ran = await page.evaluate(() => {
    // After each answer to the code, 20 seconds pass.
    let ahead = 0
    const now = performance.now.bind(performance)
    performance.now = () => now() + ahead
    const post = MessagePort.prototype.postMessage
    MessagePort.prototype.postMessage = function(this: MessagePort, ...message: [never]) {
      post.apply(this, message)
      if ('value' in message[0]) ahead += 20_000
    }
    return window.run('for (const a of [1, 2, 3, 4]) await tools.demo.add({ a, b: 0 })')
  })
  assert.deepEqual([ran.isError, ran.frames], [true, 0])
  assert.match(ran.text!, /^The code ran for 30 seconds/)
  await page.close()
})

test('P47: calls, output, code and runs are bounded', async () => {
  const page = await open()
  const many = await run(
    page,
    `let n = 0
    try { for (;; n++) await tools.demo.add({ a: n, b: 0 }) } catch (e) { return [n, e.code] }`,
  )
  assert.deepEqual(many, ok('[50,"budget_exceeded"]'))
  const large = await run(page, 'return "ä".repeat(1e6)')
  assert.ok(new TextEncoder().encode(large.text).length <= 64 << 10)
  assert.match(large.text!, /^ä{30000,}\n\[cut: 1000000 characters in all\]$/)
  const logs = await run(page, 'for (let i = 0; i < 1e5; i++) console.log("line", i)\nreturn "x".repeat(1e6)')
  assert.ok(new TextEncoder().encode(logs.text).length <= 64 << 10)
  assert.match(logs.text!, /^Logged:\nline 0\n[^]*\n\[cut\]\n\nReturned:\nx+\n\[cut: 1000000 characters in all\]$/)
  const long = await run(page, `return ${'1 + '.repeat(20_000)}1`)
  assert.match(long.text!, /^The code has more than 65536 characters/)
  const arguments_ = await run(
    page,
    'try { await tools.demo.echo({ text: "x".repeat(2e6) }) } catch (e) { return e.code }',
  )
  assert.deepEqual(arguments_, ok('too_large'))
  const all = await page.evaluate(async () => {
    const ends = new AbortController()
    const running = Array.from({ length: 4 }, () => window.run('await new Promise(() => {})', { signal: ends.signal }))
    await new Promise((resolve) => {
      const watch = () => document.querySelectorAll('iframe').length === 4 ? resolve(1) : requestAnimationFrame(watch)
      watch()
    })
    const fifth = await window.run('return 1')
    ends.abort()
    await Promise.all(running)
    return [fifth.text, (await window.run('return 1')).text]
  })
  assert.deepEqual(all, ['4 programs run already. Try again when one has ended.', '1'])
  assert.deepEqual(page.faults, [])
  await page.close()
})

/** The ways from a worker to an address. Each is an expression that settles. */
const ways = (tcp: number, udp: number): Record<string, string> => {
  const at = (way: string) => `'http://127.0.0.1:${tcp}/${way}'`
  const opens = (made: string) =>
    `new Promise((resolve, reject) => { const w = ${made}; w.onopen = resolve; w.onerror = reject })`
  const starts = (made: string) =>
    `new Promise((resolve, reject) => { const w = ${made}; w.onmessage = resolve; w.onerror = reject })`
  const nested = (text: string) => starts(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(text)}])))`)
  return {
    fetch: `fetch(${at('fetch')})`,
    'fetch without CORS': `fetch(${
      at('no-cors')
    }, { mode: 'no-cors', method: 'POST', body: 'secret', keepalive: true })`,
    XMLHttpRequest: `(() => { const x = new XMLHttpRequest(); x.open('GET', ${at('xhr')}, false); x.send() })()`,
    WebSocket: opens(`new WebSocket('ws://127.0.0.1:${tcp}/')`),
    EventSource: opens(`new EventSource(${at('events')})`),
    WebTransport: `new WebTransport('https://127.0.0.1:${udp}/').ready`,
    importScripts: `importScripts(${at('scripts')})`,
    'import()': `import(${at('import')})`,
    'import() of data': `import('data:text/javascript,0')`,
    'a worker of an address': starts(`new Worker(${at('worker')})`),
    'a module worker': starts(`new Worker(${at('module')}, { type: 'module' })`),
    'a worker that imports': nested(`importScripts(${at('nested')}); postMessage(1)`),
    'a worker that fetches': nested(
      `fetch(${at('deep')}).then(() => postMessage(1), (e) => setTimeout(() => { throw e }))`,
    ),
    'a font': `new FontFace('x', ${JSON.stringify(`url(http://127.0.0.1:${tcp}/font)`)}).load()`,
    eval: `(0, eval)('1')`,
    Function: `new Function('return 1')()`,
  }
}

test('P47: code reaches no network', async () => {
  const requests: string[] = []
  const tcp = await listen((req, res) => {
    requests.push(req.url!)
    res.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' }).end('postMessage(1)')
  })
  // WebTransport is over QUIC, which tests have off.
  const args = chromiumFlags.filter((flag) => flag !== '--disable-quic')
  const quick = await chromium.launch({ executablePath: quickChromium, args })
  const socket = createSocket('udp4', () => void requests.push('udp'))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  try {
    const all = ways(Number(new URL(tcp.url).port), (socket.address() as AddressInfo).port)
    const page = await open('', quick)

    // With the names of the platform, in the frame's own document: it is the policy that stops them.
    const inFrame = (document: string, text: string) =>
      page.evaluate(async ([document, text]) => {
        const frame = globalThis.document.createElement('iframe')
        frame.setAttribute('sandbox', 'allow-scripts')
        frame.srcdoc = document!
        const loaded = new Promise((resolve) => (frame.onload = resolve))
        globalThis.document.body.append(frame)
        await loaded
        const frames = new MessageChannel(), workers = new MessageChannel()
        const said = new Promise<unknown>((resolve) => (workers.port1.onmessage = ({ data }) => resolve(data)))
        frame.contentWindow!.postMessage(text, '*', [frames.port2, workers.port2])
        const got = await said
        frame.remove()
        return got
      }, [document, text])
    const text = `onmessage = async ({ ports: [port] }) => {
      const seen = {}
      const within = (work) => Promise.race([work, new Promise((_, fail) => setTimeout(fail, 10_000, Error('late')))])
      ${
      Object.entries(all).map(([name, way]) =>
        `try { await within(${way}); seen[${JSON.stringify(name)}] = 'open' } catch (e) { seen[${
          JSON.stringify(name)
        }] = 'shut' }`
      ).join('\n')
    }
      port.postMessage(seen)
    }`
    const shut = Object.fromEntries(Object.keys(all).map((name) => [name, 'shut']))
    assert.deepEqual(await inFrame(frameDocument, text), shut)
    assert.equal(requests.join(), '')

    // The same ways from a frame without that policy, so that the counter is known to count.
    const loose = frameDocument.replace(/<meta[^>]*>/, '')
    const open_ = await inFrame(loose, text) as Record<string, string>
    for (
      const name of [
        'fetch',
        'XMLHttpRequest',
        'importScripts',
        'import()',
        'import() of data',
        'a worker that fetches',
        'eval',
        'Function',
      ]
    )
      assert.equal(open_[name], 'open', name)
    for (const way of ['fetch', 'no-cors', 'xhr', 'events', 'scripts', 'import', 'nested', 'deep', 'font'])
      assert.ok(requests.includes(`/${way}`), `${way}: ${requests.join()}`)

    // In a run.
    requests.length = 0
    for (const [name, way] of Object.entries(all)) {
      const ran = await run(page, `try { await ${way}; return 'open' } catch (e) { return 'shut' }`)
      assert.deepEqual(ran, ok('shut'), name)
    }
    const places = await run(
      page,
      `return [self.origin, typeof document, typeof navigator.sendBeacon, typeof indexedDB, typeof localStorage]`,
    )
    assert.deepEqual(places, ok('["null","undefined","undefined","undefined","undefined"]'))
    assert.equal(requests.join(), '')

    // It sends again and again, so that it comes last.
    await page.evaluate(`void (window.seen = [${all['WebTransport']}.catch(() => {})])`)
    await happens(() => requests.includes('udp'))
    await page.close()
  } finally {
    await new Promise<void>((resolve) => socket.close(() => resolve()))
    await Promise.all([tcp.close(), quick.close()])
  }
})

/** Code that takes its port from what stands around it. */
const taken = `let port
const { call } = Function.prototype
Function.prototype.call = function (...args) { port ??= args[0]; return Reflect.apply(call, this, args) }
console.log('')
`

test('P47: a worker that sends what it likes gets no further than code', async () => {
  const page = await open('onApprove: (a) => (seen.push(a.name), "once"),')
  const posts = (messages: string) =>
    `${taken}for (const m of ${messages}) port.postMessage(m)\nawait new Promise(() => {})`
  const cases: [messages: string, text: RegExp][] = [
    ["[{ done: 'x'.repeat(1e6), total: 3 }]", /x{60000,}\n\[cut/],
    ["[{ done: 'forged', total: 1e9 }]", /forged\n\[cut/],
    ["[{ done: 'forged', total: NaN }]", /forged/],
    [
      "[{ error: 'forged', stack: 'blob:x:1:1 blob:x:999999999:1 blob:x:' + '9'.repeat(400) + ':1' }]",
      /^forged/,
    ],
    ["[{ error: 'x'.repeat(1e6), stack: {} }]", /x{30000}/],
    ['[7]', /a message that cannot be read/],
    ['[null]', /a message that cannot be read/],
    ['[[]]', /a message that cannot be read/],
    ['Array.from({ length: 100000 }, () => ({ log: "flood" }))', /too many messages/],
    [
      'Array.from({ length: 100000 }, (_, call) => ({ call, server: "ship", tool: "none", args: "{}" }))',
      /too many messages/,
    ],
    ['Array.from({ length: 100000 }, () => ({ odd: { deep: [] } }))', /too many messages/],
  ]
  for (const [messages, text] of cases) {
    const ran = await run(page, posts(messages))
    assert.match(ran.text!, text, messages)
    assert.ok(new TextEncoder().encode(ran.text).length <= 64 << 10 && ran.frames === 0, messages)
  }
  const answered = await run(
    page,
    `${taken}
    const got = []
    port.onmessage = ({ data: { id, error, code } }) => got.push([id, code])
    const bad = [
      { call: 1, server: 'ship', tool: 'ask', args: {} }, { call: 2, server: {}, tool: 'ask', args: '{}' },
      { call: 3, server: 'ship', tool: 'a'.repeat(1e5), args: '{}' }, { call: 4, server: 'ship', tool: 'ask', args: 'x' },
      { call: 5, server: 'ship', tool: 'ask', args: '[]' }, { call: 6, server: '__proto__', tool: 'toString', args: '{}' },
      { call: 7, server: 'portolan', tool: 'portolan_run_code', args: '{"code":"return 1"}' },
      { call: 8, server: 'ship', tool: 'ask', args: '"' + 'x'.repeat(2e6) + '"' },
    ]
    for (const m of bad) port.postMessage(m)
    while (got.length < bad.length) await new Promise((resolve) => setTimeout(resolve, 5))
    return got.sort((a, b) => a[0] - b[0]).map(([, code]) => code)`,
  )
  assert.match(
    answered.text!,
    new RegExp(
      String.raw`${
        JSON.stringify([
          'invalid_arguments',
          'invalid_arguments',
          'invalid_arguments',
          'invalid_arguments',
          'invalid_arguments',
          'unknown_tool',
          'unknown_tool',
          'too_large',
        ]).replaceAll('[', String.raw`\[`)
      }$`,
    ),
  )
  assert.deepEqual(await page.evaluate(() => window.seen), [], 'nobody was asked about a call')
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('P47: a large message of code does not reach the page, where it would fill the memory and stop all else', async () => {
  const page = await open()
  const largest = await page.evaluate(() => {
    const { get } = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data')!
    Object.defineProperty(MessageEvent.prototype, 'data', {
      get(this: MessageEvent) {
        const data = get!.call(this)
        if (this.currentTarget instanceof MessagePort) window.seen.push(JSON.stringify(data).length)
        return data
      },
    })
    return window.run('return (await tools.demo.echo({ text: "x".repeat(3e7) }).catch((e) => e)).code')
  })
  assert.deepEqual(largest, ok('too_large'))
  for (
    const odd of [
      '{ odd: Array(1e6).fill({}) }',
      '{ odd: new Uint8Array(1e8) }',
      'Array(1e6).fill(0)',
      '{ ["x".repeat(1e7)]: 1 }',
      'Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [i, i]))',
      '{ error: "forged", stack: "x".repeat(1e8) }',
    ]
  ) {
    const { text } = await run(page, `${taken}port.postMessage(${odd})\nreturn 1`)
    assert.match(text!, /^1$|^Logged:\n\n\nReturned:\n1$|cannot be read|forged/, odd)
  }
  const total = await run(page, `${taken}port.postMessage({ done: 'x', total: new Array(2 ** 32 - 1) })`)
  assert.match(total.text!, /x/)
  const late = 'setTimeout(() => { throw new Error("x".repeat(3e7)) })\nawait new Promise(() => {})'
  assert.match((await run(page, late)).text!, /^Error: x+/)
  const sizes = await page.evaluate(() => window.seen as number[])
  assert.ok(Math.max(...sizes) < 1.2e6, String(Math.max(...sizes)))
  assert.deepEqual(page.faults, [])
  await page.close()
})

const policies = blocksOf('docs/csp.md').filter((b) => b.lang === 'http')
const [least] = policies.map((b) => b.text.trim())
const documented = policies.find((b) => b.section === 'Code of models')!.text.trim()
const types = "; require-trusted-types-for 'script'; trusted-types"

const isolated = 'cross-origin isolation'

for (
  const [what, header, wanted] of [
    ['the policy of docs/csp.md', documented, undefined],
    ['Trusted Types as well', `${documented}${types} portolan lit-html`, undefined],
    ['frames forbidden', `${documented}; frame-src 'none'; child-src 'none'`, undefined],
    ['the least policy', least!, 'unsupported'],
    ['no blob: for workers', documented.replace(' blob:', ''), 'unsupported'],
    ['Trusted Types without the policy', `${documented}${types} lit-html`, 'unsupported'],
    ['a sandboxed page', `${documented}; sandbox allow-scripts`, undefined],
    [isolated, documented, undefined],
  ] as const
) {
  test(`P47: with ${what}, a run ${wanted ? `rejects with ${wanted}` : 'works'}`, async () => {
    const policy = header.replace(/^Content-Security-Policy: /, '').replace('https://mcp.example.com', '')
    const policed = await listen(async (req, res) => {
      const [, file] = req.url!.match(/^\/([\w-]+\.(?:js|wasm))$/) ?? []
      res.setHeader('content-security-policy', policy)
      res.setHeader('access-control-allow-origin', '*')
      if (what === isolated) {
        res.setHeader('cross-origin-opener-policy', 'same-origin')
        res.setHeader('cross-origin-embedder-policy', 'require-corp')
      }
      if (!file)
        return void res.writeHead(200, { 'content-type': 'text/html' }).end(
          '<!doctype html><title>csp</title><script type="module" src="page.js"></script>',
        )
      const script = `import { createRegistry } from './index.js'
        window.run = async () => {
          const r = await createRegistry({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
          await r.discover()
          r.getTools({ codeMode: true })
          const code = 'try { await fetch("/") } catch { return tools.demo.add({ a: 1, b: 2 }) }'
          const ran = await r.call('portolan_run_code', { code }).then(({ text }) => ({ text }), ({ code, hint }) => ({ code, hint }))
          await r.close()
          return { ...ran, frames: document.querySelectorAll('iframe').length }
        }`
      if (file === 'page.js') return void res.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
      const body = await readFile(`${root}dist/npm/${file}`)
      res.writeHead(200, { 'content-type': file.endsWith('wasm') ? 'application/wasm' : 'text/javascript' }).end(body)
    })
    try {
      const page = await browser.newPage()
      await page.goto(policed.url)
      await page.waitForFunction('window.run')
      assert.equal(await page.evaluate('crossOriginIsolated'), what === isolated)
      const { hint, ...ran } = await page.evaluate(() => window.run(''))
      assert.deepEqual(ran, wanted ? { code: wanted, frames: 0 } : { text: '3', frames: 0 })
      if (wanted) assert.ok(hint!.includes(`'${frameDigest}' in script-src and blob: in worker-src`), hint)
      await page.close()
    } finally {
      await policed.close()
    }
  })
}

test('P47: without a document, code mode is unsupported', async () => {
  const r = await createRegistry({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
  await r.discover()
  assert.throws(() => r.getTools({ codeMode: true }), { code: 'unsupported' })
  await assert.rejects(r.call('portolan_run_code', { code: 'return 1' }), { code: 'unsupported' })
  assert.match(await r.dispatch('portolan_search_api', { query: 'add' }), /declare const tools/)
  await r.close()
})

/** Where a call failed, and what is said of code that is no JavaScript. */
const places: Record<string, [column: number, text: string]> = {
  Firefox: [18, 'SyntaxError: the code is no JavaScript.'],
  WebKit: [22, "SyntaxError: Unexpected token '*'\nline 2: return a +* 2"],
}
for (const [engine, launch] of Object.entries(soakEngines)) {
  test(`P47: code runs in ${engine}, reaches no network, and its errors have lines`, { timeout: 180_000 }, async () => {
    let requests = 0
    const spy = await listen((_, res) => {
      requests++
      res.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' }).end('1')
    })
    const running = await launch()
    try {
      const tab = await running.open(site.url)
      const cases: [code: string, text: string][] = [
        ['return (await Promise.all([1, 2].map((a) => tools.demo.add({ a, b: a })))).join()', '2,4'],
        [
          '\nawait tools.demo.fail({})',
          'Error: this tool always fails\nline 2, column ' + places[engine]![0] + ': await tools.demo.fail({})',
        ],
        ['const a = 1\nreturn a +* 2', places[engine]![1]],
        ...Object.values(ways(Number(new URL(spy.url).port), 9)).filter((way) => !way.includes('WebTransport'))
          .map((way): [string, string] => [`try { await ${way}; return 'open' } catch { return 'shut' }`, 'shut']),
      ]
      const texts = await tab.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      const r = await createRegistry({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
      await r.discover()
      r.getTools({ codeMode: true })
      const texts = []
      for (const code of ${
        JSON.stringify(cases.map(([code]) => code))
      }) texts.push(await r.dispatch('portolan_run_code', { code }))
      await r.close()
      return [...texts, document.querySelectorAll('iframe').length]
    })()`)
      assert.deepEqual(texts, [...cases.map(([, text]) => text), 0])
      assert.equal(requests, 0)
    } finally {
      await running.close()
      await spy.close()
    }
  })
}
