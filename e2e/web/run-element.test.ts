import assert from 'node:assert/strict'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { violations } from '../panel/axe.ts'
import { happens, launchChromium, listen, type Listening } from '../rig/harness.ts'
import { lawServer, type LawServer } from './servers/lawserver.ts'
import { asks, openRun, plan, runSite, stages, summary } from './runsite.ts'

// <portolan-run> of the built package, in a page under a strict policy, over a real MCP server.

let browser: Browser, site: Listening, law: LawServer
before(async () => {
  ;[browser, site, law] = await Promise.all([launchChromium(), runSite(), lawServer()])
})
after(async () => {
  await browser?.close()
  await Promise.all([site, law].map((s) => s?.close()))
})
afterEach(() => law.reset())

async function open(
  t: TestContext,
  says: string[],
  query: Record<string, string> = {},
  context: BrowserContextOptions = {},
) {
  const { page, faults } = await openRun(browser, site, law.url, says, query, context)
  t.after(() => page.close())
  const element = page.locator('portolan-run')
  return {
    page,
    faults,
    element,
    field: element.locator('#prompt'),
    part: (name: string) => element.locator(`[part=${name}]`),
  }
}

const happened = (page: Page) => page.evaluate(() => window.happened)

test('by keyboard only: a question, a reply, the results, the answer', async (t) => {
  const { page, element, field, part, faults } = await open(t, [asks, plan(), summary])
  await field.focus()
  await page.keyboard.type('Liability of carriers')
  // Safari's input method ends a word with Enter of code 229, which sends nothing.
  const begins = await field.evaluate((e) =>
    !e.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))
  )
  assert.equal(begins, false)
  await page.keyboard.press('Enter')
  const reply = element.getByRole('textbox', { name: 'By sea or by <b>air</b>?' })
  await reply.waitFor()
  await page.waitForFunction(() => window.element.shadowRoot!.activeElement?.id === 'reply')
  await page.keyboard.type('By sea')
  await page.keyboard.press('Enter')
  await part('answer').waitFor()
  assert.equal(await reply.count(), 0)
  assert.equal(await page.evaluate(() => window.element.shadowRoot!.activeElement?.id), 'prompt')
  assert.deepEqual((await happened(page)).map(({ type }) => type).filter((type) => type !== 'progress'), [
    'clarify',
    'results_preview',
    'answer',
  ])
  assert.equal(await part('results').locator('li').count(), 10)
  assert.match(await part('results').innerText(), /10 of 240/)
  assert.equal(await part('stages').locator('[data-state=done]').count(), 4)
  assert.equal(await element.getByRole('status').first().innerText(), 'The answer is there.')
  assert.deepEqual(faults, [])
})

test('an answer is safe: no HTML, links of the results only, and none can reach the page', async (t) => {
  const { page, element, field, part } = await open(t, [plan(), summary])
  await field.fill('x')
  await field.press('Enter')
  await part('answer').waitFor()
  const links = await element.locator('a').evaluateAll((all) =>
    (all as HTMLAnchorElement[]).map(({ href, rel, target }) => [href, rel, target])
  )
  assert.equal(links.length, 12) // a case, the address of the search, ten results
  for (const [href, rel, target] of links) {
    assert.match(href!, /^https:\/\/law\.example\//)
    assert.deepEqual([rel, target], ['noopener noreferrer', '_blank'])
  }
  assert.equal(await part('answer').locator('img, b, script').count(), 0)
  assert.equal(await part('answer').locator('strong').innerText(), 'liable')
  assert.match(await part('answer').innerText(), /1 link was taken out/)
  assert.notEqual(await page.title(), 'owned')
})

test('a hostile endpoint: its links, titles and questions are bounded and shown as text', async (t) => {
  const answer = {
    markdown: '## Summary\n[here](javascript:alert(1)) [there](https://elsewhere.example/) a\u202eb <script>x</script>',
    url: 'https://law.example/s',
    removedLinks: 0,
  }
  const items = [{ title: '<img src=x onerror=alert(1)> \u202e'.repeat(200), url: 'https://law.example/1' }]
  const events = [['results_preview', { items, total: 1 }], ['answer', answer]]
  const hostile = await listen((req, res) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (req.method === 'OPTIONS') return void res.writeHead(204, cors).end()
    res.writeHead(200, { 'content-type': 'text/event-stream', ...cors }).end(
      events.map(([name, data]) => `event: ${name as string}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
    )
  })
  t.after(() => hostile.close())
  const { field, part, element, faults } = await open(t, [], { endpoint: hostile.url })
  await field.fill('x')
  await field.press('Enter')
  await part('answer').waitFor()
  assert.deepEqual(
    await element.locator('a').evaluateAll((all) => (all as HTMLAnchorElement[]).map(({ href }) => href)),
    ['https://law.example/s', 'https://law.example/1'],
  )
  assert.doesNotMatch(await element.innerText(), /\u202e/)
  assert.equal(await element.locator('img, script').count(), 0)
  assert.ok((await part('results').innerText()).length < 500)
  assert.deepEqual(faults, [])
})

test('an endpoint whose events are not as they must be leaves the element usable', async (t) => {
  const good = { title: 'Carrier v Harbour Trust', url: 'https://law.example/1', metadata: null }
  const scripts = 'javascript:alert(1)'
  const sent: [string, object][] = []
  const odd = await listen((req, res) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (req.method === 'OPTIONS') return void res.writeHead(204, cors).end()
    res.writeHead(200, { 'content-type': 'text/event-stream', ...cors })
    res.end(sent.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(''))
  })
  t.after(() => odd.close())
  const { field, part, element, faults } = await open(t, [], { endpoint: odd.url })
  const begin = async (...events: typeof sent) => {
    sent.splice(0, sent.length, ...events)
    await field.fill('x')
    await field.press('Enter')
  }
  const items = [null, 7, { title: 'a' }, { title: 'b', url: 'x' }, { title: 'c', url: scripts }, good]
  await begin(
    ['progress', { stage: 'rest' }],
    ['results_preview', { items, total: 6 }],
    ['answer', { markdown: '## Summary\nLiable.', url: scripts, removedLinks: 0 }],
  )
  await part('answer').waitFor()
  const links = () => element.locator('a').evaluateAll((all) => (all as HTMLAnchorElement[]).map((a) => a.href))
  assert.deepEqual(await links(), [good.url])
  await begin(['error', { code: 'of_a_newer_version', detail: 'It rests.' }])
  await element.getByRole('alert').getByText('It rests.').waitFor()
  await begin(['answer', { markdown: 7, url: 7, removedLinks: 0 }])
  await part('answer').waitFor()
  assert.deepEqual(faults, [])
})

test('O2, O13: stages are live, with the per cent that the server says, and can be cancelled', async (t) => {
  const { page, element, field, part } = await open(t, [plan(), summary])
  law.faults.slow = true
  await field.fill('x')
  await element.getByRole('button', { name: 'Search' }).click()
  await law.waits()
  await part('stages').getByText('Searched 4 of the courts').waitFor()
  assert.match(await part('stages').locator('[aria-current=step]').innerText(), /Searching\s+100 %/)
  assert.equal(await part('stages').getByRole('progressbar').getAttribute('value'), '100')
  const cancel = element.getByRole('button', { name: 'Cancel' })
  assert.ok(await cancel.evaluate((b) => b === (b.getRootNode() as ShadowRoot).activeElement), 'the focus stays')
  await page.keyboard.press('Enter')
  await element.getByText('Cancelled.').waitFor()
  assert.equal(await part('stages').locator('[data-state=failed]').count(), 1)
  await happens(() => law.cancelled)
  assert.equal(law.cancelled, 1)
  await element.getByRole('button', { name: 'Search' }).waitFor()
})

test('a double click on Cancel begins no further run', async (t) => {
  const { page, element, field } = await open(t, [plan(), summary])
  law.faults.slow = true
  await field.fill('x')
  await element.getByRole('button', { name: 'Search' }).click()
  await law.waits()
  const { x, y, width, height } = (await element.getByRole('button', { name: 'Cancel' }).boundingBox())!
  await page.mouse.move(x + width / 2, y + height / 2)
  for (const clickCount of [1, 2]) {
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
    if (clickCount < 2) await element.getByText('Cancelled.').waitFor()
  }
  assert.ok(await element.getByText('Cancelled.').isVisible())
  assert.ok(await element.getByRole('button', { name: 'Search' }).isVisible())
})

test('a run can be cancelled after its field was emptied', async (t) => {
  const { element, field } = await open(t, [plan(), summary])
  law.faults.slow = true
  await field.fill('x')
  await element.getByRole('button', { name: 'Search' }).click()
  await law.waits()
  await field.fill('')
  await element.getByRole('button', { name: 'Cancel' }).click()
  await element.getByText('Cancelled.').waitFor()
  assert.ok(await element.getByRole('button', { name: 'Search' }).isDisabled())
})

test('O13: no picker of sources; Advanced is closed and has the time and the most results', async (t) => {
  const { page, element, field, part } = await open(t, [plan(), summary])
  assert.equal(await element.locator('select, input[type=checkbox], input[type=radio]').count(), 0)
  const details = element.locator('details')
  assert.equal(await details.getAttribute('open'), null)
  await details.getByText('Advanced').click()
  await element.getByLabel('Most results').fill('3')
  await element.getByLabel('Time limit, in seconds').fill('3')
  await details.getByText('Advanced').click()
  await field.fill('x')
  await field.press('Enter')
  await page.waitForFunction(() => window.element.shadowRoot!.activeElement?.id === 'seconds') // it is too short
  await element.getByLabel('Time limit, in seconds').fill('30')
  await field.press('Enter')
  await part('answer').waitFor()
  assert.deepEqual(await page.evaluate(() => window.start), [{ prompt: 'x', timeoutMs: 30_000, preview: 3 }])
  assert.equal(await part('results').locator('li').count(), 3)
})

test('O13: the address of the search can be copied and shared', async (t) => {
  const { page, element, field } = await open(t, [plan(), summary])
  await field.fill('Carriers')
  await field.press('Enter')
  const url = 'https://law.example/search?q=carrier%20liability'
  await element.getByRole('button', { name: 'Copy link' }).click()
  await element.getByText('Copied.').waitFor()
  await element.getByRole('button', { name: 'Share…' }).click()
  assert.deepEqual(await page.evaluate(() => [window.copied, window.shared]), [[url], [{ url, title: 'Carriers' }]])
})

test('faults are said in words, and a further run begins with nothing', async (t) => {
  const { element, field, part } = await open(t, ['no', 'no', plan(), summary], { quota: '2' })
  await field.fill('x')
  await field.press('Enter')
  await element.getByRole('alert').getByText('The request could not be turned into a search.').waitFor()
  await field.press('Enter')
  await part('answer').getByText('0 searches are left today.').waitFor()
  assert.equal(await element.getByRole('alert').count(), 0)
  await field.press('Enter')
  await element.getByRole('alert').getByText('The searches of today are used up.').waitFor()
  await element.getByText(/possible again at \d/).waitFor()
  assert.equal(await part('answer').count(), 0)
})

test('axe finds nothing in any stage, light, dark, narrow and from right to left, and nothing overflows', async (t) => {
  for (const [name, { says, query, fault, shows }] of Object.entries(stages)) {
    for (const locale of ['', 'ar']) {
      law.reset()
      const { page, field, element, faults } = await open(t, says, { ...query, ...(locale && { locale }) }, {
        reducedMotion: 'reduce',
      })
      assert.deepEqual(await violations(page, { whole: true }), [], `before ${name}`)
      await field.fill('Liability of carriers by sea')
      Object.assign(law.faults, fault)
      await field.press('Enter')
      await element.locator(shows).first().waitFor()
      await element.locator('summary').first().click()
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [380, 1280]) {
          await page.setViewportSize({ width, height: 900 })
          await page.emulateMedia({ colorScheme })
          const colours = colorScheme === 'dark'
          assert.deepEqual(
            await violations(page, { whole: true, colours }),
            [],
            `${name} ${colorScheme} ${width} ${locale}`,
          )
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          assert.ok(wide <= 0, `${name} at ${width}: ${wide} px too wide`)
        }
      }
      assert.deepEqual(faults, [])
      await page.close()
    }
  }
})

test('a prompt that is taken away leaves the field empty', async (t) => {
  const { page, element, field, faults } = await open(t, [])
  for (const prompt of [null, undefined]) {
    await page.evaluate(() => window.element.setAttribute('prompt', 'x'))
    await element.getByRole('button', { name: 'Search', disabled: false }).waitFor()
    await page.evaluate(
      (prompt) =>
        prompt === null ? window.element.removeAttribute('prompt') : Object.assign(window.element, { prompt }),
      prompt,
    )
    await element.getByRole('button', { name: 'Search', disabled: true }).waitFor()
    assert.equal(await field.inputValue(), '')
  }
  assert.deepEqual(faults, [])
})

test('without start nothing can be begun, and an element that leaves ends its run', async (t) => {
  const { page, element, field } = await open(t, [plan(), 'hang'])
  assert.ok(await element.getByRole('button', { name: 'Search' }).isDisabled(), 'without a prompt')
  await field.fill('x')
  await field.press('Enter')
  await element.locator('[part=results]').waitFor()
  await page.evaluate(() => document.body.prepend(window.element)) // which ends nothing
  await element.getByRole('button', { name: 'Cancel' }).waitFor()
  assert.ok(!await page.evaluate(() => document.documentElement.hasAttribute('data-aborted')))
  await page.evaluate(() => window.element.remove())
  await page.locator('html[data-aborted]').waitFor()
  await page.evaluate(() => document.querySelector('main')!.append(document.createElement('portolan-run')))
  await page.locator('portolan-run #prompt').fill('x')
  assert.ok(await page.locator('portolan-run').getByRole('button', { name: 'Search' }).isDisabled())
})
