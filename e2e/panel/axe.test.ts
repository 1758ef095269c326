import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { root } from '../web/harness.ts'
import { withStates } from './states.ts'

const all = withStates()

const axe = await readFile(`${root}node_modules/axe-core/axe.min.js`, 'utf8')

/** The rules of WCAG 2.2 AA and best practice that the page breaks. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`(() => { const module = undefined; ${axe} })()`)
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

const looks: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'forced colours': { forcedColors: 'active' },
}

for (const [look, context] of Object.entries(looks)) {
  test(`axe finds nothing in ${look}`, async () => {
    for (const [state, open] of Object.entries(all.states)) {
      const { page, faults } = await open(context)
      assert.deepEqual(await violations(page), [], state)
      assert.deepEqual(faults, [], state)
      await page.close()
    }
  })
}
