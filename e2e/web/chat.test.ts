import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { violations } from '../panel/axe.ts'
import type { PortolanApp } from '../../web/apps/types.ts'
import { scriptedModel } from '../examples/scriptedmodel.ts'
import { launchChromium, openPage, root, serveFolder, type Listening } from '../rig/harness.ts'

// The chat of the demo page, as a newcomer uses it.

let browser: Browser, site: Listening
before(async () => {
  ;[browser, site] = await Promise.all([launchChromium(), serveFolder(`${root}dist/demo`)])
})
after(async () => {
  await browser?.close()
  await site?.close()
})

/** The settings of `portolan up` are not there. */
const expected = /404/

async function open(): Promise<Page & { faults: string[] }> {
  const page = await openPage(browser, `${site.url}/`, expected)
  await page.getByText(/ready in \d+ ms/).waitFor()
  return page
}

/** Sends an idea of the page and waits for the answer. */
async function say(page: Page, idea: string | RegExp, answer: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: idea }).click()
  await page.getByRole('log').getByText(answer).waitFor()
  await page.locator('#send:not([disabled])').waitFor()
}

test('the scripted model finds tools by search, and uses an image, a question, parallel calls and the page', async () => {
  const page = await open()
  const log = page.getByRole('log')
  await say(page, 'Show me a picture', /^Here it is\./)
  assert.equal(await log.getByRole('img', { name: 'Image from demo__picture' }).count(), 1)
  assert.ok((await log.innerText()).includes('portolan_search_tools'))

  await say(page, /three cities/, /the first two were added: 43 degrees/)
  assert.equal(await log.locator('summary', { hasText: 'demo__weather' }).count(), 3)

  await page.getByRole('button', { name: 'Ask me who I am' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('name').fill('Ada')
  await dialog.getByRole('button', { name: 'Check answer' }).click()
  await dialog.getByRole('button', { name: 'Send' }).click()
  await log.getByText(/Hello, Ada\./).last().waitFor()
  await page.locator('#send:not([disabled])').waitFor()

  await say(page, /Switch the theme/, /function of this page/)
  const schemes = await page.evaluate(() => {
    const app = document.body.appendChild(document.createElement('portolan-app')) // as one of a later answer
    const seen = [document.documentElement, document.querySelector('portolan-panel')!, app]
      .map((e) => getComputedStyle(e).colorScheme)
    app.remove()
    return seen
  })
  assert.deepEqual(schemes, ['dark', 'dark', 'dark'])
  const card = log.locator('summary', { hasText: 'demo__add' })
  await card.click()
  assert.match(await log.innerText(), /\{"a":21\.5,"b":21\.5\}/)
  await page.getByRole('textbox', { name: 'Your message' }).fill('Tell me a joke')
  await page.keyboard.press('Enter')
  await log.getByText(/I only follow a script/).waitFor()
  for (const width of [1280, 380]) {
    await page.setViewportSize({ width, height: 900 })
    assert.deepEqual(await violations(page, { whole: true }), [])
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${width} px`)
  }
  await page.setViewportSize({ width: 1280, height: 700 })
  await page.getByText('Use your own model').click()
  await page.getByLabel('Key').focus()
  const [key, chat] = await Promise.all(['#key', '#chat'].map((id) => page.locator(id).boundingBox()))
  assert.ok(key!.y + key!.height <= chat!.y + chat!.height, 'the last field is inside of the frame')
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('a model of the user answers over Chat Completions, and its key is stored nowhere', async () => {
  const key = 'sk-demo-0123456789'
  const model = await scriptedModel(key, {
    'Add two numbers': ([sum]) => sum ? { content: `It is ${sum}.` } : { calls: [['demo__add', '{"a": 40, "b": 2}']] },
  })
  const page = await open()
  await page.getByText('Use your own model').click()
  await page.getByLabel('Address').fill(model.url)
  await page.getByLabel('Model', { exact: true }).fill('any')
  await page.getByLabel('Key').fill(key)
  const box = page.getByRole('textbox', { name: 'Your message' })
  await box.fill('Add two numbers')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('log').getByText('It is 42.').waitFor()
  assert.equal(model.asked.length, 2)
  assert.ok(model.asked[0]!.tools!.some((t) => t.function.name === 'demo__add'))
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  assert.ok(!stored.includes(key))

  await page.getByLabel('Key').fill('wrong')
  await box.fill('Add two numbers')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('log').getByText('Incorrect API key provided').waitFor()
  await page.close()
  await model.close()
})

test('an address without an endpoint is explained, and null in place of no calls is read', async () => {
  const page = await open()
  const bodies = [
    '<!doctype html>',
    '{"choices":[{"message":{"role":"assistant","content":"Ahoy.","tool_calls":null}}]}',
  ]
  await page.route('http://model.example/**', (route) => {
    const body = bodies.shift()
    return body ? route.fulfill({ body }) : route.abort()
  })
  await page.getByText('Use your own model').click()
  await page.getByLabel('Address').fill('http://model.example')
  const box = page.getByRole('textbox', { name: 'Your message' })
  for (const answer of ['The address has no Chat Completions.', 'Ahoy.', 'No answer from the address.']) {
    await box.fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('log').getByText(answer).waitFor()
  }
  await page.close()
})

test('an app gets the arguments that a model of your own wrote', async () => {
  const args = '{"day": "tuesday"}'
  const model = await scriptedModel('a key', {
    'Show the tides': ([tide, found]) => {
      if (!tide) return { calls: [['demo__tide_app', args]] }
      if (!found) return { calls: [['portolan_call_tool', `{"name": "demo__tide_app", "arguments": ${args}}`]] }
      return { content: 'Both are there.' }
    },
  })
  const page = await openPage(browser, 'about:blank', expected)
  await page.route('**/settings.json', (route) => route.fulfill({ json: { sandbox: 'https://sandbox.example/' } }))
  await page.route('https://sandbox.example/**', (route) => route.fulfill({ body: '' })) // the app need not start
  await page.goto(`${site.url}/`)
  await page.getByText('Use your own model').click()
  await page.getByLabel('Address').fill(model.url)
  await page.getByLabel('Model', { exact: true }).fill('any')
  await page.getByLabel('Key').fill('a key')
  await page.getByRole('textbox', { name: 'Your message' }).fill('Show the tides')
  await page.getByRole('button', { name: 'Send' }).click()
  const log = page.getByRole('log')
  await log.getByText('Both are there.').waitFor()
  const given = await log.locator('portolan-app').evaluateAll((all) => all.map((app) => (app as PortolanApp).args))
  assert.deepEqual(given, Array(2).fill({ day: 'tuesday' }))
  assert.equal(await log.locator('summary', { hasText: 'demo__tide_app' }).count(), 2)
  await page.close()
  await model.close()
})

test('a wrong address is shown, and Enter while an answer is under way keeps what was typed', async () => {
  const page = await open()
  await page.route('http://model.example/**', () => {}) // it never answers
  const own = page.getByText('Use your own model'), address = page.getByLabel('Address')
  const box = page.getByRole('textbox', { name: 'Your message' })
  await own.click()
  await address.fill('nonsense')
  await own.click() // folds it away
  await box.fill('First')
  await box.press('Enter')
  await address.waitFor()
  assert.equal(await page.locator('.mine').count(), 0)
  await address.fill('http://model.example')
  await box.press('Enter')
  const stop = page.getByRole('button', { name: 'Stop' })
  await stop.waitFor()
  await box.fill('Second')
  await box.press('Enter')
  assert.equal(await box.inputValue(), 'Second')
  assert.equal(await page.locator('.mine').count(), 1)
  await stop.click()
  await page.locator('#send:not([disabled])').waitFor()
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'text')

  // A person who goes on elsewhere keeps the focus there.
  await page.getByRole('button', { name: 'Send' }).click()
  const add = page.getByRole('textbox', { name: 'Add a server' })
  await add.focus()
  await stop.evaluate((button: HTMLButtonElement) => button.click())
  await page.locator('#send:not([disabled])').waitFor()
  assert.equal(await add.evaluate((e) => e.matches(':focus')), true)
  assert.deepEqual(page.faults, [])
  await page.close()
})
