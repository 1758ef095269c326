import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { faultServer, result, tool, type Asked, type FaultServer } from '../web/servers/faultserver.ts'
import { launchChromium, type Listening } from '../rig/harness.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

const canary = 'canary-7d20b1'

let browser: Browser, site: Listening, locked: FaultServer
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  const guarded = (answer: (a: Asked) => void) => (a: Asked) =>
    a.req.headers.authorization === `Bearer ${canary}` ? answer(a) : void a.res.writeHead(401).end()
  locked = await faultServer({
    on: {
      initialize: guarded((a) =>
        result(a, {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'l', version: '1' },
        })
      ),
      'tools/list': guarded((a) => result(a, { tools: [tool('open')] })),
      '*': guarded((a) => void a.res.writeHead(a.message.id === undefined ? 202 : 400).end()),
    },
  })
})
after(async () => {
  await browser?.close()
  await Promise.all([site, locked].map((s) => s?.close()))
})

const card = ({ panel }: PanelPage) => panel.getByRole('article', { name: 'locked', exact: true })
const reload = async ({ page }: PanelPage) => {
  await page.waitForFunction(() => localStorage.getItem('portolan.servers')?.includes('Authorization'))
  await page.reload()
  await page.locator('html[data-ready]').waitFor()
}

test('a token is given in two actions, and its place is said and kept', async () => {
  const p = await openPanel(browser, site, { query: { storage: 'local' }, servers: { locked: { url: locked.url } } })
  await card(p).getByRole('button', { name: 'Add credentials' }).click()
  await card(p).getByLabel('Access token').waitFor()
  await p.page.keyboard.insertText(canary) // the field has the focus
  await p.page.keyboard.press('Enter')
  await card(p).getByText(/^Connected/).waitFor()
  await card(p).getByText('Authorization set, until this page is reloaded').waitFor()

  await reload(p)
  await card(p).getByText('The value of Authorization was kept only until the page was reloaded').waitFor()
  assert.deepEqual(
    await p.page.evaluate(() => window.registry.getSnapshot().servers.locked!.config.missingHeaders),
    ['Authorization'],
  )
  await card(p).getByRole('radio', { name: /On this device/ }).check()
  await card(p).getByLabel('Access token').fill(`Bearer ${canary}`)
  await card(p).getByRole('button', { name: 'Save and connect' }).click()
  await card(p).getByText(/^Connected/).waitFor()
  await card(p).getByText('Authorization set, kept on this device').waitFor()

  await reload(p)
  await p.page.evaluate(() => window.registry.discover())
  await card(p).getByText(/^Connected/).waitFor()
  assert.equal(await p.page.evaluate(() => JSON.stringify({ ...localStorage })).then((s) => s.includes(canary)), false)

  // Back to the page alone: the stored value goes.
  await p.page.evaluate(() => window.registry.updateServer('locked', { rememberSecrets: false }))
  await p.page.waitForFunction(() => localStorage.getItem('portolan.servers')!.includes('"rememberSecrets":false'))
  await reload(p)
  await card(p).getByText('A header value is missing.').waitFor()
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a pasted token is kept where the person says', async () => {
  const p = await openPanel(browser, site, { query: { storage: 'local' } })
  const text = JSON.stringify({
    mcpServers: { locked: { url: locked.url, headers: { Authorization: `Bearer ${canary}` } } },
  })
  await p.panel.getByRole('textbox', { name: 'Add a server' }).fill(text)
  await p.panel.getByRole('radio', { name: /Until this page is closed/ }).waitFor()
  await p.panel.getByRole('radio', { name: /On this device/ }).check()
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await card(p).getByText(/^Connected/).waitFor()
  await card(p).getByText('Authorization set, kept on this device').waitFor()
  await reload(p)
  await p.page.evaluate(() => window.registry.discover())
  await card(p).getByText(/^Connected/).waitFor()
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a header whose value is missing stays in the editor until it is given or removed', async () => {
  const p = await openPanel(browser, site, {
    query: { storage: 'local' },
    servers: { locked: { url: locked.url, headers: { Authorization: `Bearer ${canary}`, 'X-Team': 'blue' } } },
  })
  await reload(p)
  const edit = async () => {
    await p.panel.getByRole('button', { name: 'More for locked' }).click()
    await p.panel.getByRole('menuitem', { name: 'Edit…' }).click()
  }
  const missing = () => p.page.evaluate(() => window.registry.getSnapshot().servers.locked!.config.missingHeaders)
  await edit()
  await p.panel.getByText('Its value was not kept. Give it again.').first().waitFor()
  await p.panel.getByRole('button', { name: 'Save', exact: true }).click()
  await p.panel.getByRole('dialog').waitFor({ state: 'detached' })
  assert.deepEqual(await missing(), ['Authorization', 'X-Team'])
  await edit()
  await p.panel.getByRole('button', { name: 'Remove header X-Team' }).click()
  await p.panel.getByRole('group', { name: 'Header 1' }).getByLabel('Value').fill(canary)
  await p.panel.getByRole('button', { name: 'Save', exact: true }).click()
  await card(p).getByText(/^Connected/).waitFor()
  assert.equal(await missing(), undefined)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})
