import type { Browser, Page } from 'playwright-core'
import type { Engine } from '../rig/harness.ts'

/** The result of a browser for an app. */
export interface Seen {
  /** The registry's mode. */
  mode: string
  /** The mode where one registry for all tabs was asked for. */
  shared: string
  /** The module came once, as WebAssembly. */
  wasm: boolean
  /** The panel shows the server as connected, and opens a dialog that it loads at first use. */
  panel: boolean
  /** The panel's button signs in, over the callback page that the app was built with. */
  signIn?: boolean
  /** The faults, also where the app did not notice them. */
  faults: string[]
}

/** The state of the page, as one expression. */
const said = `(() => {
  const main = document.querySelector('main')
  const card = document.querySelector('portolan-panel')?.shadowRoot?.querySelector('article')?.innerText ?? ''
  return { mode: main?.dataset.mode, answer: main?.querySelector('pre')?.textContent, card }
})()`
interface Said {
  mode?: string
  answer?: string
  card: string
}

const answered = ({ answer }: Said) => /tools\/call.*carrack/.test(answer ?? '')
const shows = ({ card }: Said) => /remote[^]*Connected/.test(card)

/**
 * Servers refuse the first protocol version that they are offered, and who is not signed in; browsers ask for icons.
 */
const expected = /status of 40[015]|favicon/

/** `url` is the app, `server` and `guarded` are its server and one that asks people to sign in. */
export async function inChromium(browser: Browser, url: string, server: string, guarded: string): Promise<Seen> {
  const page = await browser.newPage()
  const faults: string[] = []
  const wasm: string[] = []
  page.on('pageerror', (e) => faults.push(e.message))
  page.on('console', (m) => {
    if (m.type() === 'error' && !expected.test(m.text() + m.location().url)) faults.push(m.text())
  })
  page.on('response', (r) => {
    if (/\.wasm(\?|$)/.test(r.url())) wasm.push(`${r.status()} ${r.headers()['content-type']}`)
  })
  const at = (server: string, more = '') => `${url}/?server=${encodeURIComponent(server)}${more}`
  const open = async (to: string) => {
    await page.goto(to)
    await page.locator('main[data-mode]').waitFor({ timeout: 20_000 }).catch(() => {})
    const last = await page.evaluate(said) as Said
    if (!answered(last)) faults.push(`the page says ${last.answer}`)
    return last.mode ?? 'none'
  }
  try {
    const mode = await open(at(server))
    const found = wasm.length === 1 && /^200 application\/wasm/.test(wasm[0]!)
    const panel = await usePanel(page).then(() => true, (e: Error) => {
      faults.push(e.message)
    })
    const shared = await open(at(server, '&mode=shared'))
    await page.goto(at(guarded))
    const signIn = await useSignIn(page).then(() => true, (e: Error) => {
      faults.push(e.message)
    })
    return { mode, wasm: found, panel: !!panel, shared, signIn: !!signIn, faults }
  } finally {
    await page.close()
  }
}

async function usePanel(page: Page): Promise<void> {
  await page.getByRole('article', { name: 'remote' }).getByText('Connected').waitFor()
  await page.getByRole('button', { name: 'More for remote' }).click()
  await page.getByRole('menuitem', { name: 'Edit…' }).click()
  await page.getByRole('dialog').waitFor()
}

async function useSignIn(page: Page): Promise<void> {
  const card = page.getByRole('article', { name: 'remote' })
  await card.getByRole('button', { name: 'Sign in' }).click()
  await card.getByText('Signed in').waitFor()
  await card.getByText('Connected').waitFor()
}

export async function inEngine(engine: Engine, app: string, server: string): Promise<Seen> {
  const url = `${app}/?server=${encodeURIComponent(server)}`
  const faults: string[] = []
  const open = async (to: string) => {
    const page = await engine.open(to)
    let last: Said = { card: '' }
    for (const until = Date.now() + 60_000; Date.now() < until && !(answered(last) && shows(last));) {
      last = await page.evaluate<Said>(said)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    if (!answered(last)) faults.push(`the page says ${last.answer}`)
    // WebKit does not say the status.
    const wasm = await page.evaluate<number>(
      `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('.wasm') && (e.responseStatus ?? 200) === 200).length`,
    )
    return { mode: last.mode ?? 'none', wasm: wasm === 1, panel: shows(last) }
  }
  const { mode, wasm, panel } = await open(url)
  return { mode, wasm, panel, shared: (await open(`${url}&mode=shared`)).mode, faults }
}
