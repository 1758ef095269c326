import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { root } from '../web/harness.ts'
import { withStates } from './states.ts'

const all = withStates()

const axe = await readFile(`${root}node_modules/axe-core/axe.min.js`, 'utf8')

/** The rules of WCAG 2.2 AA and best practice that the page breaks. */
async function violations(page: Page): Promise<string[]> {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(`(() => { const module = undefined; ${axe} })()`)
  return page.evaluate(async () => {
    const { violations } = await (window as unknown as {
      axe: {
        run(o: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>
      }
    }).axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      rules: { 'page-has-heading-one': { enabled: false } }, // that heading is the page's
    })
    return violations.flatMap((v) =>
      v.nodes.slice(0, 3).map((n) => `${v.id}: ${n.html.slice(0, 200)} ${n.failureSummary.replaceAll('\n', ' ')}`)
    )
  })
}

const looks: Record<string, Parameters<Page['emulateMedia']>[0]> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'forced colours': { colorScheme: 'light', forcedColors: 'active' },
}

type Found = Record<string, Record<string, { violations: string[]; faults: string[] }>>

/** The violations by look and state. Each state is opened once, because most of the time goes there. */
async function everywhere(): Promise<Found> {
  const found: Found = Object.fromEntries(Object.keys(looks).map((look) => [look, {}]))
  for (const [state, open] of Object.entries(all.states)) {
    const { page, faults } = await open({ reducedMotion: 'reduce' }) // no colour is on its way to another
    for (const [look, media] of Object.entries(looks)) {
      await page.emulateMedia(media)
      found[look]![state] = { violations: await violations(page), faults: [...faults] }
    }
    await page.close()
  }
  return found
}

let found: Promise<Found> | undefined
for (const look of Object.keys(looks)) {
  test(`axe finds nothing in ${look}`, async () => {
    found ??= everywhere()
    for (const [state, { violations, faults }] of Object.entries((await found)[look]!)) {
      assert.deepEqual(violations, [], state)
      assert.deepEqual(faults, [], state)
    }
  })
}
