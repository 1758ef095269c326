import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { makeApp, runIn } from '../bundlers/apps.ts'
import { violations } from '../panel/axe.ts'
import { happens, launchChromium, serveFolder, type Listening } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { scriptedModel, type ScriptedModel } from './scriptedmodel.ts'

let browser: Browser, site: Listening, model: ScriptedModel
let steered: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  const dir = await makeApp('vite-react', 'web/examples/vite-react')
  await runIn(dir, 'npm run build')
  ;[browser, site, steered, model] = await Promise.all([
    launchChromium(),
    serveFolder(`${dir}/dist`),
    sdkServer(),
    scriptedModel('sesame', {
      'How much is 40 and 2?': ([sum]) =>
        sum === undefined
          ? { content: 'Let me see. ', calls: [['demo__add', '{"a": 40, "b": 2}']] }
          : { content: `40 and 2 is ${sum}.` },
      'Do three things.': ([sum, echo, none]) =>
        sum === undefined
          ? {
            calls: [['demo__add', '{"a": 1, "b": 1}'], ['demo__echo', '{"text": "land ahoy"}'], ['demo__sail', '{}']],
          }
          : { content: `${sum}, ${echo}, and ${none}` },
      'Never stop.': () => ({ calls: [['demo__echo', '{"text": "again"}']] }),
      'Wait.': () => ({ calls: [['steered__wait', '{}']] }),
      'Tell a story.': () => ({ content: 'Once upon a time … and they sailed home.' }),
      'Thank you.': () => ({ content: 'You are welcome.' }),
    }),
  ])
})
after(async () => {
  await browser?.close()
  await Promise.all([site, steered, model].map((s) => s?.close()))
})

/** Opens the page as somebody who has it for the first time, and tells it where the model is. */
async function openChat(
  { key = 'sesame', streaming = true, ...context }: BrowserContextOptions & { key?: string; streaming?: boolean } = {},
): Promise<Page & { faults: string[] }> {
  const page = await (await browser.newContext({ viewport: { width: 900, height: 800 }, ...context })).newPage() as
    & Page
    & { faults: string[] }
  page.setDefaultTimeout(15_000)
  page.faults = []
  page.on('pageerror', (e) => page.faults.push(e.message))
  page.on('console', (m) => {
    if (m.type() === 'error' && !/status of 40[0-9]/.test(m.text())) page.faults.push(m.text())
  })
  await page.goto(site.url)
  await page.getByRole('button', { name: 'Choose a model' }).click()
  await page.getByLabel('Base URL').fill(model.url)
  await page.getByLabel('Model', { exact: true }).fill('scripted')
  await page.getByLabel('API key').fill(key)
  await page.getByLabel('Stream answers').setChecked(streaming)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('7 tools, 1 of 1 servers connected').waitFor()
  return page
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Message').fill(question)
  await page.getByLabel('Message').press('Enter')
}

const close = async (page: Page & { faults: string[] }) => {
  assert.deepEqual(page.faults, [])
  await page.context().close()
}
const answer = (page: Page) => page.getByRole('article').last()
const call = (page: Page, tool: string) => page.getByRole('log').locator('details', { hasText: tool })

for (const streaming of [true, false])
  test(`a tool is called and its result told, ${streaming ? 'streaming' : 'at once'}`, async () => {
    const page = await openChat({ streaming })
    model.asked.length = 0
    await page.getByRole('button', { name: 'How much is 40 and 2?' }).click()
    await answer(page).getByText('40 and 2 is 42.').waitFor()
    const shown = call(page, 'demo__add')
    assert.match(await shown.locator('summary').innerText(), /Done\s+(< )?\d+ ms/)
    await shown.locator('summary').click()
    assert.match(await shown.innerText(), /"a": 40,\s+"b": 2\s+}\s+Result\s+42/)
    assert.equal(model.asked.length, 2)
    assert.ok(model.asked[0]!.tools!.some((t) => t.function.name === 'demo__add'))
    assert.equal(model.asked[0]!.stream, streaming)
    assert.deepEqual(model.asked[1]!.messages.map((m) => m.role), ['user', 'assistant', 'tool'])
    await close(page)
  })

test('calls of one round run side by side, and the model sees one that fails, and so does the person', async () => {
  const page = await openChat()
  await ask(page, 'Do three things.')
  await answer(page).getByText(/^2, .*land ahoy.*, and Error: .*demo__sail/).waitFor()
  const failed = call(page, 'demo__sail')
  assert.match(await failed.innerText(), /Failed[^]*Error[^]*demo__sail/)
  assert.equal(await failed.getAttribute('open'), '', 'what failed is open')
  await close(page)
})

test('rounds are bounded, and the conversation goes on after that', async () => {
  const page = await openChat()
  model.asked.length = 0
  await ask(page, 'Never stop.')
  await page.getByText('Stopped after 8 rounds').waitFor()
  assert.equal(model.asked.length, 8)
  await ask(page, 'Thank you.')
  await answer(page).getByText('You are welcome.').waitFor()
  await close(page)
})

test('a server added in the panel is there for the model, and a call is cancelled on it', async () => {
  const page = await openChat()
  await page.getByRole('button', { name: 'Servers' }).click()
  await page.getByRole('textbox', { name: 'Add a server' }).fill(steered.url)
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('steered')
  await page.getByRole('button', { name: 'Add server' }).click()
  await page.getByRole('article', { name: 'steered' }).getByText('Connected').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('10 tools, 2 of 2 servers connected').waitFor()
  await ask(page, 'Wait.')
  await call(page, 'wait').getByText('Running').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Cancelled.', { exact: true }).waitFor()
  assert.match(await call(page, 'wait').innerText(), /Cancelled/)
  await happens(() => steered.calls.includes('cancelled'))
  assert.deepEqual(steered.calls, ['wait', 'cancelled'])
  await ask(page, 'Thank you.')
  await answer(page).getByText('You are welcome.').waitFor()
  await close(page)
})

test('an answer is shown while it comes, and can be stopped', async () => {
  const page = await openChat()
  await ask(page, 'Tell a story.')
  await answer(page).getByText('Once upon a time', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Cancelled.', { exact: true }).waitFor()
  model.goOn()
  await ask(page, 'Thank you.')
  await answer(page).getByText('You are welcome.').waitFor()
  await close(page)
})

test('a wrong key is said', async () => {
  const page = await openChat({ key: 'open' })
  await ask(page, 'Thank you.')
  await page.getByRole('alert').getByText(/answered 401: .*Incorrect API key/).waitFor()
  await close(page)
})

test('the key is nowhere but in this tab', async () => {
  const page = await openChat()
  assert.doesNotMatch(await page.evaluate(() => JSON.stringify({ ...localStorage })), /sesame/)
  const other = await page.context().newPage()
  await other.goto(site.url)
  await other.getByRole('button', { name: 'Model scripted' }).click()
  assert.equal(await other.getByLabel('API key').inputValue(), '')
  await close(page)
})

test('everything works from the keyboard, and focus comes back', async () => {
  const page = await openChat()
  await page.getByRole('button', { name: 'Servers' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Servers' }).waitFor()
  await page.keyboard.press('Escape')
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Servers')
  await page.getByLabel('Message').focus()
  await page.keyboard.type('Thank')
  await page.keyboard.press('Shift+Enter')
  assert.match(await page.getByLabel('Message').inputValue(), /\n/)
  await page.getByLabel('Message').fill('How much is 40 and 2?')
  await page.keyboard.press('Enter')
  await answer(page).getByText('40 and 2 is 42.').waitFor()
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA')
  await page.keyboard.press('Shift+Tab')
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY')
  await page.keyboard.press('Enter')
  await call(page, 'demo__add').getByText('Result').waitFor()
  await close(page)
})

const looks: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'forced colours': { forcedColors: 'active' },
  narrow: { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
}
for (const [look, context] of Object.entries(looks))
  test(`axe finds nothing, and nothing is cut off: ${look}`, async () => {
    const page = await openChat(context)
    const check = async (state: string) => {
      assert.deepEqual(await violations(page, { whole: true }), [], state)
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        `${state}: scrolls sideways`,
      )
      // For readers who want to look at them.
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/chat-${look.replace(' ', '-')}-${state}.png` })
    }
    await check('empty')
    await ask(page, 'How much is 40 and 2?')
    await answer(page).getByText('40 and 2 is 42.').waitFor()
    await call(page, 'demo__add').locator('summary').click()
    await ask(page, 'Do three things.')
    await answer(page).getByText(/^2, /).waitFor()
    await check('calls')
    for (const dialog of ['Servers', 'Model scripted']) {
      await page.getByRole('button', { name: dialog }).click()
      if (dialog === 'Servers') await page.getByRole('article', { name: 'demo' }).getByText('Connected').waitFor()
      await check(dialog.split(' ')[0]!.toLowerCase())
      await page.keyboard.press('Escape')
    }
    await close(page)
  })
