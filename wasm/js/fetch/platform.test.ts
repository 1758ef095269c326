import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { opened } from '../shared/answer.ts'
import { limitDefaults } from '../shared/wire.gen.ts'
import { type Bounds, Flag, Kind, Op, Why } from './events.ts'
import { pinOf } from './pin.ts'
import { Platform } from './platform.ts'
import { Trace } from './trace.ts'

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void

let server: Server, origin: string
let handler: Handler = () => {}

before(async () => {
  server = createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (part: string) => (body += part)).on('end', () => handler(req, res, body))
  })
  server.keepAliveTimeout = 0 // the client is in this process, and may be busy for longer than any such time
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(() => {
  server.closeAllConnections()
  server.close()
})

/**
 * An event. Numbers are a, b and c of Deliver, texts its two texts, each without what is left at its default at the
 * end.
 */
interface Seen {
  kind: number
  flags: number
  numbers: number[]
  texts: string[]
}

function trimmed<T>(list: T[], empty: T): T[] {
  while (list.length && list.at(-1) === empty) list.pop()
  return list
}

function begin(platform: Platform, id: number, awaits: number, flags: number, head: string, body: string): void {
  platform.start(id, 1, awaits, flags, head, body === '' ? undefined : new TextEncoder().encode(body))
}

/** Starts an exchange and collects its events up to the last. */
class Client {
  readonly platform = new Platform()
  readonly events: Seen[] = []
  #wake: (() => void) | undefined

  constructor(bounds: Partial<Bounds> = {}) {
    this.platform.limit({
      ...limitDefaults,
      responseBytes: 1 << 20,
      eventBytes: 1 << 16,
      errorBytes: 1000,
      depth: 64,
      eventsPerSecond: 50,
      ...bounds,
    })
    this.platform.deliver = (_id, kind, flags, a, b, c, textA, textB) => {
      this.events.push({ kind, flags, numbers: trimmed([a, b, c], 0), texts: trimmed([textA, textB], '') })
      this.#wake?.()
    }
  }

  start(awaits: number, flags = 0, method = 'POST', headers = 'Content-Type\napplication/json'): void {
    begin(this.platform, 1, awaits, flags, `${method}\n${origin}/mcp\n${headers}`, method === 'POST' ? '{}' : '')
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  async run(awaits: number, flags = 0, method = 'POST'): Promise<Seen> {
    this.start(awaits, flags, method)
    await this.until(() => ((this.events.at(-1)?.flags ?? 0) & Flag.Last) !== 0)
    return this.events.at(-1)!
  }
}

/** A promise to resolve from outside. */
function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((r) => (resolve = r))
  return { promise, resolve }
}

const LIST = 5, CALL = 6, OTHER = 4 // ids: the kind is in the low bits

function answer(type: string, body: string | Buffer, headers: Record<string, string> = {}, status = 200): Handler {
  return (_req, res) => res.writeHead(status, { 'content-type': type, ...headers }).end(body)
}

const json = (v: unknown) => answer('application/json', JSON.stringify(v))
const events = (...messages: unknown[]) =>
  answer(
    'text/event-stream',
    messages.map((m) => `data: ${typeof m === 'string' ? m : JSON.stringify(m)}\n\n`).join(''),
  )

test('a list crosses as names, a call as a handle', async () => {
  const tools = [{ name: 'a', inputSchema: {} }, { name: 'b', inputSchema: {} }]
  for (const way of [json, events]) {
    handler = way({ jsonrpc: '2.0', id: LIST, result: { tools } })
    const client = new Client()
    const seen = await client.run(LIST)
    const [id, table] = seen.numbers as [number, number]
    assert.deepEqual([seen.kind, id, seen.texts.map((t) => t.replace(/\t[\w-]{43}[.\w-]*/g, ''))], [Kind.Tools, LIST, [
      'a\nb',
    ]])
    assert.deepEqual(client.platform.tables.tool(table, 1), { tool: 'b', definition: tools[1] })
    assert.equal(client.platform.text(table, 1), JSON.stringify(tools[1]))
    client.platform.release(table)
    assert.equal(client.platform.tables.tool(table, 1), undefined)

    const result = { content: [{ type: 'text', text: 'ü' }], isError: true }
    handler = way({ jsonrpc: '2.0', id: CALL, result })
    const called = new Client()
    const output = await called.run(CALL)
    assert.deepEqual([output.kind, output.flags, output.numbers[0]], [Kind.Output, Flag.Last | Flag.Error, CALL])
    assert.deepEqual(called.platform.tables.takeResult(output.numbers[1]!), { value: result })
    assert.equal(called.platform.tables.takeResult(output.numbers[1]!), undefined)
    await called.until(() => true)
    assert.equal(called.platform.held.tables, 0)
  }
})

test('big integers keep their digits beside the value', async () => {
  handler = answer(
    'application/json',
    `{"jsonrpc":"2.0","result" : {"structuredContent":{"n":12345678901234567890}} ,"id":${CALL}}`,
  )
  const client = new Client()
  const seen = await client.run(CALL)
  assert.equal(client.platform.text(seen.numbers[1]!, 0), '{"structuredContent":{"n":12345678901234567890}}')
  assert.equal(
    opened(client.platform.tables.takeResult(seen.numbers[1]!)!).raw,
    '{"structuredContent":{"n":12345678901234567890}}',
  )

  const task = CALL | Op.Task
  handler = answer(
    'application/json',
    `{"id":${task},"result":{"status":"completed","result": {"structuredContent":{"n":12345678901234567890}} }}`,
  )
  const tasks = new Client()
  const done = await tasks.run(task)
  assert.equal(
    opened(tasks.platform.tables.takeResult(done.numbers[1]!)!).raw,
    '{"structuredContent":{"n":12345678901234567890}}',
    'of a task',
  )

  handler = answer(
    'application/json',
    `{"id":${LIST},"result":{"tools":[null, {"name":"a","inputSchema":{"maximum":9223372036854775807}}]}}`,
  )
  const list = new Client()
  const page = await list.run(LIST)
  assert.equal(list.platform.text(page.numbers[1]!, 0), '{"name":"a","inputSchema":{"maximum":9223372036854775807}}')
})

for (const way of [json, events]) {
  test(`a large result is passed on as it came, ${way.name}`, async () => {
    const many = (n: number, deep = '') =>
      JSON.parse(
        `{"id":${CALL},"result":{"isError":true,"content":[{"type":"text","text":"${'größe \\"'.repeat(n)}"}],"a":${
          deep || 1
        }}}`,
      ) as { result: unknown }
    const client = new Client({ responseBytes: 4 << 20, eventBytes: 4 << 20 })
    handler = way(many(100_000))
    const seen = await client.run(CALL)
    assert.deepEqual([seen.kind, seen.flags, seen.numbers[0]], [Kind.Output, Flag.Last | Flag.Error, CALL])
    assert.deepEqual(JSON.parse(client.platform.text(seen.numbers[1]!, 0)!), many(100_000).result)
    const taken = client.platform.tables.takeResult(seen.numbers[1]!)!
    assert.ok('message' in taken)
    assert.deepEqual(opened(taken).value, many(100_000).result)
    assert.equal(client.platform.held.tables, 0)

    const levels = (n: number) => '['.repeat(n) + ']'.repeat(n)
    for (const [n, kind] of [[63, Kind.Output], [64, Kind.Message]] as const) {
      handler = way(many(100_000, levels(n)))
      const deep = await new Client({ responseBytes: 4 << 20, eventBytes: 4 << 20 }).run(CALL)
      assert.equal(deep.kind, kind, `${n} levels in a result`)
    }
  })
}

test('a large result counts as ordinary only if it can have no hidden character', async () => {
  const of = async (text: string) => {
    const plain = 'a, "b"\n'.repeat(20_000)
    handler = answer(
      'application/json',
      `{"id":${CALL},"result":{"content":[{"type":"text","text":"${JSON.stringify(plain).slice(1, -1)}${text}"}]}}`,
    )
    const client = new Client()
    const seen = await client.run(CALL)
    const taken = client.platform.tables.takeResult(seen.numbers[1]!)!
    return 'message' in taken && taken.ordinary
  }
  assert.equal(await of('plain'), true)
  for (const text of ['\u200b', '\\u200b', '\\r', '\\b', '\x7f'])
    assert.equal(await of(text), false, JSON.stringify(text))
})

/** Runs a test as on a page's thread, which reads long lists tool by tool, and as in a worker. */
function inBothThreads(name: string, run: (onPage: boolean) => Promise<void>): void {
  test(`on a page's thread: ${name}`, async () => {
    Object.defineProperty(globalThis, 'document', { configurable: true, value: {} })
    try {
      await run(true)
    } finally {
      Reflect.deleteProperty(globalThis, 'document')
    }
  })
  test(`in a worker: ${name}`, () => run(false))
}

inBothThreads('of a large list, what no bound lets pass is not read', async (onPage) => {
  const tool = (name: string, more = '') => `{"name":"${name}","inputSchema":{"type":"object"${more}}}`
  const list = (...tools: string[]) =>
    answer('application/json', `{"id":${LIST},"result":{"tools":[${tools.join()}],"nextCursor":"n"}}`)
  const client = () => new Client({ responseBytes: 8 << 20 })
  handler = list(tool('deep', `,"a":${'{"not":'.repeat(200_000)}{}${'}'.repeat(200_000)}`), tool('t'))
  let seen = await client().run(LIST)
  assert.equal(seen.texts[0], 't')
  assert.deepEqual(JSON.parse(seen.texts[1]!), {
    drops: [[
      'deep',
      `the definition is ${onPage ? 'larger than 262144 bytes' : 'nested deeper than 64 levels'}`,
    ]],
    next: 'n',
  })

  handler = list(...Array.from({ length: 50_000 }, (_, i) => tool(`t${i}`)))
  seen = await client().run(LIST)
  assert.equal(seen.texts[0]!.split('\n').length, 1001)
  handler = list(...Array.from({ length: 20_000 }, () => `"${'x'.repeat(30)}"`), tool('late'))
  seen = await client().run(LIST)
  assert.equal(seen.texts[0], '')
})

inBothThreads('a long list is parsed as one if nothing has to stay free, and it has few values', async (onPage) => {
  const tool = (i: number, values: number) =>
    `{"name":"t${i}","inputSchema":{"enum":[${Array(values).fill(12345678901234567890n)}]}}`
  const sourceOf = async (tools: number, values: number, head = true) => {
    const text = `{"id":${LIST},"result":{"tools":[${Array.from({ length: tools }, (_, i) => tool(i, values))}]}}`
    handler = answer('application/json', text, head ? { 'content-length': String(text.length) } : {})
    const client = new Client({ responseBytes: 16 << 20, resultValues: 300_000 })
    const seen = await client.run(LIST)
    assert.equal(seen.kind, Kind.Tools, JSON.stringify([seen.numbers, seen.texts]).slice(0, 500))
    const table = seen.numbers[1]!
    assert.equal(client.platform.text(table, 1), tool(1, values))
    assert.equal(client.platform.tables.tool(table, 1)!.definition.name, 't1')
    const source = client.platform.tables.takeSource(table)!
    assert.equal(client.platform.text(table, 2), tool(2, values))
    return Object.keys(source)[0]
  }
  assert.equal(await sourceOf(900, 40), onPage ? 'texts' : 'text')
  assert.equal(await sourceOf(900, 90, false), onPage ? 'texts' : 'text')
  assert.equal(await sourceOf(900, 200, false), 'texts', 'too long to be sure')
  assert.equal(await sourceOf(900, 300), onPage ? 'texts' : 'text')
  assert.equal(await sourceOf(900, 400), 'texts', 'too many values')
  assert.equal(await sourceOf(990, 420), 'texts', 'too long')
})

test('a list has one fingerprint, whatever the id of its answer, before and after its text is taken', async () => {
  const of = async (message: (id: number) => string, id = LIST, taken = false) => {
    handler = answer('application/json', message(id))
    const client = new Client()
    const table = (await client.run(id)).numbers[1]!
    if (taken) assert.ok('text' in client.platform.tables.takeSource(table)!)
    const print = await new Promise<string>((resolve) => client.platform.fingerprint(table, resolve))
    assert.equal(client.platform.tables.print(table), print)
    return print
  }
  const rest = (description: string, more = '') =>
    `"result":{"tools":[{"name":"a","inputSchema":{},"description":"${description}"}]${more}}`
  const first = (description: string, more?: string) => (id: number) =>
    `{"jsonrpc":"2.0","id":${id},${rest(description, more)}}`
  const last = (description: string) => (id: number) => `{${rest(description)},"jsonrpc":"2.0","id":${id}}`
  const odd = (description: string) => (id: number) => `{"id":${id},"jsonrpc":"2.0",${rest(description)}} `
  const prints: string[] = []
  for (const message of [first('one'), last('one'), odd('one')]) {
    const print = await of(message)
    assert.equal(await of(message, LIST + 4, true), print)
    prints.push(print)
  }
  for (
    const other of [
      first('two'),
      last('two'),
      odd('two'),
      first(',\\"id\\":5'),
      first(',\\"id\\":6'),
      first('one', ',"id":5'),
      first('one', ',"id":6'),
    ]
  ) prints.push(await of(other))
  assert.equal(new Set(prints).size, prints.length)
  assert.match(prints[0]!, /^[\w+/]{43}=$/)
})

inBothThreads('long lists that differ have fingerprints that differ, wherever the id stands', async () => {
  const of = async (letter: string, between: string) => {
    const tool = (i: number) => `{"name":"t${i}","inputSchema":{"title":"${letter.repeat(120_000)}"}}`
    const tools = Array.from({ length: 20 }, (_, i) => tool(i))
    const text = `{"jsonrpc":"2.0",${between}"id":${LIST},"result":{"tools":[${tools}]}}`
    handler = answer('application/json', text, { 'content-length': String(text.length) })
    const client = new Client({ responseBytes: 8 << 20 })
    const table = (await client.run(LIST)).numbers[1]!
    return new Promise<string>((resolve) => client.platform.fingerprint(table, resolve))
  }
  for (const between of ['', ' ', '"_meta":{},']) {
    const one = await of('a', between)
    assert.equal(await of('a', between), one)
    assert.notEqual(await of('b', between), one)
  }
})

inBothThreads('of a very large list the texts are kept, and parsed when somebody looks', async () => {
  const tools = Array.from(
    { length: 60 },
    (_, i) => ({
      name: `t${i}`,
      inputSchema: { maximum: i, description: `${i % 2 ? 'ö' : '\u200b'}${'x'.repeat(3900)}`.repeat(15) },
    }),
  )
  const shown = (i: number) => ({
    ...tools[i]!,
    inputSchema: { ...tools[i]!.inputSchema, description: tools[i]!.inputSchema.description.replaceAll('\u200b', '') },
  })
  handler = json({ id: LIST, result: { tools } })
  const client = new Client({ responseBytes: 8 << 20 })
  const table = (await client.run(LIST)).numbers[1]!
  for (const i of [1, 58]) {
    const { tool, definition } = client.platform.tables.tool(table, i)!
    assert.deepEqual([tool, definition], [`t${i}`, shown(i)])
    assert.deepEqual(JSON.parse(client.platform.text(table, i)!), shown(i))
    assert.equal(client.platform.pin(table, i), pinOf(tools[i]!), 'of what the server sent')
  }
  assert.notEqual(client.platform.tables.tool(table, 1)!.definition, client.platform.tables.tool(table, 1)!.definition)
  const { texts } = client.platform.tables.takeSource(table) as { texts: string[] }
  assert.deepEqual(structuredClone({ ...client.platform.tables.tool(table, 2) }), {
    tool: 't2',
    definition: JSON.parse(texts[2]!),
  })
  assert.deepEqual(client.platform.tables.flags(table, 58)!.map((f) => f.rule), ['hidden_text'])
  assert.equal(client.platform.tables.tool(table, 60), undefined)
})

test('other messages cross as text, in order, up to the answer', async () => {
  const progress = {
    method: 'notifications/progress',
    params: { progressToken: CALL, progress: 1, total: 2, message: 'm' },
  }
  const log = { method: 'notifications/message' }
  const ping = { id: 'p', method: 'ping' }
  const input = { id: CALL, result: { resultType: 'input_required' } }
  handler = events(
    progress,
    { method: 'notifications/tools/list_changed' },
    log,
    { method: 'notifications/unknown' },
    'nonsense',
    ping,
    { id: 99, error: { code: 1, message: 'x' } },
    input,
    progress,
  )
  const client = new Client()
  await client.run(CALL)
  assert.deepEqual(client.events, [
    { kind: Kind.Progress, flags: 0, numbers: [CALL, 1, 2], texts: ['m'] },
    { kind: Kind.Changed, flags: 0, numbers: [], texts: [] },
    { kind: Kind.Message, flags: 0, numbers: [], texts: [JSON.stringify(log)] },
    { kind: Kind.Message, flags: 0, numbers: [], texts: [JSON.stringify(ping)] },
    {
      kind: Kind.Message,
      flags: 0,
      numbers: [],
      texts: [JSON.stringify({ id: 99, error: { code: 1, message: 'x' } })],
    },
    { kind: Kind.Message, flags: Flag.Last, numbers: [], texts: [JSON.stringify(input)] },
  ])
})

test('a batch is taken apart, its answer last', async () => {
  handler = json([{ id: CALL, result: {} }, { method: 'notifications/tools/list_changed' }, 7, {
    id: 3,
    method: 'ping',
  }])
  const client = new Client()
  await client.run(CALL)
  assert.deepEqual(client.events.map((e) => e.kind), [Kind.Changed, Kind.Message, Kind.Output])
})

test('a call that may become a task has its result at once, or a task', async () => {
  const id = CALL | Op.Task
  for (const [result, kind] of [[{ content: [] }, Kind.Output], [{ task: { taskId: 't' } }, Kind.Message]] as const) {
    handler = json({ id, result })
    assert.equal((await new Client().run(id)).kind, kind)
  }
})

test('an error without an id answers the request', async () => {
  for (const id of [null, undefined]) { // JSON-RPC has null, and MCP of 2025-11-25 leaves it out
    handler = json({ jsonrpc: '2.0', id, error: { code: -32700, message: 'parse error' } })
    const seen = await new Client().run(OTHER)
    assert.deepEqual(JSON.parse(seen.texts[0]!), {
      jsonrpc: '2.0',
      id: OTHER,
      error: { code: -32700, message: 'parse error' },
    })
  }
})

const deep = `{"id":${CALL},"result":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`

for (
  const row of [
    { name: 'not JSON', handler: answer('application/json', '{"a"'), why: Why.NotMCP },
    { name: 'HTML', handler: answer('text/html', '<p>'), why: Why.NotMCP },
    { name: '202', handler: answer('text/plain', '', {}, 202), why: Why.NotMCP },
    { name: 'another id', handler: json({ id: 77, result: {} }), why: Why.NotMCP },
    {
      name: 'a length over the limit',
      handler: answer('application/json', `"${'x'.repeat(2 << 20)}"`),
      why: Why.TooLarge,
    },
    {
      name: 'a gzip bomb',
      handler: answer('application/json', gzipSync('x'.repeat(8 << 20)), { 'content-encoding': 'gzip' }),
      why: Why.TooLarge,
    },
    {
      name: 'a brotli bomb',
      handler: answer('application/json', brotliCompressSync('x'.repeat(8 << 20)), { 'content-encoding': 'br' }),
      why: Why.TooLarge,
    },
    { name: 'a large event', handler: answer('text/event-stream', `data: ${'x'.repeat(1 << 17)}`), why: Why.TooLarge },
    { name: 'a stream without an answer', handler: answer('text/event-stream', ': hi\n\n'), why: Why.EOF },
    { name: 'a stream of nonsense', handler: answer('text/event-stream', 'data: {"a\n\n'), why: Why.NotMCP },
  ]
) {
  test(`${row.name} ends the exchange and says why`, async () => {
    handler = row.handler
    const seen = await new Client().run(CALL)
    assert.deepEqual([seen.kind, seen.numbers[0]], [Kind.End, row.why])
  })
}

test('a redirect is not followed, and told as one', async () => {
  handler = answer('text/plain', '', { location: '/other' }, 307)
  const seen = await new Client().run(CALL)
  assert.equal(seen.kind, Kind.Refused)
  assert.ok(seen.numbers[0]! < 400)
})

test('the date of a Retry-After crosses as seconds', async () => {
  handler = answer('text/plain', '', { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }, 503)
  const seen = await new Client().run(CALL)
  const seconds = Number(/^retry-after\n(.*)$/m.exec(seen.texts[0]!)?.[1])
  assert.ok(seconds >= 30 && seconds <= 60, seen.texts[0])
})

test('a deep result is no result', async () => {
  handler = answer('application/json', deep)
  const seen = await new Client().run(CALL)
  assert.deepEqual(seen.texts, [JSON.stringify({ id: CALL })])
})

test('endless bodies are cut off at the limit', async () => {
  const endless = (type: string, piece: string, status = 200): Handler => (_req, res) => {
    res.writeHead(status, { 'content-type': type })
    const write = () => {
      while (!res.destroyed && res.write(piece.repeat(100)));
    }
    res.on('drain', write)
    write()
  }
  for (
    const [type, piece] of [
      ['application/json', 'xxxxxxxxxxxxxxxx'],
      ['text/event-stream', 'xxxxxxxxxxxxxxxx'],
      ['text/event-stream', 'data: {"method":"notifications/x"}\n\n'],
      ['text/event-stream', 'data: x\n'],
    ] as const
  ) {
    handler = endless(type, piece)
    const seen = await new Client().run(CALL)
    assert.deepEqual([seen.kind, seen.numbers[0]], [Kind.End, Why.TooLarge], type + piece)
  }
  handler = endless('text/plain', 'xxxxxxxxxxxxxxxx', 500)
  const seen = await new Client().run(CALL)
  assert.equal(seen.kind, Kind.Refused)
  assert.equal(seen.texts[1]!.length, 1000)
})

test('a flood is dropped, the answer is not', async () => {
  const flood = Array.from(
    { length: 3000 },
    (_, i) => ({ method: 'notifications/progress', params: { progressToken: CALL, progress: i } }),
  )
  handler = events(...flood, { id: CALL, result: {} })
  const client = new Client({ eventsPerSecond: 50 }), began = performance.now()
  const seen = await client.run(CALL)
  assert.equal(seen.kind, Kind.Output)
  const seconds = Math.floor((performance.now() - began) / 1000) + 2 // that the flood may touch
  const { length } = client.events.filter((e) => e.kind === Kind.Progress) // each second also reports what was dropped
  assert.ok(length <= 50 * seconds, `${length} events`)
})

test('a flood on a stream that nobody waits for is let in piece by piece, and counted', async () => {
  const changed = 'data: {"method":"notifications/tools/list_changed"}\n\n', many = 20_000
  let sent = 0
  handler = async (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (; sent < many && !res.destroyed; sent += 1000) {
      if (!res.write(changed.repeat(1000) + `: ${'x'.repeat(1 << 20)}\n`))
        await Promise.race(['drain', 'close'].map((e) => new Promise((resolve) => res.once(e, resolve))))
    }
    res.end()
  }
  const client = new Client({ eventsPerSecond: 50 }), began = performance.now()
  client.start(0, 0, 'GET')
  await client.until(() => client.events.some((e) => e.kind === Kind.Dropped))
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.ok(sent < many, 'the server has to wait')
  const { length } = client.events.filter((e) => e.kind === Kind.Changed)
  const seconds = Math.floor((performance.now() - began) / 1000) + 2 // that the flood may touch
  assert.ok(length > 0 && length <= 50 * seconds, `${length} in ${seconds} s`)
  client.platform.shut()
})

test('a message after a flood brings the count of what was lost', { timeout: 20_000 }, async () => {
  const changed = 'data: {"method":"notifications/tools/list_changed"}\n\n'
  handler = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(changed.repeat(200))
    const timer = setInterval(() => res.write(changed), 100)
    res.on('close', () => clearInterval(timer))
  }
  const client = new Client({ eventsPerSecond: 50 })
  const reading = client.run(0, 0, 'GET')
  const lost = () => client.events.reduce((n, e) => e.kind === Kind.Dropped ? n + (e.numbers[0] as number) : n, 0)
  while (lost() < 100) await new Promise((resolve) => setTimeout(resolve, 20)) // at most 50 in each of two seconds
  client.platform.shut()
  reading.catch(() => {})
})

test('the end tells the last event id and retry', async () => {
  handler = answer('text/event-stream', 'id: 7\nretry: 1234\n\n')
  const resumable = await new Client().run(CALL)
  assert.deepEqual([resumable.numbers, resumable.texts], [[Why.EOF, 1234], ['', '7']])
  handler = answer('text/event-stream', 'id: größe\n\n')
  const plain = await new Client().run(CALL)
  assert.deepEqual([plain.numbers, plain.texts], [[Why.EOF, -1], []])
})

test('the endpoint event and the head cross on streams', async () => {
  handler = answer('text/event-stream', 'event: endpoint\ndata: /post?x=1\n\n', {
    'mcp-session-id': 's1',
    'set-cookie': 'a=b',
  })
  const client = new Client()
  await client.run(0, 1, 'GET')
  assert.deepEqual(client.events.map((e) => [e.kind, e.numbers, e.texts]), [
    [Kind.Head, [200], ['mcp-session-id\ns1\ncontent-type\ntext/event-stream']],
    [Kind.Endpoint, [], ['/post?x=1']],
    [Kind.End, [Why.EOF, -1], []],
  ])
})

test('headers go as they are, an empty one too', async () => {
  let got: IncomingMessage['headers'] = {}
  handler = (req, res) => {
    got = req.headers
    res.writeHead(202).end()
  }
  const client = new Client()
  client.start(0, 0, 'POST', 'Content-Type\napplication/json\nMcp-Param-X\n\nMcp-Name\n=?base64?w58=?=')
  await client.until(() => client.events.length > 0)
  assert.deepEqual([got['mcp-param-x'], got['mcp-name'], got['cookie']], ['', '=?base64?w58=?=', undefined])
  assert.deepEqual(client.events[0], { kind: Kind.End, flags: Flag.Last, numbers: [Why.EOF, -1], texts: [] })
})

test('a header that fetch refuses ends the exchange only', async () => {
  const client = new Client()
  client.start(CALL, 0, 'POST', 'X-A\nß漢')
  await client.until(() => client.events.length > 0)
  assert.deepEqual([client.events[0]!.kind, client.events[0]!.numbers[0]], [Kind.End, Why.Network])
})

test('cancelling ends request and body, before and after the head', async () => {
  for (
    const begin of [
      () => {},
      (res: ServerResponse) => res.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ]
  ) {
    const arrived = signal()
    const gone = signal()
    handler = (_req, res) => {
      begin(res)
      res.on('close', () => gone.resolve())
      arrived.resolve()
    }
    const client = new Client()
    client.start(CALL)
    await arrived.promise
    client.platform.cancel(1)
    await gone.promise
    assert.deepEqual(client.events, [])
    assert.equal(client.platform.held.exchanges, 0)
  }
})

test('a stream that has answered is let go', async () => {
  const gone = signal()
  handler = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(`data: ${JSON.stringify({ id: CALL, result: {} })}\n\n`)
    res.on('close', () => gone.resolve())
  }
  const client = new Client()
  assert.equal((await client.run(CALL)).kind, Kind.Output)
  await gone.promise
})

test('what is under way when all is over ends, and what was sent last goes out', async () => {
  const c = new Client()
  const open = new Set<string>()
  let changed = () => {}
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise<void>((resolve) => (changed = resolve))
  }
  const finished: string[] = []
  handler = (req, res) => {
    const { method } = req
    open.add(method!)
    res.on('close', () => {
      open.delete(method!)
      changed()
    })
    changed()
    if (method === 'DELETE')
      setImmediate(() => {
        finished.push(method)
        res.writeHead(204).end()
      })
    else if (method === 'GET') res.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
  }
  for (const [id, method, awaits] of [[1, 'POST', CALL], [2, 'GET', 0], [3, 'DELETE', 0]] as const)
    begin(c.platform, id, awaits, 0, `${method}\n${origin}/mcp`, '')
  await until(() => open.has('POST') && open.has('GET'))
  c.platform.shut()
  await until(() => open.size === 0 && finished.length > 0)
  assert.deepEqual(finished, ['DELETE'])
  assert.equal(c.events.length, 0)
})

test('a cancelled stream ends though garbage was collected', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const c = new Client()
  const head = signal(), gone = signal()
  handler = (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
    res.on('close', () => gone.resolve())
  }
  c.platform.deliver = () => head.resolve()
  begin(c.platform, 1, CALL, 1, `POST\n${origin}/mcp`, '{}')
  await head.promise
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
  c.platform.cancel(1)
  await gone.promise
})

type Refuse = (body: ReadableStream) => Promise<Response | void>

test('a streamed body falls back only if nothing can have run', async () => {
  const result = JSON.stringify({ id: CALL, result: {} })
  const bodies: unknown[] = []
  const fake = (refuse: Refuse) => async (_url: unknown, init?: RequestInit) => {
    const streamed = init?.body instanceof ReadableStream
    bodies.push(streamed ? 'stream' : 'plain')
    if (streamed) {
      const response = await refuse(init.body as ReadableStream)
      if (response) return response
      throw new TypeError('refused')
    }
    return new Response(result, { headers: { 'content-type': 'application/json' } })
  }
  const run = async (refuse: Refuse): Promise<number> => {
    bodies.length = 0
    const platform = new Platform({ fetch: fake(refuse) as typeof fetch })
    const timing = performance.getEntriesByName
    performance.getEntriesByName = () => [{ nextHopProtocol: 'h2' }] as unknown as PerformanceEntryList
    try {
      return await new Promise<number>((resolve) => {
        platform.deliver = (_id, kind) => resolve(kind)
        begin(platform, 1, CALL, 2, 'POST\nhttps://a.example/mcp', '{}')
      })
    } finally {
      performance.getEntriesByName = timing
    }
  }
  assert.equal(await run(async () => {}), Kind.Output)
  assert.deepEqual(bodies, ['stream', 'plain'])
  assert.equal(
    await run(async (body) => {
      await body.getReader().read()
    }),
    Kind.End,
  )
  assert.deepEqual(bodies, ['stream'])
  assert.equal(await run(async () => new Response('', { status: 411 })), Kind.Output)
  assert.deepEqual(bodies, ['stream', 'plain'])
})

test('results that nobody takes are bounded', async () => {
  const platform = new Platform({
    fetch: (async () =>
      new Response(JSON.stringify({ id: CALL, result: { t: 'x'.repeat(9 << 20) } }), {
        headers: { 'content-type': 'application/json' },
      })) as typeof fetch,
  })
  for (let i = 1; i <= 10; i++) {
    await new Promise<void>((resolve) => {
      platform.deliver = () => resolve()
      begin(platform, i, CALL, 0, 'POST\nhttps://a.example/mcp', '{}')
    })
  }
  assert.ok(platform.held.tables <= 7, `${platform.held.tables} results`)
})

test('resolve normalizes, and takes http only', () => {
  const platform = new Platform()
  assert.equal(platform.resolve('HTTPS://A.example:443/x?y#z', ''), 'https://a.example\nhttps://a.example/x?y')
  assert.equal(platform.resolve('https://a.example/sse', '/post?s=1'), 'https://a.example\nhttps://a.example/post?s=1')
  assert.equal(platform.resolve('https://a.example/sse', '//b.example/x'), 'https://b.example\nhttps://b.example/x')
  for (const bad of ['javascript:alert(1)', 'file:///etc', 'https://u:p@a.example/', 'http://']) {
    assert.equal(platform.resolve('https://a.example/', bad), undefined, bad)
  }
})

test('a report of an exchange has no header value, also where the server escapes its slashes', async () => {
  const key = 'canary/123+45678', told: string[] = []
  const trace = new Trace((e) => told.push(JSON.stringify(e)), 1, [
    'POST',
    'http://s.test/',
    [['x-key', key]],
    undefined,
  ], false)
  await trace.take(new Response(JSON.stringify({ text: key }).replaceAll('/', '\\/')))
  assert.match(told[1]!, /redacted.*redacted/)
  await trace.take(new Response(`${' '.repeat((64 << 10) - 10)}${key}`)) // where the report is cut
  assert.match(told[2]!, / …"/)
  const pieces = [' '.repeat((64 << 10) - 10), key.slice(0, 15), key.slice(15)]
  const body = new ReadableStream({
    start: (to) => pieces.forEach((text) => to.enqueue(new TextEncoder().encode(text))),
  })
  await trace.take(new Response(body)) // the rest is not read
  assert.ok(told.every((text) => !/canary|45678/.test(text)), told[1])
})

test('a report of an exchange has no values of a query, except addresses without theirs', () => {
  const shown = (url: string) => {
    let told = ''
    const trace = new Trace(({ exchange }) => told = exchange.url, 1, ['GET', url, [], undefined], false)
    trace.fail()
    return decodeURIComponent(decodeURIComponent(told))
  }
  assert.equal(shown('https://s.test/mcp?key=live:canary&b=1'), 'https://s.test/mcp?key=…&b=…')
  assert.equal(
    shown('https://proxy.test/?url=https://s.test/?key=canary'),
    'https://proxy.test/?url=https://s.test/?key=…',
  )
  assert.equal(shown('https://s.test/?a=https://'), 'https://s.test/?a=…')
})

test('a whole body is bounded in bytes', async () => {
  const WHOLE = 4, most = 256 << 10
  for (const [text, fits] of [['é'.repeat(most / 2), true], [`${'é'.repeat(most / 2)}.`, false]] as const) {
    handler = answer('application/json', text)
    const seen = await new Client().run(0, WHOLE, 'GET')
    assert.deepEqual(
      [seen.kind, seen.numbers[0], seen.texts.at(-1)],
      fits ? [Kind.Refused, 200, text] : [Kind.End, Why.TooLarge, `response over ${most} bytes`],
    )
  }
})
