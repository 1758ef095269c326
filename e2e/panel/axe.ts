import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { root } from '../rig/harness.ts'

const axe = await readFile(`${root}node_modules/axe-core/axe.min.js`, 'utf8')

/**
 * The rules of WCAG 2.2 AA and best practice that the page breaks. Without `whole`, a panel is all of it. With
 * `colours`, only the rules that read colours count, for a page whose other looks have passed all rules.
 */
export async function violations(page: Page, { whole = false, colours = false } = {}): Promise<string[]> {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(`(() => { const module = undefined; ${axe} })()`)
  return page.evaluate(async ([whole, colours]) => {
    const { violations } = await (window as unknown as {
      axe: {
        run(o: object): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>
      }
    }).axe.run({
      ...(colours ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        rules: { 'page-has-heading-one': { enabled: whole } }, // that heading is the page's
      }),
    })
    return violations.flatMap((v) =>
      v.nodes.slice(0, 3).map((n) => `${v.id}: ${n.html.slice(0, 200)} ${n.failureSummary.replaceAll('\n', ' ')}`)
    )
  }, [whole, colours])
}
