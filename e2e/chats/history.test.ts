import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { HistoryDb } from '../../extension/chats/historydb.ts'
import { launchChromium, listen } from '../rig/harness.ts'
import { script } from './inpage.ts'

declare global {
  var history_: { HistoryDb: typeof HistoryDb }
  var db: HistoryDb
}

let browser: Browser
let page: Page
let site: Awaited<ReturnType<typeof listen>>
before(async () => {
  const code = await script('../../extension/chats/historydb.ts', 'history_')
  browser = await launchChromium()
  page = await browser.newPage()
  site = await listen((_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'))
  await page.goto(site.url)
  await page.evaluate(code)
  await page.evaluate(() => {
    globalThis.db = new history_.HistoryDb()
  })
})
after(async () => {
  await browser?.close()
  await site?.close()
})

/** Adds entries of 1000 units each, and returns the number that is kept, with the first and the last question. */
const add = (from: number, to: number, bounds: { entries: number; units: number }) =>
  page.evaluate(async ([from, to, bounds]) => {
    for (let n = from; n < to; n++) {
      const row = {
        ts: new Date(n * 1000).toISOString(),
        client: `c${n % 2}`,
        clientName: 'desk',
        site: 'chatgpt' as const,
        question: `question ${n}`,
        answer: 'Tide tables of the harbour',
        url: '',
        conversationId: null,
        timings: {},
        model: null,
        outcome: 'ok',
        flags: [],
        size: 1000,
      }
      await db.add(row, bounds)
    }
    const { lines } = await db.lines(0)
    const questions = lines.split('\n').filter(Boolean).map((line) =>
      (JSON.parse(line) as { question: string }).question
    )
    return [questions.length, questions[0], questions.at(-1)]
  }, [from, to, bounds] as const)

test('the history is bounded by its entries and by its size, and the oldest go first', async () => {
  assert.deepEqual(await add(0, 30, { entries: 20, units: 1e9 }), [20, 'question 10', 'question 29'])
  assert.deepEqual(await add(30, 31, { entries: 20, units: 5000 }), [5, 'question 26', 'question 30'])
  // A page that is loaded again counts what is there.
  await page.evaluate(() => {
    globalThis.db = new history_.HistoryDb()
  })
  assert.deepEqual(await add(31, 32, { entries: 20, units: 5000 }), [5, 'question 27', 'question 31'])
  await page.evaluate(() => db.removeBefore(new Date(29_500).toISOString()))
  assert.deepEqual(await add(32, 33, { entries: 20, units: 5000 }), [3, 'question 30', 'question 32'])
  assert.deepEqual(
    await page.evaluate(async () =>
      (await db.find({ client: 'c0', text: 'TIDE harbour' })).entries.map((e) => e.question)
    ),
    ['question 32', 'question 30'],
  )
})

/** Returns how many entries are left if the oldest goes at various moments while one is added. */
const replaceOne = (least: number) =>
  page.evaluate(async (least) => {
    const left = []
    for (let steps = 0; steps < 20; steps++) {
      const { entries } = await db.find({})
      const { id: _, cut: __, ...row } = entries[0]!
      const adding = db.add({ ...row, client: 'c0', size: 1000 }, { entries: 20, units: 1e9 })
      for (let n = 0; n < steps; n++) await Promise.resolve()
      await Promise.all([adding, db.remove(entries.at(-1)!.id)])
      left.push((await db.find({})).entries.length)
      if (left.at(-1)! < least) break
    }
    return left
  }, least)

test('an entry that is removed while another is added takes no others with it', async () => {
  assert.deepEqual(await replaceOne(3), Array(20).fill(3))
})

test('a database that did not open once is opened again', async () => {
  const outcomes = await page.evaluate(async () => {
    const { id: _, cut: __, ...row } = (await db.find({ limit: 1 })).entries[0]!
    const own = new history_.HistoryDb()
    const add = () =>
      own.add({ ...row, client: 'c0', size: 1000 }, { entries: 20, units: 1e9 }).then(() => 'kept', String)
    const { open } = IDBFactory.prototype
    IDBFactory.prototype.open = () => {
      throw new Error('the disk is busy')
    }
    const failed = await add()
    IDBFactory.prototype.open = open
    return [failed, await add()]
  })
  assert.deepEqual(outcomes, ['Error: the disk is busy', 'kept'])
})

test('a database that the browser closed is opened again', async () => {
  const tools = await page.context().newCDPSession(page)
  await tools.send('Storage.clearDataForOrigin', { origin: new URL(site.url).origin, storageTypes: 'indexeddb' })
  assert.deepEqual(await add(40, 42, { entries: 20, units: 1e9 }), [2, 'question 40', 'question 41'])
})

test('a connection that has ended before its use is replaced', async () => {
  const left = await page.evaluate(async () => {
    const { transaction } = IDBDatabase.prototype
    let database: IDBDatabase | undefined
    IDBDatabase.prototype.transaction = function(...args) {
      const made = transaction.apply(this, args)
      database = made.db
      return made
    }
    await db.find({})
    IDBDatabase.prototype.transaction = transaction
    database!.close()
    return (await db.find({})).entries.map((e) => e.question)
  })
  assert.deepEqual(left, ['question 41', 'question 40'])
})

test('a write that ends without an end of its transaction is done again', async () => {
  await page.evaluate(() => {
    const { transaction } = IDBDatabase.prototype
    IDBDatabase.prototype.transaction = function(...args) {
      IDBDatabase.prototype.transaction = transaction
      const made = transaction.apply(this, args)
      Object.defineProperty(made, 'onabort', { set() {} }) // as while Chromium deletes the database
      queueMicrotask(() => made.abort())
      return made
    }
  })
  assert.deepEqual(await add(42, 43, { entries: 20, units: 1e9 }), [3, 'question 40', 'question 42'])
})

test('a search through 10,000 entries', async (t) => {
  const ms = await page.evaluate(async () => {
    const opened = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('portolan-history')
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    const writing = opened.transaction('entries', 'readwrite')
    const answer = 'A pilot who knows the shoals keeps the light on the port bow. '.repeat(60)
    for (let n = 0; n < 10_000; n++) {
      writing.objectStore('entries').add({
        ts: new Date().toISOString(),
        client: 'c',
        clientName: 'desk',
        site: 'gemini',
        project: 'tides',
        question: n === 17 ? 'Where is the needle?' : `question ${n}`,
        answer,
        url: '',
        size: answer.length,
        flags: [],
        timings: {},
        outcome: 'ok',
      })
    }
    await new Promise((resolve) => (writing.oncomplete = resolve))
    const begun = performance.now()
    const { entries, more } = await db.find({ text: 'needle', project: 'tides' })
    const took = performance.now() - begun
    return entries.length === 1 && !more ? took : -1
  })
  t.diagnostic(`${Math.round(ms)} ms`)
  assert.ok(ms > 0, 'one is found')
})
