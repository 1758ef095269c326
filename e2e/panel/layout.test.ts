import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import type { PanelPage } from './site.ts'
import { withStates } from './states.ts'

const all = withStates()

/** Elements that are wider than the window, or than the dialog that they are in. */
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

/** WCAG 2.2, 1.4.12. */
const spaced =
  '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-block-end: 2em !important }'

/** Faults when the browser's font is twice as large, or the page's rem is smaller. */
async function inOtherFonts(p: PanelPage): Promise<string[]> {
  const found: string[] = []
  const set = (size: string) => p.page.evaluate((size) => void (document.documentElement.style.fontSize = size), size)
  const sizes = () =>
    p.page.evaluate(() =>
      [...window.panel.shadowRoot!.querySelectorAll('.panel *')].filter((e) => e.checkVisibility()).map((e) => ({
        size: parseFloat(getComputedStyle(e).fontSize),
        what: `${e.outerHTML.replace(/>.*/s, '>')}${e.childElementCount ? '' : e.textContent}`.slice(0, 200),
      }))
    )
  await p.page.setViewportSize({ width: 640, height: 640 })
  const before = await sizes()
  for (const [size, factor] of [['32px', 2], ['10px', 1]] as const) {
    await set(size)
    found.push(...(await tooWide(p)).map((what) => `${size}: ${what}`))
    if (factor === 2) {
      found.push(
        ...await p.page.evaluate(() =>
          [...window.panel.shadowRoot!.querySelectorAll('.line')].filter((e) => e.scrollHeight > e.clientHeight + 1)
            .slice(0, 2).map((e) => `a row is too low: ${e.scrollHeight} in ${e.clientHeight}`)
        ),
        ...await p.page.evaluate(() =>
          [...window.panel.shadowRoot!.querySelectorAll('.icon')].filter((e) => e.checkVisibility()).map((e) =>
            e.getBoundingClientRect()
          ).filter((box) => Math.abs(box.width - box.height) > 0.5).map((box) =>
            `an icon is not square: ${box.width} by ${box.height}`
          ).slice(0, 2)
        ),
      )
    }
    const after = await sizes()
    if (after.length === before.length) {
      const odd = after.find((e, i) => Math.abs(e.size / before[i]!.size - factor) > 0.02)
      if (odd) found.push(`${size}: a text has ${odd.size} px: ${odd.what}`)
    } else if (factor === 1) {
      const without = (list: typeof before, other: typeof before) =>
        list.filter(({ what }) => !other.some((e) => e.what === what)).slice(0, 5).map(({ what }) => what)
      found.push(`${size}: something else is shown: ${without(after, before)}, not: ${without(before, after)}`)
    }
  }
  await set('')
  return found
}

/** Changes the language of an open panel. */
const translate = ({ page }: PanelPage, locale: string) =>
  page.evaluate(async (locale) => {
    window.panel.messages = ((await import(`./npm/locales/${locale}.js`)) as { default: never }).default
    if (locale !== 'pseudo') window.panel.setAttribute('locale', locale)
    await (window.panel as unknown as { updateComplete: Promise<void> }).updateComplete
  }, locale)

const looks: Record<string, Parameters<Page['emulateMedia']>[0]> = {
  'forced colours': { colorScheme: 'light', forcedColors: 'active' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  light: { colorScheme: 'light' },
}

/** Elements that are too wide in a narrow window: with plain and with long words, each with and without wide text. */
async function inNarrow(p: PanelPage): Promise<string[]> {
  await p.page.setViewportSize({ width: 320, height: 640 })
  const found: string[] = []
  for (const words of ['plain words', 'long words']) {
    if (words === 'long words') await translate(p, 'pseudo')
    found.push(...(await tooWide(p)).map((what) => `${words}: ${what}`))
    await p.page.evaluate((css) => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(css)
      window.panel.shadowRoot!.adoptedStyleSheets.push(sheet)
    }, spaced)
    found.push(...(await tooWide(p)).map((what) => `${words}, with text spacing: ${what}`))
    await p.page.evaluate(() => void window.panel.shadowRoot!.adoptedStyleSheets.pop())
  }
  return found
}

/** Faults in Arabic: too wide, from left to right, or still English. */
async function inArabic(p: PanelPage): Promise<string[]> {
  await p.page.setViewportSize({ width: 1000, height: 900 })
  await translate(p, 'ar')
  const [first, other] = await Promise.all(
    ['servers', 'activity'].map((tab) => p.panel.locator(`#tab-${tab}`).boundingBox()),
  )
  // Names, addresses and what servers say are not the panel's.
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
    // JSON, and what is cut at its end: what servers say in English keeps its beginning.
    for (const el of window.panel.shadowRoot!.querySelectorAll('portolan-json, .about .clip, .line button'))
      if (/^\s*[a-z]/i.test(el.textContent) && getComputedStyle(el).direction === 'rtl')
        found.push(`from right to left: ${el.textContent.trim().slice(0, 60)}`)
    return found.slice(0, 4)
  })
  return [...await tooWide(p), ...first!.x > other!.x ? [] : ['the first tab is not on the right'], ...english]
}

type Found = Record<string, Record<string, string[]>>

/** The faults by check and state. Each state is opened once, because most of the time goes there. */
async function visit(): Promise<Found> {
  const found: Found = {}
  for (const [state, open] of Object.entries(all.states)) {
    const p = await open({ reducedMotion: 'reduce' }) // no colour is on its way to another
    const check = async (name: string, problems: Promise<string[]>) => {
      found[name] = { ...found[name], [state]: [...await problems, ...p.faults.splice(0)] }
    }
    for (const [look, media] of Object.entries(looks)) {
      await p.page.emulateMedia(media)
      await check(look, violations(p.page, { colours: look !== 'light' }))
    }
    // The rest is looked at in light, the last look.
    await check('other fonts', inOtherFonts(p))
    await check('narrow', inNarrow(p))
    await check('Arabic', inArabic(p))
    await p.page.close()
  }
  return found
}

let found: Promise<Found> | undefined
const nothing = (check: string) => async () => {
  const states = (await (found ??= visit()))[check]!
  assert.deepEqual(Object.keys(states), Object.keys(all.states))
  for (const [state, problems] of Object.entries(states)) assert.deepEqual(problems, [], state)
}
for (const look of Object.keys(looks)) test(`axe finds nothing in ${look}`, nothing(look))
test('nothing needs sideways scrolling at 320 px, with wide text, in long words', nothing('narrow'))
test(
  'all sizes follow the font of the browser, and a small rem of the page makes nothing smaller',
  nothing('other fonts'),
)
test('in Arabic all of it runs from right to left, and says so', nothing('Arabic'))

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

test('in forced colours, what is pressed or chosen has another ground', async () => {
  for (const [state, chosen] of [['try', '[aria-pressed=true]'], ['template', '[aria-selected=true][role=option]']]) {
    const p = await all.states[state!]!({ forcedColors: 'active' })
    const [one, other] = await p.page.evaluate(([chosen, all]) => {
      const grounds = [chosen!, all!].map((which) =>
        getComputedStyle(window.panel.shadowRoot!.querySelector(which)!).backgroundColor
      )
      return grounds
    }, [chosen, chosen!.replace('true', 'false')])
    assert.notEqual(one, other, state)
    await p.page.close()
  }
})

test('who asks for more contrast gets it in texts and lines', async () => {
  const p = await all.states.servers!({ contrast: 'more' })
  const [ink, dim, line] = await p.page.evaluate(() => {
    const of = (which: string) => getComputedStyle(window.panel.shadowRoot!.querySelector(which)!)
    return [of('.panel').color, of('.dim').color, of('.add').borderTopColor]
  })
  assert.deepEqual([dim, line], [ink, ink])
  await p.page.close()
})

test('a placeholder is as dark as other dim text', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const p = await all.states.tool!({ colorScheme })
    await p.panel.getByRole('tab', { name: 'Wording' }).click()
    const [placeholder, dim] = await p.page.evaluate(() => {
      const of = (which: string, pseudo?: string) => {
        const { color, opacity } = getComputedStyle(window.panel.shadowRoot!.querySelector(which)!, pseudo)
        return [color, opacity]
      }
      return [of('dialog input[placeholder]', '::placeholder'), of('dialog .dim')]
    })
    assert.deepEqual(placeholder, dim)
    await p.page.close()
  }
})

test('styles that the page gives to all elements change no text of the panel', async () => {
  const p = await all.states.servers!({ colorScheme: 'dark' })
  const look = () =>
    p.page.evaluate(() => {
      const { color, whiteSpace, textTransform, textIndent } = getComputedStyle(
        window.panel.shadowRoot!.querySelector('[role=heading]')!,
      )
      return { color, whiteSpace, textTransform, textIndent }
    })
  const before = await look()
  await p.page.evaluate(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync('main { white-space: nowrap; text-transform: uppercase; text-indent: 2em } * { color: #222 }')
    document.adoptedStyleSheets = [sheet]
  })
  assert.deepEqual(await look(), before)
  await p.page.close()
})

test('from right to left, the arrow of an open group points down', async () => {
  const p = await all.states.tools!({ reducedMotion: 'reduce' }, { locale: 'ar' })
  const points = await p.page.evaluate(() => {
    const arrow = window.panel.shadowRoot!.querySelector('[aria-expanded=true] > .chevron')!
    const { rotate, scale } = getComputedStyle(arrow)
    const turned = new DOMMatrix(`rotate(${rotate}) scale(${scale.replace(' ', ',')})`)
    const { x, y } = turned.transformPoint(new DOMPoint(1, 0)) // where it points when it is closed, from left to right
    return [Math.round(x), Math.round(y)]
  })
  assert.deepEqual(points, [0, 1])
  await p.page.close()
})

test('from right to left, a short URI in English begins beside the name', async () => {
  const p = await all.states.resources!({}, { locale: 'ar' })
  const gap = await p.panel.locator('.about').first().evaluate((row) => {
    const [name, uri] = [...row.querySelectorAll('span')].map((e) => {
      const text = new Range()
      text.selectNodeContents(e)
      return text.getBoundingClientRect()
    })
    return name!.left - uri!.right
  })
  assert.ok(gap > 0 && gap < 20, `${gap} px`)
  await p.page.close()
})

test('from right to left, the lines of an English text begin at the left', async () => {
  const p = await all.states.tool!({}, { locale: 'ar' })
  const { left, start } = await p.panel.locator('.description').evaluate((e) => {
    const text = new Range()
    text.selectNodeContents(e.querySelector('bdi')!)
    const lines = [...text.getClientRects()].map((r) => r.left)
    return { left: e.getBoundingClientRect().left, start: Math.max(...lines) }
  })
  assert.ok(start - left < 2, `${start - left} px`)
  await p.page.close()
})

test('a text of a server that may be long is scrolled by keyboard, where the browser does not offer that itself', async () => {
  for (const state of ['tool', 'review', 'instructions', 'question', 'address', 'approve']) {
    const p = await all.states[state]!()
    const stops = await p.panel.locator('.description').evaluateAll((texts) => texts.map((e) => e.tabIndex))
    assert.ok(stops.length && stops.every((stop) => stop === 0), `${state}: ${stops}`)
    await p.page.close()
  }
})

test('in a narrow window the word for a required parameter stays whole', async () => {
  const p = await all.states.tool!({ viewport: { width: 320, height: 700 } })
  const lines = await p.panel.locator('tbody strong').evaluate((word) => {
    word.closest('tr')!.lastElementChild!.textContent = 'Name of the port, in the language of its country. '.repeat(9)
    return word.getClientRects().length
  })
  assert.equal(lines, 1)
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

test('in a narrow window the timeline shows whole names of tools', async () => {
  const p = await all.states.activity!({ viewport: { width: 360, height: 740 } })
  const cut = await p.panel.locator('.line button').evaluateAll((names) =>
    names.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)
  )
  assert.deepEqual(cut, [])
  await p.page.close()
})

test('on paper nothing is cut off, and icons grow with the font', async () => {
  const p = await all.states.activity!({ colorScheme: 'dark' })
  await p.page.emulateMedia({ media: 'print' })
  const timeline = p.panel.locator('.timeline')
  assert.deepEqual(
    await timeline.evaluate((e) => [e.scrollHeight > e.clientHeight + 1, getComputedStyle(e).colorScheme]),
    [false, 'light'],
  )
  await p.page.emulateMedia({ media: 'screen' })
  await p.page.evaluate(() => void (document.documentElement.style.fontSize = '32px'))
  assert.equal((await p.panel.locator('.icon').first().boundingBox())!.width, 40)
  await p.page.close()
})
