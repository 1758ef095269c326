import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { launchChromium, root } from '../e2e/rig/harness.ts'
import { listing, someTools } from '../e2e/panel/servers.ts'
import { openPanel, panelSite } from '../e2e/panel/site.ts'
import { print, type Table } from './report.ts'

/**
 * The settings panel with 50 servers and 1,000 tools: time to its first picture,
 * and what switching a tool, searching and scrolling cost the main thread. Asserts nothing.
 *
 *   ./build.sh bench panel [--rounds 5]
 */
const at = process.argv.indexOf('--rounds')
const rounds = at < 0 ? 5 : Number(process.argv[at + 1])
const browser = await launchChromium()
const site = await panelSite()
const fleet = await Promise.all(
  Array.from({ length: 50 }, (_, i) => listing(someTools(20, `Of server ${i}: looks up`))),
)
const one = await listing(someTools(1000))
const table: Table = {}
const note = (what: string, ms: number) => (table[what] ??= []).push(ms)

/** All that the main thread does for one switched tool, until the page rests again; as Chromium counts it. */
async function switching(page: Page, row: number): Promise<number> {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy = async () =>
    (await client.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')!.value * 1000
  const before = await busy()
  for (let i = 0; i < 10; i++) {
    await page.evaluate(
      (n) => window.panel.shadowRoot!.querySelectorAll<HTMLInputElement>('.tool input')[n]!.click(),
      row,
    )
    await page.waitForTimeout(200)
  }
  return (await busy() - before) / 10
}

for (let round = 0; round < rounds; round++) {
  const { page } = await openPanel(browser, site, {
    query: { mode: 'worker' },
    servers: Object.fromEntries(fleet.map((s, i) => [`server-${i}`, { url: s.url }])),
  })
  const times = await page.evaluate(async () => {
    const drawn = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    const fresh = async (view: string) => {
      const panel = document.createElement('portolan-panel')
      panel.setAttribute('view', view)
      window.panel.replaceWith(panel)
      window.panel = panel
      const begun = performance.now()
      panel.registry = window.registry
      await drawn()
      return performance.now() - begun
    }
    const servers = await fresh('servers'), tools = await fresh('tools')
    await new Promise((resolve) => setTimeout(resolve, 1500)) // weighed and looked over
    const root = window.panel.shadowRoot!
    /** From an act to the end of the frame that shows it. */
    const cost = async (act: () => void) => {
      const begun = performance.now()
      act()
      await drawn()
      return performance.now() - begun
    }
    const search = root.querySelector<HTMLInputElement>('input[type=search]')!
    const searched = await cost(() => {
      search.value = 'number 1'
      search.dispatchEvent(new Event('input'))
    })
    return { servers, tools, searched }
  })
  note('first picture, servers', times.servers)
  note('first picture, tools', times.tools)
  note('search among 1,000 tools, to the next frame', times.searched)
  note('switch a tool, 50 servers of 20: main-thread work', await switching(page, 500))
  await page.close()

  const p = await openPanel(browser, site, {
    servers: { one: { url: one.url } },
    query: { view: 'tools', mode: 'worker' },
  })
  await p.page.waitForTimeout(1500)
  note('switch a tool, one server of 1,000: main-thread work', await switching(p.page, 100))
  await p.page.close()
}
for (const s of [...fleet, one, site]) await s.close()
await browser.close()
print(Object.fromEntries(Object.entries(table).map(([what, samples]) => [`${what}, ms`, { panel: samples }])), 'panel')
for (
  const [what, files] of Object.entries({
    'to begin with': [`${root}dist/npm/panel.js`, `${root}dist/panel-start.js`],
    'at first use': [`${root}dist/panel-parts.js`],
  })
) {
  const bytes = await readFile(files.at(-1)!).catch(() => undefined)
  if (bytes) console.log(`panel, ${what}: ${gzipSync(bytes, { level: 9 }).length} bytes gzip`)
}
