import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withStates } from './states.ts'
import type { PanelPage } from './site.ts'

const all = withStates()

/** What is wider than the window, or than the dialog that it is in. */
const tooWide = ({ page }: PanelPage) =>
  page.evaluate(() => {
    const found: string[] = []
    if (document.documentElement.scrollWidth > innerWidth)
      found.push(`the page: ${document.documentElement.scrollWidth}`)
    for (const d of window.panel.shadowRoot!.querySelectorAll('dialog, .panel'))
      if (d.scrollWidth > d.clientWidth + 1)
        found.push(`${d.className || d.localName}: ${d.scrollWidth} in ${d.clientWidth}`)
    if (found.length) { // which elements are too wide
      for (const e of window.panel.shadowRoot!.querySelectorAll('.panel *'))
        if (
          e.checkVisibility() && !e.closest('.clip, .timeline, .scroll') && e.getBoundingClientRect().right > innerWidth
        ) found.push(e.outerHTML.replaceAll(/<!--.*?-->/g, '').slice(0, 150))
    }
    return found.slice(0, 4)
  })

const narrow = { viewport: { width: 320, height: 640 } }
/** WCAG 2.2, 1.4.12. */
const spaced =
  '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-block-end: 2em !important }'

/** Changes the language of an open panel. */
const translate = ({ page }: PanelPage, locale: string) =>
  page.evaluate(async (locale) => {
    window.panel.messages = ((await import(`./npm/locales/${locale}.js`)) as { default: never }).default
    await (window.panel as unknown as { updateComplete: Promise<void> }).updateComplete
  }, locale)

test('nothing needs sideways scrolling at 320 px, with wide text, in long words', async () => {
  for (const [state, open] of Object.entries(all.states)) {
    const p = await open(narrow)
    for (const words of ['plain words', 'long words']) {
      if (words === 'long words') await translate(p, 'pseudo')
      assert.deepEqual(await tooWide(p), [], `${state}, ${words}`)
      await p.page.evaluate((css) => {
        const sheet = new CSSStyleSheet()
        sheet.replaceSync(css)
        window.panel.shadowRoot!.adoptedStyleSheets.push(sheet)
      }, spaced)
      assert.deepEqual(await tooWide(p), [], `${state}, ${words}, with text spacing`)
      await p.page.evaluate(() => void window.panel.shadowRoot!.adoptedStyleSheets.pop())
    }
    await p.page.close()
  }
})

test('in Arabic all of it runs from right to left, and says so', async () => {
  for (const [state, open] of Object.entries(all.states)) {
    const p = await open(undefined, { locale: 'ar', messages: 'ar' })
    assert.deepEqual(await tooWide(p), [], state)
    const tab = await p.panel.locator('#tab-servers').boundingBox()
    const other = await p.panel.locator('#tab-activity').boundingBox()
    assert.ok(tab!.x > other!.x, 'the first tab is on the right')
    // Words of the interface that are still English; names, addresses and what servers say are not the panel's.
    const english = await p.page.evaluate(() => {
      const found: string[] = []
      for (
        const el of window.panel.shadowRoot!.querySelectorAll(
          'button, label, legend, summary, h2, h3, th, caption, [aria-label]',
        )
      ) {
        const label = el.getAttribute('aria-label') ??
          [...el.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent).join('')
        if (
          /[a-z]{3,} [a-z]{3,}/i.test(
            label.replace(/mcp\.json|Claude|Cursor|Windsurf|VS Code|OpenAI|Responses|claude mcp add/g, ''),
          )
        ) found.push(label)
      }
      return found.slice(0, 4)
    })
    assert.deepEqual(english, [], state)
    assert.deepEqual(p.faults, [], state)
    await p.page.close()
  }
})

test('who wants less motion sees none', async () => {
  const p = await all.states.servers!({ reducedMotion: 'reduce' })
  const moving = await p.page.evaluate(() =>
    window.panel.shadowRoot!.getAnimations().length +
    [...window.panel.shadowRoot!.querySelectorAll('*')].filter((e) =>
      getComputedStyle(e).animationName !== 'none' || parseFloat(getComputedStyle(e).transitionDuration) > 0
    ).length
  )
  assert.equal(moving, 0)
  await p.page.close()
})

test('W14: shape and word show a standing, and not colour alone', async () => {
  const p = await all.states.errors!()
  const cards = await p.page.evaluate(() =>
    [...window.panel.shadowRoot!.querySelectorAll('.card')].map((
      c,
    ) => [
      c.querySelector('.standing svg')!.innerHTML.replaceAll(/<!--.*?-->/g, ''),
      c.querySelector('.status')!.textContent!.trim(),
    ])
  )
  for (const which of [0, 1])
    assert.equal(
      new Set(cards.map((c) => c[which])).size,
      cards.length,
      JSON.stringify(cards.map((c) => c[1])),
    )
  await p.page.close()
})
