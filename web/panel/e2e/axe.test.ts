import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium, root, type Listening } from '../../demo/e2e/harness.ts'
import { harbour, listing, someTools } from './servers.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

let browser: Browser, site: Listening
let port: Awaited<ReturnType<typeof harbour>>, large: Awaited<ReturnType<typeof listing>>
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  port = await harbour()
  large = await listing(someTools(200))
})
after(async () => {
  await browser?.close()
  await Promise.all([site, port, large].map((s) => s?.close()))
})

const axe = await readFile(`${root}node_modules/axe-core/axe.min.js`, 'utf8')

/** The rules of WCAG 2.2 AA and best practice that the page breaks. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`(() => { const module = undefined; ${axe} })()`)
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: { run(o: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      rules: { 'landmark-one-main': { enabled: true }, 'page-has-heading-one': { enabled: false } }, // the heading is the page's
    })
    return violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.id}: ${n.html.slice(0, 200)} ${n.failureSummary.replaceAll('\n', ' ')}`))
  })
}

const looks: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, 'forced colours': { forcedColors: 'active' },
}

const states: Record<string, (o: BrowserContextOptions) => Promise<PanelPage>> = {
  empty: (context) => openPanel(browser, site, { context }),
  'three servers': (context) => openPanel(browser, site, { context, servers: { one: { url: 'builtin:demo' }, two: { url: port.servers.good!.url }, off: { url: 'https://off.example/mcp', enabled: false } as never } }),
  errors: (context) => openPanel(browser, site, { context, servers: port.servers }),
  preview: async (context) => {
    const p = await openPanel(browser, site, { context, servers: { demo: { url: 'builtin:demo' } } })
    await p.panel.getByRole('textbox', { name: 'Add a server' }).fill('{"mcpServers":{"git":{"command":"npx","args":["git"]},"demo":{"url":"http://x.example/","headers":{"Authorization":"Bearer "}},"k":{"url":"https://k.example/mcp","headers":{"X-Key":"${input:key}"}}}}')
    await p.panel.getByText('Read as mcp.json').waitFor()
    return p
  },
  dialog: async (context) => {
    const p = await openPanel(browser, site, { context, servers: { good: { ...port.servers.good!, headers: { 'X-Key': 'secret' } } as never } })
    await p.panel.getByRole('button', { name: 'More for good' }).click()
    await p.panel.getByRole('menuitem', { name: 'Edit…' }).click()
    await p.panel.getByText('Advanced').click()
    return p
  },
  '200 tools': async (context) => {
    const p = await openPanel(browser, site, { context, servers: { large: { url: large.url } }, query: { view: 'tools', budget: '9000' } })
    await p.panel.getByText(/Turn these \d+ off to fit/).waitFor()
    return p
  },
  tool: async (context) => {
    const p = await openPanel(browser, site, { context, servers: { good: port.servers.good! }, query: { view: 'tools' } })
    await p.panel.getByRole('button', { name: /harbour_0/ }).click()
    await p.panel.getByRole('tab', { name: 'Try it' }).waitFor()
    return p
  },
  'try it': async (context) => {
    const p = await openPanel(browser, site, { context, servers: { demo: { url: 'builtin:demo' } }, query: { view: 'tools' } })
    await p.panel.getByRole('button', { name: /weather/ }).click()
    await p.panel.getByRole('tab', { name: 'Try it' }).click()
    await p.panel.getByRole('button', { name: 'Call tool' }).click()
    await p.panel.getByText('Structured content').waitFor()
    return p
  },
  activity: async (context) => {
    const p = await openPanel(browser, site, { context, servers: { demo: { url: 'builtin:demo' } } })
    await p.page.evaluate(async () => {
      for (let i = 0; i < 20; i++) await window.registry.call('demo__echo', { text: 'x' })
      await window.registry.call('demo__fail', {}).catch(() => {})
    })
    await p.panel.getByRole('tab', { name: 'Activity' }).click()
    await p.panel.getByRole('button', { name: 'demo__fail' }).click()
    return p
  },
}

for (const [look, context] of Object.entries(looks)) {
  test(`axe finds nothing in ${look}`, async () => {
    for (const [state, open] of Object.entries(states)) {
      const { page, faults } = await open(context)
      await page.waitForTimeout(50) // colours are done changing
      assert.deepEqual(await violations(page), [], state)
      assert.deepEqual(faults, [], state)
      await page.close()
    }
  })
}
