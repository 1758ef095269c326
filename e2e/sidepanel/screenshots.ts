import { mkdir } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { launchChromium } from '../rig/harness.ts'
import { bridgesAt } from './walk.ts'
import { openPage, panelSite, type Wish } from './site.ts'

/**
 * Pictures of the pages' main states, light and dark, into the folder that
 * PORTOLAN_SCREENSHOTS names.
 */
const dir = process.env.PORTOLAN_SCREENSHOTS
if (!dir) throw new Error('PORTOLAN_SCREENSHOTS names no folder')
await mkdir(dir, { recursive: true })
const browser = await launchChromium()
const site = await panelSite()
const only = process.argv[2]

async function picture(
  name: string,
  wish: Wish & { tab?: string },
  act?: (page: Page) => Promise<void>,
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const file = `${name}-${colorScheme}.png`
    if (only && !file.includes(only)) continue
    const { page, faults } = await openPage(browser, site, {
      ...wish,
      context: { viewport: { width: 380, height: 640 }, ...wish.context, colorScheme },
    })
    if (wish.tab === 'servers')
      await page.evaluate(() =>
        window.standin.background.prepare({
          demo: { url: 'builtin:demo' },
          harbour: { url: 'https://harbour.example/mcp', enabled: false },
        })
      )
    if (wish.tab) await page.locator(`#tab-${wish.tab}`).click()
    await act?.(page)
    const { width, height } = page.viewportSize()!
    await page.setViewportSize({
      width,
      height: Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight)),
    })
    await page.evaluate(() =>
      Promise.all(document.getAnimations().map((a) => a.effect?.getTiming().iterations === Infinity || a.finished))
    )
    await page.screenshot({ path: `${dir}/${file}` })
    console.log(file, ...faults)
    await page.close()
  }
}

const unfold = (page: Page) =>
  page.evaluate(() => {
    for (const d of document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll('details')) d.open = true
  })
const found = async (page: Page) => {
  await bridgesAt(page, 55156, 55158)
  await page.locator('portolan-bridges button').first().click()
  await page.locator('portolan-bridges li').nth(1).waitFor()
}
const wide = { page: 'options' as const, context: { viewport: { width: 1000, height: 640 } } }
await picture('fresh', { state: 'fresh' })
await picture('found', { state: 'fresh' }, found)
await picture('found-arabic', { state: 'fresh', lang: 'ar' }, found)
await picture('several', { state: 'several' })
await picture('another', { state: 'several' }, async (page) => {
  await page.getByRole('button', { name: 'Pair another bridge' }).click()
  await found(page)
})
await picture('digits', { state: 'digits' }, async (page) => {
  await page.locator('.digits').fill('123 4')
})
await picture('terminal', { state: 'terminal' })
await picture('failed', { state: 'failed' })
await picture('home', { state: 'used' })
await picture('asked', { state: 'asked' })
await picture('waiting', { state: 'waiting' })
await picture('refused', { state: 'refused' })
await picture('stopped', { state: 'stopped' })
await picture('running', { state: 'running', tab: 'chats' })
await picture('chats', { state: 'fresh', tab: 'chats' }, async (page) => {
  await page.getByRole('switch', { name: 'Use ChatGPT' }).click()
})
await picture('servers', { state: 'used', tab: 'servers' }, async (page) => {
  await page.locator('portolan-panel .card').first().waitFor()
})
await picture('history', { state: 'used', tab: 'history' }, async (page) => {
  await page.locator('portolan-history .log').waitFor()
  await page.getByText('Answer', { exact: true }).first().click()
})
await picture('history-off', { state: 'fresh', tab: 'history' })
await picture('history-arabic', { state: 'used', tab: 'history', lang: 'ar' })
await picture('profile', { state: 'used', tab: 'chats' }, async (page) => {
  await page.getByText('Site profile').first().click()
  await page.getByLabel('Your changes, as JSON').first().fill('{ "version": 1 }')
  await page.locator('portolan-profile-editor').first().getByRole('button', { name: 'Save' }).click()
  await page.getByText('layouts/article/send/selector').waitFor()
})
await picture('activity', { state: 'used', tab: 'activity' })
await picture('wide', { state: 'asked', ...wide })
await picture('wide-chats', { state: 'running', tab: 'chats', ...wide })
await picture('narrow', { state: 'busy', context: { viewport: { width: 320, height: 640 } } })
await picture('unfolded', { state: 'asked' }, async (page) => {
  await unfold(page)
  await page.getByRole('button', { name: 'Forget mcp-inspector…' }).click()
})
await picture('unfolded-fresh', { state: 'fresh' }, unfold)
await picture('unfolded-chats', { state: 'used', tab: 'chats' }, unfold)
await picture('contrast', { state: 'busy', context: { forcedColors: 'active' } })
await picture('away', { state: 'used' }, async (page) => {
  await page.evaluate(() => {
    Object.assign(window.standin.background, { silent: true })
    window.standin.background.die()
  })
  await page.locator('.away').waitFor()
})
await picture('arabic', { state: 'asked', lang: 'ar' })
await browser.close()
await site.close()
