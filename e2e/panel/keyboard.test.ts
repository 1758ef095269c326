import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withStates } from './states.ts'
import type { PanelPage } from './site.ts'
import type { Notices } from '../../web/ui/notices.ts'
import type { Shell } from '../../web/ui/shell.ts'

const all = withStates()

/** The focused element: its name, whether a reader with eyes sees the focus, and whether it is in sight. */
const focused = ({ page }: PanelPage) =>
  page.evaluate(() => {
    const el = window.panel.shadowRoot!.activeElement as HTMLElement | null
    if (!el) return undefined
    const style = getComputedStyle(el), box = el.getBoundingClientRect()
    const name = el.getAttribute('aria-label') ?? (el as HTMLInputElement).labels?.[0]?.textContent ?? el.textContent
    return {
      name: (name ?? '').replace(/\s+/g, ' ').trim(),
      visible: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
      inSight: box.bottom > 0 && box.top < innerHeight && box.height > 0 &&
        (el.role !== 'menuitem' || (box.top >= 0 && box.bottom <= innerHeight)),
    }
  })

test('Tab reaches everything, in order, with a focus that is seen, and leads out again', async () => {
  for (const state of ['servers', 'errors', 'tools', 'activity', 'edit', 'try']) {
    const p = await all.states[state]!()
    const { page } = p
    const modal = await page.evaluate(() => !!window.panel.shadowRoot!.querySelector('dialog'))
    // Tab goes on from there
    if (modal) await p.panel.locator('dialog h2').focus()
    else await page.mouse.click(2, 2)
    const want = await page.evaluate(() => {
      const root = window.panel.shadowRoot!.querySelector('dialog') ?? window.panel.shadowRoot!
      return [...root.querySelectorAll<HTMLElement>('button, input, select, textarea, summary, [tabindex="0"]')]
        .filter((e) =>
          e.tabIndex >= 0 && !(e as HTMLButtonElement).disabled && e.checkVisibility() &&
          !(e instanceof HTMLInputElement && e.type === 'radio' && !e.checked)
        ).length
    })
    const seen: string[] = []
    for (let i = 0; i < want + 5; i++) {
      await page.keyboard.press('Tab')
      const f = await focused(p)
      if (!f) {
        if (seen.length) break
        continue
      }
      assert.ok(f.visible, `${state}: the focus on "${f.name}" is not seen`)
      assert.ok(f.inSight, `${state}: "${f.name}" is out of sight`)
      assert.notEqual(f.name, '', `${state}: something without a name has the focus`)
      seen.push(f.name)
    }
    assert.ok(seen.length >= want * (modal ? 1 : 0.98), `${state}: ${seen.length} of ${want} were reached`)
    await page.close()
  }
})

test('tabs and menus follow the arrow keys; Escape leads back', async () => {
  const p = await all.states.servers!()
  const { page, panel } = p
  await panel.locator('#tab-servers').focus()
  await page.keyboard.press('ArrowRight')
  assert.match((await focused(p))!.name, /^Tools/)
  await page.keyboard.press('End')
  assert.match((await focused(p))!.name, /^Activity/)
  await page.keyboard.press('ArrowRight')
  assert.match((await focused(p))!.name, /^Servers/)
  await panel.getByRole('button', { name: 'More for demo' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.getAttribute('role') === 'menuitem')
  await page.keyboard.press('ArrowUp')
  assert.equal((await focused(p))!.name, 'Remove')
  for (const height of [900, 200]) { // the menu is higher than the second
    await page.setViewportSize({ width: 320, height })
    if (height < 900) {
      await page.keyboard.press('Escape')
      await panel.locator('button[aria-expanded=true][popovertarget]').waitFor({ state: 'detached' })
      await page.keyboard.press('ArrowUp')
      await page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.textContent === 'Remove')
      await panel.locator('button[aria-expanded=true][popovertarget]').waitFor() // the menu has its place
    }
    const { visible, inSight } = (await focused(p))!
    assert.deepEqual([visible, inSight], [true, true], `${height}px`)
  }
  await page.keyboard.press('Home')
  assert.equal((await focused(p))!.name, 'Retry now')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() =>
    window.panel.shadowRoot!.activeElement?.getAttribute('aria-label') === 'More for demo'
  )
  await page.close()
})

test('what has the focus is not behind the bars of its dialog', async () => {
  for (const [width, height] of [[380, 500], [320, 256]] as const) {
    const p = await all.states.edit!({ viewport: { width, height }, reducedMotion: 'reduce' })
    const { page } = p
    await p.panel.locator('dialog h2').focus()
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press(key)
        const behind = await page.evaluate(() => {
          const root = window.panel.shadowRoot!, el = root.activeElement
          if (!el || el.closest('header, footer')) return ''
          const { left, top, width, height } = el.getBoundingClientRect()
          const at = [.1, .5, .9].map((part) => root.elementFromPoint(left + width / 2, top + height * part))
          return at.every((e) => !e || e.closest('header, footer')) ? el.outerHTML : ''
        })
        assert.equal(behind, '', `${width} x ${height}, ${key}`)
      }
    }
    await page.close()
  }
})

test('what has the focus is not behind a notice', async () => {
  const p = await all.states.errors!({ viewport: { width: 320, height: 400 }, reducedMotion: 'reduce' })
  const { page } = p
  await page.evaluate(() => {
    const { notices } = window.panel as unknown as { notices: Notices }
    notices.put({ text: 'The server could not be removed. '.repeat(30), bad: true })
  })
  await page.evaluate(() => scrollTo(0, 0))
  await page.mouse.click(2, 2)
  for (const key of ['Tab', 'Shift+Tab']) {
    let seen = 0
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press(key)
      const behind = await page.evaluate(() => {
        const root = window.panel.shadowRoot!, el = root.activeElement
        // Chromium scrolls to the box of a text area, without its margin.
        if (!el || el.closest('.notice, textarea')) return undefined
        const [box, notice] = [el, root.querySelector('.notice')!].map((e) => e.getBoundingClientRect())
        return box!.top >= notice!.top && box!.bottom <= notice!.bottom ? el.outerHTML : ''
      })
      if (behind === undefined) continue
      assert.equal(behind, '', key)
      seen++
    }
    assert.ok(seen > 20, `${key}: ${seen}`)
  }
  await page.close()
})

test('the focus is seen on a notice, which stays for as long as it has the focus', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const p = await all.states.servers!({ colorScheme })
    const { page, panel } = p
    await page.clock.install()
    await panel.getByRole('button', { name: 'More for demo' }).focus()
    await page.keyboard.press('ArrowUp')
    await page.waitForFunction(() => window.panel.shadowRoot!.activeElement?.textContent === 'Remove')
    await page.keyboard.press('Enter')
    await panel.getByRole('button', { name: 'Undo' }).focus()
    await page.clock.runFor(20_000)
    assert.equal((await focused(p))!.name, 'Undo')
    const contrast = await page.evaluate(() => {
      const light = (colour: string) =>
        /\d+, \d+, \d+/.exec(colour)![0].split(', ').map((v) => Number(v) / 255)
          .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
          .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i]!, 0.05)
      const el = window.panel.shadowRoot!.activeElement!
      const [a, b] = [getComputedStyle(el).outlineColor, getComputedStyle(el.closest('.notice')!).backgroundColor]
        .map(light).sort()
      return b! / a!
    })
    assert.ok(contrast >= 3, `${colorScheme}: ${contrast}`)
    await panel.locator('textarea').first().focus()
    await page.clock.runFor(8000)
    await panel.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
    assert.deepEqual(p.faults, [])
    await page.close()
  }
})

test('a notice is in the dialog that is open, because all behind it is inert', async () => {
  const p = await all.states.servers!()
  const { page, panel } = p
  await page.evaluate(() => { // a notice goes after 8 s, and this machine may be slow
    const { setTimeout } = window
    window.setTimeout = ((run: () => void, ms: number) => setTimeout(run, ms === 8000 ? 600_000 : ms)) as never
  })
  const undo = panel.getByRole('button', { name: 'Undo' })
  const pick = async (server: string, item: string) => {
    await panel.getByRole('button', { name: `More for ${server}` }).click()
    await panel.getByRole('menuitem', { name: item }).click()
  }
  await pick('demo', 'Remove')
  await undo.waitFor()
  await pick('good', 'Edit…')
  await panel.getByRole('dialog').waitFor()
  await undo.click()
  assert.match((await focused(p))!.name, /^Edit/)
  await page.keyboard.press('Escape')
  await panel.getByRole('article', { name: 'demo' }).waitFor()
  await pick('demo', 'Remove')
  await undo.click()
  await panel.getByRole('article', { name: 'demo' }).waitFor()
  assert.deepEqual(p.faults, [])
  await page.close()
})

test('a server is added, called and removed without a pointer', async () => {
  const p = await all.states.empty!()
  const { page, panel } = p
  await panel.locator('textarea').focus()
  await page.keyboard.type('builtin:demo')
  await panel.getByText('Read as').waitFor()
  await page.keyboard.press('Enter')
  await panel.getByText('Connected', { exact: false }).first().waitFor()
  await panel.getByRole('button', { name: /tools$/ }).focus()
  await page.keyboard.press('Enter')
  await panel.getByRole('button', { name: /^echo/ }).focus()
  await page.keyboard.press('Enter')
  await panel.getByRole('tab', { name: 'What models see' }).focus()
  await page.keyboard.press('ArrowRight')
  await panel.getByLabel('text', { exact: true }).focus()
  await page.keyboard.type('Land ahoy!')
  await panel.getByRole('button', { name: 'Call tool' }).focus()
  await page.keyboard.press('Enter')
  await panel.locator('.result').getByText('Land ahoy!').waitFor()
  await page.keyboard.press('Escape')
  await panel.locator('dialog').waitFor({ state: 'detached' })
  assert.match((await focused(p))!.name, /^echo/)
  assert.deepEqual(p.faults, [])
  await page.close()
})

test('what goes away under the focus leaves the focus near by', async () => {
  const press = async ({ page, panel }: PanelPage, name: string) => {
    const button = panel.locator('dialog').getByRole('button', { name, exact: true }).first()
    await button.focus()
    await page.keyboard.press('Enter')
    await button.waitFor({ state: 'detached' })
  }
  const edit = await all.states.edit!()
  await press(edit, 'Replace')
  assert.equal((await focused(edit))?.name, 'Value')
  await press(edit, 'Remove header X-Key')
  assert.equal((await focused(edit))?.name, 'Add header')
  assert.deepEqual(edit.faults, [])
  await edit.page.close()

  const catalogue = await all.states.catalogue!()
  const listing = catalogue.panel.locator('.listing button').first()
  await press(catalogue, (await listing.getAttribute('aria-label'))!)
  assert.equal((await focused(catalogue))?.name, 'Catalogue')
  await press(catalogue, 'Back')
  assert.equal((await focused(catalogue))?.name, 'Catalogue')
  assert.deepEqual(catalogue.faults, [])
  await catalogue.page.close()
})

test('a server, a notice and a dialog that go away leave the focus near by', async () => {
  const p = await all.states.empty!()
  const { page, panel } = p
  const press = async (name: string) => {
    await panel.getByRole('button', { name, exact: true }).focus()
    await page.keyboard.press('Enter')
  }
  const pick = async (server: string, item: string) => {
    await press(`More for ${server}`)
    await panel.getByRole('menuitem', { name: item }).focus()
    await page.keyboard.press('Enter')
  }
  await page.evaluate(async () => {
    for (const name of ['a', 'b']) await window.registry.addServer(name, { url: 'builtin:demo' })
  })
  const more = panel.getByRole('button', { name: 'More for a', exact: true })
  for (const [key, item] of [['ArrowDown', 'Retry now'], ['ArrowUp', 'Remove']] as const) {
    await more.focus()
    await page.keyboard.press(key)
    await panel.locator('button[aria-expanded=true][popovertarget]').waitFor()
    assert.equal((await focused(p))?.name, item)
    await page.keyboard.press('Escape')
    await panel.locator('button[aria-expanded=true][popovertarget]').waitFor({ state: 'detached' })
  }
  await pick('a', 'Remove')
  await panel.getByText('a was removed.').waitFor()
  assert.equal((await focused(p))?.name, 'Use b')
  await press('Undo')
  await panel.getByRole('article', { name: 'a', exact: true }).waitFor()
  assert.match((await focused(p))!.name, /^Servers/)
  await pick('b', 'Edit…')
  await panel.locator('dialog').getByLabel('Name').fill('"c"')
  await page.keyboard.press('Enter')
  await panel.locator('dialog').waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'More for "c"', exact: true }).and(page.locator(':focus')).waitFor()
  assert.deepEqual(p.faults, [])
  await page.close()
})

test('a server that goes away from the middle of a list leaves the focus in the next one, or in the last', async () => {
  const p = await all.states.empty!()
  const { page, panel } = p
  await page.evaluate(async () => {
    for (const name of ['a', 'b', 'c', 'd']) await window.registry.addServer(name, { url: 'builtin:demo' })
  })
  for (const [name, next] of [['b', 'c'], ['d', 'c']]) {
    await panel.getByRole('button', { name: `More for ${name}`, exact: true }).press('Enter')
    await panel.getByRole('menuitem', { name: 'Remove' }).press('Enter')
    await panel.getByText(`${name} was removed.`).waitFor()
    assert.equal((await focused(p))?.name, `Use ${next}`)
  }
  assert.deepEqual(p.faults, [])
  await page.close()
})

test('the built-in demo says that it is there', async () => {
  const p = await all.states.empty!()
  await p.panel.getByRole('button', { name: 'Add the built-in demo' }).press('Enter')
  await p.panel.getByRole('status').getByText('Connected · demo').waitFor()
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a notice covers no more than its own place, and its buttons keep their text inside', async () => {
  const p = await all.states.servers!({ viewport: { width: 320, height: 480 } })
  // The place of notices is there before the first one, so that screen readers follow it.
  assert.match(await p.panel.locator('.panel').ariaSnapshot(), /\n- status$/)
  await p.page.evaluate(() => (window.panel as unknown as Shell).tell('ok', () => {}))
  const undo = p.panel.getByRole('button', { name: 'Undo' })
  await undo.waitFor()
  const covered = await p.panel.evaluate((panel) => {
    const { y, height } = panel.shadowRoot!.querySelector('.notice')!.getBoundingClientRect()
    const { left, right } = panel.getBoundingClientRect()
    return [left + 20, right - 20].map((x) =>
      !!panel.shadowRoot!.elementFromPoint(x, y + height / 2)!.closest('.notices')
    )
  })
  assert.deepEqual(covered, [false, false])
  await p.page.evaluate(() => (window.panel as unknown as Shell).tell('many words '.repeat(20), () => {}))
  await p.panel.getByText(/^many words/).waitFor()
  assert.ok(await undo.evaluate((button) => button.scrollWidth <= button.clientWidth + 1))
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a view that there is not shows the servers, whose tab the keyboard reaches', async () => {
  const p = await all.states.servers!()
  for (const view of [null, 'health']) {
    await p.page.evaluate((view) => {
      window.panel.view = 'tools'
      if (view) window.panel.setAttribute('view', view)
      else window.panel.removeAttribute('view')
    }, view)
    await p.panel.locator('[role=tab][aria-selected=true][tabindex="0"]').getByText('Servers').waitFor()
    assert.equal(await p.page.evaluate(() => window.panel.view), 'servers')
  }
})
