import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { listen, type Listening } from '../rig/harness.ts'
import { call, hasTool, Rig } from './rig.ts'

let rig: Rig
let desk: Client
let site: Listening
before(async () => {
  site = await listen((req, res) =>
    req.url === '/never' ? undefined : void res.writeHead(200, { 'content-type': 'text/html' }).end(
      '<!doctype html><title>Tide tables</title><p class=a>High water</p><p>Low water</p><input type=password value="">',
    )
  )
  rig = await Rig.create({ granted: true })
  desk = await rig.bridge.httpClient()
})
after(async () => {
  await rig?.close()
  await site?.close()
})

interface Listed {
  tabs: { id: number; url: string; title: string; active: boolean }[]
}

/** Returns the tab of the tide tables, as it is listed. */
async function tables(): Promise<Listed['tabs'][number]> {
  const { structured } = await call(desk, 'tabs_list')
  return (structured as unknown as Listed).tabs.find((t) => t.url === `${site.url}/`)!
}

test('tabs and pages are offered when they are switched on; what the extension may not see stays unseen', async () => {
  await hasTool(desk, 'tabs_list', false)
  await rig.ask('setOptions', { pages: true })
  await hasTool(desk, 'page_dom')
  const page = await rig.browser.open(`${site.url}/`)
  await page.until(() => document.title, [], 'the page')
  await page.evaluate(() => {
    document.querySelector('input')!.value = 'a secret that was typed'
  })
  const { structured } = await call(desk, 'tabs_list')
  const tab = (structured as unknown as Listed).tabs.find((t) => t.title === 'Tide tables')!
  assert.equal(tab.url, `${site.url}/`)

  const whole = await call(desk, 'page_dom', { tabId: tab.id })
  assert.match(whole.text, /High water.*Low water/s)
  assert.doesNotMatch(whole.text, /a secret/)
  assert.deepEqual(whole.meta['portolan/untrusted'], [new URL(site.url).host])
  assert.equal((await call(desk, 'page_dom', { tabId: tab.id, selector: 'p.a' })).text, '<p class="a">High water</p>')

  assert.match((await call(desk, 'page_dom', { tabId: 999_999 })).text, /\(TAB_CLOSED\)$/)
  const foreign = (structured as unknown as Listed).tabs.find((t) => /^(about|chrome):/.test(t.url))
  if (foreign) assert.match((await call(desk, 'page_dom', { tabId: foreign.id })).text, /\(NO_PERMISSION\)$/)
  const wrong = await call(desk, 'page_dom', { tabId: tab.id, selector: 'p:contains(water)' })
  assert.equal(wrong.text, 'Invalid arguments: selector is no CSS selector. (INVALID_ARGUMENTS)')
})

test('B1: get_page_dom reads the same page, until aliases are switched off', async () => {
  const tab = await tables()
  const [own, alias] = [
    await call(desk, 'page_dom', { tabId: tab.id }),
    await call(desk, 'get_page_dom', { tabId: tab.id }),
  ]
  assert.match(alias.text, /High water.*Low water/s)
  assert.deepEqual([alias.text, alias.meta], [own.text, own.meta])
  assert.equal(
    (await call(desk, 'get_page_dom', { tabId: tab.id, selector: 'p.a' })).text,
    '<p class="a">High water</p>',
  )
  assert.match((await call(desk, 'get_page_dom', { tabId: 999_999 })).text, /\(TAB_CLOSED\)$/)
  await rig.ask('setOptions', { aliases: false })
  await hasTool(desk, 'get_page_dom', false)
  await hasTool(desk, 'page_dom')
})

test('K4: a page that says nothing for 30 s ends the call, and the next one is answered', async () => {
  const tab = await tables()
  const stuck = await rig.browser.open(`${site.url}/stuck`)
  await stuck.until(() => document.title, [], 'the page')
  const { structured } = await call(desk, 'tabs_list')
  const other = (structured as unknown as Listed).tabs.find((t) => t.url === `${site.url}/stuck`)!
  await stuck.evaluate(() => { // its thread waits, and does nothing else
    setTimeout(() => {
      const request = new XMLHttpRequest()
      request.open('GET', '/never', false)
      request.send()
    })
  })
  const begun = Date.now()
  const late = await call(desk, 'page_dom', { tabId: other.id })
  const took = Date.now() - begun
  assert.ok(late.error, late.text)
  assert.match(late.text, /^Timeout waiting for extension response \(TIMEOUT\)$/)
  assert.ok(took >= 29_000, `${took} ms`)
  assert.match((await call(desk, 'page_dom', { tabId: tab.id })).text, /High water/)
})
