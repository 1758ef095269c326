import assert from 'node:assert/strict'
import { appendFile, copyFile, readFile, rename } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { environment, makeApp, runIn } from '../bundlers/apps.ts'
import { engines } from '../rig/engines.ts'
import { answering, freePort, launch, launchChromium, openPage, root, serveFolder } from '../rig/harness.ts'

let browser: Browser
before(async () => {
  browser = await launchChromium()
})
after(() => browser?.close())

type Opened = Awaited<ReturnType<typeof openPage>>

/** Waits until the panel shows the demo server as connected. */
async function connected(page: Opened): Promise<void> {
  await page.getByRole('article', { name: 'demo' }).getByText('Connected').waitFor()
  assert.deepEqual(page.faults, [])
}

/** The script in the page of `vanilla`, which the documentation shows. */
async function tenLines(): Promise<string> {
  const page = await readFile(`${root}web/examples/vanilla/index.html`, 'utf8')
  return page.match(/<script type="module">\n([^]*?)<\/script>/)![1]!
}

/** Opens a page that runs those lines, and returns what they print. */
async function printed(url: string): Promise<string> {
  const page = await openPage(browser, 'about:blank')
  const line = page.waitForEvent('console', { predicate: (m) => m.type() === 'log' })
  await page.goto(url)
  const text = (await line).text()
  await connected(page)
  await page.close()
  return text
}

test('an import map and ten lines', async (t) => {
  assert.ok((await tenLines()).trimEnd().split('\n').length <= 10)
  const dir = await makeApp('vanilla', 'web/examples/vanilla')
  const site = await serveFolder(dir)
  t.after(() => site.close())
  assert.equal(await printed(`${site.url}/`), '7 42')
  const card = `document.querySelector('portolan-panel')?.shadowRoot.querySelector('article')?.innerText ?? ''`
  for (const [name, launch] of Object.entries(engines)) {
    const engine = await launch()
    t.after(() => engine.close())
    const page = await engine.open(`${site.url}/`)
    for (const until = Date.now() + 60_000; !/Connected/.test(await page.evaluate<string>(card)) && Date.now() < until;)
      await new Promise((resolve) => setTimeout(resolve, 100))
    assert.match(await page.evaluate<string>(card), /demo[^]*Connected/, name)
  }
})

test('the same ten lines at the end of a fresh Vite app', async (t) => {
  const dir = await makeApp('fresh')
  await runIn(dir, 'create-vite app --template vanilla --no-interactive')
  await rename(`${dir}/node_modules`, `${dir}/app/node_modules`)
  await appendFile(`${dir}/app/src/main.js`, await tenLines())
  await runIn(`${dir}/app`, 'npm run build')
  const site = await serveFolder(`${dir}/app/dist`)
  t.after(() => site.close())
  assert.equal(await printed(`${site.url}/`), '7 42')
})

test('webpack: tools are listed and called beside the panel', async (t) => {
  const dir = await makeApp('webpack', 'web/examples/webpack')
  await runIn(dir, 'npm run build')
  const site = await serveFolder(dir)
  t.after(() => site.close())
  const page = await openPage(browser, `${site.url}/`)
  await connected(page)
  await page.getByLabel('Tool', { exact: true }).selectOption('demo__add')
  await page.getByLabel('Arguments (JSON)').fill('{"a": 40, "b": 2}')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByText('42', { exact: true }).waitFor()
  await page.getByRole('switch', { name: 'demo' }).click()
  await page.waitForFunction(() => document.querySelector('select')!.disabled)
  assert.deepEqual(page.faults, [])
  await page.close()
})

test('Next: the server renders the words, the browser the rest', { timeout: 200_000 }, async (t) => {
  const dir = await makeApp('next-example', 'web/examples/next')
  await copyFile(`${root}e2e/bundlers/next/next.config.js`, `${dir}/next.config.js`) // its packages are further up
  await runIn(dir, 'npm run build && tsc -p .')
  const port = await freePort()
  const running = launch('sh', ['-c', `cd ${dir} && exec next start --hostname 127.0.0.1 --port ${port}`], environment)
  t.after(() => running.stop())
  const url = `http://127.0.0.1:${port}/`
  await answering(url, running)
  const html = await (await fetch(url)).text()
  assert.match(html, /<h1>MCP servers<\/h1>[^]*Starting…[^]*<portolan-panel><\/portolan-panel>/)
  const page = await openPage(browser, url)
  await connected(page)
  await page.getByText('7 tools for the model').waitFor()
  await page.getByRole('button', { name: 'Add 40 and 2' }).click()
  await page.getByText('42', { exact: true }).waitFor()
  assert.deepEqual(page.faults, [])
  await page.close()
})
