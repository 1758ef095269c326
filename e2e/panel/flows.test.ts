import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, startChromium, startProxy, type Listening } from '../rig/harness.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { tokensOf } from '../../wasm/js/shared/tokens.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { harbour, listing, someTools } from './servers.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

let browser: Browser, site: Listening
let port: Awaited<ReturnType<typeof harbour>>, steered: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  port = await harbour()
  steered = await sdkServer()
})
after(async () => {
  await browser?.close()
  await Promise.all([site, port, steered].map((s) => s?.close()))
})

const canary = 'canary-5f3a9c'
const cardOf = ({ panel }: PanelPage, name: string) => panel.getByRole('article', { name, exact: true })
const box = ({ panel }: PanelPage) => panel.getByRole('textbox', { name: 'Add a server' })
const menu = async (p: PanelPage, name: string, item: string) => {
  await p.panel.getByRole('button', { name: `More for ${name}` }).click()
  await p.panel.getByRole('menuitem', { name: item }).click()
}
const done = async ({ page, faults }: PanelPage) => {
  assert.deepEqual(faults, [])
  await page.close()
}

test('W14: from nothing to tools in one click', async () => {
  const p = await openPanel(browser, site)
  await p.panel.getByText('No servers yet').waitFor()
  await p.panel.getByRole('button', { name: 'Add the built-in demo' }).click()
  await cardOf(p, 'demo').getByText('Connected').waitFor()
  await cardOf(p, 'demo').getByRole('button', { name: '7 of 7 tools' }).click()
  await p.panel.getByRole('button', { name: /^echo/ }).waitFor()
  await done(p)
})

test('W14: an address is read, named, previewed and added with Enter', async () => {
  const p = await openPanel(browser, site)
  await box(p).fill(steered.url)
  await p.panel.getByText('Read as a URL').waitFor()
  const name = await p.panel.getByLabel('Name', { exact: true }).inputValue()
  await box(p).press('Enter')
  await cardOf(p, name).getByText('Connected').waitFor()
  assert.equal(await box(p).inputValue(), '')
  const { config } = await p.page.evaluate((n) => window.registry.getSnapshot().servers[n]!, name)
  assert.deepEqual([config.url, config.proxy], [steered.url, 'auto'])
  await done(p)
})

test('Enter adds what was pasted before the code that reads it is there', async () => {
  const p = await openPanel(browser, site)
  await p.page.route('**/panel/parts-*.js', async (route) => {
    await box(p).press('Enter')
    await route.continue()
  })
  await box(p).fill(steered.url)
  await p.panel.getByText('Added').waitFor()
  assert.equal(await box(p).inputValue(), '')
  await done(p)
})

test('W6: in a project, a server is added to it, and another is off there only', async () => {
  const p = await openPanel(browser, site, { servers: { mine: { url: steered.url } }, query: { project: 'charts' } })
  await box(p).fill(`${steered.url}?chart`)
  const name = await p.panel.getByLabel('Name', { exact: true }).inputValue()
  await p.panel.getByRole('checkbox', { name: 'This project only' }).check()
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await cardOf(p, name).getByText('This project only').waitFor()
  await cardOf(p, name).getByText('Connected').waitFor()
  await menu(p, 'mine', 'Off in this project only')
  await cardOf(p, 'mine').getByText('changed in this project').waitFor()
  const scopes = () =>
    p.page.evaluate(() =>
      Object.entries(window.registry.getSnapshot().servers).map(([n, s]) => [n, s.scope, s.status]).sort()
    )
  assert.deepEqual(await scopes(), [[name, 'project', 'connected'], ['mine', 'override', 'disabled']].sort())
  await menu(p, 'mine', 'As here in all projects')
  await cardOf(p, 'mine').getByText('changed in this project').waitFor({ state: 'detached' })
  assert.deepEqual((await scopes()).find(([n]) => n === 'mine'), ['mine', 'user', 'disabled'])
  await done(p)
})

test('a name that is taken is renamed, overwritten or skipped', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: 'builtin:demo' } } })
  const text = JSON.stringify({ mcpServers: { steered: { url: steered.url }, other: { url: 'builtin:demo' } } })
  for (
    const [choice, button] of [['Skip', 'Add server'], ['Add under another name', 'Add server'], [
      'Overwrite',
      'Add server',
    ]] as const
  ) {
    await box(p).fill(text)
    await p.panel.getByLabel('Name is taken').first().selectOption(choice)
    const other = p.panel.getByRole('checkbox', { name: 'Add other' })
    if (await other.isVisible()) await other.uncheck()
    const add = p.panel.getByRole('button', { name: button })
    if (choice === 'Skip') assert.ok(await add.isDisabled())
    else {
      await add.click()
      await p.panel.getByText('Read as').waitFor({ state: 'detached' })
    }
  }
  const urls = await p.page.evaluate(() =>
    Object.entries(window.registry.getSnapshot().servers).map(([n, s]) => [n, s.config.url])
  )
  assert.deepEqual(urls.sort(), [['steered', steered.url], ['steered-2', steered.url]])
  await done(p)
})

test('pasted servers whose names every object has are added under other names', async () => {
  const p = await openPanel(browser, site)
  await box(p).fill(`{"mcpServers":{"constructor":{"url":"${steered.url}"},"toString":{"url":"builtin:demo"}}}`)
  await p.panel.getByRole('button', { name: 'Add 2 servers' }).click()
  await p.panel.getByText('Read as').waitFor({ state: 'detached' })
  const names = await p.page.evaluate(() => Object.keys(window.registry.getSnapshot().servers))
  assert.deepEqual(names, ['constructor-2', 'toString-2'])
  await done(p)
})

test('after a fault, what was added is not added again', async () => {
  const p = await openPanel(browser, site)
  await p.page.evaluate(() => {
    const { registry } = window
    const add = registry.addServer.bind(registry)
    registry.addServer = (name, ...more) => {
      if (name !== 'second') return add(name, ...more)
      registry.addServer = add
      return Promise.reject(new Error('the storage is full'))
    }
  })
  await box(p).fill(JSON.stringify({ first: { url: steered.url }, second: { url: 'builtin:demo' } }))
  await p.panel.getByRole('button', { name: 'Add 2 servers' }).click()
  await p.panel.getByText('the storage is full').waitFor()
  await cardOf(p, 'first').getByText('Connected').waitFor()
  await p.panel.getByRole('button', { name: 'Add server', exact: true }).click()
  await p.panel.getByText('Read as').waitFor({ state: 'detached' })
  const names = await p.page.evaluate(() => Object.keys(window.registry.getSnapshot().servers))
  assert.deepEqual(names, ['first', 'second'])
  await done(p)
})

test('what is pasted while a server is added stays', async () => {
  const p = await openPanel(browser, site)
  await p.page.evaluate(() => {
    const { registry } = window, add = registry.addServer.bind(registry)
    const held = new Promise((resolve) => Object.assign(window, { go: resolve }))
    registry.addServer = async (...config) => (await held, add(...config))
  })
  await box(p).fill(JSON.stringify({ first: { url: steered.url } }))
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await box(p).fill(JSON.stringify({ second: { url: steered.url } }))
  await p.panel.getByText('Tools will be called second__…').waitFor()
  await p.page.evaluate('go()')
  await p.panel.getByText('Added first.').waitFor()
  assert.match(await box(p).inputValue(), /second/)
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await cardOf(p, 'second').getByText('Connected').waitFor()
  await done(p)
})

test('an edit whose new name is taken meanwhile says what is saved', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  await p.page.evaluate(() => {
    const { registry } = window
    const rename = registry.renameServer.bind(registry)
    registry.renameServer = async (name, to) => {
      await registry.addServer(to, { url: 'builtin:demo' }) // as another tab may do
      return rename(name, to)
    }
  })
  await menu(p, 'steered', 'Edit…')
  const dialog = p.panel.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('other')
  await dialog.getByLabel('URL').fill(`${steered.url}?moved`)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').getByText(/^All but the name is saved\. server steered: rename: .*exists/).waitFor()
  const url = await p.page.evaluate(() => window.registry.getSnapshot().servers['steered']!.config.url)
  assert.equal(url, `${steered.url}?moved`)
  await done(p)
})

test('a dropped file is read, or said to be too long', async () => {
  const p = await openPanel(browser, site)
  const drop = (text: string) =>
    box(p).evaluate((area, text) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([text], 'mcp.json'))
      area.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    }, text)
  await drop(' '.repeat(2 << 20))
  await p.panel.getByText('This is too long to be a configuration.').waitFor()
  await drop(JSON.stringify({ dropped: { url: steered.url } }))
  await p.panel.getByText('Tools will be called dropped__…').waitFor()
  await done(p)
})

test('an edit with a name that no server can have changes nothing', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  await menu(p, 'steered', 'Edit…')
  await p.panel.getByRole('dialog').getByLabel('Name', { exact: true }).fill('constructor')
  await p.panel.getByRole('dialog').getByLabel('URL').fill('https://moved.example/mcp')
  await p.panel.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await p.panel.getByText('Name is taken').waitFor()
  await p.panel.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  const url = await p.page.evaluate(() => window.registry.getSnapshot().servers['steered']!.config.url)
  assert.equal(url, steered.url)
  await done(p)
})

test('where secrets are kept is as it is shown, also after the text was changed', async () => {
  const p = await openPanel(browser, site)
  await box(p).fill(JSON.stringify({ mcpServers: { s: { url: steered.url, headers: { Authorization: canary } } } }))
  const kept = p.panel.locator('portolan-preview input[value=device]')
  await kept.check()
  await box(p).press('End')
  await box(p).press('Space')
  await p.page.waitForFunction(() => {
    const preview = window.panel.shadowRoot!.querySelector('portolan-preview') as never as {
      plans: { keep?: boolean }[]
    }
    return preview.plans[0]!.keep === undefined
  })
  const isShown = await kept.isChecked()
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await p.page.waitForFunction(() => window.registry.has('s__raw'))
  const keeps = await p.page.evaluate(() => {
    const { registry } = window
    return registry.getSnapshot().servers['s']!.config.rememberSecrets ?? registry.rememberSecrets
  })
  assert.equal(keeps, isShown)
  await done(p)
})

test('fields for one header say which variable each is for', async () => {
  const p = await openPanel(browser, site)
  const headers = { 'X-Login': 'as ${HARBOUR_USER} with ${HARBOUR_KEY}' }
  await box(p).fill(JSON.stringify({ mcpServers: { s: { url: steered.url, headers } } }))
  const fields = p.panel.getByLabel('X-Login')
  await fields.nth(1).waitFor()
  assert.equal(await fields.count(), 2)
  for (const [i, name] of ['HARBOUR_USER', 'HARBOUR_KEY'].entries()) {
    const help = await fields.nth(i).getAttribute('aria-describedby')
    await p.panel.locator(`[id="${help}"]`).getByText(name, { exact: true }).waitFor()
  }
  await done(p)
})

test('local processes are explained, and what is wrong with a configuration is said', async () => {
  const p = await openPanel(browser, site)
  await box(p).fill(
    '{"mcpServers":{"git":{"command":"npx","args":["-y","git-mcp"]},"x":{"url":"http://mcp.example.com/docs","headers":{"Authorization":"Bearer "}}}}',
  )
  for (
    const text of [
      'A web page cannot start programs',
      'npx -y git-mcp',
      'Bearer, but no token follows',
      'is not encrypted',
      'a documentation page',
    ]
  ) await p.panel.getByText(text).first().waitFor() // the command also stands in the gateway's
  assert.ok(await p.panel.getByRole('button', { name: 'Add server' }).isDisabled())
  await box(p).fill('{"mcpServers": {\n "a": }')
  await p.panel.getByText('Line 2, column').waitFor()
  await done(p)
})

test('W14: a removed server comes back whole, or is gone', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url, headers: { 'X-Key': canary } } } })
  await menu(p, 'steered', 'Remove')
  await p.panel.getByText('steered was removed.').waitFor()
  assert.equal(await cardOf(p, 'steered').count(), 0)
  await p.panel.getByRole('button', { name: 'Undo' }).click()
  await cardOf(p, 'steered').getByText('Connected').waitFor()
  await p.page.evaluate(() => window.registry.retry('steered'))
  assert.deepEqual(
    await p.page.evaluate(() => Object.keys(window.registry.getSnapshot().servers.steered!.config.headers!)),
    ['X-Key'],
  )
  await menu(p, 'steered', 'Remove')
  await box(p).focus()
  await p.panel.getByRole('button', { name: 'Dismiss' }).click()
  await p.page.waitForFunction(() => !window.registry.getSnapshot().servers.steered)
  await box(p).and(p.page.locator(':focus')).waitFor()
  await done(p)
})

test('what was removed can be added at once, under its name', async (t) => {
  const p = await openPanel(browser, site, { servers: { demo: { url: 'builtin:demo' } } })
  t.after(() => p.page.close())
  await menu(p, 'demo', 'Remove')
  await p.panel.getByRole('button', { name: 'Add the built-in demo' }).click()
  await cardOf(p, 'demo').getByText('Connected').waitFor()
  await menu(p, 'demo', 'Remove')
  await box(p).fill(JSON.stringify({ mcpServers: { demo: { url: steered.url } } }))
  await p.page.waitForFunction(() => !window.registry.getSnapshot().servers['demo'])
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await p.panel.getByText('Added demo.').waitFor()
  await cardOf(p, 'demo').getByText('Connected').waitFor()
  assert.deepEqual(p.faults, [])
})

test('another registry loses no server that was removed from the one before, and no dialog changes it', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url }, edited: { url: steered.url } } })
  await p.page.evaluate(async () => {
    const { createRegistry } = await import(`${location.origin}/npm/index.js`)
    const other = await createRegistry({ mode: 'main', storage: 'memory' })
    for (const name of ['steered', 'edited']) await other.addServer(name, { url: 'builtin:demo' })
    Object.assign(window, { other })
  })
  await menu(p, 'steered', 'Remove')
  await p.panel.getByText('steered was removed.').waitFor()
  await menu(p, 'edited', 'Edit…')
  await p.panel.getByRole('dialog').waitFor()
  await p.page.evaluate(() => (window.panel.registry = (window as unknown as { other: typeof window.registry }).other))
  await p.page.waitForFunction(() => !window.registry.getSnapshot().servers['steered'])
  await cardOf(p, 'steered').waitFor()
  assert.equal(await p.panel.getByRole('dialog').count(), 0)
  await done(p)
})

test('a dialog that is loaded while the panel loses its registry does not open', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  await p.page.route('**/panel/parts-*.js', async (route) => {
    await p.page.evaluate(() => Object.assign(window.panel, { registry: undefined }))
    await route.continue()
  })
  const loaded = p.page.waitForEvent('requestfinished', (r) => r.url().includes('/panel/parts-'))
  await p.panel.getByRole('button', { name: 'Browse catalogue' }).click()
  await loaded
  await p.page.evaluate(async () => {
    await customElements.whenDefined('portolan-catalogue')
    await new Promise((resolve) => setTimeout(resolve)) // what waits for the part goes on
    await (window.panel as unknown as { updateComplete: Promise<void> }).updateComplete
  })
  assert.equal(await p.panel.getByRole('dialog').count(), 0)
  await done(p)
})

test('a dialog whose server has gone does not open for a later one', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  await menu(p, 'steered', 'Edit…')
  await p.panel.getByRole('dialog').waitFor()
  await p.page.evaluate(() => window.registry.removeServer('steered'))
  await p.panel.getByText('No servers yet').waitFor()
  await p.page.evaluate((url) => window.registry.addServer('steered', { url }), steered.url)
  await cardOf(p, 'steered').waitFor()
  assert.equal(await p.panel.getByRole('dialog').count(), 0)
  await done(p)
})

test('a dialog stays one, with what was typed, when the panel is moved', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  await menu(p, 'steered', 'Edit…')
  await p.panel.getByLabel('Name', { exact: true }).fill('typed')
  await p.page.evaluate(() => document.body.append(window.panel))
  const dialog = p.panel.getByRole('dialog')
  assert.ok(await dialog.evaluate((d) => d.matches(':modal')))
  assert.equal(await p.panel.getByLabel('Name', { exact: true }).inputValue(), 'typed')
  await p.page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await done(p)
})

test('a panel keeps its style in the document of an iframe, before and after its first rendering', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  const displays = await p.page.evaluate(async () => {
    const inner = document.body.appendChild(document.createElement('iframe')).contentDocument!
    const displayIn = async (place: Element, panel: typeof window.panel) => {
      place.append(panel)
      await (panel as unknown as { updateComplete: Promise<void> }).updateComplete
      return place.ownerDocument.defaultView!.getComputedStyle(panel.shadowRoot!.querySelector('.bar')!).display
    }
    const fresh = document.createElement('portolan-panel') as typeof window.panel
    fresh.registry = window.registry
    return [
      await displayIn(inner.body, window.panel),
      await displayIn(inner.body, fresh),
      await displayIn(document.body, window.panel),
      await displayIn(document.body, fresh),
    ]
  })
  assert.deepEqual(displays, ['flex', 'flex', 'flex', 'flex'])
  await done(p)
})

test('W14: header values can be written, kept, replaced and never read', async () => {
  const p = await openPanel(browser, site, {
    servers: { steered: { url: steered.url, headers: { Authorization: `Bearer ${canary}` } } },
  })
  const html = () =>
    p.page.evaluate(() => {
      const inputs = [...window.panel.shadowRoot!.querySelectorAll('input, textarea')].map((i) =>
        (i as HTMLInputElement).value
      ).join(' ')
      return window.panel.shadowRoot!.innerHTML + inputs
    })
  await menu(p, 'steered', 'Edit…')
  assert.doesNotMatch(await html(), new RegExp(canary))
  await p.panel.getByText(`Sent to ${new URL(steered.url).host} with every request, and nowhere else.`).waitFor()
  await p.panel.getByRole('button', { name: 'Add header' }).click()
  await p.panel.getByRole('group', { name: 'Header 2' }).getByLabel('Name').and(p.page.locator(':focus')).waitFor()
  await p.page.keyboard.type('X-Other')
  const value = p.panel.getByRole('group', { name: 'Header 2' }).getByLabel('Value')
  await value.fill('seen while held')
  assert.equal(await value.getAttribute('type'), 'password')
  const eye = await p.panel.getByRole('button', { name: 'Show while pressed' }).boundingBox()
  await p.page.mouse.move(eye!.x + 5, eye!.y + 5)
  await p.page.mouse.down()
  await p.page.waitForFunction(() =>
    window.panel.shadowRoot!.querySelector('.secret input')!.getAttribute('type') === 'text'
  )
  await p.page.mouse.up()
  await p.page.waitForFunction(() =>
    window.panel.shadowRoot!.querySelector('.secret input')!.getAttribute('type') === 'password'
  )
  await p.panel.getByRole('button', { name: 'Save' }).click()
  await p.panel.getByRole('dialog').waitFor({ state: 'detached' })
  await p.page.evaluate(() => window.registry.retry('steered'))
  assert.equal(steered.headers.at(-1)!.authorization, `Bearer ${canary}`)
  await menu(p, 'steered', 'Edit…')
  await p.panel.getByRole('group', { name: 'Header 1' }).getByRole('button', { name: 'Replace' }).click()
  await p.panel.getByRole('group', { name: 'Header 1' }).getByLabel('Value').fill('Bearer other')
  await p.panel.getByRole('button', { name: 'Save' }).click()
  await p.panel.getByRole('dialog').waitFor({ state: 'detached' })
  await p.page.evaluate(() => window.registry.retry('steered'))
  assert.equal(steered.headers.at(-1)!.authorization, 'Bearer other')
  await done(p)
})

test('a fault in the edited configuration keeps the dialog and what was typed', async () => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url } } })
  await menu(p, 'steered', 'Edit…')
  await p.panel.getByLabel('URL').fill('not an address')
  await p.panel.getByRole('button', { name: 'Save' }).click()
  await p.panel.getByText('This is not an address.').waitFor()
  assert.equal(await p.panel.getByLabel('URL').getAttribute('aria-invalid'), 'true')
  assert.equal(await p.panel.getByLabel('URL').inputValue(), 'not an address')
  await p.panel.getByLabel('URL').fill('wss://mcp.example')
  await p.panel.getByText('MCP does not use WebSocket').waitFor()
  await p.panel.getByLabel('URL').fill(steered.url)
  await p.panel.getByRole('button', { name: 'Add header' }).click()
  await p.panel.getByRole('group', { name: 'Header 1' }).getByLabel('Name').fill('Cookie')
  await p.panel.getByText('Browsers do not let pages set Cookie.').waitFor()
  await p.page.keyboard.press('Escape')
  await p.panel.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(
    await p.panel.getByRole('button', { name: 'More for steered' }).evaluate((b) =>
      (b.getRootNode() as ShadowRoot).activeElement === b
    ),
    true,
  )
  await done(p)
})

test('a time limit that is half typed keeps the one before', async (t) => {
  const p = await openPanel(browser, site, { servers: { steered: { url: steered.url, timeoutMs: 30_000 } } })
  t.after(() => p.page.close())
  await menu(p, 'steered', 'Edit…')
  const advanced = p.panel.locator('.advanced summary')
  await advanced.click()
  const field = p.panel.getByRole('dialog').locator('[name=timeout]')
  await field.fill('')
  await field.pressSequentially('3e')
  await advanced.click()
  await p.panel.getByRole('button', { name: 'Save' }).click()
  await p.page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.matches('[name=timeout]'))
  const kept = await p.page.evaluate(() => window.registry.getSnapshot().servers['steered']!.config.timeoutMs)
  assert.equal(kept, 30_000)
  assert.deepEqual(p.faults, [])
})

test('tools are switched one by one and together, and stay so after a reload', async () => {
  const p = await openPanel(browser, site, { query: { storage: 'local' }, servers: { good: port.servers.good! } })
  await p.panel.getByRole('tab', { name: /Tools/ }).click()
  await p.panel.getByRole('checkbox', { name: 'Offer anchor_2 to models' }).uncheck()
  await p.page.waitForFunction(() => !window.registry.has('good__anchor_2'))
  const all = p.panel.getByRole('checkbox', { name: 'All tools of good' })
  assert.equal(await all.evaluate((b) => (b as HTMLInputElement).indeterminate), true)
  await p.page.waitForFunction(() => localStorage.getItem('portolan.servers')!.includes('anchor_2'))
  await p.page.reload()
  await p.page.locator('html[data-ready]').waitFor()
  await p.page.evaluate(() => window.registry.discover())
  await p.panel.getByRole('tab', { name: /Tools/ }).click()
  assert.equal(await p.panel.getByRole('checkbox', { name: 'Offer anchor_2 to models' }).isChecked(), false)
  assert.equal(await p.page.evaluate(() => window.registry.getTools().length), 7)
  await all.click() // of some, a click makes all
  await p.page.waitForFunction(() => window.registry.getTools().length === 8)
  await all.click()
  await p.page.waitForFunction(() => window.registry.getTools().length === 0)
  assert.equal(await p.panel.getByRole('checkbox', { name: 'Offer anchor_2 to models' }).isChecked(), false)
  await p.page.evaluate(() => window.registry.removeServer('good'))
  await done(p)
})

test('two tools that are switched at once are both off', async () => {
  const p = await openPanel(browser, site, { query: { view: 'tools' }, servers: { good: port.servers.good! } })
  await p.panel.getByRole('checkbox', { name: 'Offer anchor_2 to models' }).waitFor()
  await p.panel.evaluate((panel) => {
    for (const name of ['good__anchor_2', 'good__tide_3'])
      panel.shadowRoot!.querySelector<HTMLElement>(`[data-tool=${name}]`)!.click()
  })
  await p.page.waitForFunction(() => !window.registry.has('good__tide_3'))
  assert.equal(await p.page.evaluate(() => window.registry.has('good__anchor_2')), false)
  for (const name of ['anchor_2', 'tide_3'])
    assert.equal(await p.panel.getByRole('checkbox', { name: `Offer ${name} to models` }).isChecked(), false)
  await done(p)
})

test('the budget says which tools to turn off, and does it', async (t) => {
  const large = await listing(someTools(40))
  t.after(() => large.close())
  const p = await openPanel(browser, site, { query: { view: 'tools' }, servers: { large: { url: large.url } } })
  await p.panel.getByText(/Tools take about/).waitFor()
  await p.panel.getByLabel('Budget, in tokens').fill('2000')
  await p.panel.getByLabel('Budget, in tokens').press('Enter')
  const button = p.panel.getByRole('button', { name: /^Turn off \d+ tools$/ })
  // P46: what the panel says is what getTools gives.
  const says = await p.panel.getByText(/With tool search they take about/).innerText()
  const [first] = /they take about ([\d,]+) at first, [\d,]+ less/.exec(says)!.slice(1).map((n) => +n.replace(',', ''))
  const tools = await p.page.evaluate(() => window.registry.getTools({ deferred: { budgetTokens: 2000 } }))
  assert.equal(first, tools.reduce((n, tool) => n + tokensOf(JSON.stringify(tool)), 0))
  await button.click()
  await button.waitFor({ state: 'detached' })
  await p.panel.getByText(/Tools take about [\d,.]+ of 2,000 tokens/).waitFor()
  assert.equal(await p.panel.getByText(/With tool search/).count(), 0)
  const left = await p.page.evaluate(() => window.registry.getTools().length)
  assert.ok(left > 5 && left < 40, String(left))
  await done(p)
})

test('search finds tools by name and by description, and filters them by what is offered', async () => {
  const p = await openPanel(browser, site, {
    query: { view: 'tools' },
    servers: { good: port.servers.good!, demo: { url: 'builtin:demo' } },
  })
  await p.panel.getByLabel('Search tools').fill('two numbers')
  await p.panel.getByText('1 tool', { exact: true }).waitFor()
  await p.panel.getByRole('checkbox', { name: 'Offer add to models' }).uncheck()
  await p.panel.getByLabel('Search tools').fill('xylophone')
  await p.panel.getByRole('status').getByText('Nothing matches.').waitFor()
  await p.panel.getByLabel('Search tools').fill('two nubmers')
  await p.panel.getByText('1 tool', { exact: true }).waitFor()
  await p.panel.getByLabel('Search tools').fill('')
  await p.panel.getByLabel('Show', { exact: true }).selectOption('Off')
  await p.panel.getByText('1 tool', { exact: true }).waitFor()
  await p.panel.getByRole('button', { name: /^add/ }).click()
  await p.panel.getByText('Models do not see this tool while it is off.').waitFor()
  await done(p)
})

test('W14: each fault has a name, a cause and one button', async () => {
  const p = await openPanel(browser, site, { servers: port.servers })
  await cardOf(p, 'locked').getByText('Sign-in needed').waitFor()
  await cardOf(p, 'locked').getByRole('button', { name: 'Add credentials' }).click()
  await cardOf(p, 'locked').getByLabel('Access token').waitFor()
  await cardOf(p, 'locked').getByRole('button', { name: 'Cancel' }).click()
  await cardOf(p, 'closed').getByRole('button', { name: 'Find out why' }).waitFor()
  for (let i = 0; i < 2; i++) await p.page.evaluate(() => window.registry.discover(['failing']))
  await cardOf(p, 'failing').getByText(/Paused after 3 failures · retry in/).waitFor()
  await cardOf(p, 'failing').getByText('The server has a fault.').waitFor()
  assert.equal(await cardOf(p, 'failing').getByRole('img', { name: /3 of the last 3 contacts failed/ }).count(), 1)
  await done(p)
})

test('W14: a server without CORS is found out and reached through the proxy', async (t) => {
  const hidden = await sdkServer([], { cors: false })
  const proxy = await startProxy(site.url)
  t.after(() => Promise.all([proxy.stop(), hidden.close()]))
  const p = await openPanel(browser, site, {
    query: { proxy: proxy.template },
    servers: { hidden: { url: hidden.url, headers: { Authorization: 'Bearer x' } } },
  })
  await cardOf(p, 'hidden').getByRole('button', { name: 'Find out why' }).click()
  await cardOf(p, 'hidden').getByText('Blocked by CORS').waitFor()
  await cardOf(p, 'hidden').getByText('Details').click()
  await cardOf(p, 'hidden').getByText(`Access-Control-Allow-Origin: ${site.url}`).waitFor()
  await cardOf(p, 'hidden').getByRole('button', { name: 'Go through the proxy (it will see the token)' }).click()
  await cardOf(p, 'hidden').getByText('Connected').waitFor()
  await cardOf(p, 'hidden').getByText('through the proxy').waitFor()
  await done(p)
})

test('a page of the web needs leave to reach this machine, and says so', async (t) => {
  const at = new URL(site.url).port
  const guarded = await startChromium([
    '--host-resolver-rules=MAP app.example 127.0.0.1',
    `--unsafely-treat-insecure-origin-as-secure=http://app.example:${at}`,
    `--ip-address-space-overrides=127.0.0.1:${at}=public`,
  ])
  t.after(() => guarded.close())
  const origin = `http://app.example:${at}`
  const p = await openPanel(guarded, { ...site, url: origin }, { servers: { good: port.servers.good! } })
  await cardOf(p, 'good').getByText('Needs local-network permission').waitFor()
  await cardOf(p, 'good').getByText(`allow ${origin} to use your network`).waitFor()
  await p.page.context().grantPermissions(['local-network-access'])
  await cardOf(p, 'good').getByText('Connected').waitFor()

  // Panels that have left the document are garbage.
  await p.page.evaluate(async () => {
    for (let i = 0; i < 5; i++) {
      const panel = document.createElement('portolan-panel')
      panel.registry = window.registry
      document.body.append(panel)
      await (panel as unknown as { updateComplete: Promise<void> }).updateComplete
      await navigator.permissions.query({ name: 'local-network' as PermissionName }) // as the panel has
      panel.remove()
    }
  })
  const session = await p.page.context().newCDPSession(p.page)
  const panels = async () => {
    await p.page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve))) // in which panels count tokens
    await session.send('HeapProfiler.collectGarbage')
    const { result } = await session.send('Runtime.evaluate', {
      expression: "customElements.get('portolan-panel').prototype",
    })
    const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId! })
    const count = await session.send('Runtime.callFunctionOn', {
      objectId: objects.objectId!,
      functionDeclaration: 'function () { return this.length }',
      returnByValue: true,
    })
    await session.send('Runtime.releaseObject', { objectId: objects.objectId! })
    return count.result.value as number
  }
  let left = await panels()
  for (let i = 0; left > 1 && i < 20; i++) left = await panels()
  assert.equal(left, 1)
  await done(p)
})

test('the configuration is exported for others without secrets', async () => {
  const p = await openPanel(browser, site, {
    servers: { steered: { url: steered.url, headers: { Authorization: `Bearer ${canary}` } } },
  })
  await p.panel.getByRole('button', { name: 'Export' }).click()
  const text = await p.panel.getByRole('dialog').locator('pre').textContent()
  assert.doesNotMatch(text!, new RegExp(canary))
  assert.match(text!, /mcpServers/)
  await p.panel.getByLabel('VS Code').check()
  assert.match((await p.panel.getByRole('dialog').locator('pre').textContent())!, /\$\{input:/)
  await p.page.keyboard.press('Escape')
  await menu(p, 'steered', 'Remove')
  await p.panel.getByRole('button', { name: 'Export' }).click()
  assert.doesNotMatch((await p.panel.getByRole('dialog').locator('pre').textContent())!, /steered/)
  await done(p)
})

test('the timeline shows what happens, pauses, filters, clears, and stays small with 10,000 rows', async () => {
  const p = await openPanel(browser, site, {
    query: { view: 'activity' },
    servers: { demo: { url: 'builtin:demo' }, locked: port.servers.locked! },
  })
  await p.page.evaluate(() => window.registry.retry('demo'))
  await p.panel.getByRole('button', { name: 'Connect to demo' }).first().waitFor()
  await p.page.evaluate(async () => {
    // All at once, the last of them would miss its deadline on a slow machine.
    for (let batch = 0; batch < 10; batch++)
      await Promise.all(
        Array.from(
          { length: 1000 },
          (_, i) => window.registry.call(i % 100 ? 'demo__echo' : 'demo__fail', { text: 'x' }),
        ),
      )
  })
  await p.panel.getByRole('button', { name: 'demo__echo' }).first().waitFor()
  await p.page.waitForFunction(() =>
    // The rows are drawn with the next frame.
    Number(window.panel.shadowRoot!.querySelector('[role=table]')!.getAttribute('aria-rowcount')) >= 10_000
  )
  assert.ok(await p.panel.getByRole('row').count() < 80)
  await p.panel.getByLabel('Show', { exact: true }).selectOption('Failures')
  await p.panel.getByRole('button', { name: 'demo__fail' }).first().click()
  await p.panel.getByRole('region', { name: 'Details' }).getByText('demo__fail').waitFor()
  await p.panel.getByRole('button', { name: 'Pause' }).click()
  const before = await p.panel.getByRole('table').getAttribute('aria-rowcount')
  await p.page.evaluate(() => window.registry.call('demo__fail', {}))
  assert.equal(await p.panel.getByRole('table').getAttribute('aria-rowcount'), before)
  await p.panel.getByRole('button', { name: 'Clear' }).click()
  await p.panel.getByRole('status').getByText('Calls and connections appear here').waitFor()
  await done(p)
})

test('the panel shows and changes a registry that lives across a port', async () => {
  const p = await openPanel(browser, site, { servers: { demo: { url: 'builtin:demo' }, good: port.servers.good! } })
  await p.page.evaluate(async () => {
    const { connectRegistry, serveRegistry, portChannel } = await import(
      '/npm/index.js' as string
    ) as typeof import('../../wasm/js/shared/types.ts')
    const { port1, port2 } = new MessageChannel()
    serveRegistry(window.registry, portChannel(port1))
    window.panel.registry = await connectRegistry(portChannel(port2))
  })
  await cardOf(p, 'good').getByText('Connected').waitFor()
  await cardOf(p, 'good').getByRole('switch').uncheck()
  await p.page.waitForFunction(() => window.registry.getSnapshot().servers.good!.status === 'disabled')
  await cardOf(p, 'good').getByText('Off').waitFor()
  await p.panel.getByRole('tab', { name: /^Tools/ }).click()
  await p.panel.getByRole('button', { name: /^weather/ }).click()
  await p.panel.getByRole('tab', { name: 'Try it' }).click()
  await p.panel.getByLabel('city').fill('Oslo')
  await p.panel.getByRole('button', { name: 'Call tool' }).click()
  await p.panel.getByRole('heading', { name: 'Structured content' }).waitFor()
  await done(p)
})

test('a property of an element that is no registry is reported, and the right one is shown after it', async () => {
  const p = await openPanel(browser, site, { servers: { demo: { url: 'builtin:demo' } } })
  const outcomes = await p.page.evaluate(async () => {
    for (const file of ['apps', 'prompts']) await import(`./npm/${file}.js`)
    const reports: string[] = []
    addEventListener('error', (e) => {
      e.preventDefault()
      reports.push(String(e.error))
    })
    const outcomes: Record<string, [reports: number, same: boolean]> = {}
    for (const tag of ['portolan-panel', 'portolan-prompts', 'portolan-app'] as const) {
      const element = document.createElement(tag)
      document.body.append(element)
      const rendered = () => new Promise((resolve) => setTimeout(resolve)).then(() => element.shadowRoot!.textContent)
      const set = (registry: unknown) => {
        element.registry = registry as Registry
        return rendered()
      }
      const right = await set(window.registry)
      await set(Promise.resolve(window.registry))
      outcomes[tag] = [reports.length, await set(window.registry) === right]
      const moved = document.createElement(tag)
      moved.registry = {} as Registry
      document.body.append(moved)
      moved.remove()
    }
    return { outcomes, texts: [...new Set(reports)], reports: reports.length }
  })
  assert.deepEqual(outcomes, {
    outcomes: { 'portolan-panel': [1, true], 'portolan-prompts': [3, true], 'portolan-app': [5, true] },
    texts: ['TypeError: the property registry is no registry: set the one that createRegistry() resolved to'],
    reports: 5,
  })
  await p.page.close()
})
