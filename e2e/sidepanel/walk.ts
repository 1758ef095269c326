import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launchChromium, type Listening } from '../rig/harness.ts'
import type { Method, State, ToBackground } from '../../extension/messages.ts'
import type { Background } from './background.ts'
import { openPage, panelSite, type Opened, type Wish } from './site.ts'

// The actions and checks that tests of the pages share.

/** A browser and a site for the tests of a file; opens a page in it. */
export function withPages(start = launchChromium): (wish?: Wish) => Promise<Opened> {
  let browser: Browser, site: Listening
  before(async () => {
    browser = await start()
    site = await panelSite()
  })
  after(async () => {
    await browser?.close()
    await site?.close()
  })
  return (wish) => openPage(browser, site, wish)
}

type Flow = (name: string, wish: Wish, walk: (page: Page) => Promise<void>) => void

/** Makes tests of flows: each on a page of its own, which must have complained of nothing. */
export function flows(start = launchChromium): Flow {
  const open = withPages(start)
  return (name, wish, walk) =>
    void test(name, async () => {
      const { page, faults } = await open(wish)
      await walk(page)
      assert.deepEqual(faults, [])
      await page.close()
    })
}

export const set = (page: Page, patch: Partial<State>) => page.evaluate((p) => window.standin.background.set(p), patch)
export const be = (page: Page, name: string) => page.evaluate((n) => window.standin.background.be(n), name)
export const play = (page: Page, patch: Partial<Pick<Background, 'refusal' | 'silent' | 'gone'>>) =>
  page.evaluate((p) => void Object.assign(window.standin.background, p), patch)
export const says = (page: Page, answer: boolean | undefined) =>
  page.evaluate((a) => {
    window.standin.says = a
  }, answer)
export const asked = async (page: Page, method: Method): Promise<ToBackground['params'][]> =>
  page.evaluate((m) => window.standin.background.asked.filter((a) => a.method === m).map((a) => a.params), method)
export const permissions = (page: Page) =>
  page.evaluate(() => ({
    asked: window.standin.permissionsAsked,
    clicked: window.standin.clicked.every(Boolean),
    back: window.standin.givenBack,
  }))
export const focused = (page: Page) =>
  page.evaluate(() => {
    const el = document.querySelector('portolan-extension')!.shadowRoot!.activeElement
    return (el?.getAttribute('aria-label') ?? el?.textContent ?? '').replace(/\s+/g, ' ').trim() || el?.className ||
      el?.localName
  })
export const until = async (look: () => Promise<unknown>, want: (seen: never) => boolean, what: string) => {
  for (const end = Date.now() + 20_000;; await new Promise((r) => setTimeout(r, 20))) {
    const seen = await look()
    if (want(seen as never)) return
    assert.ok(Date.now() < end, `${what}: ${JSON.stringify(seen)}`)
  }
}
/** All that was asked of a method, once the message has come. */
export const wasAsked = (page: Page, method: Method, want: unknown[]) =>
  until(() => asked(page, method), (seen: unknown[]) => isDeepStrictEqual(seen, want), `${method} was asked`)
export const lastAsked = (page: Page, method: Method, want: unknown) =>
  until(
    () => asked(page, method),
    (seen: unknown[]) => isDeepStrictEqual(seen.at(-1), want),
    `${method} was asked last`,
  )
/** A question can be answered once it has stood for a moment. */
export const settled = (page: Page) => page.waitForTimeout(550)

/** Answers as bridges at these ports of this computer would, and as another program at the others. */
export const bridgesAt = (page: Page, ...ports: number[]) =>
  page.route('http://127.0.0.1:*/mcp-discovery', (route) => {
    const port = Number(new URL(route.request().url()).port)
    const wsUrl = `ws://127.0.0.1:${port}/extension`
    const bridge = { name: 'portolan', version: 1, startedAt: Date.now() - 60_000 * (port - 55150), wsUrl }
    return route.fulfill({ json: ports.includes(port) ? bridge : {}, headers: { 'access-control-allow-origin': '*' } })
  })
