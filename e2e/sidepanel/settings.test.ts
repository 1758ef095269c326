import assert from 'node:assert/strict'
import { wholeChromium } from '../rig/flags.ts'
import { startChromium } from '../rig/harness.ts'
import { comparisons, runs } from './state.ts'
import { asked, flows, focused, lastAsked, permissions, play, says, set, until, wasAsked } from './walk.ts'

const flow = flows()
const withClipboard = flows(() => startChromium([], wholeChromium))

flow(
  'a chat is switched on by its note, the permission being asked in that click',
  { state: 'fresh' },
  async (page) => {
    await page.locator('#tab-chats').click()
    const use = page.getByRole('switch', { name: 'Use ChatGPT' })
    await use.click()
    await page.getByText('The terms of OpenAI may forbid automated use').waitFor()
    assert.equal(await use.isChecked(), false)
    assert.deepEqual(
      [await asked(page, 'setChat'), (await permissions(page)).asked],
      [[], []],
      'reading asks for nothing',
    )
    assert.match(
      await page.getByRole('link', { name: 'The terms of OpenAI' }).getAttribute('href') ?? '',
      /^https:\/\/openai\.com\//,
    )
    await page.keyboard.press('Escape')
    await until(() => focused(page), (f) => f === 'Use ChatGPT', 'Escape leads back')
    await page.keyboard.press('Space')
    await says(page, false)
    await page.getByRole('button', { name: 'I accept, switch on' }).click()
    await page.getByText('ChatGPT stays off. Switch it on to be asked again.').waitFor()
    assert.deepEqual(await asked(page, 'setChat'), [], 'refused: nothing is switched on')
    await says(page, true)
    await use.click()
    await page.getByRole('button', { name: 'I accept, switch on' }).click()
    await until(() => use.isChecked(), (on) => on === true, 'it is on')
    const { asked: wanted, clicked } = await permissions(page)
    assert.deepEqual([wanted, clicked], [
      Array(2).fill({ origins: ['https://chatgpt.com/*'], permissions: ['scripting'] }),
      true,
    ])
    const [change] = await asked(page, 'setChat') as { site: string; patch: { enabled: boolean; acceptedAt: number } }[]
    assert.equal(change!.site, 'chatgpt')
    assert.equal(change!.patch.enabled, true)
    assert.ok(Math.abs(change!.patch.acceptedAt - Date.now()) < 20_000)
    await use.click()
    await until(
      () => permissions(page),
      (p: { back: unknown[] }) => p.back.length === 1,
      'the permission is given back',
    )
    await lastAsked(page, 'setChat', { site: 'chatgpt', patch: { enabled: false } })
    await until(() => use.isChecked(), (on) => on === false, 'it is off')
    await use.click() // accepted before: only the browser asks
    await until(() => use.isChecked(), (on) => on === true, 'it is on again')
    await lastAsked(page, 'setChat', { site: 'chatgpt', patch: { enabled: true } })
  },
)

flow('a browser that cannot ask says so', { state: 'fresh' }, async (page) => {
  await says(page, undefined)
  await page.getByRole('switch', { name: 'Offer bookmark tools' }).click()
  await page.getByText('This browser cannot ask for this permission here.').waitFor()
  assert.equal(await page.getByRole('switch', { name: 'Offer bookmark tools' }).isChecked(), false)
  assert.deepEqual(await asked(page, 'setOptions'), [])
})

flow('a chat that lost its permission says so and asks again', { state: 'used' }, async (page) => {
  await page.locator('#tab-chats').click()
  await page.evaluate(() => window.standin.grant({ origins: ['https://chatgpt.com/*'] }, false))
  await page.getByText('Permission missing').waitFor()
  await page.getByRole('button', { name: 'Grant access' }).click()
  await page.getByText('Permission missing').waitFor({ state: 'detached' })
  assert.equal((await permissions(page)).clicked, true)
})

flow('mode and limit of a chat are set; nonsense is not', { state: 'used' }, async (page) => {
  await page.locator('#tab-chats').click()
  await page.getByText('Mode and limit').first().click()
  await page.getByRole('radio', { name: /Assisted/ }).first().check()
  const most = page.getByLabel('Most prompts in an hour').first()
  await most.fill('0')
  await most.press('Tab')
  assert.equal(await most.inputValue(), '20')
  await most.fill('7')
  await most.press('Tab')
  await wasAsked(page, 'setChat', [{ site: 'chatgpt', patch: { mode: 'assist' } }, {
    site: 'chatgpt',
    patch: { perHour: 7 },
  }])
  await page.getByRole('button', { name: 'Open ChatGPT' }).click()
  assert.deepEqual(await page.evaluate(() => window.standin.tabs), ['https://chatgpt.com/'])
})

flow('a mode that could not be set is not shown as set', { state: 'used' }, async (page) => {
  await page.locator('#tab-chats').click()
  await play(page, { refusal: { code: 'STORAGE', message: 'the disk is full' } })
  await page.getByText('Mode and limit').first().click()
  await page.getByRole('radio', { name: /Assisted/ }).first().click()
  await page.getByText('the disk is full').waitFor()
  assert.equal(await page.getByRole('radio', { name: /Automatic/ }).first().isChecked(), true)
  const reuse = page.locator('portolan-options input[type=radio]:checked')
  const before = await reuse.getAttribute('value')
  await page.getByLabel('Continues the client’s chat').click()
  await until(() => asked(page, 'setOptions'), (a: unknown[]) => a.length === 1, 'it is asked')
  await until(() => reuse.getAttribute('value'), (value) => value === before, 'what holds is shown')
})

flow('bookmarks and pages ask in the click, stay off when refused, and give back', { state: 'fresh' }, async (page) => {
  const offer = page.getByRole('switch', { name: 'Offer bookmark tools' })
  await says(page, false)
  await offer.click()
  await page.getByText('the bookmark tools stay off').waitFor()
  assert.equal(await offer.isChecked(), false)
  await says(page, true)
  await offer.click()
  await until(() => asked(page, 'setOptions'), (a: unknown[]) => a.length === 1, 'switched on')
  await until(() => offer.isChecked(), (on) => on === true, 'it is on')
  await offer.click()
  await until(() => permissions(page), (p: { back: unknown[] }) => p.back.length === 1, 'given back')
  await page.locator('#tab-chats').click()
  const pages = page.getByRole('switch', { name: 'Tools for tabs and pages' })
  await says(page, false)
  await pages.click()
  await page.getByText('the tools for tabs and pages stay off').waitFor()
  assert.equal(await pages.isChecked(), false)
  await says(page, true)
  await pages.click()
  await until(() => pages.isChecked(), (on) => on === true, 'granted')
  assert.deepEqual((await permissions(page)).asked.at(-1), { permissions: ['tabs', 'scripting'] })
  await pages.click()
  await until(async () => (await permissions(page)).back, (back: unknown[]) => back.length === 2, 'given back')
  assert.deepEqual(
    (await permissions(page)).back,
    [{ permissions: ['bookmarks'] }, { permissions: ['tabs'] }],
    'chats keep what they need',
  )
  assert.equal((await permissions(page)).clicked, true)
})

flow('options are sent one by one, and show what holds when that fails', { state: 'used' }, async (page) => {
  await page.locator('#tab-chats').click()
  await page.getByRole('switch', { name: 'Bring the tab to the front' }).click()
  await wasAsked(page, 'setOptions', [{ focus: true }])
  await play(page, { refusal: { code: 'STORAGE', message: 'the disk is full' } })
  const aliases = page.getByRole('switch', { name: 'Also offer other tool names' })
  await aliases.click()
  await page.getByText('the disk is full').waitFor()
  assert.equal(await aliases.isChecked(), true)
  await play(page, { refusal: undefined })
  const days = page.getByLabel('Forget after days')
  await days.fill('5')
  await days.press('Tab')
  await lastAsked(page, 'setOptions', { historyDays: 5 })
  await page.getByLabel('Continues the client’s chat').click()
  await lastAsked(page, 'setOptions', { reuse: 'client' })
})

flow('two quick changes show what holds when both fail, or the second one', { state: 'used' }, async (page) => {
  await page.locator('#tab-chats').click()
  /** Refuses the requests after the next `more`. Resolves when two have been answered. */
  const refuseAfter = async (more: number, change: () => Promise<unknown>) => {
    const before = (await asked(page, 'setOptions')).length
    await page.evaluate((most) => {
      const { background } = window.standin
      const refusal = { code: 'STORAGE', message: 'the disk is full' }
      const isRefused = () => background.asked.filter((a) => a.method === 'setOptions').length > most
      Object.defineProperty(background, 'refusal', { configurable: true, get: () => isRefused() ? refusal : undefined })
    }, before + more)
    await change()
    await until(() => asked(page, 'setOptions'), (a: unknown[]) => a.length === before + 2, 'both are asked')
    await set(page, {}) // comes after the answers
  }
  const aliases = page.getByRole('switch', { name: 'Also offer other tool names' })
  const switchTwice = () =>
    aliases.evaluate((box: HTMLElement) => {
      box.click()
      box.click()
    })
  await refuseAfter(0, switchTwice)
  assert.equal(await aliases.isChecked(), true)
  await refuseAfter(1, switchTwice)
  assert.equal(await aliases.isChecked(), false)

  const reuse = page.locator('portolan-options input[name$=reuse]')
  await refuseAfter(1, () =>
    reuse.first().evaluate((off: HTMLElement) => {
      off.click()
      off.closest('fieldset')!.querySelector<HTMLElement>('[value=client]')!.click()
    }))
  assert.equal(await reuse.and(page.locator(':checked')).getAttribute('value'), 'off')
})

flow('the hosts of a chat are a list of the language', { state: 'used', lang: 'ar' }, async (page) => {
  await page.evaluate(() => {
    const { background } = window.standin
    const { chats } = background.state
    const matches = ['https://a.example/*', 'https://b.example/*']
    background.set({ chats: { ...chats, chatgpt: { ...chats.chatgpt, enabled: true, granted: false, matches } } })
  })
  await page.locator('#tab-chats').click()
  await page.getByText('a.example، b.example').waitFor()
})

withClipboard(
  'the history is filtered, searched, opened, resumed, deleted, exported and cleared',
  { state: 'used' },
  async (page) => {
    await page.locator('#tab-history').click()
    const rows = page.locator('portolan-history .log > li')
    await rows.nth(4).waitFor()
    await page.getByRole('button', { name: 'Show older' }).click()
    await rows.nth(6).waitFor()
    await lastAsked(page, 'history', { before: 5 })
    await page.getByLabel('Search history').fill('harbours algarve')
    await until(() => rows.count(), (n: number) => n === 1, 'one is found')
    await page.getByText('Suspicious answer').waitFor()
    await page.getByRole('button', { name: /^Open Which harbours/ }).click()
    assert.deepEqual(await page.evaluate(() => window.standin.tabs), [
      'https://www.perplexity.ai/search/which-harbours-x',
    ])
    await page.getByRole('button', { name: /^Resume Which harbours/ }).click()
    await page.getByText('Copied').waitFor()
    await page.getByLabel('Search history').fill('')
    await rows.nth(4).waitFor()
    await page.getByLabel('Project').selectOption('portolan')
    await until(() => rows.count(), (n: number) => n === 1, 'one of the project')
    await lastAsked(page, 'history', { project: 'portolan' })
    await page.getByLabel('Project').selectOption('')
    await page.getByLabel('Chat', { exact: true }).selectOption('grok')
    await page.getByText('Nothing matches.').waitFor()
    await page.getByLabel('Chat', { exact: true }).selectOption('all')
    await rows.nth(4).waitFor()
    await page.getByRole('button', { name: /^Delete Compare these/ }).click()
    await wasAsked(page, 'deleteHistory', [{ id: 9 }])
    await until(() => rows.count(), (n: number) => n === 4, 'it is gone')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export history' }).click()
    assert.equal((await saved).suggestedFilename(), 'portolan-history.jsonl')
    await wasAsked(page, 'exportHistory', [{ after: 0 }, { after: 7 }])
    const bundle = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download SUSPICIOUS_ANSWER' }).click()
    assert.match((await bundle).suggestedFilename(), /^perplexity-2.*\.json$/)
    await page.getByRole('button', { name: 'Clear history…' }).click()
    await page.getByRole('button', { name: 'Clear them' }).click()
    await page.getByText('The history is empty.').waitFor()
    await page.getByText('Questions and answers appear here').waitFor()
  },
)

flow('a double click deletes one entry of the history', { state: 'used' }, async (page) => {
  await page.locator('#tab-history').click()
  const rows = page.locator('portolan-history .log > li')
  await rows.nth(4).waitFor()
  const { x, y, width, height } = (await page.getByRole('button', { name: /^Delete Compare these/ }).boundingBox())!
  await page.mouse.move(x + width / 2, y + height / 2)
  for (const clickCount of [1, 2]) {
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
    await until(() => rows.count(), (n: number) => n === 4, 'it is gone')
  }
  await page.getByRole('button', { name: 'Show older' }).click()
  await lastAsked(page, 'history', { before: 5 })
  await wasAsked(page, 'deleteHistory', [{ id: 9 }])
})

flow("a site's profile is changed, compared and reset", { state: 'used' }, async (page) => {
  await page.locator('#tab-chats').click()
  await page.getByText('Site profile').first().click()
  const json = page.getByLabel('Your changes, as JSON').first()
  await json.fill('not json')
  const save = page.locator('portolan-profile-editor').first().getByRole('button', { name: 'Save' })
  await save.click()
  await page.getByText('The profile is no JSON').waitFor()
  assert.equal(await json.getAttribute('aria-invalid'), 'true')
  await json.fill('{"version":1}')
  await save.click()
  await page.getByText('layouts/article/send/selector').waitFor()
  await wasAsked(page, 'setProfile', [{ site: 'chatgpt', json: 'not json' }, {
    site: 'chatgpt',
    json: '{"version":1}',
  }])
  await page.getByRole('button', { name: 'Reset…' }).click()
  await page.getByRole('button', { name: 'Reset it' }).click()
  await lastAsked(page, 'setProfile', { site: 'chatgpt', json: '' })
})

flow('runs are shown, cancelled, resumed and handed over', { state: 'running' }, async (page) => {
  for (
    const [name, method, id] of [['Show tab: Gemini', 'showRun', 'r2'], ['Hand over: Gemini', 'handOver', 'r2'], [
      'Resume: ChatGPT',
      'resumeRun',
      'r3',
    ], ['Cancel: Gemini', 'cancelRun', 'r2']] as const
  ) {
    await page.getByRole('button', { name }).click()
    await wasAsked(page, method, [{ id }])
  }
  await page.getByText('The same question, for a second opinion.').waitFor({ state: 'detached' })
  const counted = () => page.getByText(/^for \d+ sec$/).first().innerText()
  const begun = await counted()
  await until(counted, (now: string) => now !== begun, 'it counts')
})

flow('a double click cancels one of the prompts that wait', { state: 'used' }, async (page) => {
  const queued = runs(Date.now()).at(-1)!
  await set(page, { runs: ['one', 'two'].map((id) => ({ ...queued, id })) })
  const cancel = page.getByRole('button', { name: 'Cancel: ChatGPT' })
  const { x, y, width, height } = (await cancel.first().boundingBox())!
  await page.mouse.move(x + width / 2, y + height / 2)
  for (const clickCount of [1, 2]) {
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
    await wasAsked(page, 'cancelRun', [{ id: 'one' }])
    await cancel.nth(1).waitFor({ state: 'detached' })
  }
  await cancel.click()
  await wasAsked(page, 'cancelRun', [{ id: 'one' }, { id: 'two' }])
})

flow('rules of a client are changed, taken back and added; a client is forgotten', { state: 'used' }, async (page) => {
  await page.getByText('3 rules').click()
  await page.getByLabel('Rule for page_dom').selectOption('allow')
  await page.getByLabel('Rule for chat_chatgpt').selectOption('')
  await page.getByText('2 rules').waitFor()
  await page.getByLabel('Add a rule for').first().selectOption('bookmark_search')
  await page.getByLabel('Rule', { exact: true }).first().selectOption('deny')
  await page.getByRole('button', { name: 'Set the rule for Claude Desktop' }).click()
  await wasAsked(page, 'setGrant', [
    { client: 'claude', tool: 'page_dom', grant: 'allow' },
    { client: 'claude', tool: 'chat_chatgpt', grant: undefined },
    { client: 'claude', tool: 'bookmark_search', grant: 'deny' },
  ])
  await page.getByRole('button', { name: 'Forget mcp-inspector…' }).click()
  await page.getByRole('button', { name: 'Forget', exact: true }).click()
  await wasAsked(page, 'forgetClient', [{ client: 'inspector' }])
  await until(
    () => focused(page),
    (f: string) => f.startsWith('Bridge'),
    "the focus is not lost with the client: the tab's view has it",
  )
})

flow('an origin is approved as scheme, host and port only', { state: 'used' }, async (page) => {
  const field = page.getByLabel('Origin of a page')
  await field.fill('https://new.example/app?x')
  await field.press('Enter')
  await page.getByText('You would approve all pages of this one').waitFor()
  assert.equal(await field.inputValue(), 'https://new.example')
  assert.deepEqual(await asked(page, 'approveOrigin'), [])
  await field.press('Enter')
  await page.locator('portolan-origins li').getByText('https://new.example').waitFor()
  await page.getByRole('button', { name: 'Remove https://app.example' }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).first().click()
  await wasAsked(page, 'approveOrigin', [{ origin: 'https://new.example', approved: true }, {
    origin: 'https://app.example',
    approved: false,
  }])
})

flow(
  "an origin's tools are switched on for that origin only, listed, and given back",
  { state: 'used' },
  async (page) => {
    await page.locator('#tab-tools').click()
    const part = page.locator('portolan-page-tools')
    await part.getByText('2 tools · Harbour shop').click()
    for (const words of ['add_to_cart', 'only reads, it says', '3 more are too large, or too many.'])
      await part.getByText(words).waitFor()
    const field = page.getByLabel('Origin of pages with tools')
    const button = part.getByRole('button', { name: 'Switch on' })
    await says(page, false)
    await field.fill('https://map.example')
    await button.click()
    await page.getByText('Without access to https://map.example, the tools of its pages stay off.').waitFor()
    assert.deepEqual(await asked(page, 'setPageTools'), [], 'refused: nothing is switched on')
    assert.equal(await field.inputValue(), 'https://map.example')
    await says(page, true)
    await button.click()
    const on = part.getByRole('switch', { name: 'https://map.example' })
    await on.waitFor()
    const { asked: wanted, clicked } = await permissions(page)
    assert.deepEqual([wanted, clicked], [
      Array(2).fill({ origins: ['https://map.example/*'], permissions: ['scripting'] }),
      true,
    ])
    await part.getByText('None of its pages is open.').waitFor()
    await part.getByRole('button', { name: 'Grant access' }).click()
    await until(
      () => permissions(page),
      ({ asked }: { asked: unknown[] }) =>
        JSON.stringify(asked.at(-1)) === '{"origins":["https://tides.example/*"],"permissions":["scripting"]}',
      'access is asked for again',
    )
    await on.click()
    await on.waitFor({ state: 'detached' })
    await lastAsked(page, 'setPageTools', { origin: 'https://map.example', on: false })
    await until(
      () => permissions(page),
      (p: { back: unknown[] }) => JSON.stringify(p.back) === '[{"origins":["https://map.example/*"]}]',
      'the permission is given back',
    )
  },
)

flow('the activity is newest first, filtered, bounded and cleared', { state: 'busy' }, async (page) => {
  await page.locator('#tab-activity').click()
  const rows = page.locator('.log > li')
  await until(() => rows.count(), (n) => n === 60, 'so many at first')
  const times = await page.locator('.log time').evaluateAll((all) => all.map((t) => t.getAttribute('datetime')!))
  assert.deepEqual(times, [...times].sort().reverse())
  await page.getByRole('button', { name: 'Show 60 more' }).click()
  await until(() => rows.count(), (n) => n === 120, 'as many again')
  await page.getByLabel('Show', { exact: true }).selectOption('denied')
  await until(() => rows.count(), (n) => n === 60, 'as many as fit')
  assert.deepEqual([...new Set(await rows.evaluateAll((all) => all.map((r) => (r as HTMLElement).dataset.outcome)))], [
    'denied',
  ])
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByRole('button', { name: 'Clear it' }).click()
  await page.getByText('appear here as they happen').waitFor()
})

flow('the servers are the settings panel: a refused origin is saved but off, and a new background is joined', {
  state: 'used',
}, async (page) => {
  assert.equal(
    await page.evaluate(() => !!customElements.get('portolan-panel')),
    false,
    'not loaded before it is shown',
  )
  await page.evaluate(() => window.standin.background.prepare({ demo: { url: 'builtin:demo' } }))
  await page.locator('#tab-servers').click()
  await page.locator('portolan-panel .card').getByText('demo', { exact: true }).waitFor()
  await says(page, false)
  await page.locator('portolan-panel .add textarea').fill('https://harbour.example/mcp')
  await page.locator('portolan-preview footer button').click()
  await page.getByText('Without access to harbour.example, harbour is saved but stays off.').waitFor()
  assert.deepEqual((await permissions(page)).asked, [{ origins: ['https://harbour.example/*'] }])
  const use = page.getByRole('switch', { name: 'Use harbour' })
  assert.equal(await use.isChecked(), false)
  await page.evaluate(() => window.standin.background.die())
  await until(
    () => page.evaluate(() => window.standin.background.connections),
    (n: number) => n === 4,
    'both ports are connected again',
  )
  await says(page, true)
  await until(
    async () => {
      if (!await use.isChecked()) await use.click()
      return page.evaluate(() => window.standin.background.registry!.getSnapshot().servers.harbour!.config.enabled)
    },
    (on) => on !== false,
    "the new registry is the panel's",
  )
  assert.deepEqual(
    await page.evaluate(() => window.standin.background.state.permissions.origins.at(-1)),
    'https://harbour.example/*',
  )
  await page.getByRole('switch', { name: 'Offer these tools' }).click()
  await wasAsked(page, 'setOptions', [{ publishRegistry: false }])
})

flow('a common answer without claims is a judgement', { state: 'used' }, async (page) => {
  const now = Date.now()
  await set(page, { comparisons: comparisons(now).slice(0, 1).map((c) => ({ ...c, rows: [] })) })
  await page.locator('#tab-chats').click()
  const shown = page.locator('portolan-comparisons')
  await shown.getByText('The channel is 12 m deep at low water.').waitFor()
  assert.equal(await shown.getByText('ended without a judgement').count(), 0)
})

flow('the rules of a client are shown as they are, also after several changes', { state: 'used' }, async (page) => {
  await page.getByText('3 rules').click()
  const rule = (tool: string) => page.getByLabel(`Rule for ${tool}`)
  await rule('bookmark_remove').selectOption('allow')
  await wasAsked(page, 'setGrant', [{ client: 'claude', tool: 'bookmark_remove', grant: 'allow' }])
  await rule('bookmark_remove').selectOption('')
  await page.getByText('2 rules').waitFor()
  assert.equal(await rule('chat_chatgpt').inputValue(), 'allow')
  assert.equal(await rule('page_dom').inputValue(), 'deny')
  const { clients } = await page.evaluate(() => window.standin.background.state)
  // On another page of the extension the person changes the same rule.
  await rule('page_dom').selectOption('allow')
  for (const page_dom of ['ask', 'allow', 'deny', 'ask', 'deny'] as const) {
    await set(page, { clients: clients.map((c) => ({ ...c, grants: { ...c.grants, page_dom } })) })
    await until(() => rule('page_dom').first().inputValue(), (value) => value === page_dom, page_dom)
  }
})

flow('what a person has chosen stays chosen while lists change above it', { state: 'used' }, async (page) => {
  const { tools, origins } = await page.evaluate(() => window.standin.background.state)
  await page.getByText('3 rules').click()
  const tool = page.getByLabel('Add a rule for').first()
  await tool.selectOption('bookmark_search')
  await set(page, { tools: [{ name: 'harbour__sweep', source: 'registry' }, ...tools] }) // as of a server that connects
  assert.equal(await tool.inputValue(), 'bookmark_search')
  await page.getByRole('button', { name: 'Set the rule for Claude Desktop' }).click()
  await wasAsked(page, 'setGrant', [{ client: 'claude', tool: 'bookmark_search', grant: 'allow' }])

  await page.getByRole('button', { name: `Remove ${origins[0]}` }).click()
  await set(page, { origins: ['https://earlier.example', ...origins] }) // as of another page of the extension
  await page.locator('portolan-origins .yes').click()
  await wasAsked(page, 'approveOrigin', [{ origin: origins[0], approved: false }])
})
