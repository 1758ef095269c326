import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { call, hasTool, Rig } from './rig.ts'
import { happens } from '../rig/harness.ts'

// K2 to K4, S11 and S12: bookmarks over bridge and extension, with a real client.

let rig: Rig
let desk: Client
before(async () => {
  rig = await Rig.create({ granted: true })
  desk = await rig.bridge.stdioClient('desk')
})
after(() => rig?.close())

const json = async (name: string, args: Record<string, unknown>) => {
  const r = await call(desk, name, args)
  assert.ok(!r.error, `${name}: ${r.text}`)
  return JSON.parse(r.text) as never
}

interface Node {
  id: string
  title: string
  url?: string
  parentId?: string
  index?: number
  children?: Node[]
  count?: number
  truncated?: boolean
}

test('bookmarks are offered when they are switched on, and not before', async () => {
  const { tools } = await desk.listTools()
  assert.ok(!tools.some((t) => t.name.startsWith('bookmark_')))
  await rig.ask('setOptions', { bookmarks: true })
  await hasTool(desk, 'bookmark_move')
  const names = (await desk.listTools()).tools.map((t) => t.name).filter((n) => n.startsWith('bookmark_')).sort()
  assert.deepEqual(
    names,
    [
      'add',
      'copy',
      'create_folder',
      'get',
      'get_children',
      'get_tree',
      'move',
      'remove',
      'remove_tree',
      'search',
      'update',
    ]
      .map((n) => `bookmark_${n}`),
  )
})

test('K2: all tools do what the promise says', async () => {
  const folder: Node = await json('bookmark_create_folder', { title: 'Charts' })
  const added: Node = await json('bookmark_add', {
    parentId: folder.id,
    title: 'Harbour',
    url: 'https://harbour.example/',
  })
  assert.equal(added.parentId, folder.id)
  const loose: Node = await json('bookmark_add', { title: 'Reef', url: 'https://reef.example/a?b=c' })
  assert.deepEqual((await json('bookmark_get', { id: added.id }) as Node[]).map((n) => n.title), ['Harbour'])
  assert.deepEqual((await json('bookmark_search', { query: 'reef' }) as Node[]).map((n) => n.id), [loose.id])
  const moved: Node = await json('bookmark_move', { id: loose.id, parentId: folder.id, index: 0 })
  assert.equal(moved.index, 0)
  assert.deepEqual((await json('bookmark_get_children', { id: folder.id }) as Node[]).map((n) => n.title), [
    'Reef',
    'Harbour',
  ])
  const changed: Node = await json('bookmark_update', { id: added.id, title: 'Port', url: 'https://port.example/' })
  assert.deepEqual([changed.title, changed.url], ['Port', 'https://port.example/'])
  const [root] = await json('bookmark_get_tree', {}) as Node[]
  assert.match(JSON.stringify(root), /"Charts"/)
})

test('K2: positions, copies, several at once with a result for each, and trees cut to a depth', async () => {
  const folder: Node = await json('bookmark_create_folder', { title: 'Fleet' })
  const add = async (title: string, index?: number) =>
    await json('bookmark_add', { parentId: folder.id, title, url: `https://${title}.example/`, index }) as Node
  const [one, two] = [await add('one'), await add('two', 0)]
  assert.deepEqual([two.index, (await json('bookmark_get', { id: one.id }) as Node[])[0]!.index], [0, 1])

  const inner: Node = await json('bookmark_create_folder', { parentId: folder.id, title: 'Inner', index: 0 })
  assert.equal(inner.index, 0)
  const { results } = await json('bookmark_move', {
    items: [{ id: one.id, parentId: inner.id }, { id: '999999', parentId: inner.id }, {
      id: two.id,
      parentId: inner.id,
      index: 0,
    }],
  }) as { results: { id: string; ok: boolean; error?: string }[] }
  assert.deepEqual(results.map(({ id, ok, error }) => [id, ok, error]), [
    [one.id, true, undefined],
    ['999999', false, "Can't find bookmark for id."],
    [two.id, true, undefined],
  ])
  const copied: Node = await json('bookmark_copy', { id: inner.id, parentId: folder.id })
  const titles = async (id: string) => (await json('bookmark_get_children', { id }) as Node[]).map((n) => n.title)
  assert.deepEqual(await titles(copied.id), ['two', 'one'])
  const self = await call(desk, 'bookmark_copy', { id: folder.id, parentId: inner.id })
  assert.ok(self.error && self.text.includes('into itself'), self.text)

  const [tree] = await json('bookmark_get_tree', { folderId: folder.id, depth: 1 }) as Node[]
  assert.deepEqual(tree!.children!.map((n) => [n.title, n.count, n.truncated, n.children]), [
    ['Inner', 2, true, undefined],
    ['Inner', 2, true, undefined],
  ])
  const nothing = await call(desk, 'bookmark_update', {})
  assert.ok(nothing.error && nothing.text.startsWith('Invalid arguments:'), nothing.text)

  const removing = call(desk, 'bookmark_remove', { id: [one.id, two.id, '999999'] })
  const { approvals } = await rig.until('the question', (s) => s.approvals.length)
  assert.equal(
    approvals[0]!.summary,
    'Remove 3 bookmarks: “one” (https://one.example/), “two” (https://two.example/), something that is not there',
  )
  await rig.ask('approve', { id: approvals[0]!.id, answer: 'once' })
  const removed = JSON.parse((await removing).text) as { results: { ok: boolean }[] }
  assert.deepEqual(removed.results.map((r) => r.ok), [true, true, false])
})

test('clients that subscribe get changes of bookmarks', async () => {
  const heard: { type: string; data: { title?: string } }[] = []
  desk.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    if (params.logger === 'portolan/event') heard.push(params.data as never)
  })
  await desk.setLoggingLevel('info')
  const { id } = await json('bookmark_add', { title: 'Buoy', url: 'https://buoy.example/' }) as Node
  await json('bookmark_update', { id, title: 'Lighthouse' })
  await happens(() => heard.length >= 2)
  assert.deepEqual(heard.map((e) => [e.type, e.data.title]), [['created', 'Buoy'], ['changed', 'Lighthouse']])
})

test('a client that may not read bookmarks gets no changes of them', async () => {
  const heard: { data: { title?: string } }[] = []
  desk.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    if (params.logger === 'portolan/event') heard.push(params.data as never)
  })
  await desk.setLoggingLevel('info')
  const { clients: [client] } = await rig.until('the client', (s) => s.clients.length)
  const grant = async (...grants: [tool: string, grant: 'ask' | 'deny' | undefined][]) => {
    for (const [tool, grant] of grants) await rig.ask('setGrant', { client: client!.key, tool, grant })
  }
  const add = (title: string) => json('bookmark_add', { title, url: 'https://buoy.example/' })
  await grant(
    ['bookmark_get', 'deny'],
    ['bookmark_get_children', 'deny'],
    ['bookmark_get_tree', 'deny'],
    ['bookmark_search', 'ask'],
  )
  await add('Secret')
  await grant(['bookmark_search', undefined])
  await add('Seen')
  await happens(() => heard.length)
  assert.deepEqual(heard.map((e) => e.data.title), ['Seen'])
  await grant(['bookmark_get', undefined], ['bookmark_get_children', undefined], ['bookmark_get_tree', undefined])
})

test('S11: a tree that is too large has its lowest folders counted', async () => {
  await rig.panel.evaluate(async () => {
    const top = await chrome.bookmarks.create({ title: 'Archive' })
    for (let i = 0; i < 10; i++) {
      const { id } = await chrome.bookmarks.create({ parentId: top.id, title: `Year ${i}` })
      await Promise.all(Array.from({ length: 60 }, (_, n) =>
        chrome.bookmarks.create({
          parentId: id,
          title: `Log ${n} ${'x'.repeat(300)}`,
          url: `https://log.example/${i}/${n}`,
        })))
    }
  })
  const r = await call(desk, 'bookmark_get_tree')
  assert.ok(!r.error && r.text.length < 200_000, `${r.text.length}`)
  assert.equal(r.structured.truncated, true)
  assert.match(r.text, /"title":"Year 3","?[^}]*"count":60,"truncated":true/)
})

test("K3: the browser's errors, wrong arguments and unknown tools become results", async () => {
  const missing = await call(desk, 'bookmark_get', { id: '999999' })
  assert.deepEqual([missing.error, missing.text], [true, "Can't find bookmark for id."])
  for (const args of [{}, { id: 5 }, { id: '1', more: true }]) {
    const r = await call(desk, 'bookmark_get', args)
    assert.ok(r.error && r.text.startsWith('Invalid arguments:'), r.text)
  }
  assert.ok((await call(desk, 'bookmark_add', { title: 'x', url: 'not a url' })).error)
  await assert.rejects(call(desk, 'bookmark_nothing'), /unknown tool/)
})

test('arguments beyond 2 MiB are refused, and the connection stays', async () => {
  const other = call(desk, 'bookmark_search', { query: 'reef' })
  const large = await call(desk, 'bookmark_search', { query: 'x'.repeat(2_200_000) })
  assert.ok(large.error && large.text.includes('larger than the 2 MiB'), large.text.slice(0, 200))
  assert.ok(!(await other).error)
  assert.ok(!(await call(desk, 'bookmark_search', { query: 'reef' })).error)
})

test('many changes of bookmarks at once, as by an import, do not end the connection', async () => {
  const { since } = (await rig.state()).links[0]!
  let dropped = 0
  desk.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    const { type, data } = params.data as { type: string; data: { count: number } }
    if (type === 'dropped') dropped += data.count
  })
  await desk.setLoggingLevel('info')
  await rig.panel.evaluate(async () => {
    const { id: parentId } = await chrome.bookmarks.create({ title: 'Imported' })
    const made = Array.from({ length: 6000 }, (_, n) => chrome.bookmarks.create({ parentId, title: `Log ${n}` }))
    await Promise.all(made)
    await chrome.bookmarks.removeTree(parentId)
  })
  assert.ok(!(await call(desk, 'bookmark_search', { query: 'reef' })).error)
  await happens(() => dropped) // the clients hear that there were more
  assert.equal((await rig.state()).links[0]!.since, since)
})

test('removing asks the person, each time or for ever', async () => {
  const add = async () => (await json('bookmark_add', { title: 'Wreck <b>', url: 'https://wreck.example/' }) as Node).id
  const there = async (id: string) => !(await call(desk, 'bookmark_get', { id })).error
  const remove = async (id: string, answer: 'once' | 'always' | 'deny' | 'never') => {
    const removing = call(desk, 'bookmark_remove', { id })
    const { approvals } = await rig.until('the question', (s) => s.approvals.length)
    assert.equal(approvals[0]!.summary, 'Remove the bookmark “Wreck <b>” (https://wreck.example/)')
    assert.equal(approvals[0]!.clientName, 'desk')
    await rig.ask('approve', { id: approvals[0]!.id, answer })
    return removing
  }
  const id = await add()
  const denied = await remove(id, 'deny')
  assert.match(denied.text, /said no\. \(DENIED\)$/)
  assert.ok(await there(id))
  assert.ok(!(await remove(id, 'once')).error)
  assert.ok(!await there(id))
  assert.ok(!(await remove(await add(), 'always')).error)
  const free = await add()
  assert.deepEqual(JSON.parse((await call(desk, 'bookmark_remove', { id: free })).text), { success: true })

  const folder: Node = await json('bookmark_create_folder', { title: 'Cove' })
  await json('bookmark_add', { parentId: folder.id, title: 'a', url: 'https://a.example/' })
  const removing = call(desk, 'bookmark_remove_tree', { id: folder.id })
  const { approvals } = await rig.until('the question', (s) => s.approvals.length)
  assert.equal(approvals[0]!.summary, 'Remove the folder “Cove” with 1 item in it')
  await rig.ask('approve', { id: approvals[0]!.id, answer: 'never' })
  assert.match((await removing).text, /DENIED/)
  assert.match((await call(desk, 'bookmark_remove_tree', { id: folder.id })).text, /does not let desk use/)
  assert.ok(await there(folder.id))

  // Another client has no such grant, though it has the same name. A client that gives up ends its question.
  const other = await rig.bridge.stdioClient('desk')
  await hasTool(other, 'bookmark_remove')
  const gives = new AbortController()
  const asked = call(other, 'bookmark_remove', { id: folder.id }, { signal: gives.signal })
  await rig.until("the other client's question", (s) => s.approvals.length === 1)
  gives.abort()
  await assert.rejects(asked)
  await rig.until('no question', (s) => !s.approvals.length)
  const { clients, activity } = await rig.state()
  assert.deepEqual(clients.find((c) => Object.keys(c.grants).length)?.grants, {
    bookmark_remove: 'allow',
    bookmark_remove_tree: 'deny',
  })
  assert.ok(activity.some((a) => a.tool === 'bookmark_remove' && a.outcome === 'denied' && a.code === 'DENIED'))
  assert.ok(activity.some((a) => a.tool === 'bookmark_remove' && a.outcome === 'cancelled'))
  assert.doesNotMatch(JSON.stringify(activity), /wreck/i)
})

test('everything can be stopped, and go on', async () => {
  const { id } = await json('bookmark_add', { title: 'Sandbank', url: 'https://sandbank.example/' }) as Node
  const key = (await rig.state()).clients.find((c) => Object.keys(c.grants).length)!.key
  await rig.ask('setGrant', { client: key, tool: 'bookmark_remove', grant: 'ask' })
  const asking = call(desk, 'bookmark_remove', { id })
  await rig.until('the question', (s) => s.approvals.length)
  await rig.ask('stop', {})
  assert.match((await asking).text, /^The person stopped everything in the (browser )?extension.*\(STOPPED\)$/)
  await hasTool(desk, 'bookmark_search', false) // the bridge knows
  assert.match(
    (await call(desk, 'bookmark_search', { query: 'x' })).text,
    /^No browser extension connected: the person stopped everything.*\(STOPPED\)$/,
  )
  await rig.ask('go', {})
  await rig.connected()
  await hasTool(desk, 'bookmark_search')
  assert.deepEqual(await json('bookmark_search', { query: 'nothing at all' }), [])
})
