import { mkdir } from 'node:fs/promises'
import { launchChromium, root } from '../rig/harness.ts'
import { panelStates } from './states.ts'

/**
 * Pictures of the panel for the documents, light and dark:
 *
 *   ./build.sh screenshots
 */
const dir = `${root}docs/screenshots`
await mkdir(dir, { recursive: true })
const browser = await launchChromium()
const { states, close } = await panelStates(browser)

for (const [name, state] of [['panel', 'overview'], ['panel-review', 'review']] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await states[state]!({ viewport: { width: 940, height: 760 }, deviceScaleFactor: 1, colorScheme })
    await page.evaluate(() => {
      document.body.style.margin = '0'
    })
    await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
    const modal = await page.evaluate(() => !!window.panel.shadowRoot!.querySelector('dialog'))
    const file = `${name}-${colorScheme}.png`
    await (modal ? page : page.locator('portolan-panel')).screenshot({ path: `${dir}/${file}` })
    console.log(file)
    await page.close()
  }
}
await close()
await browser.close()
