import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, mock, test } from 'node:test'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { opened } from '../shared/answer.ts'
import { limitDefaults } from '../shared/wire.gen.ts'
import { Flag, Kind, Why } from './events.ts'
import { IoWorker, serverOf } from './io-worker.ts'
import { serveIoWorker } from './io-worker-main.ts'
import { Platform } from './platform.ts'

type Thread = NonNullable<ReturnType<ConstructorParameters<typeof IoWorker>[0]>>
type Handler = (req: IncomingMessage, res: ServerResponse) => void

if (!isMainThread) {
  // The thread under test: a worker of Node in the place of a browser's.
  const scope: Parameters<typeof serveIoWorker>[0] = {
    onmessage: null,
    postMessage: (m) => parentPort!.postMessage(m),
  }
  parentPort!.on('message', (data) => scope.onmessage?.({ data } as MessageEvent))
  serveIoWorker(scope, new Platform())
} else tests()

/** Starts such a thread. */
function thread(script = new URL(import.meta.url)): Thread & { ended: Promise<unknown> } {
  const worker = new Worker(script)
  const t: Thread & { ended: Promise<unknown> } = {
    postMessage: (m: unknown) => worker.postMessage(m),
    terminate: () => void worker.terminate(),
    onmessage: null,
    onerror: null,
    onmessageerror: null,
    ended: new Promise((resolve) => worker.on('exit', resolve)),
  }
  worker.on('message', (data) => t.onmessage?.call(t as never, { data } as MessageEvent))
  worker.on('error', () => t.onerror?.call(t as never, { preventDefault() {} } as ErrorEvent))
  return t
}

function tests(): void {
  const LIST = 5, CALL = 6, WANT_HEAD = 1

  let server: Server, origin: string
  let handler: Handler = () => {}
  let gone = 0 // requests whose client went away
  let left = () => {}
  /** Resolves when so many clients went away. */
  const goneAre = async (n: number) => {
    while (gone < n) await new Promise<void>((resolve) => (left = resolve))
  }
  before(async () => {
    server = createServer((req, res) => {
      req.resume().on('end', () => handler(req, res))
      res.on('close', () => {
        if (res.writableFinished) return
        gone++
        left()
      })
    })
    server.keepAliveTimeout = 0 // the client is in this process, and may be busy for longer than any such time
    await once(server.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  interface Seen {
    kind: number
    flags: number
    a: number
    table: number
    c: number
    textA: string
    textB: string
  }

  /** A platform with a second worker, or without. */
  class Client {
    readonly threads: ReturnType<typeof thread>[] = []
    readonly platform: Platform
    readonly #events = new Map<number, Seen[]>()
    #wake = () => {}
    #last = 0

    constructor(make: (() => Thread | undefined) | false = () => thread()) {
      const keep = () => {
        const made = make && make()
        if (made) this.threads.push(made as ReturnType<typeof thread>)
        return made || undefined
      }
      this.platform = new Platform(make ? { ioWorker: (listener) => new IoWorker(keep, listener) } : {})
      this.platform.limit({ ...limitDefaults, errorBytes: 1000, depth: 64, eventsPerSecond: 50 })
      this.platform.deliver = (id, kind, flags, a, table, c, textA, textB) => {
        this.#events.get(id)!.push({ kind, flags, a, table, c, textA, textB })
        this.#wake()
      }
    }

    start(awaits: number, flags = 0, method = 'POST', url = `${origin}/mcp`): { id: number; events: Seen[] } {
      const id = ++this.#last, events: Seen[] = []
      this.#events.set(id, events)
      this.platform.start(
        id,
        1,
        awaits,
        flags,
        `${method}\n${url}\nContent-Type\napplication/json`,
        method === 'POST' ? new TextEncoder().encode('{}') : undefined,
      )
      return { id, events }
    }

    async until(condition: () => boolean): Promise<void> {
      while (!condition()) await new Promise<void>((resolve) => (this.#wake = resolve))
    }

    async run(awaits: number, flags = 0, method = 'POST'): Promise<Seen> {
      const { events } = this.start(awaits, flags, method)
      await this.until(() => ((events.at(-1)?.flags ?? 0) & Flag.Last) !== 0)
      return events.at(-1)!
    }

    /** Makes the server send so much that it is read apart from now on. */
    async burden(): Promise<this> {
      const before = handler
      handler = json({ id: CALL, result: { content: [{ type: 'text', text: 'x'.repeat(3 << 20) }] } })
      this.platform.tables.takeResult((await this.run(CALL)).table)
      assert.equal(this.threads.length, 0)
      handler = before
      return this
    }
  }

  const answer =
    (type: string, body: string, status = 200, headers: Record<string, string> = {}): Handler => (_req, res) =>
      res.writeHead(status, { 'content-type': type, ...headers }).end(body)
  const json = (v: unknown) => answer('application/json', typeof v === 'string' ? v : JSON.stringify(v))
  const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } })

  /** The facts of an event, and of the object behind its handle. */
  function known(platform: Platform, { table, ...seen }: Seen): unknown {
    if (seen.kind === Kind.Output) {
      const text = platform.text(table, 0)
      const { value, raw } = opened(platform.tables.takeResult(table)!)
      return { ...seen, text, value, raw }
    }
    if (seen.kind !== Kind.Tools) return { ...seen, table }
    const tools = seen.textA.split('\n').map((_, i) => ({
      ...platform.tables.tool(table, i),
      text: platform.text(table, i),
      pin: platform.pin(table, i),
      flags: platform.tables.flags(table, i),
    }))
    return { ...seen, tools, source: platform.tables.takeSource(table) }
  }

  test('what comes over the ioWorker is what would come without', async () => {
    const far = await new Client().burden(), near = new Client(false)
    const handlers: [awaits: number, Handler][] = [
      [CALL, json({ id: CALL, result: { content: [{ type: 'text', text: 'hi' }], isError: true } })],
      [CALL, json({ id: CALL, result: { content: [{ type: 'text', text: 'größe'.repeat(1 << 18) }] } })],
      [CALL, json(`{"id":${CALL},"result":{"structuredContent":{"n":12345678901234567890}}}`)],
      [CALL, json({ id: CALL, error: { code: 7, message: 'no' } })],
      [
        CALL,
        answer(
          'text/event-stream',
          `data: ${
            JSON.stringify({ method: 'notifications/progress', params: { progressToken: CALL, progress: 1 } })
          }\n\ndata: {"id":${CALL},"result":{}}\n\n`,
        ),
      ],
      [CALL, answer('text/plain', 'no', 429, { 'retry-after': '3' })],
      [
        CALL,
        (_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).write('{', () => res.destroy()),
      ],
      [CALL, json('{')],
      [
        LIST,
        json(
          `{"id":${LIST},"result":{"tools":[{"name":"n","inputSchema":{"maximum":9223372036854775807}}, 7],"nextCursor":"c"}}`,
        ),
      ],
      [LIST, json({ id: LIST, result: { tools: [tool('a'), tool('b', 'hid\u200bden')] } })],
      [
        LIST,
        json({
          id: LIST,
          result: {
            tools: Array.from({ length: 300 }, (_, i) => tool(`t${i}`, (i % 9 ? 'x' : '\u200b').repeat(3000))),
          },
        }),
      ],
      [
        LIST,
        json({
          id: LIST,
          result: {
            tools: Array.from({ length: 900 }, (_, i) => tool(`t${i}`, (i % 9 ? 'x' : '\u200b').repeat(3000))),
          },
        }),
      ],
      [0, answer('text/plain', '', 202)],
    ]
    for (const [awaits, what] of handlers) {
      handler = what
      const [there, here] = [await far.run(awaits), await near.run(awaits)]
      assert.deepEqual(known(far.platform, there), known(near.platform, here))
      if (there.kind !== Kind.Tools) continue
      handler = what
      const again = [await far.run(awaits), await near.run(awaits)] as const
      const print = ({ platform }: Client, { table }: Seen) =>
        new Promise((resolve) => platform.fingerprint(table, resolve))
      assert.equal(await print(far, again[0]), await print(near, again[1]))
      for (const [client, seen] of [[far, there], [far, again[0]]] as const) client.platform.release(seen.table)
    }
    assert.equal(far.threads.length, 1)
    assert.deepEqual(far.platform.held, { tables: 0, exchanges: 0 })
    far.platform.shut()
    await far.threads[0]!.ended
  })

  test('only servers that have sent very much are read apart', async () => {
    const client = await new Client().burden()
    const other = createServer((_req, res) =>
      void res.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":${CALL},"result":{}}`)
    )
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { events } = client.start(CALL, 0, 'POST', `http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    await client.until(() => events.length > 0)
    assert.equal(client.threads.length, 0)
    other.close()
    handler = json({ id: CALL, result: {} })
    await client.run(CALL)
    assert.equal(client.threads.length, 1)
    client.platform.shut()
    await client.threads[0]!.ended
  })

  test('a call that is given up ends on the ioWorker, too, and goodbyes have their moment', async () => {
    const client = await new Client().burden()
    const arrived = new Promise<void>((resolve) => (handler = () => resolve()))
    const before = gone, soon = client.start(CALL)
    client.platform.cancel(soon.id) // before the thread is there
    const { id } = client.start(CALL)
    await arrived
    client.platform.cancel(id)
    await goneAre(before + 1)
    assert.equal(gone, before + 1)

    const ends = new Promise<void>((resolve) => {
      handler = (req, res) => {
        if (req.method === 'DELETE') resolve()
        res.writeHead(200).end()
      }
    })
    client.start(0, 0, 'DELETE')
    client.platform.shut()
    await ends
    await client.threads[0]!.ended
    assert.deepEqual([soon.events, client.platform.held.exchanges], [[], 0])
  })

  test('where no thread can be had, all is read here', async () => {
    const nothing = new URL('data:text/javascript,throw new Error("no")')
    for (const make of [() => undefined, () => thread(nothing)]) {
      const client = await new Client(make).burden()
      handler = json({ id: CALL, result: { n: 1 } })
      for (let i = 0; i < 2; i++)
        assert.deepEqual(client.platform.tables.takeResult((await client.run(CALL)).table), { value: { n: 1 } })
      assert.ok(client.threads.length <= 1, 'it is not tried again')
    }
  })

  test('when a thread breaks down its exchanges end, and another is started, a few times', async () => {
    const client = await new Client().burden()
    for (let i = 0; i < 3; i++) {
      let arrived = () => {}
      const under = new Promise<void>((resolve) => (arrived = resolve))
      handler = () => arrived()
      const { events } = client.start(CALL)
      await under
      client.threads[i]!.onerror!.call(undefined as never, { preventDefault() {} } as ErrorEvent)
      await client.until(() => events.length > 0)
      assert.deepEqual([events[0]!.kind, events[0]!.a], [Kind.End, Why.Network])
      await client.threads[i]!.ended
    }
    handler = json({ id: CALL, result: {} })
    assert.equal((await client.run(CALL)).kind, Kind.Output)
    assert.equal(client.threads.length, 3)
  })

  test('with nothing to do for long the thread goes', async () => {
    const client = await new Client().burden()
    handler = json({ id: CALL, result: {} })
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      await client.run(CALL)
      mock.timers.tick(29_000)
      await client.run(CALL)
      mock.timers.tick(29_000)
      assert.equal((await client.run(CALL)).kind, Kind.Output)
      assert.equal(client.threads.length, 1)
      mock.timers.tick(30_000)
      await client.threads[0]!.ended
    } finally {
      mock.timers.reset()
    }
    assert.equal((await client.run(CALL)).kind, Kind.Output)
    assert.equal(client.threads.length, 2)
    client.platform.shut()
    await client.threads[1]!.ended
  })

  test('an optional stream that floods ends, and starts again in the second worker', async () => {
    const flood: Handler = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      const text = `retry: 500\nid: 7\ndata: ${JSON.stringify({ method: 'notifications/message', params: {} })}\n\n`
        .repeat(1000)
      const more = () => {
        while (!res.destroyed && res.write(text));
      }
      res.on('drain', more)
      more()
    }
    handler = flood
    const client = new Client(), before = gone
    for (const threads of [0, 1]) {
      const { events } = client.start(0, WANT_HEAD, 'GET')
      await client.until(() => ((events.at(-1)?.flags ?? 0) & Flag.Last) !== 0)
      const { kind, a, table: retry, textB } = events.at(-1)!
      assert.deepEqual([events[0]!.kind, kind, a, retry, textB], [Kind.Head, Kind.End, Why.EOF, 500, '7'])
      assert.ok(events.some((e) => e.kind === Kind.Dropped && e.a > 100))
      assert.equal(client.threads.length, threads)
    }
    await goneAre(before + 2)
    assert.equal(gone, before + 2)
    client.platform.shut()
    await client.threads[0]!.ended
  })

  test('a server is its origin, and the one behind the proxy', () => {
    const same = (...urls: string[]) => assert.equal(new Set(urls.map(serverOf)).size, 1, urls.join(' '))
    same('https://a.example/mcp', 'https://A.example/other?x=1', 'https://a.example')
    same(
      'https://p.example/?url=https%3A%2F%2Fa.example%2Fmcp',
      'https://p.example/?url=https%3a%2f%2fa.example%2fsse%3fx',
      'https://p.example/https://a.example/',
    )
    const all = [
      'https://a.example/',
      'http://a.example:8080/',
      'https://b.example/',
      'https://p.example/?url=https%3A%2F%2Fa.example%2F',
      'https://p.example/?url=https%3A%2F%2Fb.example%2F',
      'https://p.example/?url=https%3A%2F%2Fa.example%3A81%2F',
      'https://p.example/',
    ]
    assert.equal(new Set(all.map(serverOf)).size, all.length)
  })
}
