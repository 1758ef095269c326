import assert from 'node:assert/strict'
import { approvals, linkOf } from './state.ts'
import { asked, be, bridgesAt, flows, focused, lastAsked, play, set, settled, until, wasAsked } from './walk.ts'

const flow = flows()

flow('a person pairs with the keyboard alone', { state: 'fresh' }, async (page) => {
  for (let i = 0; await focused(page) !== 'Pair'; i++) {
    assert.ok(i < 20, 'Tab comes to Pair')
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('Enter')
  await page.getByText('Looking for the bridge at 127.0.0.1:55156').waitFor()
  await wasAsked(page, 'pair', [{ address: '127.0.0.1:55156' }])
  await set(page, { pairing: { step: 'digits', address: '127.0.0.1:55156', error: null } })
  await until(() => focused(page), (f) => f === 'digits', 'the focus goes to the digits')
  await page.keyboard.type('12x3456')
  assert.equal(await page.locator('.digits').inputValue(), '123 456')
  await page.keyboard.press('Enter')
  await until(() => asked(page, 'digits'), (a: unknown[]) => a.length === 1, 'digits are sent')
  await wasAsked(page, 'digits', [{ digits: '123456' }])
  await set(page, { pairing: { step: 'terminal', address: '127.0.0.1:55156', error: null } })
  await page.getByText('Now say yes in the terminal.').waitFor()
  await until(() => focused(page), (f) => f === 'Cancel', 'the focus goes on')
  await set(page, { pairing: null, links: [linkOf({ since: Date.now() })] })
  await page.getByText('Paired. Your MCP clients').waitFor()
  assert.equal(await page.locator('portolan-pairing').count(), 0)
  await until(() => focused(page), (f: string) => f.startsWith('Bridge'), 'the focus is not lost with the card')
})

flow('a person finds a bridge with the keyboard, and pairs with it', { state: 'fresh' }, async (page) => {
  const questions: string[] = []
  page.on('request', (r) => r.url().includes('/mcp-discovery') && questions.push(r.url()))
  await bridgesAt(page, 55158)
  const look = page.getByRole('button', { name: 'Look for bridges' })
  await look.waitFor()
  assert.deepEqual(questions, [], 'nothing is asked before the click')
  await look.focus()
  await page.keyboard.press('Enter')
  await page.getByText('1 bridge answers on this computer.').waitFor()
  assert.deepEqual(
    questions.map((url) => Number(new URL(url).port)).slice(0, 11),
    [8766, 55156, 55157, 55158, 55159, 55160, 55161, 55162, 55163, 55164, 55165],
  )
  assert.equal(await focused(page), 'Stop looking')
  await page.keyboard.press('Tab')
  assert.equal(await focused(page), 'Pair with the bridge at 127.0.0.1:55158')
  await bridgesAt(page, 55156, 55158) // one more starts
  await page.getByText('2 bridges answer').waitFor()
  assert.equal(await focused(page), 'Pair with the bridge at 127.0.0.1:55158')
  await page.keyboard.press('Enter')
  await wasAsked(page, 'pair', [{ address: '127.0.0.1:55158' }])
  await until(() => focused(page), (f) => f === 'Cancel', 'the focus goes on')
  assert.equal(await page.locator('portolan-bridges').count(), 0, 'it no longer looks')
})

flow('a bridge that ends leaves the buttons of the others where they are', { state: 'fresh' }, async (page) => {
  await bridgesAt(page, 55156, 55157, 55158)
  await page.getByRole('button', { name: 'Look for bridges' }).click()
  await page.getByText('3 bridges answer').waitFor()
  const last = page.getByRole('button', { name: 'Pair with the bridge at 127.0.0.1:55158' })
  const before = await last.boundingBox()
  await bridgesAt(page, 55158)
  await page.getByText('1 bridge answers').waitFor()
  assert.deepEqual(await last.boundingBox(), before)
  assert.equal(await page.locator('portolan-bridges li button').and(page.locator(':visible')).count(), 1)
  await bridgesAt(page, 55157, 55158, 55159)
  await page.getByText('3 bridges answer').waitFor()
  assert.deepEqual(await last.boundingBox(), before)
  assert.equal(await page.locator('portolan-bridges li').count(), 3, 'the new one takes an empty place')
  await bridgesAt(page)
  await page.getByText('No bridge has answered').waitFor()
})

flow('each bridge has its own card, and another can be paired', { state: 'several' }, async (page) => {
  await page.getByRole('button', { name: 'Unpair… 127.0.0.1:55156' }).waitFor()
  await page.getByRole('button', { name: 'Try now 127.0.0.1:55157' }).click()
  await wasAsked(page, 'reconnect', [{ pairing: 'p2' }])
  await page.getByRole('button', { name: 'Unpair… 127.0.0.1:55157' }).click()
  await page.getByRole('button', { name: 'Unpair', exact: true }).click()
  await wasAsked(page, 'unpair', [{ pairing: 'p2' }])
  await page.locator('portolan-link').nth(1).waitFor({ state: 'detached' })
  assert.equal(await page.locator('portolan-link').count(), 1)
  await bridgesAt(page, 55156, 55158)
  await page.getByRole('button', { name: 'Pair another bridge' }).click()
  await page.getByRole('button', { name: 'Look for bridges' }).dblclick() // which is no wish to stop at once
  await page.getByText('2 bridges answer').waitFor()
  assert.equal(await page.locator('portolan-bridges li').first().locator('.badge').innerText(), 'paired')
  await set(page, { pairing: { step: 'terminal', address: '127.0.0.1:55158', error: null } })
  await page.getByText('Now say yes in the terminal.').waitFor()
  const links = [linkOf(), linkOf({ pairing: 'p3', address: '127.0.0.1:55158' })]
  await set(page, { pairing: null, links })
  await page.getByText('Paired. Your MCP clients').waitFor()
  assert.equal(await page.locator('portolan-pairing').count(), 0)
  await page.getByRole('button', { name: 'Pair another bridge' }).click()
  await page.locator('portolan-pairing').getByRole('button', { name: 'Close' }).click()
  assert.equal(await page.locator('portolan-pairing').count(), 0)
})

flow('the field for digits takes what is pasted, keeps the caret, and wants six', { state: 'digits' }, async (page) => {
  const field = page.locator('.digits')
  assert.deepEqual(await field.evaluate((e: HTMLInputElement) => [e.inputMode, e.autocomplete, e.labels?.length]), [
    'numeric',
    'one-time-code',
    1,
  ])
  await field.focus()
  await page.evaluate(() => document.execCommand('insertText', false, 'Code:  123-456 7'))
  assert.equal(await field.inputValue(), '123 456')
  for (let i = 0; i < 3; i++) await page.keyboard.press('Backspace')
  assert.equal(await field.inputValue(), '123')
  await page.keyboard.press('Home')
  await page.keyboard.type('9')
  assert.equal(await field.inputValue(), '912 3')
  await page.keyboard.type('8')
  assert.equal(await field.inputValue(), '981 23')
  await page.keyboard.press('Enter')
  await page.getByText('Type all six digits.').waitFor()
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.deepEqual(await asked(page, 'digits'), [])
  await page.keyboard.press('End')
  await page.keyboard.type('٤')
  assert.equal(await field.inputValue(), '981 234')
})

flow('a pairing that fails says why, and what to do', { state: 'looking' }, async (page) => {
  const rows: [code: string, advice: RegExp][] = [
    ['BAD_PROOF', /type the digits exactly/],
    ['NOT_PAIRING', /the bridge says so/],
    ['NO_BRIDGE', /another program may use its port/],
    ['DECLINED', /type the digits exactly/],
    ['TOO_MANY', /Wait a minute/],
    ['WRONG_TARGET', /Do not pair/],
    ['BAD_MESSAGE', /Update both/],
    ['SOMETHING_NEW', /the bridge says so/],
  ]
  for (const [code, advice] of rows) {
    await set(page, { pairing: { step: 'failed', address: 'x', error: { code, message: 'the bridge says so' } } })
    const alert = page.locator('portolan-pairing [role=alert]')
    await alert.getByText(code).waitFor()
    assert.match(await alert.innerText(), advice)
  }
  await page.getByRole('button', { name: 'Try again' }).click()
  await until(() => asked(page, 'pair'), (a: unknown[]) => a.length === 1, 'pair')
})

flow('an address, a token and a name are sent; the token is not kept', { state: 'fresh' }, async (page) => {
  await page.getByText('Advanced').click()
  await page.getByLabel('Address of the bridge').fill('127.0.0.1:60001')
  const token = page.getByLabel('Token of an ephemeral bridge')
  assert.equal(await token.getAttribute('type'), 'password')
  await token.fill('sekret')
  await page.getByRole('button', { name: 'Use token' }).click()
  await wasAsked(page, 'useToken', [{ address: '127.0.0.1:60001', token: 'sekret' }])
  assert.equal(await token.inputValue(), '')
  await page.getByLabel('Name of this profile').fill('  Work ')
  await page.getByLabel('Name of this profile').press('Enter')
  await page.getByText('Saved.').waitFor()
  await wasAsked(page, 'setLabel', [{ label: 'Work' }])
})

flow('a question is said on every tab, takes no focus, and cannot be answered before it was seen', {}, async (page) => {
  for (const tab of ['chats', 'activity', 'home']) {
    await page.locator(`#tab-${tab}`).click()
    const before = await focused(page)
    const clicked = page.evaluate(() =>
      new Promise<void>((resolve) => {
        const { shadowRoot } = document.querySelector('portolan-extension')!
        new MutationObserver((_, watching) => { // a frame may come later than an answer counts
          const buttons = shadowRoot!.querySelectorAll<HTMLButtonElement>('portolan-approvals button')
          const allow = [...buttons].find((b) => b.textContent!.includes('Allow once'))
          if (!allow) return
          watching.disconnect()
          allow.click() // at once, as if by accident
          resolve()
        }).observe(shadowRoot!, { childList: true, subtree: true })
      })
    )
    await set(page, { approvals: approvals(Date.now()) })
    await clicked
    assert.equal(
      await page.locator('portolan-approvals [role=alert]').innerText(),
      'Claude Desktop asks to use bookmark_remove.',
    )
    assert.equal(await focused(page), before)
    assert.deepEqual(await asked(page, 'approve'), [])
    await set(page, { approvals: [] })
  }
})

flow('questions are answered with the keyboard, oldest first, and the focus goes on', {}, async (page) => {
  const [one] = approvals(Date.now())
  await set(page, { approvals: [{ ...one!, id: 'young', askedAt: Date.now(), tool: 'page_dom' }, one!] })
  await settled(page)
  const heading = page.locator('portolan-approvals h2')
  assert.match(await heading.first().innerText(), /bookmark_remove/)
  await page.locator('#tab-home').focus()
  const order: (string | undefined)[] = []
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press('Tab')
    order.push(await focused(page))
  }
  assert.deepEqual(order, ['Arguments', 'Allow once', 'Always for this client', 'Deny', 'Never for this client'])
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Space')
  await until(() => asked(page, 'approve'), (a: unknown[]) => a.length === 1, 'answered')
  await wasAsked(page, 'approve', [{ id: 'q1', answer: 'deny' }])
  await until(() => focused(page), (f: string) => /wants to use page_dom/.test(f), 'the next question has the focus')
  await settled(page)
  await page.getByRole('button', { name: 'Always for this client' }).press('Enter')
  await until(() => focused(page), (f) => f === 'Home', 'after the last one the tab has it')
  await lastAsked(page, 'approve', { id: 'young', answer: 'always' })
})

flow('a question of a server that ends says so, and leaves the next one', {}, async (page) => {
  const question = (id: string, message: string) => ({
    id,
    server: 'harbour',
    message,
    mode: 'form' as const,
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  })
  await set(page, { questions: [question('one', 'Whose berth?'), question('two', 'Which quay?')] })
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Whose berth?').waitFor()
  await set(page, { questions: [question('two', 'Which quay?')] }) // as after the end of its worker
  await dialog.getByText('The question has ended.').waitFor()
  const answer = { id: 'two', answer: { action: 'accept', content: { name: 'North' } } }
  await play(page, { refusal: { code: 'BUSY', message: 'the answer was not taken' } })
  for (const asked of [[answer], [answer, answer]]) { // the first one is refused
    await dialog.getByText('Which quay?').waitFor()
    await dialog.getByLabel('name').fill('North')
    await dialog.getByRole('button', { name: 'Check answer' }).click()
    await dialog.getByRole('button', { name: 'Send' }).click()
    await wasAsked(page, 'answerQuestion', asked)
    if (asked.length === 1) await page.locator('.notice.bad').getByText('the answer was not taken').waitFor()
    await play(page, { refusal: undefined })
  }
  await dialog.waitFor({ state: 'detached' })
  await set(page, { stopped: false })
  await settled(page)
  assert.equal(await dialog.count(), 0)
})

flow('an answer that fails says so, and can be given again', { state: 'asked' }, async (page) => {
  await settled(page)
  await play(page, { refusal: { code: 'EXPIRED', message: 'the client has left' } })
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.locator('.notice.bad').getByText('the client has left').waitFor()
  assert.match(await page.locator('.notice.bad').innerText(), /EXPIRED/)
  await play(page, { refusal: undefined })
  await page.getByRole('button', { name: 'Never for this client' }).click()
  await lastAsked(page, 'approve', { id: 'q1', answer: 'never' })
})

flow('when the background dies the view stays, and requests fail clearly and can be repeated', {}, async (page) => {
  await play(page, { silent: true })
  await page.getByRole('button', { name: 'Stop everything' }).click()
  await page.evaluate(() => window.standin.background.die())
  await page.locator('.notice.bad').getByText('was restarted before it answered').waitFor()
  await page.getByText('does not answer. Trying again').waitFor()
  assert.equal(await page.locator('portolan-clients').getByText('Claude Desktop').isVisible(), true)
  await play(page, { silent: false })
  await page.evaluate(() => window.standin.background.set({}))
  await page.getByText('does not answer. Trying again').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Stop everything' }).click()
  await page.getByRole('button', { name: 'Continue' }).first().waitFor()
})

flow('a background that comes back at once is not spoken of', {}, async (page) => {
  for (let i = 2; i < 5; i++) {
    await page.evaluate(() => window.standin.background.die())
    await until(
      () => page.evaluate(() => window.standin.background.connections),
      (n: number) => n === i,
      'connected again',
    )
  }
  await page.waitForTimeout(1200)
  assert.equal(await page.locator('.away').count(), 0)
})

flow('everything is stopped and goes on, by a button that keeps its place', { state: 'running' }, async (page) => {
  for (const tab of ['home', 'chats', 'activity']) {
    await page.locator(`#tab-${tab}`).click()
    assert.ok(await page.getByRole('button', { name: 'Stop everything' }).isVisible(), tab)
  }
  await page.getByRole('button', { name: 'Stop everything' }).focus()
  await page.keyboard.press('Enter')
  await until(() => focused(page), (f) => f === 'Continue', 'the button has become the other')
  await page.keyboard.press('Enter')
  await until(() => asked(page, 'go'), (a: unknown[]) => a.length === 1, 'it goes on')
})

flow('a double click stops everything, and does not go on', { state: 'used' }, async (page) => {
  const { x, y, width, height } = (await page.getByRole('button', { name: 'Stop everything' }).boundingBox())!
  const click = async (clickCount: number) => {
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
  }
  await click(1)
  await page.locator('.stopbar').getByRole('button', { name: 'Continue' }).waitFor()
  await click(2)
  await click(1) // a later one
  await wasAsked(page, 'go', [{}])
  await wasAsked(page, 'stop', [{}])
})

flow('the link tells how it stands by word and shape, and counts down', { state: 'used' }, async (page) => {
  const seen = new Set<string>()
  for (
    const [state, word] of [
      ['used', /^Connected/],
      ['connecting', /^Connecting/],
      ['waiting', /^Waiting · again in 1\d sec/],
      ['refused', /^Refused/],
      ['stopped', /^Stopped/],
    ] as const
  ) {
    await be(page, state)
    await until(() => page.locator('portolan-link .status').innerText(), (s: string) => word.test(s), state)
    seen.add(await page.locator('portolan-link .standing svg').innerHTML())
  }
  assert.equal(seen.size, 5)
  await be(page, 'waiting')
  const counted = async () => Number(/in (\d+) sec/.exec(await page.locator('portolan-link .status').innerText())?.[1])
  const begun = await counted()
  await until(counted, (left: number) => left < begun, 'it counts down')
  await page.getByRole('button', { name: 'Try now' }).click()
  await until(() => asked(page, 'reconnect'), (a: unknown[]) => a.length === 1, 'reconnect')
  await page.getByRole('button', { name: 'Unpair…' }).click()
  await until(() => focused(page), (f) => f === 'Cancel', 'the way back has the focus')
  await page.keyboard.press('Escape')
  await until(() => focused(page), (f) => f === 'Unpair…', 'and leads back')
  assert.deepEqual(await asked(page, 'unpair'), [])
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Unpair', exact: true }).click()
  await until(() => asked(page, 'unpair'), (a: unknown[]) => a.length === 1, 'unpair')
})
