// Drives the demo page's main job once in a real browser, as a newcomer would:
//   node web/demo/check.mjs http://127.0.0.1:PORT/ [--screenshots DIR]
// Says each step, and exits 1 at the first that does not work.
import { chromium } from 'playwright-core'

const site = process.argv[2]
const at = process.argv.indexOf('--screenshots')
const pictures = at > 0 ? process.argv[at + 1] : undefined
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
const step = (text) => console.log(`ok - ${text}`)
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: 'light' })
  const faults = []
  page.on('pageerror', (e) => faults.push(e.message))
  await page.goto(site)
  await page.getByText(/ready in \d+ ms/).waitFor()
  step((await page.locator('#runtime').textContent()) ?? '')

  const add = async (name, url, throughProxy = false) => {
    await page.getByLabel('URL', { exact: true }).fill(url)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel(/Through the proxy/).setChecked(throughProxy)
    await page.getByRole('button', { name: 'Add server' }).click()
    await page.locator('#servers li', { hasText: name }).locator('[data-status=connected]').waitFor()
    step(`server ${name} at ${url} is connected`)
  }
  await add('harbour', new URL('/mcp', site).href)
  await add('lighthouse', new URL('/sse', site).href)
  await add('demo', 'builtin:demo')
  const { plain } = await (await fetch(new URL('/settings.json', site))).json()
  await add('island', plain, true)

  await page.getByLabel('Filter').fill('harbour__echo')
  await page.getByRole('button', { name: /harbour__echo/ }).click()
  await page.getByLabel('Filter').fill('')
  await page.getByLabel('Arguments (JSON)').fill('{ "text": "Land ahoy!" }')
  await page.locator('#definition-box summary').click()
  await page.locator('#definition', { hasText: '"name": "harbour__echo"' }).waitFor()
  step('the tool is there in the model\'s format')
  await page.getByRole('button', { name: 'Call tool' }).click()
  await page.locator('#result pre', { hasText: 'Land ahoy!' }).waitFor()
  step('a call over streamable HTTP answers')
  if (pictures) {
    await page.screenshot({ path: `${pictures}/demo-light.png` })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.screenshot({ path: `${pictures}/demo-dark.png` })
    await page.setViewportSize({ width: 360, height: 800 })
    await page.screenshot({ path: `${pictures}/demo-narrow.png` })
    await page.setViewportSize({ width: 1280, height: 860 })
  }
  await page.getByRole('combobox', { name: 'Tool' }).fill('lighthouse__add')
  await page.getByLabel('Arguments (JSON)').fill('{ "a": 40, "b": 2 }')
  await page.getByRole('button', { name: 'Call tool' }).click()
  await page.locator('#result pre', { hasText: /^42$/ }).waitFor()
  step('a call over legacy SSE answers')
  await page.getByRole('combobox', { name: 'Tool' }).fill('island__add')
  await page.getByLabel('Arguments (JSON)').fill('{ "a": 19, "b": 4 }')
  await page.getByRole('button', { name: 'Call tool' }).click()
  await page.locator('#result pre', { hasText: /^23$/ }).waitFor()
  step('a call through the CORS proxy answers')
  if (faults.length) throw new Error(`the page reported: ${faults.join('; ')}`)
} catch (e) {
  console.error(`not ok - ${e.message}`)
  process.exitCode = 1
} finally {
  await browser.close()
}
