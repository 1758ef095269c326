import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import { withStates } from './states.ts'

const all = withStates()

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
