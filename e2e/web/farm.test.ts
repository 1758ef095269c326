import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { latest, startFarm, taskOf, visit, visitAll, type Farm, type FarmCase, type Outcome } from '../rig/farm.ts'
import { launchChromium, openPage, root, serveFolder, type Listening } from '../rig/harness.ts'
import { soak } from '../rig/soak.ts'

// Servers that misbehave, beside a good one, over real sockets. Natively they are
// visited by registry/registrytest/farm.

let farm: Farm
let site: Listening
let browser: Browser
let page: Page
before(async () => {
  ;[browser, site, farm] = await Promise.all([launchChromium(), serveFolder(`${root}dist/npm`), startFarm()])
  page = await openPage(browser, `${site.url}/package.json`, /./)
})
after(async () => {
  await Promise.all([browser.close(), site.close()])
  farm.close()
})

const atOnce = 8
/** FARM=… runs only cases whose name matches; without it, all run in the soak, and else those that are severe. */
const pattern = process.env.FARM
const wanted = (c: FarmCase) => (pattern ? new RegExp(pattern).test(c.name) : soak || c.severe)

test('Chromium', { timeout: 900_000 }, async (t) => {
  await page.evaluate(`(async () => {
    globalThis.registryOf = (await import('/index.js')).createRegistry
    globalThis.compiled = await WebAssembly.compileStreaming(fetch('/portolan.wasm'))
    globalThis.visitOf = ${visit}
  })()`)
  const verdicts = await visitAll(
    farm,
    farm.cases.filter(wanted),
    atOnce,
    'chromium',
    (c, run) =>
      page.evaluate(`visitOf(registryOf, compiled, ${JSON.stringify(taskOf(farm, c, run, 'Chromium'))})`) as Promise<
        Outcome
      >,
  )
  for (const { c, problems } of verdicts) {
    if (problems.length) await t.test(`${c.area}: ${c.name}`, () => assert.deepEqual(problems, []))
  }
  const open = verdicts.map((v) => v.openMs).sort((a, b) => b - a)
  t.diagnostic(
    `exchanges were open after the end for at most ${open[0]} ms, for more than 250 ms in ${
      open.filter((ms) => ms > 250).length
    } cases`,
  )
  t.diagnostic(
    `${verdicts.filter((v) => !v.problems.length).length} of ${verdicts.length}; latest after a deadline, in ms: ${
      JSON.stringify(latest(verdicts))
    }`,
  )
})
