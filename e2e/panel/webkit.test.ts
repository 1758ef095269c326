import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Listening } from '../rig/harness.ts'
import { oauthServer } from '../web/servers/oauthserver.ts'
import { launchWebKit, type WebKit } from '../rig/webkit.ts'
import { panelSite } from './site.ts'

// WebKit opens a window and writes to the clipboard only while it handles the click. Chromium and Firefox allow
// both for seconds after it.

let webkit: WebKit, site: Listening, notes: Awaited<ReturnType<typeof oauthServer>>
before(async () => {
  site = await panelSite()
  notes = await oauthServer()
  webkit = await launchWebKit()
})
after(async () => {
  await webkit?.close()
  await Promise.all([site, notes].map((s) => s?.close()))
})

/** Opens the panel with a server in it. */
async function open() {
  const page = await webkit.open(`${site.url}/`)
  const until = (isSo: string) =>
    page.evaluate<void>(`new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(document.querySelector('portolan-panel')?.shadowRoot.textContent)), 20000)
      const look = () => {
        if (!(${isSo})) return void setTimeout(look, 50)
        clearTimeout(late)
        resolve()
      }
      look()
    })`)
  await until(`'ready' in document.documentElement.dataset`)
  await page.evaluate(`window.kept = true`)
  await page.evaluate(`registry.addServer('notes', { url: '${notes.url}' }).then(() => registry.discover())`)
  const button = (name: string) =>
    `[...panel.shadowRoot.querySelectorAll('button, [role=menuitem]')].find((b) => ${name}.test(b.ariaLabel ?? b.textContent))`
  return {
    page,
    until,
    press: async (name: string) => {
      await until(button(name))
      await page.click(button(name))
    },
  }
}

test('a click signs in through a window, and the page stays', async () => {
  const { page, until, press } = await open()
  await page.evaluate(`import('./npm/signin.js').then(() => true)`) // else it would arrive after the click
  await press('/^\\s*Sign in\\s*$/')
  await until(`registry.getHealth().notes?.signIn === 'signed-in'`)
  assert.equal(await page.evaluate('window.kept'), true, 'the page went to the authorization server itself')
  assert.equal(
    await page.evaluate(`registry.discover().then(() => registry.dispatch('notes__steps', { steps: 1, everyMs: 1 }))`),
    'done',
  )
})

test('a click copies a configuration, though its writer is loaded first', async () => {
  const { until, press } = await open()
  await press('/More for notes/')
  await press('/Copy config/')
  await until(`/Copied/.test(panel.shadowRoot.textContent)`)
})
