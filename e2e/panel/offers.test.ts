import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, listen, type Listening } from '../rig/harness.ts'
import { taskServer } from '../web/servers/taskserver.ts'
import { violations } from './axe.ts'
import { faultServer, result } from '../web/servers/faultserver.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

let browser: Browser, site: Listening, hostile: Listening
let greeting = 'Greets somebody.'
const streams = new Set<ServerResponse>()
/** The messages of the server on its streams in this test. A stream that opens later gets them too. */
let sent: string[] = []
function send(method: string, params: object): void {
  sent.push(`data: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`)
  for (const stream of streams) stream.write(sent.at(-1))
}
/** Reports that demo://page was updated. */
const touch = () => send('notifications/resources/updated', { uri: 'demo://page' })
const say = (level: string, data: string) => send('notifications/message', { level, data })

const contents: Record<string, object> = {
  'demo://page': { mimeType: 'text/html', text: '<img src=x onerror="document.title=\'owned\'"><script>1</script>' },
  'demo://json': { mimeType: 'application/json', text: '{"harbour":{"deep":true}}' },
  'demo://picture': {
    mimeType: 'image/png',
    blob: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
  'javascript:document.title="owned"': { mimeType: 'text/plain', text: 'only the server is asked' },
  'demo://hidden': { mimeType: 'text/plain', text: 'see\u200bn' },
  'demo://long': { mimeType: 'text/plain', text: `${'long '.repeat(25_000)}the end` },
}

const units = Array.from({ length: 20 }, (_, i) => `unit ${i}`)

const results: Record<string, (params: { uri?: string; argument?: { name: string; value: string } }) => object> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: {
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      logging: {},
    },
    serverInfo: { name: 'hostile', version: '1' },
  }),
  'tools/list': () => ({ tools: [] }),
  'resources/list': () => ({
    resources: [
      ...Object.keys(contents).map((uri) => ({ uri, name: uri.split(':')[1], description: '<b>bold</b>' })),
      { uri: 'demo://gone', name: 'gone', title: 'a\u202eb' },
    ],
  }),
  'resources/templates/list': () => ({
    resourceTemplates: [{ uriTemplate: 'demo://tide/{day}{?unit}', name: 'tide', title: 'The tide' }],
  }),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({
    prompts: [{
      name: 'greet',
      title: 'Greet',
      description: greeting,
      arguments: [{ name: 'who', required: true, description: 'Whom' }],
    }],
  }),
  'prompts/get': () => ({
    messages: [
      { role: 'user', content: { type: 'text', text: 'Greet <i>Ada</i>\u200b.' } },
      { role: 'assistant', content: { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zy8+' } },
    ],
  }),
  'completion/complete': ({ argument }) => ({
    completion: {
      values:
        { day: ['monday', 'tuesday'], who: ['Ada', 'Alan'], unit: units }[argument!.name]?.filter((v) =>
          v.startsWith(argument!.value)
        ) ?? [],
    },
  }),
}

before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  hostile = await listen(async (req, res) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (req.method === 'GET') {
      res.writeHead(200, { 'content-type': 'text/event-stream', ...cors }).flushHeaders()
      for (const event of sent) res.write(event)
      streams.add(res)
      return void res.on('close', () => streams.delete(res))
    }
    if (req.method !== 'POST') return void res.writeHead(204, cors).end()
    let body = ''
    for await (const chunk of req) body += chunk
    const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: { uri?: string } }
    const answer = (rest: object) =>
      res.writeHead(200, { 'content-type': 'application/json', ...cors }).end(
        JSON.stringify({ jsonrpc: '2.0', id, ...rest }),
      )
    if (id === undefined) return void res.writeHead(202, cors).end()
    if (method === 'resources/read') {
      const uri = params.uri!
      if (uri.startsWith('demo://tide/')) return void answer({ result: { contents: [{ uri, text: `read ${uri}` }] } })
      return void answer(
        contents[uri]
          ? { result: { contents: [{ uri, ...contents[uri] }] } }
          : { error: { code: -32002, message: 'Resource not found' } },
      )
    }
    answer(results[method] ? { result: results[method](params) } : { error: { code: -32601, message: 'no' } })
  })
})

after(async () => {
  await browser?.close()
  await Promise.all([site, hostile].map((s) => s?.close()))
})

beforeEach(() => {
  sent = []
})

const dialog = ({ panel }: PanelPage) => panel.locator('dialog[open]')
const servers = () => ({ quay: { url: hostile.url, transport: 'streamable-http' as const } })

test('two quick clicks on Watch leave one subscription, which a third ends', async (t) => {
  const p = await openPanel(browser, site, { servers: servers() })
  t.after(() => p.page.close())
  await p.page.evaluate(() => {
    const { registry } = window, subscribe = registry.subscribeResource.bind(registry)
    const counts = { begun: 0, open: 0 }
    registry.subscribeResource = async (...args) => {
      counts.begun++
      const stop = await subscribe(...args)
      counts.open++
      return () => {
        counts.open--
        stop()
      }
    }
    Object.assign(window, { counts })
  })
  await p.panel.getByRole('tab', { name: 'Resources' }).click()
  await p.panel.getByRole('button', { name: /^\/\/page/ }).click()
  const watch = dialog(p).getByRole('button', { name: 'Watch' })
  await watch.evaluate((button: HTMLElement) => {
    button.click()
    button.click()
  })
  await dialog(p).locator('[aria-pressed=true]').waitFor()
  await p.page.waitForFunction('counts.begun === 2 && counts.open === 1')
  await watch.click()
  await p.page.waitForFunction('counts.open === 0')
})

test('a resource of a server that reports no updates is not offered to watch', async (t) => {
  const p = await openPanel(browser, site, { query: { view: 'resources' }, servers: { demo: { url: 'builtin:demo' } } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: /^The harbour/ }).click()
  await dialog(p).getByRole('button', { name: 'Copy' }).waitFor()
  assert.equal(await dialog(p).getByRole('button', { name: 'Watch' }).count(), 0)
})

test('resources are searched, read, copied and watched', async (t) => {
  const p = await openPanel(browser, site, { servers: servers() })
  t.after(() => p.page.close())
  await p.panel.getByRole('tab', { name: 'Resources' }).click()
  await p.panel.getByRole('button', { name: /^\/\/page/ }).waitFor()
  assert.equal(await p.panel.getByRole('listitem').count(), 8)
  await p.panel.getByLabel('Search resources').fill('page')
  await p.panel.getByText('1 match').waitFor()

  await p.panel.getByRole('button', { name: /^\/\/page/ }).click()
  await dialog(p).getByText('<script>1</script>').waitFor() // as text
  assert.equal(await dialog(p).locator('.result img, .result script').count(), 0)
  await dialog(p).getByRole('button', { name: 'Watch' }).click()
  await dialog(p).locator('[aria-pressed=true]').waitFor()
  await p.page.evaluate(() => document.body.prepend(window.panel))
  touch()
  await dialog(p).getByText('updated').waitFor()
  await dialog(p).getByRole('button', { name: 'Read again' }).click()
  await dialog(p).getByText('updated').waitFor({ state: 'detached' })
  await p.page.keyboard.press('Escape')
  await p.panel.getByText('watched').waitFor()
  await p.page.evaluate(() => document.body.append(window.panel))
  touch()
  await p.panel.getByText('updated').waitFor()

  await p.panel.getByLabel('Search resources').fill('')
  for (
    const [row, shown] of [
      [/^\/\/json/, 'harbour'],
      [/^document/, 'only the server is asked'],
      [/^\/\/hidden/, 'seen'],
      [/^\/\/long/, 'long long'],
    ] as const
  ) {
    await p.panel.getByRole('button', { name: row }).click()
    await dialog(p).getByText(shown).first().waitFor()
    await dialog(p).getByRole('status').getByText('Answered').waitFor()
    if (shown === 'seen') await dialog(p).getByText('Text that people cannot see').waitFor()
    assert.equal(await dialog(p).getByText('text cut').count(), shown === 'long long' ? 1 : 0)
    await p.page.keyboard.press('Escape')
  }
  await p.panel.getByRole('button', { name: /^\/\/picture/ }).click()
  await dialog(p).locator('canvas').waitFor()
  await p.page.keyboard.press('Escape')
  await p.panel.getByRole('button', { name: /^ab/ }).click() // its name without the hidden character
  await dialog(p).getByRole('alert').getByText('Resource not found').waitFor()
  assert.notEqual(await p.page.title(), 'owned')
  assert.deepEqual(p.faults, [])
})

test('the name of a resource takes one line while there is room, and its URI is cut', async (t) => {
  const p = await openPanel(browser, site, { query: { view: 'resources' }, servers: servers() })
  t.after(() => p.page.close())
  const row = p.panel.locator('.about').filter({ hasText: 'The tide' })
  await row.evaluate((e) => (e.style.maxInlineSize = '220px'))
  const [name, uri] = await row.locator('> span').evaluateAll((parts) =>
    parts.map((e) => ({
      lines: e.clientHeight / parseFloat(getComputedStyle(e).lineHeight),
      cut: e.scrollWidth > e.clientWidth,
    }))
  )
  assert.ok(name!.lines < 1.5, `${name!.lines} lines`)
  assert.ok(uri!.cut)
})

test('a picture that is read again is the new one', async (t) => {
  const before = contents['demo://picture']!
  t.after(() => (contents['demo://picture'] = before))
  const p = await openPanel(browser, site, { query: { view: 'resources' }, servers: servers() })
  await p.panel.locator('.about').filter({ hasText: 'picture' }).click()
  await dialog(p).getByText('1 × 1').waitFor()
  contents['demo://picture'] = {
    mimeType: 'image/png',
    blob: 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR42mNoaAAAAYMBAYuRVfIAAAAASUVORK5CYII=',
  }
  await dialog(p).getByRole('button', { name: 'Read again' }).click()
  await dialog(p).getByText('2 × 1').waitFor()
  await p.page.close()
})

test('a template is filled in with suggestions, by keyboard', async (t) => {
  const p = await openPanel(browser, site, { servers: servers(), query: { view: 'resources' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: 'The tide' }).click()
  const day = dialog(p).getByRole('combobox', { name: 'day' })
  await day.focus()
  await dialog(p).getByRole('option', { name: 'tuesday' }).waitFor()
  await day.press('ArrowDown')
  await day.press('ArrowDown')
  assert.equal(await dialog(p).getByRole('option', { selected: true }).textContent(), 'tuesday')
  await day.press('Enter')
  assert.equal(await day.inputValue(), 'tuesday')
  await day.fill('m')
  await dialog(p).getByRole('option', { name: 'monday' }).click()
  await day.press('Escape') // closes the dialog only if no list is open
  await p.panel.getByRole('button', { name: 'The tide' }).click()
  await dialog(p).getByRole('combobox', { name: 'day' }).fill('friday')
  const unit = dialog(p).getByRole('combobox', { name: 'unit' })
  await unit.focus()
  await dialog(p).getByRole('option', { name: 'unit 19' }).waitFor()
  await unit.press('ArrowUp')
  const [option, list] = await Promise.all([
    dialog(p).getByRole('option', { name: 'unit 19', selected: true }).boundingBox(),
    dialog(p).getByRole('listbox').boundingBox(),
  ])
  assert.ok(option!.y + option!.height <= list!.y + list!.height, 'the chosen value is in sight')
  await unit.fill('m s')
  await dialog(p).getByRole('option').first().waitFor({ state: 'detached' })
  await dialog(p).getByRole('button', { name: 'Read', exact: true }).click()
  await dialog(p).getByText('read demo://tide/friday?unit=m%20s').waitFor()
  assert.deepEqual(p.faults, [])
})

test('a prompt is filled in and shown', async (t) => {
  const p = await openPanel(browser, site, { servers: servers(), query: { view: 'prompts' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: 'Greet' }).click()
  await dialog(p).getByRole('button', { name: 'Make messages' }).click()
  await dialog(p).getByText('This is required.').waitFor()
  const who = dialog(p).getByRole('combobox', { name: 'who' })
  await who.fill('A')
  await dialog(p).getByRole('option', { name: 'Alan' }).waitFor()
  const keyboard = await p.page.context().newCDPSession(p.page)
  await keyboard.send('Input.imeSetComposition', { text: 'l', selectionStart: 1, selectionEnd: 1 })
  await p.page.keyboard.press('ArrowDown') // among the words of the input method
  await p.page.keyboard.press('Enter')
  await keyboard.send('Input.insertText', { text: 'l' }) // ends the composition, which a fill would add to
  assert.equal(await who.inputValue(), 'Al')
  await who.fill('A')
  await dialog(p).getByRole('option', { name: 'Ada' }).click()
  await who.fill('Ad')
  await dialog(p).getByRole('option', { name: 'Ada' }).waitFor()
  const make = dialog(p).getByRole('button', { name: 'Make messages' })
  const before = await make.boundingBox()
  await make.hover()
  await p.page.mouse.down()
  await p.page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.matches('button'))
  assert.deepEqual(await make.boundingBox(), before, 'the list stays until the click is over')
  await p.page.mouse.up()
  await dialog(p).getByRole('option').waitFor({ state: 'detached' })
  await dialog(p).getByText('Greet <i>Ada</i>.').waitFor()
  await dialog(p).getByRole('status').getByText('Answered').waitFor()
  assert.equal(await p.page.evaluate(() => window.panel.shadowRoot!.activeElement?.textContent), 'Make messages')
  await dialog(p).getByText('cannot be shown').waitFor()
  await dialog(p).getByRole('heading', { name: 'Assistant' }).waitFor()
  assert.equal(await dialog(p).locator('.result img, .result svg, .result i').count(), 0)
  assert.deepEqual(p.faults, [])
})

test('a prompt with many arguments has one list of suggestions open, and its messages come into sight', async (t) => {
  const arguments_ = Array.from({ length: 20 }, (_, i) => ({ name: `a${i}`, required: i === 0 }))
  const many = await faultServer({
    on: {
      initialize: (a) => result(a, { ...results['initialize']!({}), protocolVersion: '2025-06-18' }),
      'prompts/list': (a) => result(a, { prompts: [{ name: 'many', arguments: arguments_ }] }),
      'prompts/get': (a) => result(a, { messages: [{ role: 'user', content: { type: 'text', text: 'Land ahoy!' } }] }),
      'completion/complete': (a) => result(a, { completion: { values: ['alpha'] } }),
    },
  })
  t.after(() => many.close())
  const p = await openPanel(browser, site, { servers: { many: { url: many.url } }, query: { view: 'prompts' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: 'many' }).click()
  const second = dialog(p).getByRole('combobox', { name: 'a1', exact: true })
  await second.focus()
  await p.page.keyboard.type('al')
  await dialog(p).getByRole('option', { name: 'alpha' }).waitFor()
  await p.page.keyboard.press('Enter')
  await dialog(p).getByText('This is required.').waitFor()
  await p.page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.matches('[aria-invalid=true]'))
  assert.equal(await second.getAttribute('aria-expanded'), 'false')
  await p.page.keyboard.type('x')
  await dialog(p).getByRole('button', { name: 'Make messages' }).focus()
  await p.page.keyboard.press('Enter')
  await dialog(p).getByText('Land ahoy!').waitFor()
  await p.page.waitForFunction(() => {
    const root = window.panel.shadowRoot!
    const said = root.querySelector('.result pre')!.getBoundingClientRect()
    return said.bottom <= root.querySelector('dialog')!.getBoundingClientRect().bottom
  })
  assert.deepEqual(p.faults, [])
})

test('a prompt is made also after the panel was moved in the document', async (t) => {
  const p = await openPanel(browser, site, { servers: servers(), query: { view: 'prompts' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: 'Greet' }).click()
  await dialog(p).getByRole('combobox').fill('Ada')
  await p.page.evaluate(() => document.body.append(window.panel))
  await dialog(p).getByRole('button', { name: 'Make messages' }).click()
  await dialog(p).getByText('Greet <i>Ada</i>.').or(dialog(p).getByRole('alert')).waitFor()
  assert.equal(await dialog(p).getByRole('alert').count(), 0)
  assert.deepEqual(p.faults, [])
})

test('a changed prompt is held until the person approves it', async (t) => {
  const p = await openPanel(browser, site, { servers: servers(), query: { view: 'prompts' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: 'Greet' }).waitFor()
  t.after(() => greeting = 'Greets somebody.')
  greeting = 'Greets everybody.'
  await p.page.evaluate(async () => {
    await window.registry.setEnabled('quay', false)
    await window.registry.setEnabled('quay', true)
    await window.registry.discover()
  })
  await p.panel.getByText('Changed', { exact: true }).waitFor()
  assert.deepEqual(
    await p.page.evaluate(async () => ({
      prompts: await window.registry.prompts(),
      get: await window.registry.getPrompt('quay__greet', { who: 'Ada' }).catch((e) => e.code),
    })),
    { prompts: [], get: 'held' },
  )
  await p.panel.getByRole('button', { name: 'Greet' }).click()
  await dialog(p).locator('ins').waitFor()
  assert.deepEqual(await dialog(p).locator('del, ins').allTextContents(), ['somebody', 'everybody'])
  assert.deepEqual(await violations(p.page), [])
  await dialog(p).getByRole('button', { name: 'Approve' }).click()
  await p.panel.getByText('Changed', { exact: true }).waitFor({ state: 'detached' })
  await p.panel.getByRole('button', { name: 'Greet' }).click()
  await dialog(p).getByRole('button', { name: 'Make messages' }).waitFor()
  assert.deepEqual(p.faults, [])
})

test('a prompt that changes while it is shown is not approved unseen', async (t) => {
  const p = await openPanel(browser, site, { servers: servers(), query: { view: 'prompts' } })
  t.after(() => p.page.close())
  t.after(() => greeting = 'Greets somebody.')
  await p.panel.getByRole('button', { name: 'Greet' }).waitFor()
  const change = async (to: string) => {
    greeting = to
    await p.page.evaluate(async () => {
      await window.registry.setEnabled('quay', false)
      await window.registry.setEnabled('quay', true)
      await window.registry.discover()
      await window.registry.prompts({ held: true })
    })
  }
  await change('Greets everybody.')
  await p.panel.getByText('Changed', { exact: true }).waitFor()
  await p.panel.getByRole('button', { name: 'Greet' }).click()
  await dialog(p).locator('ins').waitFor()
  await change('Sends everything.')
  await dialog(p).getByRole('button', { name: 'Approve' }).click()
  await dialog(p).locator('ins', { hasText: 'Sends' }).waitFor()
  // A list that changes draws the panel again.
  await p.page.evaluate(async () => {
    const panel = window.panel as unknown as { requestUpdate(): void; updateComplete: Promise<void> }
    panel.requestUpdate()
    await panel.updateComplete
  })
  assert.equal(await dialog(p).locator('ins', { hasText: 'Sends' }).count(), 1)
  assert.deepEqual(await p.page.evaluate(() => window.registry.prompts()), [])
  await dialog(p).getByRole('button', { name: 'Approve' }).click()
  await p.panel.getByText('Changed', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(p.faults, [])
})

test('an argument may have the name of what every object has', async (t) => {
  const teams = await faultServer({
    on: {
      initialize: (a) => result(a, { ...results['initialize']!({}), protocolVersion: '2025-06-18' }),
      'prompts/list': (a) =>
        result(a, { prompts: [{ name: 'team', arguments: [{ name: 'constructor', required: true }] }] }),
    },
  })
  t.after(() => teams.close())
  const p = await openPanel(browser, site, { servers: { f1: { url: teams.url } }, query: { view: 'prompts' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('button', { name: 'team' }).click()
  assert.equal(await dialog(p).getByRole('combobox').inputValue(), '')
  await dialog(p).getByRole('button', { name: 'Make messages' }).click()
  assert.equal(await dialog(p).getByRole('combobox').getAttribute('aria-invalid'), 'true')
  assert.deepEqual(p.faults, [])
})

test('the log is filtered, paused and copied', async (t) => {
  const p = await openPanel(browser, site, { servers: servers(), query: { view: 'log' } })
  t.after(() => p.page.close())
  const empty = p.panel.getByRole('status')
  await empty.getByText('no log messages yet').waitFor()
  say('error', '<b>deep</b> water\u200b')
  await p.panel.getByText('<b>deep</b> water', { exact: true }).waitFor()
  say('debug', 'a wave')
  await p.panel.getByText('a wave').waitFor()
  const [time, message] = await Promise.all(
    ['time', 'bdi'].map((part) => p.panel.locator(`.log li ${part}`).first().boundingBox()),
  )
  assert.ok(message!.y < time!.y + time!.height, 'an entry is one row')
  await p.panel.getByLabel('At least').selectOption({ label: 'warning' })
  await p.panel.getByText('a wave').waitFor({ state: 'detached' })
  await p.panel.getByRole('button', { name: 'Pause' }).click()
  say('critical', 'later')
  await p.page.evaluate(() =>
    new Promise<void>((resolve) => {
      const look = async () =>
        (await window.registry.logs()).some((e) => e.text === 'later') ? resolve() : setTimeout(look, 20)
      void look()
    })
  )
  assert.equal(await p.panel.getByText('later').count(), 0)
  await p.panel.getByRole('button', { name: 'Pause' }).click()
  await p.panel.getByText('later').waitFor()
  await p.panel.getByLabel('Search the log').fill('nothing such')
  await empty.getByText('Nothing matches').waitFor()
  assert.deepEqual(p.faults, [])
})

test('a list follows the servers', async (t) => {
  const p = await openPanel(browser, site, { query: { view: 'resources' } })
  t.after(() => p.page.close())
  const status = p.panel.locator('portolan-resources [role=status]')
  await status.getByText('offer no resources').waitFor()
  await p.page.evaluate((url) => window.registry.addServer('late', { url }), hostile.url)
  await p.page.evaluate(() => window.registry.discover())
  await p.panel.getByRole('button', { name: 'The tide' }).waitFor()
  await status.getByText('8 entries').waitFor()
  await p.page.evaluate(() => window.registry.removeServer('late'))
  await p.panel.getByText('Nothing matches').or(p.panel.getByText('offer no resources')).waitFor()
  assert.deepEqual(p.faults, [])
})

test('tasks are waited for, cancelled, and shown with their results', async (t) => {
  const server = await taskServer()
  t.after(() => server.close())
  const p = await openPanel(browser, site, { servers: { s: { url: server.url } }, query: { view: 'tasks' } })
  t.after(() => p.page.close())
  await p.panel.getByRole('status').getByText('No call runs as a task.').waitFor()
  await p.page.evaluate(async () => {
    for (const topic of ['waves', '<b>tides</b>', 'winds']) {
      await window.registry.call('s__research_optional', { topic }, { detach: true })
    }
  })
  const tasks = p.panel.getByRole('list', { name: 'Tasks' }).getByRole('listitem')
  await tasks.nth(2).waitFor() // the newest is the first
  await tasks.first().getByRole('button', { name: 'Cancel the task' }).click()
  await tasks.nth(2).waitFor({ state: 'detached' })
  const wait = tasks.first().getByRole('button', { name: 'Wait for the result' })
  await wait.click()
  await p.page.evaluate(() => document.body.append(window.panel)) // which ends the wait
  await p.page.waitForFunction(() => window.panel.shadowRoot!.querySelector('.task [aria-disabled=false]'))
  await wait.click()
  await tasks.first().getByText('about <b>tides</b>').waitFor()
  await p.page.evaluate(() => {
    const { registry } = window
    const tasks = registry.tasks.bind(registry)
    return new Promise<void>((resolve) => { // the panel has read them twice
      let reads = 0
      registry.tasks = () => (++reads > 2 && resolve(), tasks())
    })
  })
  assert.match(await tasks.first().innerText(), /about <b>tides<\/b>/)
  await tasks.first().getByRole('button', { name: 'Close' }).click()
  await tasks.first().getByRole('button', { name: 'Cancel the task' }).click()
  await p.panel.getByText('No call runs as a task.').waitFor()
  assert.deepEqual(await p.page.evaluate(async () => (await window.registry.tasks()).length), 0)
  assert.deepEqual(p.faults, [])
})
