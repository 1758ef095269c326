import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  ElicitRequestSchema,
  ElicitResultSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { happens, listen, type Listening } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { sdkSessions } from '../web/servers/sdksessions.ts'
import { TestBridge } from './bridge.ts'
import { call, hasTool, Rig } from './rig.ts'

// Resources and prompts of the registry's servers reach desktop clients through the real bridge and extension.

interface Harbour extends Listening {
  /** Tells the sessions that watch a resource that it has changed. */
  update(uri: string): void
  /** The number of sessions that watch a resource, once that is so. */
  watched(uri: string, sessions: number): Promise<void>
  /** Takes the prompt `later` off the list, of every session. */
  change(): void
}

/** A server with resources, prompts that complete and ask, a tool that asks by an address, and a log. */
async function harbour(): Promise<Harbour> {
  const changes: (() => void)[] = []
  const watching = new Map<string, Set<McpServer>>()
  const waiters = new Set<() => void>()
  const watchers = (uri: string) => watching.get(uri) ?? watching.set(uri, new Set()).get(uri)!
  const program = () => {
    const server = new McpServer({ name: 'harbour', version: '1' }, {
      capabilities: { logging: {}, resources: { subscribe: true } },
    })
    server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      watchers(params.uri).add(server)
      for (const wake of waiters) wake()
      return {}
    })
    server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
      watchers(params.uri).delete(server)
      for (const wake of waiters) wake()
      return {}
    })
    server.server.onclose = () => {
      for (const sessions of watching.values()) sessions.delete(server)
      for (const wake of waiters) wake()
    }
    const read = (uri: URL) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: `of ${uri.pathname}` }] })
    server.registerResource('chart', 'harbour://chart', { title: 'The chart' }, read)
    const berths = new ResourceTemplate('harbour://berth/{n}', {
      list: undefined,
      complete: { n: (value) => ['1', '11', '2'].filter((n) => n.startsWith(value)) },
    })
    server.registerResource('berth', berths, {}, read)
    server.registerPrompt(
      'greet',
      { argsSchema: { who: z.string() } },
      async ({ who }, { sendRequest }) => {
        const asked = await sendRequest({
          method: 'elicitation/create',
          params: {
            message: 'Which tone?',
            requestedSchema: { type: 'object', properties: { tone: { type: 'string' } } },
          },
        }, ElicitResultSchema)
        return {
          messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}: ${asked.content?.['tone']}` } }],
        }
      },
    )
    const later = server.registerPrompt('later', {}, () => ({ messages: [] }))
    changes.push(() => later.remove())
    server.registerTool('shout', { inputSchema: { text: z.string() } }, async ({ text }, { sendNotification }) => {
      await sendNotification({
        method: 'notifications/message',
        params: { level: 'warning', logger: 'quay', data: text },
      })
      return { content: [{ type: 'resource_link', uri: 'harbour://hidden', name: 'hidden' }] }
    })
    server.registerResource('hidden', 'harbour://hidden', {}, read)
    server.registerTool(
      'pay',
      { inputSchema: { id: z.string() } },
      async ({ id }, { sendRequest, sendNotification }) => {
        const params = {
          mode: 'url' as const,
          message: 'Pay here',
          url: `https://pay.example/${id}`,
          elicitationId: id,
        }
        const { action } = await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema)
        await sendNotification({ method: 'notifications/elicitation/complete', params: { elicitationId: id } })
        return { content: [{ type: 'text', text: `said ${action}` }] }
      },
    )
    return server
  }
  const listening = await listen(sdkSessions(program))
  return {
    ...listening,
    url: `${listening.url}/mcp`,
    change: () => changes.forEach((change) => change()),
    update: (uri) => watchers(uri).forEach(({ server }) => void server.sendResourceUpdated({ uri })),
    watched: (uri, sessions) =>
      new Promise((resolve) => {
        const look = () => {
          if (watchers(uri).size !== sessions) return
          waiters.delete(look)
          resolve()
        }
        waiters.add(look)
        look()
      }),
  }
}

/** Returns the first visible match in any shadow root. */
const deep = (selector: string, text: string) =>
  `(function find(r){for(const e of r.querySelectorAll('*')){if(e.matches(${
    JSON.stringify(selector)
  })&&e.getClientRects().length&&e.textContent.includes(${
    JSON.stringify(text)
  }))return e;const f=e.shadowRoot&&find(e.shadowRoot);if(f)return f}})(document)`

let rig: Rig, server: Harbour, desk: Client
before(async () => {
  server = await harbour()
  rig = await Rig.create({ granted: true })
  desk = await rig.bridge.stdioClient('desk')
  await rig.addServers({ harbour: server.url, twin: server.url })
  await hasTool(desk, 'twin__shout')
})
after(async () => {
  await rig?.close()
  await server?.close()
})

test('resources of all servers are listed and read, those of the same URI too', async () => {
  const { resources } = await desk.listResources()
  assert.deepEqual(resources.map((r) => [r.uri, r._meta?.['portolan/server']]), [
    ['harbour://chart', 'harbour'],
    ['harbour://hidden', 'harbour'],
    ['portolan://twin/harbour%3A%2F%2Fchart', 'twin'],
    ['portolan://twin/harbour%3A%2F%2Fhidden', 'twin'],
  ])
  assert.equal(resources[0]!.title, 'The chart')
  for (
    const [uri, of] of [['harbour://chart', 'harbour'], [resources[2]!.uri, 'twin'], ['harbour://berth/7', 'harbour']]
  ) {
    const { contents, _meta } = await desk.readResource({ uri: uri! })
    assert.match((contents[0] as { text: string }).text, /^of /)
    assert.deepEqual(_meta, { 'portolan/server': of, 'portolan/untrusted': true })
  }
  await assert.rejects(desk.readResource({ uri: 'other://x' }), { code: -32002 })
  const { resourceTemplates } = await desk.listResourceTemplates()
  assert.deepEqual(resourceTemplates.map((t) => t.uriTemplate), ['harbour://berth/{n}', 'harbour://berth/{n}'])
})

test('a prompt is completed and made, and its question goes to the client that asked for it', async () => {
  const { prompts } = await desk.listPrompts()
  assert.deepEqual(prompts.map((p) => p.name), ['harbour__greet', 'harbour__later', 'twin__greet', 'twin__later'])
  const { completion } = await desk.complete({
    ref: { type: 'ref/resource', uri: 'harbour://berth/{n}' },
    argument: { name: 'n', value: '1' },
  })
  assert.deepEqual(completion.values, ['1', '11'])
  const other = await rig.bridge.stdioClient('other')
  for (const [client, tone] of [[desk, 'loud'], [other, 'soft']] as const)
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { tone } }))
  const texts = await Promise.all([desk, other].map(async (client) => {
    const { messages } = await client.getPrompt({ name: 'twin__greet', arguments: { who: 'Ada' } })
    return (messages[0]!.content as { text: string }).text
  }))
  assert.deepEqual(texts, ['Greet Ada: loud', 'Greet Ada: soft'])
  await assert.rejects(desk.getPrompt({ name: 'harbour__none' }), { code: -32602 })
  await assert.rejects(desk.getPrompt({ name: 'harbour__greet' }), { code: -32602 })
})

test('a client of 2026-07-28 gets the question as a result, and repeats its request with the answer', async () => {
  const token = await rig.bridge.run('token')
  const get = async (more: object) => {
    const meta = 'io.modelcontextprotocol/'
    const _meta = {
      [`${meta}protocolVersion`]: '2026-07-28',
      [`${meta}clientInfo`]: { name: 'modern', version: '1' },
      [`${meta}clientCapabilities`]: { elicitation: { form: {} } },
    }
    const response = await fetch(`http://${rig.bridge.address}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'prompts/get',
        'mcp-name': 'harbour__greet',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'prompts/get',
        params: { name: 'harbour__greet', arguments: { who: 'Ada' }, _meta, ...more },
      }),
    })
    const text = await response.text()
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).result
  }
  const asked = await get({})
  assert.equal(asked.resultType, 'input_required')
  const [[id, question]] = Object.entries(asked.inputRequests) as [
    [string, { method: string; params: { message: string } }],
  ]
  assert.deepEqual([question.method, question.params.message], ['elicitation/create', 'Which tone?'])
  const made = await get({
    requestState: asked.requestState,
    inputResponses: { [id]: { action: 'accept', content: { tone: 'new' } } },
  })
  assert.deepEqual([made.resultType, made.messages[0].content.text], ['complete', 'Greet Ada: new'])
})

test('a question for a client that cannot ask goes to the side panel', async () => {
  const muted = await rig.bridge.mutedClient('muted')
  const prompt = muted.getPrompt({ name: 'harbour__greet', arguments: { who: 'Ada' } })
  const { questions } = await rig.until('the question', (s) => s.questions.length > 0)
  assert.deepEqual([questions[0]!.server, questions[0]!.message], ['harbour', 'Which tone?'])
  await rig.ask('answerQuestion', { id: questions[0]!.id, answer: { action: 'accept', content: { tone: 'calm' } } })
  const { messages } = await prompt
  assert.equal((messages[0]!.content as { text: string }).text, 'Greet Ada: calm')
})

test('a question by an address goes to the client that called, and to the side panel if it shows none', async () => {
  const shown: unknown[] = []
  const clients = await Promise.all(['payer', 'refuser'].map((name) => rig.bridge.addressClient(name)))
  for (const [i, client] of clients.entries())
    client.setRequestHandler(ElicitRequestSchema, ({ params: { _meta, ...params } }) => {
      shown.push(params)
      return { action: i ? 'decline' : 'accept' }
    })
  const pay = (client: Client, id: string) =>
    client.callTool({ name: 'harbour__pay', arguments: { id } }).then((r) => (r.content as { text: string }[])[0]!.text)
  assert.deepEqual(await Promise.all(clients.map((client, i) => pay(client, `p${i}`))), ['said accept', 'said decline'])
  const address = (id: string) => (
    { mode: 'url', message: 'Pay here', url: `https://pay.example/${id}`, elicitationId: id }
  )
  const byId = (a: unknown, b: unknown) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
  assert.deepEqual(shown.sort(byId), [address('p0'), address('p1')])

  // `desk` says that it shows forms only.
  for (const action of ['accept', 'decline'] as const) {
    const paid = pay(desk, action)
    const { questions } = await rig.until('the address', (s) => s.questions.length > 0)
    const { mode, url, message, server, tool } = questions[0]!
    assert.deepEqual({ mode, url, message, server, tool }, {
      mode: 'url',
      url: `https://pay.example/${action}`,
      message: 'Pay here',
      server: 'harbour',
      tool: 'pay',
    })
    await rig.ask('answerQuestion', { id: questions[0]!.id, answer: { action } })
    assert.equal(await paid, `said ${action}`)
  }
})

test('the side panel opens the address at a click, and only then', async () => {
  const paid = desk.callTool({ name: 'harbour__pay', arguments: { id: 'click' } })
  const opened = async () => (await rig.browser.targets()).filter(({ url }) => url.includes('pay.example')).length
  await rig.panel.until((e) => (0, eval)(e), [deep('.address', 'https://pay.example/click')], 'the address')
  assert.equal(await opened(), 0)
  await rig.panel.click(deep('button', 'Open page'))
  assert.equal(((await paid).content as { text: string }[])[0]!.text, 'said accept')
  await happens(opened)
})

test('a client hears of changes of the resources that it watches, until it leaves', async () => {
  const one = await rig.bridge.stdioClient('one'), two = await rig.bridge.stdioClient('two')
  const heard = new Map<Client, string[]>()
  const hears = (client: Client, uri: string) =>
    new Promise<void>((resolve) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        heard.set(client, [...heard.get(client) ?? [], params.uri])
        if (params.uri === uri) resolve()
      })
    })
  const [chart, hidden] = ['harbour://chart', 'harbour://hidden']
  await one.subscribeResource({ uri: chart })
  await one.subscribeResource({ uri: 'portolan://twin/harbour%3A%2F%2Fchart' })
  for (const client of [one, two]) await client.subscribeResource({ uri: hidden })
  await server.watched(chart, 2)
  await server.watched(hidden, 1)
  await assert.rejects(two.subscribeResource({ uri: 'other://x' }), { code: -32002 })

  const ends = [hears(one, hidden), hears(two, hidden)]
  const twin = hears(one, 'portolan://twin/harbour%3A%2F%2Fchart')
  server.update(chart)
  await twin
  ends[0] = hears(one, hidden)
  server.update(hidden)
  await Promise.all(ends)
  assert.deepEqual(heard.get(one)!.sort(), [chart, hidden, 'portolan://twin/harbour%3A%2F%2Fchart'])
  assert.deepEqual(heard.get(two), [hidden])

  await one.unsubscribeResource({ uri: chart })
  await server.watched(chart, 1)
  await one.close() // without unsubscribing
  await server.watched(chart, 0)
  await server.watched(hidden, 1)
  await two.close()
  await server.watched(hidden, 0)
})

test('a server that was removed and added again is watched again', async () => {
  const one = await rig.bridge.stdioClient('one')
  const [chart, twins] = ['harbour://chart', 'portolan://twin/harbour%3A%2F%2Fchart']
  await one.subscribeResource({ uri: twins })
  await server.watched(chart, 1)
  await rig.removeServer('twin')
  await server.watched(chart, 0)
  await rig.addServers({ twin: server.url })
  await one.subscribeResource({ uri: twins })
  await server.watched(chart, 1)
  const changed = new Promise<void>((resolve) =>
    one.setNotificationHandler(ResourceUpdatedNotificationSchema, () => resolve())
  )
  server.update(chart)
  await changed
  await one.close()
  await server.watched(chart, 0)
})

test('B4: clients of two bridges watch one resource, and each bridge ends its own watching only', async () => {
  const other = await TestBridge.create()
  try {
    await other.start()
    const second = Object.assign(Object.create(rig) as Rig, { bridge: other })
    await second.pair()
    const uri = 'harbour://hidden'
    const [here, there] = [await rig.bridge.stdioClient('here'), await other.stdioClient('there')]
    await hasTool(there, 'harbour__pay')
    const hears = (client: Client) =>
      new Promise<void>((resolve) =>
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
          if (params.uri === uri) resolve()
        })
      )
    for (const client of [here, there]) {
      await client.subscribeResource({ uri })
    }
    await server.watched(uri, 1)
    const both = [hears(here), hears(there)]
    server.update(uri)
    await Promise.all(both)
    await here.unsubscribeResource({ uri })
    const still = hears(there)
    server.update(uri)
    await still
    await other.stop()
    await server.watched(uri, 0)
    await here.close()
    const { links } = await rig.state()
    await rig.ask('unpair', { pairing: links.find((l) => l.address === other.address)!.pairing })
  } finally {
    await other.close()
  }
})

test('changes of lists and messages of logs reach a client', async () => {
  const changed = new Promise<void>((resolve) =>
    desk.setNotificationHandler(PromptListChangedNotificationSchema, () => resolve())
  )
  server.change()
  await changed
  for (let names = ['later']; names.some((n) => n.endsWith('later'));)
    names = (await desk.listPrompts()).prompts.map((p) => p.name)

  const heard = new Promise<unknown>((resolve) =>
    desk.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => resolve(params))
  )
  await desk.setLoggingLevel('warning')
  await desk.callTool({ name: 'harbour__shout', arguments: { text: 'ahoy' } })
  assert.deepEqual(await heard, { level: 'warning', logger: 'harbour/quay', data: 'ahoy' })
})

test('a person who always allows a tool is asked again once another server has the name', async () => {
  const sink = [{ name: 'sink', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }]
  const results = { sink: { content: [{ type: 'text', text: 'sunk' }] } }
  const [old, next] = [await sdkServer(sink, { results }), await sdkServer(sink, { results })]
  try {
    await rig.addServers({ quay: old.url })
    await hasTool(desk, 'quay__sink')
    const asked = call(desk, 'quay__sink')
    const { approvals } = await rig.until('the question', (s) => s.approvals.length)
    await rig.ask('approve', { id: approvals[0]!.id, answer: 'always' })
    assert.equal((await asked).text, 'sunk')
    assert.equal((await call(desk, 'quay__sink')).text, 'sunk')

    await rig.removeServer('quay')
    await hasTool(desk, 'quay__sink', false)
    await rig.addServers({ quay: next.url })
    await hasTool(desk, 'quay__sink')
    const again = call(desk, 'quay__sink')
    const { approvals: [question] } = await rig.until('the question again', (s) => s.approvals.length)
    await rig.ask('approve', { id: question!.id, answer: 'deny' })
    assert.match((await again).text, /DENIED/)
    assert.deepEqual(next.calls, [])
  } finally {
    await rig.removeServer('quay')
    await old.close()
    await next.close()
  }
})

test('a person who offers no servers offers nothing of them', async () => {
  await rig.ask('setOptions', { publishRegistry: false })
  assert.deepEqual((await desk.listResources()).resources, [])
  await assert.rejects(desk.readResource({ uri: 'harbour://chart' }), /does not offer/)
  await rig.ask('setOptions', { publishRegistry: true })
})

test('the first list of a service worker that starts again has the tools of servers', async () => {
  await rig.killWorker()
  const { tools } = await desk.listTools() // waits for the worker's first list
  assert.deepEqual(tools.filter((t) => t.name.endsWith('__pay')).map((t) => t.name), ['harbour__pay', 'twin__pay'])
})

test('a service worker that starts again watches what clients still watch', { timeout: 60_000 }, async () => {
  await desk.subscribeResource({ uri: 'harbour://chart' })
  await server.watched('harbour://chart', 1)
  const changed = new Promise<void>((resolve) =>
    desk.setNotificationHandler(ResourceUpdatedNotificationSchema, () => resolve())
  )
  await rig.killWorker()
  await server.watched('harbour://chart', 2) // the dead worker's session never hears of it
  server.update('harbour://chart')
  await changed
  await desk.unsubscribeResource({ uri: 'harbour://chart' })
  await server.watched('harbour://chart', 1)
})
