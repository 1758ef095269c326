import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { signInServer } from '../web/servers/signinserver.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { CdpPage } from '../rig/cdp.ts'
import { Rig } from './rig.ts'

// Signing in from the extension's own page, in a Chromium without DevTools on
// the tested tabs: an authorization page in a tab redirects the user to the
// extension, and no identity API of the browser is involved.

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

const deep = (selector: string, text = '') =>
  `(function find(r){for(const e of r.querySelectorAll('*')){if(e.matches(${
    JSON.stringify(selector)
  })&&e.getClientRects().length&&e.textContent.includes(${
    JSON.stringify(text)
  }))return e;const f=e.shadowRoot&&find(e.shadowRoot);if(f)return f}})(document)`

/** Returns the tab that shows it, once it exists. */
async function authorizationPage(rig: Rig, issuer: string): Promise<CdpPage> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
    const found = (await rig.browser.targets()).find((t) =>
      t.type === 'page' && t.url.startsWith(`${issuer}/authorize`)
    )
    if (found) return CdpPage.attach(rig.browser.cdp, found.targetId)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('no tab shows the authorization page')
}

interface Panel {
  registry?: Registry
}
interface Signing {
  outcome?: string
  old?: Registry
}

test('one click, a tab of the authorization server, and calls work; the tokens stay hidden', async () => {
  const server = await signInServer()
  open.push(server)
  const rig = await Rig.create({ paired: false, granted: true })
  open.push(rig)
  await rig.panel.click(deep('[role=tab], nav button, nav a', 'Servers'))
  const panel = deep('portolan-panel')
  await rig.panel.until(
    (find, url) => {
      const { registry } = ((0, eval)(find) ?? {}) as Panel
      if (!registry) return false
      void registry.addServer('s', { url }).then(() => registry.discover())
      return true
    },
    [panel, server.url],
    'the settings panel',
  )
  await rig.panel.until(
    (find) => ((0, eval)(find) as Panel).registry!.getHealth().s?.signIn === 'needed',
    [panel],
    'the sign-in is wanted',
  )
  await rig.panel.evaluate((find) => {
    const w = window as Signing
    w.outcome = ''
    ;((0, eval)(find) as Panel).registry!.signIn('s').then(() => {
      w.outcome = 'done'
    }, (e) => {
      w.outcome = `${e.code}: ${e.message}`
    })
  }, panel)
  const login = await authorizationPage(rig, server.issuer)
  await login.until(() => !!document.querySelector('#allow'), [], 'the page is there')
  await login.click(`document.querySelector('#allow')`)
  await rig.panel.until(() => (window as Signing).outcome, [], 'the sign-in ends')
  assert.equal(await rig.panel.evaluate(() => (window as Signing).outcome), 'done')
  const [health, text] = await rig.panel.evaluate(async (find) => {
    const { registry } = (0, eval)(find) as Panel
    return [registry!.getHealth().s, await registry!.dispatch('s__echo', { a: 1 })] as const
  }, panel)
  assert.deepEqual([health!.signIn, health!.status, text], ['signed-in', 'connected', '{"a":1}'])
  assert.equal(server.counts.authorize, 1)
  const stored = await rig.panel.evaluate(async () =>
    JSON.stringify([await chrome.storage.local.get(), await chrome.storage.session.get(), { ...localStorage }])
  )
  for (const token of server.given) assert.ok(!stored.includes(token), 'a token is in the storage')

  // The next worker has the stored tokens.
  await rig.panel.evaluate((find) => {
    ;(window as Signing).old = ((0, eval)(find) as Panel).registry
  }, panel)
  await rig.browser.killWorker()
  await rig.panel.until(
    (find) => {
      const { registry } = (0, eval)(find) as Panel
      return registry !== (window as Signing).old && registry?.getHealth().s?.signIn === 'signed-in'
    },
    [panel],
    'the next worker is signed in',
  )
  assert.equal(server.counts.authorize, 1)
})
