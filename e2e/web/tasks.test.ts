import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import { launchChromium, openPage, servePackage, type Listening, mapStorage } from '../rig/harness.ts'
import { startServers } from './servers/servers.ts'
import { taskServer } from './servers/taskserver.ts'

// Detached calls, of server-everything and of a server whose tasks outlive a session.

let everything: string
let stop: () => Promise<void>
let site: Listening
let browser: Browser

before(async () => {
  const started = await startServers()
  stop = started.stop
  everything = started.servers.find((s) => s.name === 'everything')!.url
  site = await servePackage()
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await site?.close()
  await stop?.()
})

const research = 's__simulate-research-query'

test('a detached call is waited for, in another registry too, or cancelled', async (t) => {
  const server = await taskServer()
  t.after(() => server.close())
  const storage = mapStorage()
  const open = async () => {
    const r = await createRegistry({ storage, servers: { s: { url: server.url } } })
    t.after(() => r.close())
    await r.discover()
    return r
  }
  const r = await open()
  const tool = 's__research_optional'
  const task = await r.call(tool, { topic: 'tides' }, { detach: true })
  assert.deepEqual([task.server, task.tool, task.status], ['s', 'research_optional', 'working'])
  assert.equal(task.expiresAt! - task.startedAt, 60_000)
  const other = await r.call(tool, { topic: 'winds' }, { detach: true })
  assert.deepEqual((await r.tasks()).map((t) => t.taskId), [task.taskId, other.taskId])
  assert.ok(!server.methods.includes('tasks/get'))

  const later = await open()
  const { port1, port2 } = new MessageChannel()
  t.after(serveRegistry(later, portChannel(port1)))
  const remote = await connectRegistry(portChannel(port2))
  t.after(() => remote.close())
  const [first, second] = await remote.tasks()
  assert.equal(first!.taskId, task.taskId)
  const told: number[] = []
  const result = await first!.wait({ onProgress: (p) => told.push(p.progress) })
  assert.deepEqual([result.text, result.tool, result.server], ['about tides', 'research_optional', 's'])
  assert.ok(told.length > 1)
  await second!.cancel()
  assert.deepEqual(await r.tasks(), [])
  await assert.rejects(other.wait(), { code: 'server_error' })

  const ends = new AbortController()
  const third = await remote.call(tool, { topic: 'fog' }, { detach: true })
  const waiting = third.wait({ signal: ends.signal })
  ends.abort()
  await assert.rejects(waiting, { code: 'aborted' })
  assert.deepEqual((await r.tasks()).map((t) => t.taskId), [third.taskId]) // the task goes on
  await third.cancel()
  assert.equal(await r.dispatch(tool, { topic: 'rain' }), 'at once: rain') // nobody asked for a task
  assert.equal(await r.dispatch(tool, { topic: 'hail' }, { timeoutMs: 120_001 }), 'about hail')
  const handle = await remote.call('s__research_forbidden', { topic: 'snow' }, { detach: true })
  assert.equal((await handle.wait()).text, 'at once: snow')
})

test('a task stays with its server when the server is renamed', async (t) => {
  const server = await taskServer()
  t.after(() => server.close())
  const r = await createRegistry({ storage: mapStorage(), servers: { s: { url: server.url } } })
  t.after(() => r.close())
  await r.discover()
  const { taskId } = await r.call('s__research_optional', { topic: 'tides' }, { detach: true })
  await r.renameServer('s', 'sea')
  const [task] = await r.tasks()
  assert.deepEqual([task!.server, task!.taskId], ['sea', taskId])
  await task!.cancel()
  assert.deepEqual(await r.tasks(), [])
})

test('a server that gets the name of another one, or another address, does not get the ids of its tasks', async (t) => {
  const [server, other] = [await taskServer(), await taskServer()]
  t.after(() => Promise.all([server.close(), other.close()]))
  const r = await createRegistry({ storage: mapStorage(), servers: { s: { url: server.url } } })
  t.after(() => r.close())
  await r.discover()
  const handle = await r.call('s__research_optional', { topic: 'tides' }, { detach: true })
  const { taskId } = handle
  await r.removeServer('s')
  assert.deepEqual(await r.tasks(), [])
  await r.addServer('s', { url: other.url })
  assert.deepEqual(await r.tasks(), [])
  await assert.rejects(handle.wait(), { code: 'server_removed', hint: 'Call the tool again.' })
  await assert.rejects(handle.cancel(), { code: 'server_removed' })
  await r.updateServer('s', { url: server.url })
  const [task] = await r.tasks()
  assert.equal(task!.taskId, taskId)
  await task!.cancel()
})

test('a task whose time is over is not listed, and says what to do', async (t) => {
  const server = await taskServer(0)
  t.after(() => server.close())
  const r = await createRegistry({ storage: mapStorage(), servers: { s: { url: server.url } } })
  t.after(() => r.close())
  await r.discover()
  const task = await r.call('s__research_optional', { topic: 'tides' }, { detach: true })
  assert.deepEqual(await r.tasks(), [])
  await assert.rejects(task.wait(), { code: 'gone', hint: 'Call the tool again.' })
})

test('a full storage keeps no task, and loses no handle and no result', async (t) => {
  const server = await taskServer()
  t.after(() => server.close())
  const storage = mapStorage()
  storage.set = () => {
    throw new Error('full')
  }
  const r = await createRegistry({ storage, servers: { s: { url: server.url } } })
  t.after(() => r.close())
  await r.discover()
  const task = await r.call('s__research_optional', { topic: 'tides' }, { detach: true })
  assert.equal((await task.wait()).text, 'about tides')
  assert.deepEqual(await r.tasks(), [])
})

test("server-everything's task is waited for, and gone with its session", async (t) => {
  const open = async () => {
    const r = await createRegistry({ storage: 'memory', servers: { s: { url: everything } } })
    t.after(() => r.close())
    await r.discover()
    return r
  }
  const r = await open()
  const task = await r.call(research, { topic: 'tides' }, { detach: true })
  assert.match((await task.wait()).text, /tides/i)
  const next = await r.call(research, { topic: 'winds' }, { detach: true })
  await r.setEnabled('s', false) // which ends the session
  await assert.rejects(next.wait(), { code: 'disabled' })
  await r.setEnabled('s', true)
  await assert.rejects(next.wait(), { code: 'gone' })
  assert.deepEqual(await r.tasks(), [])
})

test('a tool that is no task answers at once', async (t) => {
  const r = await createRegistry({ storage: 'memory', servers: { s: { url: everything } } })
  t.after(() => r.close())
  await r.discover()
  const handle = await r.call('s__echo', { message: 'ahoy' }, { detach: true })
  assert.deepEqual([handle.taskId, handle.status], ['', 'completed'])
  assert.match((await handle.wait()).text, /ahoy/)
  assert.deepEqual(await r.tasks(), [])
})

test('a page that is reloaded waits on', async (t) => {
  const server = await taskServer()
  t.after(() => server.close())
  const page = await openPage(browser, site.url)
  const options = JSON.stringify({ servers: { s: { url: server.url } } })
  const begun = await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    const r = await createRegistry(${options})
    await r.discover()
    return (await r.call('s__research_optional', { topic: 'tides' }, { detach: true })).taskId
  })()`)
  await page.reload()
  const { id, text, left } = await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    const r = await createRegistry(${options})
    await r.discover()
    const [task] = await r.tasks()
    const { text } = await task.wait()
    const left = (await r.tasks()).length
    await r.close()
    return { id: task.taskId, text, left }
  })()`) as { id: string; text: string; left: number }
  assert.equal(id, begun)
  assert.equal(text, 'about tides')
  assert.equal(left, 0)
  await page.context().close()
})
