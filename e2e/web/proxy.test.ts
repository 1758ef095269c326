import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { behindProxy } from '../rig/behindproxy.ts'
import { launchChromium, listen, openPage, startProxy } from '../rig/harness.ts'

/** The state of one server, seen from a page. */
interface Outcome {
  status: string
  code: string | undefined
  hint: string | undefined
  error: string | null
  text: string
}

let browser: Browser
let { site, plain, proxy, close } = {} as Awaited<ReturnType<typeof behindProxy>>

before(async () => {
  ;({ site, plain, proxy, close } = await behindProxy())
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await close?.()
})

/** Adds a server in a page, discovers it, and calls it. */
async function tried(page: Page, template: string, config: Record<string, unknown>): Promise<Outcome> {
  // As text, for the page's own policy forbids eval.
  return page.evaluate(`(async () => {
    const { createRegistry } = await import('/portolan/index.js')
    const registry = await createRegistry({ storage: 'memory', proxy: ${JSON.stringify(template)} })
    try {
      await registry.addServer('s', ${JSON.stringify(config)})
      const { status, errorCode, hint, lastError } = (await registry.discover()).servers.s
      const text = await registry.dispatch('s__raw', { text: 'ahoy' }).catch((e) => e.code)
      return { status, code: errorCode, hint, error: lastError, text }
    } finally {
      await registry.close()
    }
  })()`)
}

const blocked = /CORS policy|Failed to load resource|ERR_/

test('W12: a server without CORS works through the proxy, and not without', async () => {
  const page = await openPage(browser, site.url, blocked)
  const through = await tried(page, proxy.template, {
    url: plain.url,
    proxy: true,
    headers: { Authorization: 'Bearer x' },
  })
  assert.equal(through.status, 'connected', JSON.stringify(through))
  assert.match(through.text, /"ahoy"/)
  assert.ok(plain.headers.some((h) => h.authorization === 'Bearer x'))
  assert.ok(plain.headers.every((h) => h.origin === undefined), 'the proxy sends no Origin')
  const direct = await tried(page, proxy.template, { url: plain.url })
  assert.deepEqual([direct.status, direct.code], ['error', 'network'])
})

test("W12: proxy: 'auto' finds out that the proxy is needed, unless a secret would go along", async () => {
  const page = await openPage(browser, site.url, blocked)
  const found = await tried(page, proxy.template, { url: plain.url, proxy: 'auto' })
  assert.equal(found.status, 'connected', JSON.stringify(found))
  assert.match(found.text, /"ahoy"/)

  plain.headers.length = 0
  const secret = await tried(page, proxy.template, {
    url: plain.url,
    proxy: 'auto',
    headers: { Authorization: 'Bearer y' },
  })
  assert.equal(secret.status, 'error')
  assert.match(`${secret.error}`, /does not let this page in/)
  assert.match(`${secret.hint}`, /proxy: true/)
  assert.ok(plain.headers.length > 0, 'the proxy has asked')
  assert.ok(plain.headers.every((h) => h.authorization === undefined), 'the secret went through')
})

test("W12: proxy: 'auto' says what is wrong with a server that nothing reaches", async () => {
  const gone = await listen(() => {})
  await gone.close()
  const page = await openPage(browser, site.url, blocked)
  const down = await tried(page, proxy.template, { url: `${gone.url}/mcp`, proxy: 'auto' })
  assert.deepEqual([down.status, down.code], ['error', 'network'])
  assert.match(`${down.error}`, /nothing listens there \(down\)/)
})

test("W12: a refusal of the proxy is the proxy's, with its hint", async () => {
  const elsewhere = await startProxy(site.url, '--host', 'mcp.example.com')
  try {
    const page = await openPage(browser, site.url, blocked)
    const refused = await tried(page, elsewhere.template, { url: plain.url, proxy: true })
    assert.deepEqual([refused.status, refused.code], ['error', 'proxy_refused'])
    assert.match(`${refused.error}`, /host_refused/)
    assert.match(`${refused.hint}`, /ALLOWED_HOSTS/)
  } finally {
    await elsewhere.stop()
  }
})

test('W12: a proxy that goes away is named in the errors', async () => {
  const fleeting = await startProxy(site.url)
  const page = await openPage(browser, site.url, blocked)
  await page.evaluate(`(async () => {
    const { createRegistry } = await import('/portolan/index.js')
    const servers = { s: { url: '${plain.url}', proxy: true } }
    window.r = await createRegistry({ storage: 'memory', proxy: '${fleeting.template}', servers })
    await r.discover()
  })()`)
  await fleeting.stop()
  const failed = await page.evaluate("r.call('s__raw', {}).catch((e) => [e.code, e.message, e.hint])") as string[]
  assert.equal(failed[0], 'network')
  assert.ok(failed[1]!.includes(`no answer from the proxy ${new URL(fleeting.url).origin} `), failed[1])
  assert.match(failed[2]!, /Check that it runs/)
  await page.evaluate('r.close()')
  await page.close()
})
