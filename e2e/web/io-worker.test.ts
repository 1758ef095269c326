import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { startFarm, taskOf, type Farm } from '../rig/farm.ts'
import { happens, launchChromium, openPage, root, serveFolder } from '../rig/harness.ts'

// A server that has sent very much is read in a second worker, wherever the first can start one.

let browser: Browser
let farm: Farm
before(async () => {
  ;[browser, farm] = await Promise.all([launchChromium(), startFarm()])
})
after(async () => {
  await browser.close()
  farm.close()
})

/** Calls a tool with a result of 12 MB three times, and beside it a good server's. */
const use = `async ({ from, bad, good, wait }) => {
  const { createRegistry } = await import(from + '/index.js')
  const r = globalThis.registry = await createRegistry({ storage: 'memory', servers: { bad: { url: bad }, good: { url: good } } })
  await r.discover()
  const { name } = r.getSnapshot().tools.find((t) => t.server === 'bad')
  const says = []
  for (let i = 0; i < 3; i++) {
    const [large, small] = await Promise.all([r.call(name, {}), r.dispatch('good__t', {})])
    says.push([large.content[0].text.length, small])
    if (!i) await new Promise((resolve) => setTimeout(resolve, wait))
  }
  return { says, mode: r.mode }
}`

const strict = { 'content-security-policy': "require-trusted-types-for 'script'; trusted-types portolan" }

const blobSeconds = 15

// The last one sleeps for 16 s: all run side by side.
describe('large bodies', { concurrency: true }, () => {
  for (
    const [name, { headers, elsewhere = false, wait = 0 }] of Object.entries<
      { headers?: Record<string, string>; elsewhere?: boolean; wait?: number }
    >({
      'a page': {},
      'a page with Trusted Types': { headers: strict },
      'a package from elsewhere, once the blob of the first worker has gone': {
        elsewhere: true,
        wait: blobSeconds + 1,
      },
    })
  ) {
    test(`large bodies are read in a worker of their own: ${name}`, async () => {
      const [site, cdn] = await Promise.all([
        serveFolder(`${root}dist/npm`, headers),
        serveFolder(`${root}dist/npm`, { 'access-control-allow-origin': '*' }),
      ])
      // The console names a first attempt that the policy blocks, and that there is no favicon.
      const page = await openPage(browser, `${site.url}/package.json`, /404|TrustedScriptURL/)
      const { bad, good } = taskOf(
        farm,
        farm.cases.find((c) => c.name === 'a text of 12 MB')!,
        `lane-${name.replace(/\W/g, '-')}`,
        'Chromium',
      )
      const used = await page.evaluate(
        `(${use})(${JSON.stringify({ from: elsewhere ? cdn.url : site.url, bad, good, wait: wait * 1000 })})`,
      ) as { says: [number, string][]; mode: string }
      assert.equal(used.mode, 'worker')
      for (const [chars, text] of used.says) {
        assert.ok(chars > 11_000_000)
        assert.match(text, /^call \d+$/)
      }
      assert.equal(page.workers().length, 2)
      await page.evaluate('registry.close()')
      await happens(() => !page.workers().length)
      assert.deepEqual(page.faults, [])
      await page.close()
      await Promise.all([site.close(), cdn.close()])
    })
  }
})
