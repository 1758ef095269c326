import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import assert from 'node:assert/strict'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { onlyInSoak } from '../rig/soak.ts'
import type { State } from '../../extension/messages.ts'
import { TestBridge } from './bridge.ts'
import { Chromium, extensionId } from './chromium.ts'
import { call, hasTool, Rig } from './rig.ts'
import { happens } from '../rig/harness.ts'

// A link survives restarts, in a real browser without DevTools on the worker.

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.close()
})

async function rigOf(options: Parameters<typeof Rig.create>[0] = {}): Promise<Rig> {
  const rig = await Rig.create({ granted: true, ...options })
  open.push(rig)
  return rig
}

/** The key of another extension, so that its id is known. */
const otherKey =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA4bv+YwYgw1Kd5tcCXC9zusfogezmQn6GzH9FE8MknCle+G3pkeTYERzTq+684aYIJLJMeAY5BStJOtyFCF0jeL+T6oDArX0r1eq2CZR1RXR9o0Wj/QsCKcKC1sdoVgqV7/5puq2Vf3b5NkD04nhjLISVsd63fCPkoHX9gtELllXcfkjBNWBn+abpVeGLzifMTCfBc0m7FFyNkQCnhItdwO0ivEkH2yWCtXQGnmEjMHZzY5PfhgOsSexqwHrWDp9tj1/ZCM7dvYdajbOA5/YJvgpTfMoYtT88BOnTDeOys+k+0o+Vt4/AqZiO/kjQ4rzLNBmtA7rCtAsOX1N7lK0JxQIDAQAB'
const otherId = 'jfjbildnhpolcnhdpdpmempkjlilegkh'

/** An expression for the first element that is shown and matches. */
const deep = (selector: string) =>
  `(function find(r){for(const e of r.querySelectorAll('*')){if(e.matches(${
    JSON.stringify(selector)
  })&&e.getClientRects().length)return e;const f=e.shadowRoot&&find(e.shadowRoot);if(f)return f}})(document)`

/** Resolves when the panel says a text in an element that matches. */
const says = (rig: Rig, selector: string, text: RegExp) =>
  rig.panel.until(
    (find, text) => new RegExp(text).test(((0, eval)(find) as HTMLElement | undefined)?.innerText ?? ''),
    [deep(selector), text.source],
    `${selector} says ${text}`,
  )

const search = (text: string) => ({ query: text })

test('pairs by hand in the side panel, with typed digits', async () => {
  const rig = await rigOf({ paired: false })
  await rig.bridge.start()
  const said = rig.bridge.pair(async (digits) => {
    await rig.panel.click(deep('portolan-pairing input.digits'))
    await rig.panel.send('Input.insertText', { text: `${digits.slice(0, 3)} ${digits.slice(3)}` })
    await rig.panel.click(deep('portolan-pairing form button.primary'))
  })
  await rig.panel.until((find) => !!(0, eval)(find), [deep('portolan-bridges button')], 'the whole card')
  // The test sets its own address under Advanced.
  await rig.panel.click(deep('portolan-pairing form summary'))
  await rig.panel.until(
    (find, address) => {
      const input = (0, eval)(find) as HTMLInputElement | undefined
      if (input) input.value = address
      return !!input
    },
    [deep('portolan-pairing [name=address]'), rig.bridge.address],
    'the address',
  )
  await rig.bridge.waitsForPairing()
  await rig.panel.click(deep('portolan-pairing form button.primary'))
  assert.match(await said, /Paired with "Chromium on Linux"/)
  await rig.connected()
})

test('the browser restarts, the bridge restarts, the worker is killed: tools are there again', async () => {
  const rig = await rigOf()
  await rig.ask('setOptions', { bookmarks: true })
  const desk = await rig.bridge.httpClient('desk')
  await hasTool(desk, 'bookmark_search')

  for (const hard of [false, true]) {
    await rig.browser.stop(hard)
    const lost = async () => (await call(desk, 'bookmark_search', search('x'))).text
    // The bridge may learn of it during the first call only, and gives the extension time to come back.
    for (let text = ''; !/No browser extension connected/.test(text);) {
      assert.match(text, /^$|disconnected while|is reconnecting/)
      await new Promise((resolve) => setTimeout(resolve, 100))
      text = await lost()
    }
    await rig.browser.start()
    await hasTool(desk, 'bookmark_search')
    assert.equal((await call(desk, 'bookmark_search', search('x'))).text, '[]')
  }

  await rig.openPanel()
  await rig.bridge.stop('SIGKILL')
  await rig.until('the loss is seen', (s) => s.links[0]?.status === 'waiting')
  await rig.bridge.start()
  await rig.connected()
  const again = await rig.bridge.httpClient('again')
  await hasTool(again, 'bookmark_search')

  await rig.killWorker() // the panel's port wakes another
  await hasTool(again, 'bookmark_search')
  assert.equal((await call(again, 'bookmark_search', search('y'))).text, '[]')
})

test('a pairing that ends with its worker says so, and can begin again', async () => {
  const rig = await rigOf({ paired: false })
  await rig.bridge.start()
  let attempts = 0
  const typed = Promise.withResolvers<void>()
  const said = rig.bridge.pair(async (digits) => {
    await rig.until('the digits are asked for', (s) => s.pairing?.step === 'digits')
    if (attempts++) await rig.ask('digits', { digits }).then(() => typed.resolve(), typed.reject)
    else await rig.browser.killWorker()
  })
  await rig.bridge.waitsForPairing()
  await rig.ask('pair', { address: rig.bridge.address })
  await says(rig, 'portolan-pairing [role=alert]', /restarted .* try again/)
  await rig.panel.click(deep('portolan-pairing form button.primary'))
  await typed.promise
  assert.match(await said, /That attempt ended without pairing.*Paired with "Chromium on Linux"/s)
})

test('a worker that is killed in the middle of a call is noticed at once', async () => {
  const rig = await rigOf()
  await rig.ask('setOptions', { bookmarks: true })
  const desk = await rig.bridge.stdioClient('desk')
  await hasTool(desk, 'bookmark_remove')
  const { text } = await call(desk, 'bookmark_add', { title: 'kept', url: 'https://kept.example/' })
  const { id } = JSON.parse(text) as { id: string }
  const removing = call(desk, 'bookmark_remove', { id }) // waits for the person
  await rig.until('the question', (s) => s.approvals.length)
  await rig.panel.until(
    async () => {
      const { activity } = await chrome.storage.session.get('activity') as { activity: State['activity'] }
      return activity.filter((a) => a.outcome === 'running').map((a) => a.tool).join() === 'bookmark_remove'
    },
    [],
    'the log is kept',
  )
  const { id: approval } = (await rig.state()).approvals[0]!
  const begun = Date.now()
  await rig.browser.killWorker()
  const outcome = await removing
  assert.ok(outcome.error && /disconnected|reconnecting/.test(outcome.text), outcome.text)
  console.log(`# found out after ${Date.now() - begun} ms`)
  await hasTool(desk, 'bookmark_get')
  await assert.rejects(rig.ask('approve', { id: approval, answer: 'once' }), /the request has ended/)
  assert.ok(!(await call(desk, 'bookmark_get', { id })).error, 'nothing was removed')
  const { activity } = await rig.until(
    'the log',
    (s) => s.activity.some((a) => a.code === 'WORKER_ENDED') && !s.activity.some((a) => a.outcome === 'running'),
  )
  assert.deepEqual(activity.filter((a) => a.code === 'WORKER_ENDED').map((a) => a.tool), ['bookmark_remove'])
})

test('without an open page, an idle worker stays alive while it is connected', onlyInSoak, async () => {
  const rig = await rigOf()
  await rig.ask('setOptions', { bookmarks: true })
  const desk = await rig.bridge.httpClient('desk')
  await hasTool(desk, 'bookmark_search')
  await rig.panel.close()
  await new Promise((resolve) => setTimeout(resolve, 45_000))
  assert.equal(
    (await call(desk, 'bookmark_search', search('x'))).text,
    '[]',
    'a worker that slept would not be connected',
  )
})

test('two clients at once get each their own answers, and two profiles are different', async () => {
  const rig = await rigOf()
  await rig.ask('setOptions', { bookmarks: true })
  const [one, two] = [await rig.bridge.stdioClient('one'), await rig.bridge.httpClient('two')]
  await hasTool(one, 'bookmark_add')
  await hasTool(two, 'bookmark_add')
  await Promise.all([one, two].flatMap((client, c) =>
    Array.from({ length: 20 }, async (_, n) => {
      const title = `client ${c} call ${n}`
      const r = await call(client, 'bookmark_add', { title, url: `https://example.com/${c}/${n}` })
      assert.equal((JSON.parse(r.text) as { title: string }).title, title)
    })
  ))

  const second = await Chromium.create({ granted: true })
  const other = Object.assign(Object.create(rig) as Rig, { browser: second })
  open.push({ close: () => second.remove() })
  await other.openPanel()
  await other.ask('setLabel', { label: 'Second "profile"' })
  await other.pair()
  let ambiguous = ''
  await happens(async () => {
    ambiguous = (await call(one, 'bookmark_search', search('x'))).text
    return ambiguous.startsWith('Several')
  })
  assert.match(
    ambiguous,
    /Several browser profiles are connected: "Chromium on Linux" \([\w-]+\), "Second \\"profile\\"" \([\w-]+\)/,
  )
  const meant = await rig.bridge.stdioClient('meant', '--profile', 'Second "profile"')
  await hasTool(meant, 'tabs_list', false)
  await other.ask('setOptions', { bookmarks: true })
  await hasTool(meant, 'bookmark_search')
  assert.equal(
    (await call(meant, 'bookmark_search', search('client 0'))).text,
    '[]',
    "the first profile's bookmarks are not there",
  )
  await other.ask('setLabel', { label: 'Third' }) // the bridge is paired already
  const renamed = await rig.bridge.stdioClient('renamed', '--profile', 'Third')
  await hasTool(renamed, 'bookmark_search')
  assert.match(await rig.bridge.run('clients'), /"Third"/)
})

test('another program on the port learns nothing, and the paired bridge is found after it', async () => {
  const rig = await rigOf()
  await rig.bridge.stop()
  const { WebSocketServer } = await import('ws')
  const [host, port] = rig.bridge.address.split(':') as [string, string]
  const heard: string[] = []
  const squatter = new WebSocketServer({ host, port: Number(port) })
  squatter.on('connection', (ws) =>
    ws.on('message', (m) => {
      heard.push(String(m))
      ws.send(JSON.stringify({ type: 'challenge', nonce: 'A'.repeat(43), mac: 'A'.repeat(43) }))
    }))
  await rig.ask('reconnect', { pairing: (await rig.state()).links[0]!.pairing })
  const refused = await rig.until('the refusal', (s) => s.links[0]?.status === 'refused')
  assert.equal(refused.links[0]!.error?.code, 'BAD_PROOF')
  assert.ok(heard.every((m) => /^\{"type":"(hello|refused)"/.test(m)), heard.join('\n'))
  await new Promise<void>((resolve) => {
    squatter.close(() => resolve())
    for (const c of squatter.clients) c.terminate()
  })
  await rig.bridge.start()
  await rig.connected()
})

test("the registry's servers are the desktop clients' too, with progress, questions and cancellation", async () => {
  const rig = await rigOf()
  const heard = Promise.withResolvers<void>()
  const server = await sdkServer([{ name: 'ask', inputSchema: { type: 'object', properties: {} } }], {
    cors: false,
    finish: heard.promise,
  })
  open.push(server)
  const desk = await rig.bridge.stdioClient('desk')
  desk.setRequestHandler(
    ElicitRequestSchema,
    ({ params }) => ({ action: 'accept', content: { name: `${params.message} Ada` } }),
  )
  await rig.panel.evaluate(
    async (name, config) => {
      // Like the panel's page: over a port to the background's registry.
      const port = chrome.runtime.connect({ name: 'portolan-registry' })
      let last = 0
      const waiting = new Map<number, (m: { error?: unknown }) => void>()
      port.onMessage.addListener((m) => waiting.get(m.id)?.(m))
      const ask = (m: object) =>
        new Promise<void>((resolve, reject) => {
          const id = ++last
          waiting.set(id, (a) => (a.error ? reject(new Error(JSON.stringify(a.error))) : resolve()))
          port.postMessage({ id, ...m })
        })
      await ask({ method: 'attach' })
      await ask({ method: 'addServer', name, config })
      await ask({ method: 'discover' })
    },
    'harbour',
    { url: `${server.url}/mcp` },
  )
  await hasTool(desk, 'harbour__steps')

  const progress: (number | undefined)[] = []
  // The official client drops progress that it reads in one piece with the response.
  const steps = await call(desk, 'harbour__steps', { steps: 3, everyMs: 20 }, {
    onprogress: (p) => {
      if (progress.push(p.progress) === 3) heard.resolve()
    },
  })
  assert.equal(steps.text, 'done')
  assert.deepEqual(progress, [1, 2, 3])
  assert.equal((await call(desk, 'harbour__ask')).text, 'who? Ada')

  // Each question goes to the client of its call, and those of the side panel's calls to the side panel.
  const other = await rig.bridge.stdioClient('other')
  const both = Promise.withResolvers<void>()
  let asked = 0
  for (const [client, name] of [[desk, 'Ada'], [other, 'Bob']] as const) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      if (++asked === 2) both.resolve()
      await both.promise
      return { action: 'accept', content: { name: `${params.message} ${name}` } }
    })
  }
  await hasTool(other, 'harbour__ask')
  const answers = [call(desk, 'harbour__ask', { message: '1' }), call(other, 'harbour__ask', { message: '2' })]
  assert.deepEqual((await Promise.all(answers)).map((a) => a.text), ['1 Ada', '2 Bob'])
  const held = Promise.withResolvers<void>(), over = Promise.withResolvers<void>()
  desk.setRequestHandler(ElicitRequestSchema, async () => {
    held.resolve()
    await over.promise
    return { action: 'accept', content: { name: 'Ada' } }
  })
  const waits = call(desk, 'harbour__ask', {})
  await held.promise
  const saying = rig.panel.evaluate(async () => {
    const port = chrome.runtime.connect({ name: 'portolan-registry' })
    port.postMessage({ id: 1, method: 'attach' })
    port.postMessage({ id: 2, method: 'call', name: 'harbour__ask', args: '{}' })
    return await new Promise<string>((resolve) =>
      port.onMessage.addListener((m) => m.id === 2 && resolve(m.result?.text ?? JSON.stringify(m.error)))
    )
  })
  const { questions } = await rig.until('the question', (s) => s.questions.length > 0)
  assert.deepEqual(questions.map(({ server, tool, message }) => [server, tool, message]), [['harbour', 'ask', 'who?']])
  await rig.panel.until(
    (find) => !!(0, eval)(find),
    [`(function find(r){for(const e of r.querySelectorAll('*')){if(e.matches('dialog[open]')&&e.textContent.includes('who?'))return e;const f=e.shadowRoot&&find(e.shadowRoot);if(f)return f}})(document)`],
    'the dialog',
  )
  await rig.ask('answerQuestion', { id: questions[0]!.id, answer: { action: 'accept', content: { name: 'Eve' } } })
  assert.equal(await saying, 'Eve')
  await rig.until('the dialog has gone', (s) => s.questions.length === 0)
  over.resolve()
  assert.equal((await waits).text, 'Ada')

  const gives = new AbortController()
  const waiting = call(desk, 'harbour__wait', {}, { signal: gives.signal })
  await happens(() => server.calls.includes('wait'))
  gives.abort()
  await assert.rejects(waiting)
  await happens(() => server.calls.includes('cancelled'))

  await rig.killWorker() // the servers are stored
  await hasTool(desk, 'harbour__steps')
  assert.equal((await call(desk, 'harbour__steps', { steps: 1, everyMs: 1 })).text, 'done')
  await rig.ask('setOptions', { publishRegistry: false })
  await hasTool(desk, 'harbour__steps', false)
})

test('no web page and no other extension reaches the extension', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-other-'))
  open.push({ close: () => rm(folder, { recursive: true }) })
  await writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify({ manifest_version: 3, name: 'other', version: '1', key: otherKey }),
  )
  await writeFile(join(folder, 'page.html'), '<!doctype html><title>other</title>')
  const rig = await rigOf({ beside: [folder] })
  const other = await rig.browser.open(`chrome-extension://${otherId}/page.html`)
  await other.holds(`document.title === 'other'`)
  const heard = await other.evaluate(
    async (id, names) => {
      const outcomes: string[] = []
      for (const name of names) {
        outcomes.push(
          await new Promise<string>((resolve) => {
            const port = chrome.runtime.connect(id, { name })
            port.onMessage.addListener(() => resolve('answered'))
            port.onDisconnect.addListener(() => resolve('closed'))
            try {
              port.postMessage({ id: 1, method: 'stop', params: {} })
            } catch { /* it is closed */ }
          }),
        )
      }
      outcomes.push(
        await chrome.runtime.sendMessage(id, { method: 'stop' }).then(
          (m) => `answered ${JSON.stringify(m)}`,
          () => 'closed',
        ),
      )
      return outcomes
    },
    extensionId,
    ['portolan-panel', 'portolan-registry', 'portolan-driver'],
  )
  assert.deepEqual(heard, ['closed', 'closed', 'closed', 'closed'])
  assert.equal((await rig.state()).stopped, false)

  const page = await rig.browser.open(`http://${rig.bridge.address}/`)
  const outcome = await page.evaluate((id) => {
    const api = (globalThis as { chrome?: { runtime?: { connect?: unknown; sendMessage?: unknown } } }).chrome?.runtime
    return { connect: typeof api?.connect, send: typeof api?.sendMessage, id }
  }, 'x')
  assert.deepEqual([outcome.connect, outcome.send], ['undefined', 'undefined'])
  for (const path of ['sidepanel.html', 'tools.wasm', 'manifest.json', 'driver.js']) {
    const reached = await page.evaluate(
      (url) => fetch(url).then(() => true, () => false),
      `chrome-extension://hlimmonnfinmkmhhpjbgabdjlpkcaffk/${path}`,
    )
    assert.equal(reached, false, path)
  }
})

test('a bridge on a taken port says so, and ends no other program', async () => {
  const bridge = await TestBridge.create()
  open.push(bridge)
  await bridge.start()
  const second = await bridge.stdioClient('second') // attaches to the first
  assert.ok((await second.listTools()).tools)
  await bridge.run()
  assert.match(bridge.log, /already|in use|taken/i)
  assert.ok((await second.listTools()).tools)
})
