import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { violations } from '../panel/axe.ts'
import { policy } from '../panel/site.ts'
import type { PickedPrompt, PortolanPrompts } from '../../web/prompts/types.ts'
import { launchChromium, listen, servePage, type Listening } from '../rig/harness.ts'

// The slash menu of the built package, in a page like a chat, under a strict policy.

declare global {
  interface Window {
    menu: PortolanPrompts
    picked: PickedPrompt[]
    sent: string[]
    typed: string[]
  }
}

const script = `import { createRegistry } from './npm/index.js'
import './npm/prompts.js'
const params = new URLSearchParams(location.search)
document.documentElement.dir = params.get('dir') ?? 'ltr'
const tag = params.get('field') ?? 'textarea'
const field = document.querySelector('main').appendChild(document.createElement(tag))
Object.assign(field, { id: 'chat' })
field.setAttribute('aria-label', 'Message')
field.setAttribute('aria-controls', 'main')
const menu = document.createElement('portolan-prompts')
menu.setAttribute('for', 'chat')
if (params.has('locale')) Object.assign(menu, { locale: params.get('locale'), messages: (await import('./npm/locales/' + params.get('locale') + '.js')).default })
if (params.has('format')) menu.format = params.get('format')
const servers = params.has('url') ? { quay: { url: params.get('url'), transport: 'streamable-http' } } : { demo: { url: 'builtin:demo' } }
menu.registry = await createRegistry({ mode: 'main', storage: 'memory', servers })
Object.assign(window, { menu, picked: [], sent: [], typed: [] })
document.addEventListener('prompt', (e) => picked.push(e.detail))
field.addEventListener('input', () => typed.push(field.value))
field.addEventListener('keydown', (e) => { if (e.key === 'Enter' && e.keyCode !== 229) { e.preventDefault(); sent.push(field.value) } })
document.querySelector('main').append(menu)
await menu.registry.discover()
document.documentElement.dataset.ready = ''
`
const page = `<!doctype html><html lang="en"><title>Chat</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="page.css"><script type="module" src="page.js"></script>
<main id="main"><h1>Chat</h1></main>`
const style = `:root { color-scheme: light dark } body { font-family: system-ui, sans-serif; margin: 0 }
main { min-block-size: 100vh; box-sizing: border-box; padding: 1rem; display: flex; flex-direction: column }
h1 { flex: 1 } #chat { font: inherit; inline-size: 100%; box-sizing: border-box; padding: .5rem }`

let browser: Browser, site: Listening, quay: Listening
/** The requests to the hostile server, by method. */
const asked: string[] = []
const streams = new Set<ServerResponse>()
let extra = 0
/** Lists of prompts get no answer. */
let hangs = false

/** Says that the list of prompts has changed. */
const changed = 'data: {"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}\n\n'

/** The registry keeps 1,000 of a server. */
const many = Array.from({ length: 1000 }, (_, i) => ({ name: `p${i}`, title: `Buoy ${i}` }))
const results: Record<string, () => object> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, prompts: { listChanged: true }, completions: {} },
    serverInfo: { name: 'quay', version: '1' },
  }),
  'tools/list': () => ({ tools: [] }),
  'prompts/list': () => ({
    prompts: [
      { name: 'bold', title: '<img src=x onerror="document.title=\'owned\'">', description: '<b>bold</b>\n a\u202eb' },
      { name: 'broken', title: 'Broken' },
      { name: 'route', arguments: [{ name: 'via' }, { name: 'from', required: true, description: '<i>Port</i>' }] },
      ...Array.from({ length: extra }, (_, i) => ({ name: `late${i}` })),
      ...many,
    ],
  }),
  'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Sail <i>on</i>.' } }] }),
  'completion/complete': () => ({ completion: { values: ['Oslo', '<b>Bergen</b>'] } }),
}

before(async () => {
  browser = await launchChromium()
  site = await servePage({ '/': page, '/page.js': script, '/page.css': style }, {
    'content-security-policy': `${policy}; style-src 'self'; img-src data:`,
  })
  quay = await listen(async (req, res) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (req.method === 'GET') {
      res.writeHead(200, { 'content-type': 'text/event-stream', ...cors }).flushHeaders()
      if (extra) res.write(changed)
      streams.add(res)
      return void res.on('close', () => streams.delete(res))
    }
    if (req.method !== 'POST') return void res.writeHead(204, cors).end()
    let body = ''
    for await (const chunk of req) body += chunk
    const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { name?: string } }
    if (id === undefined) return void res.writeHead(202, cors).end()
    asked.push(method)
    if (hangs && method === 'prompts/list') return
    const answer = !results[method] || params?.name === 'broken'
      ? { error: { code: -32603, message: 'The <b>mast</b> is broken' } }
      : { result: results[method]() }
    res.writeHead(200, { 'content-type': 'application/json', ...cors }).end(
      JSON.stringify({ jsonrpc: '2.0', id, ...answer }),
    )
  })
})
after(async () => {
  await browser?.close()
  await Promise.all([site, quay].map((s) => s?.close()))
})

async function chat(t: TestContext, query: Record<string, string> = {}, context: BrowserContextOptions = {}) {
  const p = await browser.newPage({ viewport: { width: 900, height: 700 }, ...context })
  t.after(() => p.close())
  const faults: string[] = []
  p.on('pageerror', (e) => faults.push(e.stack ?? e.message))
  await p.goto(`${site.url}/?${new URLSearchParams(query)}`)
  await p.locator('html[data-ready]').waitFor()
  return {
    page: p,
    faults,
    field: p.locator('#chat'),
    list: p.getByRole('listbox', { name: query.locale === 'ar' ? 'المطالبات' : 'Prompts' }),
    options: p.locator('.portolan-menu [role=option]'),
    dialog: p.locator('portolan-prompts dialog[open]'),
    picked: () => p.evaluate(() => window.picked),
  }
}

const active = (p: Page) =>
  p.evaluate(() => {
    const id = document.querySelector('#chat')!.getAttribute('aria-activedescendant')
    return id && document.getElementById(id)?.querySelector('.title')?.textContent
  })

/** The key with which Safari's input method ends a word. It is Enter, and its code is 229. */
const endsComposition = (field: Element) => {
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))
}

test('by keyboard only: typed, filtered, filled in with completion, used', async (t) => {
  const p = await chat(t, { format: 'openai' })
  await p.field.focus()
  await p.page.keyboard.type('Hello /gr')
  await p.options.getByText('Greet somebody').waitFor()
  assert.equal(await active(p.page), 'Greet somebody')
  await p.field.evaluate(endsComposition) // it picks nothing
  assert.equal(await active(p.page), 'Greet somebody')
  await p.page.keyboard.press('Enter')
  const who = p.dialog.getByRole('combobox', { name: 'who' })
  await who.and(p.page.locator(':focus')).waitFor() // typing goes on there
  await p.page.keyboard.press('Enter') // nothing is filled in
  await p.dialog.getByText('This is required.').waitFor()
  await p.page.keyboard.type('mon')
  await p.dialog.getByRole('option', { name: 'monday' }).waitFor()
  await p.page.keyboard.press('ArrowDown')
  await p.page.keyboard.press('Enter')
  assert.equal(await who.inputValue(), 'monday')
  await p.page.keyboard.press('Enter')
  await p.page.waitForFunction(() => window.picked.length)
  const [{ name, server, args, messages, result }] = await p.picked() as [PickedPrompt]
  assert.deepEqual({ name, server, args, messages }, {
    name: 'demo__greet',
    server: 'demo',
    args: { who: 'monday' },
    messages: [{ role: 'user', content: 'Greet monday in one sentence.' }],
  })
  assert.deepEqual(result.messages, messages)
  await p.dialog.waitFor({ state: 'detached' })
  assert.equal(await p.field.inputValue(), 'Hello ')
  assert.equal(await p.page.evaluate(() => window.typed.at(-1)), 'Hello ') // the page's framework hears of it
  assert.ok(await p.field.evaluate((e) => e === document.activeElement))
  assert.deepEqual(await p.page.evaluate(() => window.sent), [])
  await p.page.keyboard.type('all')
  await p.page.keyboard.press('Enter')
  assert.deepEqual(await p.page.evaluate(() => window.sent), ['Hello all'])
  assert.deepEqual(p.faults, [])
})

test('a value that was chosen stays chosen when the server completes the text once more', async (t) => {
  const p = await chat(t)
  await p.page.evaluate(() => {
    const registry = window.menu.registry!
    const complete = registry.complete.bind(registry)
    registry.complete = async (...asked) => {
      const completion = await complete(...asked)
      setTimeout(() => document.body.dataset.completed = asked[0].value)
      return completion
    }
  })
  await p.field.pressSequentially('/gr')
  await p.options.getByText('Greet somebody').waitFor()
  await p.page.keyboard.press('Enter')
  const who = p.dialog.getByRole('combobox', { name: 'who' })
  await who.pressSequentially('mon')
  const completed = p.page.locator('body[data-completed=mon]')
  await completed.waitFor()
  await p.page.keyboard.press('ArrowDown')
  await p.page.evaluate(() => delete document.body.dataset.completed)
  await who.dispatchEvent('input')
  await completed.waitFor()
  await p.page.keyboard.press('Enter')
  assert.equal(await who.inputValue(), 'monday')
})

test('the menu opens for a slash at the start or after white space at the end, and Escape closes it', async (t) => {
  const p = await chat(t)
  const expanded = async (text: string) => {
    await p.field.fill('')
    await p.field.pressSequentially(text)
    // The menu has followed what was typed when the registry has answered.
    await p.page.evaluate(async () => {
      await window.menu.registry!.prompts()
      await new Promise(requestAnimationFrame)
      await (window.menu as unknown as { updateComplete: Promise<unknown> }).updateComplete
    })
    return p.list.isVisible()
  }
  assert.equal(await expanded('/'), true)
  for (const text of ['and/or', 'https://', 'a/', '/usr/bin', '/ ']) assert.equal(await expanded(text), false, text)
  assert.equal(await expanded('Say /'), true)
  await p.page.keyboard.press('Escape')
  await p.list.waitFor({ state: 'hidden' })
  await p.page.keyboard.type('gr')
  assert.equal(await p.list.isVisible(), false)
  await p.page.keyboard.press('Enter')
  assert.deepEqual(await p.page.evaluate(() => window.sent), ['Say /gr'])
  assert.equal(await expanded('/gr'), true)
  await p.page.keyboard.press('Home') // an end of the list, not of the text
  assert.equal(await p.list.isVisible(), true)
  await p.page.locator('h1').click()
  await p.list.waitFor({ state: 'hidden' })
  assert.deepEqual(p.faults, [])
})

test('the field has the roles of ARIA and gets its own back', async (t) => {
  for (const field of ['textarea', 'input']) {
    const p = await chat(t, { field })
    const attributes = () =>
      p.field.evaluate((e) =>
        Object.fromEntries([...e.attributes].filter((a) => /^(role|aria)/.test(a.name)).map((a) => [a.name, a.value]))
      )
    await p.field.pressSequentially('/')
    await p.options.first().waitFor()
    const { 'aria-controls': list, 'aria-activedescendant': option, ...rest } = await attributes()
    assert.equal(await p.page.locator(`#${list}`).getAttribute('role'), 'listbox')
    assert.equal(await p.page.locator(`#${option}`).getAttribute('aria-selected'), 'true')
    assert.deepEqual(rest, {
      'aria-label': 'Message',
      'aria-haspopup': 'listbox',
      'aria-autocomplete': 'list',
      ...(field === 'input' && { role: 'combobox', 'aria-expanded': 'true' }), // a textarea may have no role
    })
    assert.match(await p.page.locator('portolan-prompts .spoken').textContent() ?? '', /1 prompt\./)
    await p.page.evaluate(() => window.menu.remove())
    assert.deepEqual(await attributes(), { 'aria-label': 'Message', 'aria-controls': 'main' })
    await p.field.pressSequentially('/')
    assert.equal(await p.options.count(), 0)
    await p.page.evaluate(() => document.querySelector('main')!.append(window.menu))
    await p.field.fill('/')
    await p.options.first().waitFor()
    assert.deepEqual(p.faults, [])
  }
})

test('axe finds nothing, in the menu and in the form', async (t) => {
  for (const field of ['textarea', 'input']) {
    const p = await chat(t, { field }, { reducedMotion: 'reduce' })
    const looks = async (state: string) => {
      for (
        const media of [
          { colorScheme: 'light' },
          { colorScheme: 'dark' },
          { colorScheme: 'light', forcedColors: 'active' },
        ] as const
      ) {
        await p.page.emulateMedia({ forcedColors: 'none', ...media })
        assert.deepEqual(await violations(p.page, { whole: true }), [], `${field} ${state} ${JSON.stringify(media)}`)
      }
    }
    await looks('closed')
    await p.field.pressSequentially('/')
    await p.options.first().waitFor()
    await looks('open')
    await p.options.first().click()
    await p.dialog.getByRole('combobox').waitFor()
    await looks('form')
  }
})

test('from right to left, and on a narrow screen, the menu stays beside its field', async (t) => {
  const p = await chat(t, { dir: 'rtl', locale: 'ar', field: 'input' })
  await p.field.pressSequentially('/')
  await p.options.first().waitFor()
  const boxes = async () => [(await p.page.locator('.portolan-menu').boundingBox())!, (await p.field.boundingBox())!]
  let [menu, field] = await boxes() as [Box, Box]
  assert.equal(await p.page.locator('.portolan-menu').getAttribute('dir'), 'rtl')
  assert.ok(Math.abs(menu.x + menu.width - field.x - field.width) < 1, JSON.stringify([menu, field]))
  assert.ok(menu.y + menu.height <= field.y && menu.y >= 0, 'above a field at the end of the window')
  await p.page.setViewportSize({ width: 320, height: 300 })
  await p.page.waitForFunction(() => document.querySelector('.portolan-menu')!.getBoundingClientRect().right <= 320)
  ;[menu, field] = await boxes() as [Box, Box]
  assert.ok(menu.x >= 0 && menu.y >= 0 && menu.y + menu.height <= 300, JSON.stringify(menu))
  assert.deepEqual(p.faults, [])
})
interface Box {
  x: number
  y: number
  width: number
  height: number
}

test('a hostile server: HTML is text, a thousand prompts are bounded, faults are shown in place', async (t) => {
  asked.length = 0
  const p = await chat(t, { url: quay.url })
  assert.ok(!asked.includes('prompts/list'))
  await p.field.pressSequentially('/')
  await p.options.nth(199).waitFor()
  assert.equal(await p.options.count(), 200)
  await p.page.getByText('800 more').waitFor()
  await p.page.getByText('<img src=x onerror=').waitFor()
  assert.equal(await p.page.locator('.portolan-menu img, .portolan-menu b').count(), 0)
  assert.doesNotMatch(await p.options.first().innerText(), /\u202e/)
  await p.page.keyboard.press('ArrowUp')
  assert.equal(await active(p.page), 'Buoy 196')
  assert.ok(
    await p.options.nth(199).evaluate((o) => {
      const at = o.getBoundingClientRect(), list = o.closest('.portolan-menu')!.getBoundingClientRect()
      return at.top >= list.top && at.bottom <= list.bottom
    }),
  )
  await p.page.keyboard.press('Home')
  await p.page.keyboard.press('End')
  assert.equal(await active(p.page), 'Buoy 196')
  await p.page.keyboard.type('p996')
  await p.options.getByText('Buoy 996').waitFor()
  await p.page.keyboard.press('Tab')
  await p.page.waitForFunction(() => window.picked.length)
  assert.deepEqual((await p.picked())[0]!.messages, [{
    role: 'user',
    content: { type: 'text', text: 'Sail <i>on</i>.' },
  }])
  assert.equal(await p.field.inputValue(), '')

  await p.field.pressSequentially('/broken')
  await p.options.getByText('Broken').click()
  await p.dialog.getByRole('alert').getByText('The <b>mast</b> is broken').waitFor()
  assert.match(await p.dialog.getByRole('alert').innerText(), /rpc|protocol|server|tool/)
  await p.page.keyboard.press('Escape')
  await p.dialog.waitFor({ state: 'detached' })
  assert.equal(await p.field.inputValue(), '/broken')

  await p.field.fill('')
  await p.field.pressSequentially('/route')
  await p.options.getByText('route').click()
  const names = p.dialog.getByRole('combobox')
  await names.nth(1).waitFor()
  assert.deepEqual(await p.dialog.locator('label').allInnerTexts(), ['from required', 'via']) // required ones first
  await names.first().fill('O')
  await p.dialog.getByRole('option', { name: '<b>Bergen</b>' }).waitFor()
  assert.equal(await p.dialog.locator('i, b').count(), 0)
  await p.page.keyboard.press('Escape')
  assert.equal(asked.filter((m) => m === 'prompts/list').length, 1)
  assert.notEqual(await p.page.title(), 'owned')
  assert.deepEqual(p.faults, [])
})

test('a list that failed is asked for again when the menu opens again', async (t) => {
  const list = results['prompts/list']!
  delete results['prompts/list']
  const p = await chat(t, { url: quay.url })
  await p.field.pressSequentially('/')
  await p.page.locator('.portolan-menu').getByText('The <b>mast</b> is broken').waitFor()
  results['prompts/list'] = list
  await p.field.fill('')
  await p.field.pressSequentially('/broken')
  await p.options.getByText('Broken').waitFor()
  assert.deepEqual(p.faults, [])
})

test('a server that is added while the prompts are listed is listed, too', async (t) => {
  const p = await chat(t)
  await p.page.evaluate(() => {
    const registry = window.menu.registry!
    const prompts = registry.prompts.bind(registry)
    registry.prompts = async () => {
      registry.prompts = prompts
      const listed = await prompts()
      await registry.addServer('other', { url: 'builtin:demo' })
      await registry.discover()
      await prompts({ servers: ['other'] })
      await new Promise<void>((resolve) => {
        const look = () => registry.getSnapshot().servers['other']!.promptCount && resolve()
        registry.subscribe(look)
        look()
      })
      return listed
    }
  })
  await p.field.pressSequentially('/')
  await p.options.getByText('Greet somebody').nth(1).waitFor()
  assert.deepEqual(p.faults, [])
})

test('another registry shows no fault of the last one, and does not wait for it', async (t) => {
  const list = results['prompts/list']!
  delete results['prompts/list']
  t.after(() => {
    results['prompts/list'] = list
    hangs = false
  })
  const p = await chat(t, { url: quay.url })
  const menu = p.page.locator('.portolan-menu')
  await p.field.pressSequentially('/')
  await menu.getByText('The <b>mast</b> is broken').waitFor()
  const change = async (url: string) => {
    await p.page.evaluate(async (url) => {
      const { createRegistry } = await import(`${location.origin}/npm/index.js`)
      const registry = await createRegistry({ mode: 'main', storage: 'memory', servers: { other: { url } } })
      await registry.discover()
      window.menu.registry = registry
    }, url)
    await p.field.fill('')
    await p.field.pressSequentially('/')
  }
  hangs = true
  await change(quay.url)
  await menu.getByText('Loading').waitFor()
  assert.equal(await menu.getByText('mast').count(), 0)
  await change('builtin:demo')
  await p.options.getByText('Greet somebody').waitFor()
  assert.deepEqual(p.faults, [])
})

test('a form outlives an element that is moved in the document, and not one that is removed', async (t) => {
  const p = await chat(t)
  await p.field.pressSequentially('/gr')
  await p.options.first().click()
  const who = p.dialog.getByRole('combobox', { name: 'who' })
  await who.fill('Ada')
  await p.page.evaluate(() => document.body.prepend(window.menu))
  assert.ok(await p.dialog.evaluate((d) => d.matches(':modal')))
  assert.equal(await who.inputValue(), 'Ada')
  await who.press('Enter')
  await p.page.waitForFunction(() => window.picked.length)
  assert.equal(await p.field.inputValue(), '')
  assert.ok(await p.field.evaluate((e) => e === document.activeElement))
  await p.field.pressSequentially('/gr')
  await p.options.first().click()
  await p.dialog.waitFor()
  await p.page.evaluate(() => window.menu.remove())
  assert.ok(await p.field.evaluate((e) => e === document.activeElement))
  await p.page.evaluate(() => document.body.append(window.menu))
  await p.dialog.waitFor({ state: 'detached' })
  assert.deepEqual(p.faults, [])
})

test('what is typed right after a form keeps its menu', async (t) => {
  const p = await chat(t)
  await p.field.pressSequentially('/gr')
  await p.options.first().click()
  await p.dialog.getByRole('combobox', { name: 'who' }).fill('Ada')
  await p.page.evaluate(() => {
    const dialog = window.menu.shadowRoot!.querySelector('dialog')!
    // The dialog is closed then, and its event `close` comes later.
    new MutationObserver(() => document.execCommand('insertText', false, '/gr')).observe(dialog, {
      attributeFilter: ['open'],
    })
    dialog.addEventListener('close', () => requestAnimationFrame(() => document.body.append('Closed.')))
  })
  await p.page.keyboard.press('Enter')
  await p.page.getByText('Closed.').waitFor()
  assert.equal(await p.field.inputValue(), '/gr')
  assert.equal(await p.options.count(), 1)
  await p.page.keyboard.type('e')
  assert.equal(await p.field.inputValue(), '/gre')
  assert.deepEqual(p.faults, [])
})

test('the menu follows a field that the page makes again', async (t) => {
  const p = await chat(t)
  await p.field.evaluate((field) => field.replaceWith(field.cloneNode()))
  await p.field.pressSequentially('/')
  await p.options.first().waitFor()
  assert.deepEqual(p.faults, [])
})

test('a clone has one menu, and no id twice', async (t) => {
  const p = await chat(t)
  const { menus, ids } = await p.page.evaluate(async () => {
    const clone = window.menu.cloneNode(true) as PortolanPrompts & { updateComplete: Promise<unknown> }
    document.querySelector('main')!.append(clone)
    clone.registry = window.menu.registry
    await clone.updateComplete
    return { menus: clone.children.length, ids: [...document.querySelectorAll('[role=listbox]')].map((e) => e.id) }
  })
  assert.equal(menus, 1)
  assert.equal(new Set(ids).size, 2)
  assert.equal(ids.length, 2)
})

test('a list that has changed is asked for again', async (t) => {
  asked.length = 0
  const p = await chat(t, { url: quay.url })
  await p.field.pressSequentially('/broken')
  await p.options.first().waitFor()
  await p.page.keyboard.press('Escape')
  await p.page.waitForFunction(() => window.menu.registry!.getSnapshot().servers.quay!.promptCount === 1000)
  extra = 1
  t.after(() => (extra = 0))
  for (const stream of streams) stream.write(changed) // one that opens later begins with it
  await p.page.waitForFunction(() => window.menu.registry!.getSnapshot().servers.quay!.promptCount === undefined)
  await p.field.fill('')
  await p.field.pressSequentially('/late')
  await p.options.getByText('late0').waitFor()
  assert.equal(asked.filter((m) => m === 'prompts/list').length, 2)
})

test('a form ends with the registry whose prompt it is for', async (t) => {
  const p = await chat(t, { url: quay.url })
  await p.field.pressSequentially('/route')
  await p.options.first().click()
  await p.dialog.waitFor()
  await p.page.evaluate(() => (window.menu.registry = undefined))
  await p.dialog.waitFor({ state: 'detached' })
  assert.deepEqual(p.faults, [])
})

test('a form that is loaded while the menu loses its registry does not open', async (t) => {
  const p = await chat(t)
  await p.page.route('**/panel/form-*.js', async (route) => {
    await p.page.evaluate(() => (window.menu.registry = undefined))
    await route.continue()
  })
  await p.field.pressSequentially('/gr')
  await p.options.first().click()
  await p.page.evaluate(async () => {
    await customElements.whenDefined('portolan-picked-prompt')
    await new Promise((resolve) => setTimeout(resolve)) // what waits for the form goes on
    await (window.menu as unknown as { updateComplete: Promise<unknown> }).updateComplete
  })
  assert.equal(await p.dialog.count(), 0)
  assert.deepEqual(p.faults, [])
})

test('Enter sends no `/…` while its form is loaded', async (t) => {
  const p = await chat(t)
  await p.page.route('**/panel/form-*.js', async (route) => {
    await p.field.press('Enter')
    await route.continue()
  })
  await p.field.pressSequentially('/gr')
  await p.options.first().waitFor()
  await p.field.press('Enter')
  await p.dialog.waitFor()
  assert.deepEqual(await p.page.evaluate(() => window.sent), [])
  assert.deepEqual(p.faults, [])
})
