// Drives the demo page's main job once in a real browser, as a newcomer would:
//   node web/demo/check.mjs http://127.0.0.1:PORT/ [--screenshots DIR]
// Says each step, and exits 1 at the first that does not work.
import { chromium } from 'playwright-core'

const site = process.argv[2]
const at = process.argv.indexOf('--screenshots')
const pictures = at > 0 ? process.argv[at + 1] : undefined
let page
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
})
const picture = async (name) => {
  if (pictures) await page.screenshot({ path: `${pictures}/check-${name}.png` })
}
const step = (text) => console.log(`ok - ${text}`)
try {
  page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: 'light' })
  const faults = []
  page.on('pageerror', (e) => faults.push(e.message))
  await page.goto(site)
  await page.getByText(/ready in \d+ ms/).waitFor()
  step((await page.locator('#runtime').textContent()) ?? '')

  const panel = page.locator('portolan-panel')
  const add = async (name, url) => {
    await panel.getByRole('textbox', { name: 'Add a server' }).fill(url)
    await panel.getByLabel('Name', { exact: true }).fill(name)
    await panel.getByRole('button', { name: 'Add server', exact: true }).click()
    await panel.getByRole('article', { name, exact: true }).getByText('Connected').waitFor()
    step(`server ${name} at ${url} is connected`)
  }
  await panel.getByRole('button', { name: 'Add the built-in demo' }).click()
  await panel.getByRole('article', { name: 'demo', exact: true }).getByText('Connected').waitFor()
  step('the built-in demo is there in one click')
  await add('harbour', new URL('/mcp', site).href)
  await add('lighthouse', new URL('/sse', site).href)
  const { plain } = await (await fetch(new URL('/settings.json', site))).json()
  await add('island', plain)
  await panel.getByRole('article', { name: 'island' }).getByText('Connected').waitFor()
  await picture('servers')

  const call = async (server, tool, args, answer) => {
    await panel.getByRole('tab', { name: /^Tools/ }).click()
    await panel.locator('.group').filter({ has: page.getByRole('checkbox', { name: `All tools of ${server}` }) })
      .getByRole('button', { name: new RegExp(`^${tool} `) }).click()
    await panel.locator('portolan-json', { hasText: `"${server}__${tool}"` }).first().waitFor()
    await panel.getByRole('tab', { name: 'Try it' }).click()
    for (const [name, value] of Object.entries(args)) await panel.getByLabel(name, { exact: true }).fill(value)
    await panel.getByRole('button', { name: 'Call tool' }).click()
    await panel.locator('.result').getByText(answer, { exact: true }).waitFor()
    await picture(`call-${server}`)
    await page.keyboard.press('Escape')
  }
  await call('harbour', 'echo', { text: 'Land ahoy!' }, 'Land ahoy!')
  step("the tool is there in the model's format, and a call over streamable HTTP answers")
  await call('lighthouse', 'add', { a: '40', b: '2' }, '42')
  step('a call over legacy SSE answers')
  await call('island', 'add', { a: '19', b: '4' }, '23')
  step('a call to a server without CORS answers, through the proxy')

  await page.getByRole('button', { name: 'Open an app' }).click()
  const app = page.locator('portolan-app').frameLocator('iframe').frameLocator('iframe')
  await app.getByText('High water: 1.1 m on monday').waitFor()
  await app.getByRole('button', { name: 'Another day' }).click()
  await app.getByText('High water: 1.2 m on tuesday').waitFor()
  await page.getByRole('log').getByText('The tool came with its own user interface.').waitFor()
  await picture('app')
  step('the app of a tool runs on the origin for apps, and calls its server')
  await page.getByRole('button', { name: 'Full screen' }).click()
  await page.getByRole('button', { name: 'Back to the page' }).click()
  await page.getByRole('button', { name: 'Close the app' }).click()
  await page.locator('portolan-app').getByText('The app is closed.').waitFor()
  step('the app covers the window and comes back, and ends')
  if (faults.length) throw new Error(`the page reported: ${faults.join('; ')}`)
} catch (e) {
  console.error(`not ok - ${e.message}`)
  process.exitCode = 1
} finally {
  await browser.close()
}
