import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { startPages, type Pages } from './serve.ts'
import { RawChromium } from '../rig/rawchromium.ts'

let pages: Pages
let chromium: RawChromium

before(async () => {
  pages = await startPages()
  chromium = await RawChromium.launch(pages.flags)
})
after(async () => {
  await chromium?.remove()
  await pages?.close()
})

const look = `({
  hidden: document.hidden, sent: document.querySelectorAll('[data-turn=user]').length, stop: !!document.querySelector('[data-testid=stop-button]'),
  answer: document.querySelector('[data-turn=assistant] .markdown')?.textContent, complete: !!document.querySelector('[data-testid=copy-turn-action-button]'),
})`

test('a hidden tab gets its answer and paints nothing of it', async () => {
  const tab = await chromium.open('https://chatgpt.com/')
  await tab.holds(`document.querySelector('#prompt-textarea')`)
  const other = await chromium.open('about:blank')
  await tab.holds('document.hidden')
  await tab.evaluate(
    `document.querySelector('#prompt-textarea').focus(), document.execCommand('insertText', false, 'token:dark-1')`,
  )
  await tab.holds(`document.querySelector('[data-testid=send-button]:enabled')`)
  await tab.evaluate(`document.querySelector('[data-testid=send-button]').click()`)
  await tab.holds(`location.pathname.startsWith('/c/') && !document.querySelector('[data-testid=stop-button]')`)
  assert.deepEqual(await tab.evaluate(look), { hidden: true, sent: 1, stop: false, answer: '', complete: false })
  await chromium.activate(tab)
  await tab.holds(`document.querySelector('[data-testid=copy-turn-action-button]')`)
  const seen = await tab.evaluate(look) as { answer: string; hidden: boolean }
  assert.equal(seen.hidden, false)
  assert.match(seen.answer, /ends with dark-1\.$/)
  await other.close()
  await tab.close()
})
