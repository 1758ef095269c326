import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CdpPage } from '../rig/cdp.ts'
import { RawChromium } from '../rig/rawchromium.ts'
import { startPages, type Pages } from '../sites/serve.ts'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import type { FromDriver, Order } from '../../extension/chats/drivermessages.ts'
import { script } from './inpage.ts'
import { plain, token } from './site.ts'

let pages: Pages
let chromium: RawChromium
let code: string
before(async () => {
  pages = await startPages()
  chromium = await RawChromium.launch(pages.flags)
  code = await script('../../extension/chats/driver/serve.ts', 'driver')
})
after(async () => {
  await chromium?.remove()
  await pages?.close()
})

// Stands in for the background's shim: a hidden page gets frames.
const frames =
  `window.requestAnimationFrame = (f) => { const c = new MessageChannel(); c.port1.onmessage = () => { c.port1.close(); f(performance.now()) }; c.port2.postMessage(0); return 0 }`

const port =
  `window.told = []; window.port = { post: (m) => told.push(m), onmessage: null, onclose: null, close() {} }; driver.serve(port, window)`

async function ticked(tab: CdpPage): Promise<FromDriver> {
  const end = Date.now() + 25_000
  while (Date.now() < end) {
    await tab.evaluate(`port.onmessage({ type: 'tick' })`)
    const outcome = await tab.evaluate(`told.find(({ type }) => type === 'done' || type === 'failed')`) as
      | FromDriver
      | undefined
    if (outcome) return outcome
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`no outcome; told: ${JSON.stringify(await tab.evaluate('told'))}`)
}

const urls = {
  chatgpt: 'https://chatgpt.com/?layout=turn-key',
  gemini: 'https://gemini.google.com/app',
  aistudio: 'https://aistudio.google.com/app/prompts/new_chat',
}

for (const site of ['chatgpt', 'gemini', 'aistudio'] as const)
  test(`${site}: a hidden tab, in a browser without DevTools`, async () => {
    const tab = await chromium.open(urls[site])
    await tab.holds(`location.host && document.readyState === 'complete'`)
    await tab.evaluate(frames)
    const other = await chromium.open('about:blank')
    await tab.holds('document.hidden')
    await tab.evaluate(`{ ${code} }`)
    await tab.evaluate(port)
    const about = token('hidden')
    const order: Order = {
      prompt: `Of several\n\nlines, [[think ms=500]] token:${about}`,
      mode: 'auto',
      deadline: Date.now() + 25_000,
      continues: false,
      trustedInput: false,
    }
    await tab.evaluate(`port.onmessage(${JSON.stringify({ type: 'start', order, spec: siteSpecs[site] })})`)
    const outcome = await ticked(tab)
    assert.equal(outcome.type === 'done' ? outcome.answer.answer : JSON.stringify(outcome), plain(about))
    assert.equal(pages.prompts(site).at(-1)!.text, order.prompt)
    assert.equal(await tab.evaluate('document.hidden'), true)
    await other.close()
    await tab.close()
  })
