import type { Browser, Page } from 'playwright-core'
import { appSite, sandboxSite } from './appsite.ts'
import { launchChromium, root } from '../rig/harness.ts'
import { lawServer } from './servers/lawserver.ts'
import { openRun, runSite, stages } from './runsite.ts'

// Pictures of an app and of a run for the documents, light and dark:
//
//   ./build.sh screenshots

const dir = `${root}docs/screenshots`
const width = 1280

async function picture(page: Page, name: string): Promise<void> {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
  await page.screenshot({ path: `${dir}/${name}.png` })
  console.log(`${name}.png`)
}

async function app(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  const sandbox = await sandboxSite()
  const site = await appSite(sandbox.url)
  const page = await browser.newPage({ viewport: { width, height: 420 }, colorScheme })
  const servers = JSON.stringify({ demo: { url: 'builtin:demo' } })
  await page.goto(`${site.url}/?${new URLSearchParams({ sandbox: sandbox.url, servers })}`)
  await page.waitForSelector('html[data-ready]')
  await page.evaluate(() => window.showApp('tide_app', { server: 'demo', args: { day: 'tuesday' } }))
  await page.frameLocator('iframe').frameLocator('iframe').getByText('High water: 1.2 m').waitFor()
  await page.waitForFunction(() => window.app.shadowRoot!.querySelector('iframe')!.style.blockSize)
  await picture(page, `app-inline-${width}-${colorScheme}`)
  await page.close()
  await Promise.all([site.close(), sandbox.close()])
}

async function run(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  const [law, site] = await Promise.all([lawServer(), runSite()])
  const { says, query, shows } = stages.answer!
  law.reset()
  const { page } = await openRun(browser, site, law.url, says, query, { viewport: { width, height: 420 }, colorScheme })
  const element = page.locator('portolan-run')
  await element.locator('#prompt').fill('Liability of carriers by sea')
  await element.locator('#prompt').press('Enter')
  await element.locator(shows).first().waitFor()
  const height = await page.evaluate(() => Math.min(document.documentElement.scrollHeight, 760))
  await page.setViewportSize({ width, height })
  await picture(page, `run-answer-${width}-${colorScheme}`)
  await page.close()
  await Promise.all([law.close(), site.close()])
}

const browser = await launchChromium()
for (const colorScheme of ['light', 'dark'] as const) {
  await app(browser, colorScheme)
  await run(browser, colorScheme)
}
await browser.close()
