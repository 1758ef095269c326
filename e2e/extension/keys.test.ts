import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { browserKeys } from '../../extension/link/keys.ts'
import { script } from '../chats/inpage.ts'
import { listen, startChromium } from '../rig/harness.ts'

// The keys of pairings, in the IndexedDB of a page.

declare global {
  var keys_: { browserKeys: typeof browserKeys }
  var made: CryptoKey
}

let browser: Browser
let site: Awaited<ReturnType<typeof listen>>
let page: Page
let tools: CDPSession
before(async () => {
  const code = await script('../../extension/link/keys.ts', 'keys_')
  browser = await startChromium()
  page = await browser.newPage()
  tools = await page.context().newCDPSession(page)
  site = await listen((_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'))
  await page.clock.install()
  await page.goto(site.url)
  await page.evaluate(code)
  await page.evaluate(async () => {
    globalThis.made = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  })
})
after(async () => {
  await browser?.close()
  await site?.close()
})

test('a key that finds no room is refused, and kept once there is room', async () => {
  const keep = () =>
    page.evaluate(async () => {
      const keys = keys_.browserKeys()
      const kept = await keys.set('p', made).then(() => 'kept', (e: Error) => e.name)
      return [kept, !!await keys.get('p')]
    })
  await tools.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: 1000 })
  assert.deepEqual(await keep(), ['QuotaExceededError', false])
  await tools.send('Storage.overrideQuotaForOrigin', { origin: site.url })
  assert.deepEqual(await keep(), ['kept', true])
})

test('of the keys, only those of pairings that are over are removed', async () => {
  const left = await page.evaluate(async () => {
    const keys = keys_.browserKeys()
    const names = ['p', 'q', 'r']
    for (const name of names) await keys.set(name, made)
    await keys.remove((pairing) => pairing !== 'q')
    return Promise.all(names.map(async (name) => !!await keys.get(name)))
  })
  assert.deepEqual(left, [false, true, false])
})

test('a database that never answers is named', async () => {
  await page.evaluate(() => {
    IDBFactory.prototype.open = () => ({}) as IDBOpenDBRequest
    const { get, set, remove } = keys_.browserKeys()
    const told = (work: Promise<unknown>) => work.catch((e: Error) => e.message)
    Object.assign(window, { told: Promise.all([get('p'), set('p', made), remove(() => true)].map(told)) })
  })
  await page.clock.runFor(5000)
  const silent = 'The database with the keys of pairings does not answer. Restart the browser.'
  assert.deepEqual(await page.evaluate('told'), [silent, silent, silent])
})
