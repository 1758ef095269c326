import { mkdir } from 'node:fs/promises'
import { launchChromium, root } from '../web/harness.ts'
import { panelStates } from './states.ts'

/**
 * Pictures of the panel's main states, light and dark, and some narrow or in
 * Arabic, for docs/screenshots:
 *
 *   ./build.sh screenshots
 */
const dir = `${root}docs/screenshots`
await mkdir(dir, { recursive: true })
const browser = await launchChromium()
const { states, close } = await panelStates(browser)

async function picture(
  name: string,
  state: string,
  width: number,
  context: object,
  query: Record<string, string> = {},
): Promise<void> {
  const { page } = await states[state]!({ viewport: { width, height: 760 }, deviceScaleFactor: 1, ...context }, query)
  await page.evaluate(() => {
    document.body.style.margin = '0'
  })
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
  const modal = await page.evaluate(() => !!window.panel.shadowRoot!.querySelector('dialog'))
  const whole = !modal && state !== 'tools'
  await (whole ? page.locator('portolan-panel') : page).screenshot({ path: `${dir}/panel-${name}.png` })
  console.log(`panel-${name}.png`)
  await page.close()
}

for (const state of Object.keys(states)) {
  const name = state === 'overview' ? '' : `${state}-`
  for (const colorScheme of ['light', 'dark']) await picture(`${name}${colorScheme}`, state, 940, { colorScheme })
}
await picture('servers-narrow', 'servers', 340, { colorScheme: 'light' })
await picture('servers-arabic', 'servers', 940, { colorScheme: 'light' }, { locale: 'ar', messages: 'ar' })
await picture('servers-contrast', 'servers', 940, { forcedColors: 'active' })
await close()
await browser.close()
