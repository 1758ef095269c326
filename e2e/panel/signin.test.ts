import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchChromium, startProxy, type Listening } from '../rig/harness.ts'
import { oauthServer } from '../web/servers/oauthserver.ts'
import { signInServer } from '../web/servers/signinserver.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

let browser: Browser, site: Listening, notes: Awaited<ReturnType<typeof oauthServer>>
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  notes = await oauthServer()
})
after(async () => {
  await browser?.close()
  await Promise.all([site, notes].map((s) => s?.close()))
})

const card = ({ panel }: PanelPage) => panel.getByRole('article', { name: 'notes', exact: true })

/** Calls a tool once the tools are listed. */
const steps = ({ page }: PanelPage) =>
  page.evaluate(async () => {
    await window.registry.discover()
    return await window.registry.dispatch('notes__steps', { steps: 1, everyMs: 1 })
  })

test('one button signs in; the menu signs out', async () => {
  const p = await openPanel(browser, site, { servers: { notes: { url: notes.url } } })
  await card(p).getByText('Sign-in needed').waitFor()
  await card(p).getByText('Continue only if you have an account there').waitFor()
  const popup = p.page.waitForEvent('popup')
  await card(p).getByRole('button', { name: 'Sign in' }).click()
  assert.ok((await popup).url().startsWith(site.url)) // and goes on from there
  await card(p).getByText(/^Connected/).waitFor()
  await card(p).getByText('Signed in').waitFor()
  await p.panel.getByRole('status').getByText('Connected · notes').waitFor()
  assert.equal(notes.pages, 1)
  assert.equal(await steps(p), 'done')

  await p.panel.getByRole('button', { name: 'More for notes' }).click()
  await p.panel.getByRole('menuitem', { name: 'Sign out' }).click()
  await card(p).getByText('Signed in').waitFor({ state: 'detached' })
  await p.page.evaluate(() => window.registry.retry('notes'))
  await card(p).getByRole('button', { name: 'Sign in' }).waitFor()
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a token that CORS stops goes through the proxy once the person says so', async (t) => {
  const closed = await oauthServer({ cors: false })
  const proxy = await startProxy(site.url)
  t.after(() => Promise.all([proxy.stop(), closed.close()]))
  const p = await openPanel(browser, site, {
    query: { proxy: proxy.template },
    servers: { notes: { url: closed.url, proxy: 'auto' } },
  })
  await card(p).getByRole('button', { name: 'Sign in' }).click()
  await card(p).getByText('the browser cannot send it your token').waitFor()
  await card(p).getByText('Blocked by CORS').waitFor()
  assert.equal(await card(p).getByRole('button', { name: 'Sign in' }).count(), 0)
  await card(p).getByRole('button', { name: 'Go through the proxy (it will see the token)' }).click()
  await card(p).getByText(/^Connected/).waitFor()
  assert.equal(await steps(p), 'done')
  assert.equal(closed.pages, 1)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a window that was closed is opened again where its page hides that from us', async () => {
  const notes = await signInServer({ apart: true })
  const p = await openPanel(browser, site, { servers: { notes: { url: notes.url } } })
  const opened = async (button: string) => {
    const popup = p.page.waitForEvent('popup')
    await card(p).getByRole('button', { name: button, exact: true }).click()
    const window = await popup
    await window.waitForSelector('#allow')
    return window
  }
  await (await opened('Sign in')).close()
  await card(p).getByText('Waiting for you to sign in').waitFor()
  const again = await opened('Open again')
  await card(p).getByText('Waiting for you to sign in').waitFor()
  assert.equal(await p.panel.getByText(' · notes').count(), 0) // the first window is not the last word
  await again.click('#allow')
  await p.panel.getByRole('status').getByText('Connected · notes').waitFor()
  assert.equal(notes.counts.authorize, 2)
  assert.deepEqual(p.faults, [])
  await Promise.all([p.page.close(), notes.close()])
})
