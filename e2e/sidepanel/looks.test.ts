import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { violations } from '../panel/axe.ts'
import { states } from './state.ts'
import { be, bridgesAt, withPages } from './walk.ts'

const open = withPages()
/** Opens what can be opened in place. */
const unfold = (page: Page) =>
  page.evaluate(() => {
    for (const d of document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll('details')) d.open = true
  })

/** The text of a tab once it is complete. */
const ready: Record<string, string> = {
  home: 'portolan-profile',
  chats: 'portolan-options',
  activity: 'portolan-log .filters',
  history: 'portolan-history .log',
}

/** Goes through all states and tabs of a page, all unfolded. */
async function everywhere(page: Page, look: (where: string) => Promise<void>): Promise<void> {
  for (const state of Object.keys(states)) {
    await be(page, state)
    const tabs = state === 'fresh'
      ? ['home', 'chats', 'activity']
      : state === 'busy'
      ? ['home', 'chats', 'history', 'activity']
      : state === 'used'
      ? ['home', 'history']
      : ['home']
    for (const tab of tabs) {
      await page.locator(`#tab-${tab}`).click()
      await page.locator(ready[tab]!).waitFor()
      if (tab === 'chats' && state === 'fresh') await page.getByRole('switch').first().click()
      if (tab === 'home' && (state === 'fresh' || state === 'several')) {
        await bridgesAt(page, 55156, 55158)
        if (state === 'several') await page.locator('portolan-home > div > button').click()
        await page.locator('portolan-bridges button').first().click()
        await page.locator('portolan-bridges li').nth(1).waitFor()
      }
      await unfold(page)
      if (tab === 'chats' && state === 'busy') { // a profile that differs, and the question about it
        const editor = page.locator('portolan-profile-editor').first()
        await editor.locator('textarea').fill('{ "version": 1 }')
        await editor.locator('button.primary').click()
        await editor.locator('.changes').waitFor()
        await editor.locator('portolan-confirm button').click()
        await page.locator('portolan-comparisons portolan-confirm button').click()
      }
      if (tab === 'history' && state === 'busy') await page.locator('portolan-history portolan-confirm button').click()
      if (state === 'asked') { // what asks in its place, and complains
        await page.locator('portolan-clients portolan-confirm button').first().click()
        await page.locator('portolan-origins form button').click()
      }
      await look(`${state}, ${tab}`)
    }
  }
}

const looks: Record<string, Parameters<Page['emulateMedia']>[0]> = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  'forced colours': { colorScheme: 'light', forcedColors: 'active' },
}
test(`axe finds nothing in ${Object.keys(looks).join(', ')}`, async () => {
  const { page, faults } = await open({ state: 'fresh', context: { reducedMotion: 'reduce' } })
  const inEachLook = async (where: string) => {
    for (const [look, media] of Object.entries(looks)) {
      await page.emulateMedia(media)
      assert.deepEqual(await violations(page, { whole: true, colours: look !== 'light' }), [], `${where}, ${look}`)
    }
  }
  await everywhere(page, inEachLook)
  await page.evaluate(() => window.standin.background.prepare({ demo: { url: 'builtin:demo' } }))
  await page.locator('#tab-servers').click()
  await page.locator('portolan-panel .card').first().waitFor()
  await inEachLook('servers')
  assert.deepEqual(faults, [])
  await page.close()
})

/** Elements that are wider than the window. */
const tooWide = (page: Page) =>
  page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return []
    return [
      `the page: ${document.documentElement.scrollWidth}`,
      ...[...document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll('.app *')]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 0.5).slice(0, 4).map((e) =>
          e.outerHTML.replaceAll(/<!--.*?-->/g, '').slice(0, 160)
        ),
    ]
  })
/** WCAG 2.2, 1.4.12. */
const spaced =
  '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-block-end: 2em !important }'

/** Nothing is wider than the window, also with wide text. */
async function fits(page: Page, where: string): Promise<void> {
  assert.deepEqual(await tooWide(page), [], where)
  await page.evaluate((css) => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    document.querySelector('portolan-extension')!.shadowRoot!.adoptedStyleSheets.push(sheet)
  }, spaced)
  assert.deepEqual(await tooWide(page), [], `${where}, spaced`)
  await page.evaluate(() => void document.querySelector('portolan-extension')!.shadowRoot!.adoptedStyleSheets.pop())
}

const narrow = { viewport: { width: 320, height: 640 } }
for (const lang of ['en', 'pseudo'])
  test(`nothing needs sideways scrolling at 320 px: ${lang}`, async () => {
    const { page } = await open({ state: 'fresh', lang, context: narrow })
    await everywhere(page, (where) => fits(page, where))
    await page.close()
  })

test('the tabs keep their words whole at every width', async () => {
  const { page } = await open({ state: 'busy' })
  for (const width of [320, 340, 360, 380, 400, 440, 480, 520, 540, 560, 600, 800]) {
    await page.setViewportSize({ width, height: 640 })
    const broken = await page.evaluate(() =>
      [...document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll(
        '.places [role=tab] > span:not(.count)',
      )].filter((s) =>
        s.getClientRects().length > 1 ||
        s.getBoundingClientRect().height > 1.9 * parseFloat(getComputedStyle(s).fontSize)
      ).map((s) => s.textContent)
    )
    assert.deepEqual(broken, [], `${width} px`)
  }
  await page.close()
})

test('in Arabic all of it fits at 320 px, runs from right to left, and nothing is left in English', async () => {
  const { page, faults } = await open({ state: 'fresh', lang: 'ar', context: narrow })
  const [first, last] = [
    await page.locator('#tab-home').boundingBox(),
    await page.locator('#tab-activity').boundingBox(),
  ]
  assert.ok(first!.x > last!.x, 'the first tab is on the right')
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'ar')
  await everywhere(page, async (where) => {
    await fits(page, where)
    const english = await page.evaluate(() =>
      [...document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll(
        'button, label, legend, summary, h1, h2, h3, p, [aria-label]',
      )].flatMap((el) => {
        const own = el.getAttribute('aria-label') ??
          [...el.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent).join('')
        return /[a-z]{3,} [a-z]{3,}/i.test(
            own.replace(/portolan bridge( pair)?|AI Studio|Claude Desktop|ask_\w+|go install|Chromium, Work/g, ''),
          )
          ? [own]
          : []
      })
    )
    assert.deepEqual(english, [], where)
  })
  assert.deepEqual(faults, [])
  await page.close()
})

test('Tab reaches everything, with a focus that is seen and in sight', async () => {
  const { page } = await open({ state: 'busy', context: { viewport: { width: 380, height: 640 } } })
  for (const tab of ['home', 'chats', 'history', 'activity']) {
    await page.locator(`#tab-${tab}`).click()
    await page.locator(ready[tab]!).waitFor()
    await unfold(page)
    if (tab === 'chats') await page.locator('portolan-profile-editor textarea').nth(1).waitFor() // one for each chat
    await page.mouse.click(2, 2)
    const want = await page.evaluate(() =>
      [...document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll<HTMLElement>(
        'button, input, select, textarea, summary, a[href], [tabindex="0"]',
      )]
        .filter((e) =>
          e.tabIndex >= 0 && e.checkVisibility() && !(e instanceof HTMLInputElement && e.type === 'radio' && !e.checked)
        ).length
    )
    let reached = 0
    for (let i = 0; i < want + 4; i++) {
      await page.keyboard.press('Tab')
      const f = await page.evaluate(() => {
        const { shadowRoot } = document.querySelector('portolan-extension')!
        const el = shadowRoot!.activeElement as HTMLInputElement | null
        if (!el) return undefined
        const style = getComputedStyle(el),
          box = el.getBoundingClientRect(),
          bar = shadowRoot!.querySelector('.stopbar')!
        const name = el.getAttribute('aria-label') ?? el.labels?.[0]?.textContent ?? el.textContent
        return {
          name: (name ?? '').replace(/\s+/g, ' ').trim(),
          visible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
          inSight: box.bottom > 0 && (bar.contains(el) || box.bottom <= bar.getBoundingClientRect().top + 1),
        }
      })
      if (!f) {
        if (reached) break
        continue
      }
      assert.ok(f.visible && f.inSight && f.name, `${tab}: ${JSON.stringify(f)}`)
      reached++
    }
    assert.equal(reached, want, tab)
  }
  await page.close()
})

test('who wants less motion sees none', async () => {
  for (const [reducedMotion, moves] of [['reduce', false], ['no-preference', true]] as const) {
    const { page } = await open({ state: 'running', context: { reducedMotion } })
    assert.equal(
      await page.evaluate(() => document.querySelector('portolan-extension')!.shadowRoot!.getAnimations().length > 0),
      moves,
    )
    await page.close()
  }
})

test('a notice of the servers is above the bar that stops everything', async () => {
  const { page, faults } = await open({ state: 'used' })
  const servers = Object.fromEntries([...'abcde'].map((name) => [name, { url: 'builtin:demo' }]))
  await page.evaluate((servers) => window.standin.background.prepare(servers), servers)
  await page.locator('#tab-servers').click()
  await page.locator('portolan-panel .card').nth(4).waitFor()
  await page.getByRole('button', { name: 'More for a' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  const notice = page.locator('portolan-panel .notice')
  await notice.getByRole('button', { name: 'Undo' }).focus() // it stays
  for (const width of [320, 380, 800]) {
    await page.setViewportSize({ width, height: 640 })
    await page.evaluate(() => scrollTo(0, 0))
    const [above, bar] = await Promise.all([notice, page.locator('.stopbar')].map((e) => e.boundingBox()))
    assert.ok(above!.y + above!.height <= bar!.y, `${width} px: ${above!.y + above!.height}, ${bar!.y}`)
  }
  assert.deepEqual(faults, [])
  await page.close()
})
