import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, type Listening } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

let browser: Browser, site: Listening, port: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  port = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
})
after(async () => {
  await browser?.close()
  await Promise.all([site, port].map((s) => s?.close()))
})

const dialog = ({ panel }: PanelPage) => panel.locator('dialog[open]')

async function scene(t: TestContext): Promise<PanelPage & { ask(question: object): Promise<string> }> {
  const p = await openPanel(browser, site, { query: { elicit: '' }, servers: { port: { url: port.url } } })
  t.after(() => p.page.close())
  const ask = (question: object) =>
    p.page.evaluate((question) => window.registry.dispatch('port__ask', { question }), question)
  return { ...p, ask }
}

const requestedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 2 },
    berth: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    flag: { type: 'string', oneOf: [{ const: 'no', title: 'Norway' }, { const: 'pt', title: 'Portugal' }] },
    cargo: { type: 'boolean', title: 'Cargo on board' },
  },
  required: ['name', 'flag'],
}

test('a form is filled, checked, shown and sent', async (t) => {
  const p = await scene(t)
  const answer = p.ask({ message: 'Who <b>comes</b> here?', requestedSchema })
  await dialog(p).getByText('Who <b>comes</b> here?').waitFor()
  await dialog(p).getByText('port', { exact: true }).waitFor()
  await dialog(p).getByText('ask', { exact: true }).waitFor()
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  assert.equal(await dialog(p).locator('[aria-invalid=true]').count(), 2)
  await dialog(p).getByLabel('Your name').fill('Ada')
  await dialog(p).getByLabel('flag').selectOption({ label: 'Portugal' })
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  await dialog(p).getByText('This is sent to port').waitFor()
  await dialog(p).getByText('"Ada"').waitFor()
  await dialog(p).getByRole('button', { name: 'Send' }).click()
  assert.deepEqual(JSON.parse(await answer), { action: 'accept', content: { name: 'Ada', berth: 3, flag: 'pt' } })
  assert.deepEqual(p.faults, [])
})

test('a list of choices shows what is sent after one is taken out of it', async (t) => {
  const p = await scene(t)
  const flags = { type: 'array', minItems: 2, items: { type: 'string', enum: ['no', 'pt', 'se'] } }
  const answer = p.ask({
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { flags }, required: ['flags'] },
  })
  const choices = dialog(p).locator('select')
  await choices.nth(0).selectOption({ label: 'no' })
  await choices.nth(0).selectOption({ label: 'pt' })
  await choices.nth(1).selectOption({ label: 'no' })
  await dialog(p).getByRole('button', { name: 'Remove item 1' }).click()
  await choices.nth(1).waitFor({ state: 'detached' })
  assert.equal(await choices.locator('option:checked').textContent(), 'no')
  await dialog(p).getByRole('button', { name: 'Add item' }).click()
  await choices.nth(1).selectOption({ label: 'se' })
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  await dialog(p).getByRole('button', { name: 'Send' }).click()
  assert.deepEqual(JSON.parse(await answer), { action: 'accept', content: { flags: ['no', 'se'] } })
})

test('what a form would lose is answered as JSON', async (t) => {
  const p = await scene(t)
  const asked = { ...requestedSchema, dependentRequired: { cargo: ['berth'] } }
  const answer = p.ask({ message: 'Who?', requestedSchema: asked })
  await dialog(p).getByRole('textbox', { name: 'Arguments' }).fill('{"name":"Ada","flag":"pt"}')
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  await dialog(p).getByText('"Ada"').waitFor()
  await dialog(p).getByRole('button', { name: 'Send' }).click()
  assert.deepEqual(JSON.parse(await answer), { action: 'accept', content: { name: 'Ada', berth: 3, flag: 'pt' } })
  const secret = p.ask({ message: 'Who?', requestedSchema: { ...asked, properties: { pin: { type: 'string' } } } })
  await dialog(p).getByText('The server asks for a password').waitFor()
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await secret), { action: 'decline' })
  assert.deepEqual(p.faults, [])
})

test('a date that is half typed is not left out', async (t) => {
  const p = await scene(t)
  const day = { type: 'string', format: 'date' }
  const answer = p.ask({ message: 'When?', requestedSchema: { type: 'object', properties: { day } } })
  const field = dialog(p).getByLabel('day')
  await field.focus()
  await p.page.keyboard.type('12')
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  await p.page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.matches('[type=date]'))
  await field.fill('2027-01-12')
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  await dialog(p).getByRole('button', { name: 'Send' }).click()
  assert.deepEqual(JSON.parse(await answer), { action: 'accept', content: { day: '2027-01-12' } })
})

test('what is wrong with a group has the focus', async (t) => {
  const p = await scene(t)
  const flags = { type: 'array', minItems: 1, items: { type: 'string', enum: ['no', 'pt'] } }
  const answer = p.ask({
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { flags }, required: ['flags'] },
  })
  await dialog(p).getByRole('button', { name: 'Remove item 1' }).click()
  await dialog(p).getByRole('button', { name: 'Check answer' }).click()
  const problem = dialog(p).getByText('At least 1 item.', { exact: true })
  await problem.waitFor()
  assert.ok(await problem.evaluate((e) => (e.getRootNode() as ShadowRoot).activeElement === e))
  const described = await dialog(p).getByRole('group', { name: 'flags' }).getAttribute('aria-describedby')
  assert.ok(described?.split(' ').includes((await problem.getAttribute('id'))!))
  await p.page.keyboard.press('Escape')
  assert.deepEqual(JSON.parse(await answer), { action: 'cancel' })
})

test('an address that is none is declined, and no dialog waits', async (t) => {
  const p = await scene(t)
  const said = await p.page.evaluate(() => {
    const { signal } = new AbortController()
    const request = { mode: 'url', server: 'port', message: 'Pay', url: 'https://[', elicitationId: '1', signal }
    const broke = new Promise((resolve) => addEventListener('unhandledrejection', (e) => resolve(String(e.reason))))
    return Promise.race([window.panel.elicitUrl(request as never), broke])
  })
  assert.equal(said, 'decline')
  assert.deepEqual(p.faults, [])
})

test('a question is declined, closed, or withdrawn', async (t) => {
  const p = await scene(t)
  const declined = p.ask({ message: 'One?', requestedSchema })
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await declined), { action: 'decline' })
  const closed = p.ask({ message: 'Two?', requestedSchema })
  await dialog(p).getByText('Two?').waitFor()
  await p.page.keyboard.press('Escape')
  assert.deepEqual(JSON.parse(await closed), { action: 'cancel' })
  const stopped = p.page.evaluate(async () => {
    const chat = document.createElement('textarea')
    document.body.append(chat)
    chat.focus()
    const stop = new AbortController()
    Object.assign(window, { stop })
    const question = { message: 'Three?', requestedSchema: { type: 'object', properties: {} } }
    return await window.registry.dispatch('port__ask', { question }, { signal: stop.signal }).catch((e) => e.code)
  })
  await dialog(p).getByText('Three?').waitFor()
  await p.page.evaluate(() => (window as unknown as { stop: AbortController }).stop.abort())
  await dialog(p).waitFor({ state: 'detached' })
  assert.equal(await stopped, 'aborted')
  assert.equal(await p.page.evaluate(() => document.activeElement!.tagName), 'TEXTAREA')
})

test('typing goes on in the field of the page that had the focus', async (t) => {
  const p = await scene(t)
  for (const tag of ['textarea', 'p']) {
    await p.page.evaluate((tag) => {
      const chat = document.body.appendChild(document.createElement(tag))
      if (tag === 'p') chat.contentEditable = 'true'
      chat.id = tag
    }, tag)
    await p.page.locator(`#${tag}`).focus()
    await p.page.keyboard.type('ab')
    await p.page.keyboard.press('ArrowLeft')
    const closed = p.ask({ message: 'Four?', requestedSchema })
    await dialog(p).getByLabel('Your name').fill('Ada')
    await p.page.keyboard.press('Escape')
    assert.deepEqual(JSON.parse(await closed), { action: 'cancel' })
    await p.page.keyboard.type('c')
    const text = await p.page.locator(`#${tag}`).evaluate((e) => (e as HTMLTextAreaElement).value ?? e.textContent)
    assert.match(text, tag === 'p' ? /c/ : /^acb$/)
  }
})

test('a question outlives a panel that is moved in the document, and not one that is removed', async (t) => {
  const p = await scene(t)
  const answer = p.ask({ message: 'One?', requestedSchema })
  await dialog(p).getByLabel('Your name').fill('Ada')
  await p.page.evaluate(() => document.body.prepend(window.panel))
  assert.ok(await dialog(p).evaluate((d) => d.matches(':modal')))
  assert.equal(await dialog(p).getByLabel('Your name').inputValue(), 'Ada')
  await p.page.evaluate(() => window.panel.remove())
  assert.deepEqual(JSON.parse(await answer), { action: 'cancel' })
})

test('a form that asks for a password cannot be sent', async (t) => {
  const p = await scene(t)
  const properties = { mail: { type: 'string' }, password: { type: 'string' } }
  const answer = p.ask({ message: 'Sign in again', requestedSchema: { type: 'object', properties } })
  await dialog(p).getByText('The server asks for a password').waitFor()
  assert.equal(await dialog(p).getByRole('textbox').count(), 0)
  assert.equal(await dialog(p).getByRole('button', { name: /Send|Check/ }).count(), 0)
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await answer), { action: 'decline' })
})

test('an address is shown with its host, and opened by a click only', async (t) => {
  const p = await scene(t)
  const popups: string[] = []
  p.page.context().on('page', (page) => popups.push(page.url()))
  const url = `${site.url}/?pay=1`
  const answer = p.ask({ mode: 'url', message: 'Pay, please', url, elicitationId: 'one' })
  await dialog(p).getByText(new URL(url).host, { exact: true }).waitFor()
  await dialog(p).getByText(url, { exact: true }).waitFor()
  assert.deepEqual(popups, [])
  const popup = p.page.context().waitForEvent('page')
  await dialog(p).getByRole('button', { name: 'Open page' }).click()
  const opened = await popup
  await opened.waitForURL(url) // the page before it is empty, and has no opener either
  assert.equal(await opened.evaluate(() => [window.opener, document.referrer].join()), ',')
  assert.deepEqual(JSON.parse(await answer), { action: 'accept' })
  await opened.close()

  const lookalike = p.ask({ mode: 'url', message: 'Pay', url: 'https://p\u0430y.example/', elicitationId: 'two' })
  await dialog(p).getByText('xn--py-7kc.example', { exact: true }).waitFor()
  await dialog(p).getByText('letters that may look like others').waitFor()
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await lookalike), { action: 'decline' })
  assert.deepEqual(p.faults, [])
})

/** Makes the server sample, with a model that repeats the last message in capitals. */
async function sampled(p: Awaited<ReturnType<typeof scene>>, texts: string[]): Promise<string> {
  return p.page.evaluate((texts) => {
    window.generate = async ({ messages }) => ({
      role: 'assistant',
      model: 'loud',
      content: { type: 'text', text: (messages.at(-1)!.content as { text: string }).text.toUpperCase() },
    })
    const messages = texts.map((text) => ({ role: 'user', content: { type: 'text', text } }))
    return window.registry.dispatch('port__ask', { sample: { messages, systemPrompt: 'Be brief.', maxTokens: 20 } })
  }, texts)
}

test('a server samples: the person edits the messages and the answer, and sees both before they leave', async (t) => {
  const p = await scene(t)
  const answer = sampled(p, ['Hello', 'Where am <b>I</b>?'])
  await dialog(p).getByText('A server asks your model').waitFor()
  await dialog(p).getByText('port', { exact: true }).waitFor()
  assert.equal(await dialog(p).getByLabel('System prompt').inputValue(), 'Be brief.')
  assert.equal(await dialog(p).getByLabel('Message to the model').nth(1).inputValue(), 'Where am <b>I</b>?')
  await dialog(p).getByText('The answer may have 20 tokens.').waitFor()
  const asked = dialog(p).getByLabel('Message to the model').nth(1)
  const { width } = (await asked.boundingBox())!
  await asked.fill('Where is the quay?')
  await dialog(p).getByRole('button', { name: 'Ask the model' }).click()
  const said = dialog(p).getByLabel('Answer of the model').getByRole('textbox')
  assert.equal(await said.inputValue(), 'WHERE IS THE QUAY?')
  assert.equal((await said.boundingBox())!.width, width)
  await said.fill('Over there.')
  await dialog(p).getByRole('button', { name: 'Send' }).click()
  assert.deepEqual(JSON.parse(await answer), {
    role: 'assistant',
    model: 'loud',
    content: { type: 'text', text: 'Over there.' },
  })
  assert.deepEqual(p.faults, [])
})

test('a long text of sampling is shown to its end, and sent whole when it was edited', async (t) => {
  const p = await scene(t)
  const text = `${'word '.repeat(46_000)}end`
  const answer = sampled(p, [text])
  const field = dialog(p).getByLabel('Message to the model')
  await field.waitFor()
  assert.equal(await field.inputValue(), text)
  await field.fill(`${text}!`)
  await dialog(p).getByRole('button', { name: 'Ask the model' }).click()
  const said = dialog(p).getByLabel('Answer of the model').getByRole('textbox')
  assert.equal(await said.inputValue(), `${text}!`.toUpperCase())
  await dialog(p).getByRole('button', { name: 'Send' }).click()
  const { content } = JSON.parse(await answer) as { content: { text: string } }
  assert.equal(content.text.length, text.length + 1)
  assert.deepEqual(p.faults, [])
})

test('sampling is declined before the model is asked, and after; a fault of the model is shown', async (t) => {
  const p = await scene(t)
  const declined = sampled(p, ['One'])
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await declined), { refused: -1 })
  const after = sampled(p, ['Two'])
  await dialog(p).getByRole('button', { name: 'Ask the model' }).click()
  await dialog(p).getByLabel('Answer of the model').getByRole('textbox').waitFor()
  await p.page.keyboard.press('Escape')
  assert.deepEqual(JSON.parse(await after), { refused: -1 })
  const faulty = sampled(p, [])
  await dialog(p).getByRole('button', { name: 'Ask the model' }).click()
  await dialog(p).getByRole('alert').waitFor()
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await faulty), { refused: -1 })
  const silent = sampled(p, ['Three'])
  await dialog(p).waitFor()
  await p.page.evaluate(() => (window.generate = () => Promise.reject(undefined)))
  await dialog(p).getByRole('button', { name: 'Ask the model' }).click()
  await dialog(p).getByRole('alert').waitFor()
  assert.ok(await dialog(p).getByRole('button', { name: 'Ask the model' }).isEnabled())
  await dialog(p).getByRole('button', { name: 'Decline' }).click()
  assert.deepEqual(JSON.parse(await silent), { refused: -1 })
})
