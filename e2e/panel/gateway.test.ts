import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createRegistry } from '../../dist/npm/index.js'
import type { ElicitationRequest, ToolProgress } from '../../wasm/js/shared/types.ts'
import { launchChromium, type Listening } from '../rig/harness.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

const app = 'https://app.example'
let browser: Browser, site: Listening, gateway: TestGateway
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
  gateway = await startGateway('--allow', app)
})
after(async () => {
  await browser?.close()
  await site?.close()
  await gateway?.stop()
})

/** The processes whose command line or environment names the test's folder. */
const processes = () =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(gateway.folder) ||
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(gateway.folder)
    } catch {
      return false
    }
  })

/** Adds the gateway's servers to a registry in Node, as a program does that has a token. */
async function inNode(options: object = {}) {
  const [, token] = await gateway.shows(/Token of https:\/\/app\.example for this run: (\S+)/)
  const registry = await createRegistry({ storage: 'memory', ...options })
  for (const name of ['files', 'memory', 'everything', 'modern', 'go']) {
    await registry.addServer(name, {
      url: `http://${gateway.address}/s/${name}/mcp`,
      headers: { Authorization: `Bearer ${token}` },
    })
  }
  await registry.discover()
  return registry
}

test('a registry in Node uses five programs: files, a graph, everything, and two Go servers', async () => {
  const asked: ElicitationRequest[] = []
  const registry = await inNode({
    roots: [{ uri: 'file:///home/a', name: 'a' }],
    onElicitation: (request: ElicitationRequest) => {
      asked.push(request)
      return { action: 'accept', content: { name: 'Ada' } }
    },
    onSampling: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'forty-two' } }),
  })
  const say = async (tool: string, args: Record<string, unknown>, options = {}) =>
    JSON.stringify(await registry.dispatch(tool, args, options))
  assert.match(await say('files__read_text_file', { path: `${gateway.folder}/hello.txt` }), /ahoy from a file/)
  assert.match(await say('files__read_text_file', { path: '/etc/passwd' }), /denied|outside/)
  await say('memory__create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['first'] }] })
  assert.match(await say('memory__read_graph', {}), /Ada/)
  assert.match(await say('everything__echo', { message: 'ahoy' }), /ahoy/)
  const steps: ToolProgress[] = []
  await say('everything__trigger-long-running-operation', { duration: 0.4, steps: 4 }, {
    onProgress: (p: ToolProgress) => steps.push(p),
  })
  assert.deepEqual(steps.map((p) => p.progress), [1, 2, 3, 4])
  assert.match(await say('everything__trigger-sampling-request', { prompt: 'How many?', maxTokens: 9 }), /forty-two/)
  assert.match(await say('everything__get-roots-list', {}), /file:\/\/\/home\/a/)
  await say('everything__trigger-elicitation-request', {})
  assert.equal(asked.length, 1)
  assert.ok((await registry.resources()).some((r) => r.server === 'everything'))
  assert.ok((await registry.prompts()).some((r) => r.server === 'everything'))
  assert.match(await say('modern__test_simple_text', {}), /simple text/)
  const went: ToolProgress[] = []
  await say('modern__test_tool_with_progress', {}, { onProgress: (p: ToolProgress) => went.push(p) })
  assert.deepEqual(went.map((p) => p.progress), [0, 50, 100])
  asked.length = 0
  await say('modern__test_input_required_result_elicitation', {})
  assert.equal(asked.length, 1)
  const versions = Object.entries(registry.getSnapshot().servers).map(([name, s]) => [name, s.protocolVersion])
  assert.deepEqual(Object.fromEntries(versions), {
    files: '2025-11-25',
    memory: '2025-11-25',
    everything: '2025-11-25',
    modern: '2026-07-28',
    go: '2026-07-28',
  })
  assert.match(await say('go__portolan_pair', {}), /portolan bridge pair/)
  // A call that is given up ends in the program too, so the next one is served.
  await assert.rejects(
    registry.dispatch('everything__trigger-long-running-operation', { duration: 60, steps: 2 }, {
      signal: AbortSignal.timeout(300),
    }),
  )
  assert.match(await say('everything__echo', { message: 'again' }), /again/)
  await registry.close()
})

const paste = ({ panel }: PanelPage, text: string) => panel.getByRole('textbox', { name: 'Add a server' }).fill(text)
const finder = (p: PanelPage) =>
  p.panel.locator('portolan-gateway').getByRole('button', { name: 'Find a running gateway' })
const useAddress = async (p: PanelPage, address: string) => {
  await p.panel.locator('portolan-gateway summary').click()
  await p.panel.getByLabel('Address of the gateway').fill(address)
}
/** Asks for a pairing, and returns the digits that the terminal shows for it. */
const askForDigits = async (p: PanelPage) => {
  const before = gateway.output().length
  await finder(p).click()
  const [, first, last] = await gateway.shows(/^ {4}(\d{3}) (\d{3})$/m, before)
  await p.panel.getByLabel('Type the six digits that the terminal shows').waitFor()
  return first! + last!
}

test('a pasted program shows the command that offers it', async () => {
  const p = await openPanel(browser, site)
  const command = p.panel.locator('portolan-gateway code')
  await paste(p, 'npx -y @modelcontextprotocol/server-filesystem "/home/a b"')
  await command.getByText("portolan gateway -- npx -y @modelcontextprotocol/server-filesystem '/home/a b'").waitFor()
  await paste(p, gateway.config)
  await command.getByText('portolan gateway --config mcp.json').waitFor()
  await p.panel.getByText('Save what you pasted as mcp.json').waitFor()
  await paste(p, '{"command":"x","args":["--api-key","sk-1234567890abcdef"]}')
  await command.getByText('portolan gateway --config mcp.json').waitFor()
  assert.ok(!(await p.panel.locator('portolan-gateway').textContent())!.includes('sk-123'))
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a page is paired by six digits, gets the servers, and loses them when it is revoked', async () => {
  const p = await openPanel(browser, site)
  const requests: string[] = []
  p.page.on('request', (r) => requests.push(`${r.method()} ${r.url()}`))
  p.page.on('websocket', (s) => requests.push(s.url()))
  await paste(p, gateway.config)
  await useAddress(p, gateway.address)
  assert.deepEqual(requests.filter((r) => r.includes(gateway.address)), [], 'nothing is asked before the click')
  const digits = await askForDigits(p)
  const field = p.panel.getByLabel('Type the six digits that the terminal shows')
  await gateway.shows(new RegExp(`The page at ${site.url.replace(/\/$/, '')} wants`))
  await p.panel.getByRole('button', { name: 'Check the digits' }).click()
  await p.panel.getByText('Type all six digits.').waitFor()
  await field.fill(digits)
  if (process.env.PORTOLAN_SCREENSHOTS)
    await p.page.screenshot({ path: `${process.env.PORTOLAN_SCREENSHOTS}/panel-gateway-digits.png`, fullPage: true })
  await p.panel.getByRole('button', { name: 'Check the digits' }).click()
  await p.panel.getByText('Now answer yes in the terminal').waitFor()
  await gateway.shows(/say that the digits are right\? \[y\/N\]/)
  gateway.type('y')
  for (const name of ['files', 'memory', 'everything', 'modern', 'go'])
    await p.panel.getByRole('article', { name, exact: true }).getByText('Connected').waitFor()
  const asked = requests.filter((r) => r.includes(gateway.address) && !r.includes('/s/'))
  assert.deepEqual(asked, [`ws://${gateway.address}/pair`, `GET http://${gateway.address}/servers`])
  const call = () =>
    p.page.evaluate(
      (path) => window.registry.dispatch('files__read_text_file', { path }).then((r) => JSON.stringify(r), String),
      `${gateway.folder}/hello.txt`,
    )
  await p.page.waitForFunction(() => window.registry.has('files__read_text_file')) // the list follows the connection
  assert.match(await call(), /ahoy from a file/)
  // A gateway that wants another token is there, so the card does not say that none answers.
  await p.page.evaluate(() => window.registry.updateServer('go', { headers: { Authorization: 'Bearer other' } }))
  await p.page.evaluate(() => window.registry.retry('go').catch(() => {}))
  const other = p.panel.getByRole('article', { name: 'go', exact: true })
  await other.getByText(`No gateway at ${gateway.address} lets this page in. Start it in a terminal, find it`).waitFor()
  const origin = new URL(site.url).origin
  assert.match(await gateway.run('origins'), new RegExp(origin))
  assert.match(await gateway.run('revoke', origin), /Revoked/)
  await p.page.waitForFunction(
    (path) => window.registry.dispatch('files__read_text_file', { path }).then(() => false, () => true),
    `${gateway.folder}/hello.txt`,
    { polling: 200 },
  )
  assert.match(await gateway.run('origins'), /No origin was paired/)

  // The card of each server offers a pairing, and no field for a token that no person knows.
  await paste(p, '')
  const card = p.panel.getByRole('article', { name: 'files', exact: true })
  await p.page.evaluate(() => window.registry.retry('files'))
  await card.getByText(`No gateway at ${gateway.address} lets this page in`).waitFor()
  await card.getByRole('button', { name: 'Retry now' }).waitFor() // for a gateway that has begun again
  await card.getByRole('button', { name: 'Find a running gateway' }).click()
  await finder(p).and(p.page.locator(':focus')).waitFor()
  await card.getByRole('button', { name: 'Cancel' }).click()
  await card.getByRole('button', { name: 'Find a running gateway' }).click()
  await card.locator('portolan-gateway').getByRole('button', { name: 'Cancel' }).waitFor()
  assert.equal(await card.locator('input[type=password]').count(), 0)
  await p.page.evaluate(async () => {
    await window.registry.updateServer('files', { timeoutMs: 77_000 })
    await window.registry.updateServer('memory', { concurrency: 3 })
  })
  const before = gateway.output().length
  await field.fill(await askForDigits(p))
  await p.panel.getByRole('button', { name: 'Check the digits' }).click()
  await gateway.shows(/\[y\/N\]/, before)
  gateway.type('y')
  await card.getByText('Connected').waitFor()
  await p.panel.locator('portolan-gateway').waitFor({ state: 'detached' })
  const configs = await p.page.evaluate(() =>
    Object.entries(window.registry.getSnapshot().servers).map(([name, { config }]) => [
      name,
      config.timeoutMs,
      config.concurrency,
    ])
  )
  assert.deepEqual(configs.filter(([name]) => name !== 'go' && name !== 'modern').sort(), [
    ['everything', undefined, undefined],
    ['files', 77_000, undefined],
    ['memory', undefined, 3],
  ])
  await p.page.waitForFunction(() => window.registry.has('files__read_text_file'))
  assert.match(await call(), /ahoy from a file/)
  assert.match(await gateway.run('revoke', origin), /Revoked/)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('wrong digits, a no in the terminal, and a missing gateway are explained', async () => {
  const p = await openPanel(browser, site)
  await paste(p, gateway.config)
  await useAddress(p, '127.0.0.1:9')
  await finder(p).click()
  await p.panel.getByText('No gateway at 127.0.0.1:9 lets this page in').waitFor()
  await p.panel.getByLabel('Address of the gateway').fill('evil.example:55157')
  await finder(p).click()
  await p.panel.getByText('No gateway at evil.example:55157 lets this page in').waitFor()
  await p.panel.getByLabel('Address of the gateway').fill(gateway.address)
  const field = p.panel.getByLabel('Type the six digits that the terminal shows')
  const check = p.panel.getByRole('button', { name: 'Check the digits' })

  const others = await askForDigits(p) === '111111' ? '222222' : '111111'
  await field.fill(others)
  await check.click()
  await p.panel.getByText('These are not the digits of the gateway').waitFor()

  const before = gateway.output().length
  await field.fill(await askForDigits(p))
  await check.click()
  await p.panel.getByText('Now answer yes in the terminal').waitFor()
  await gateway.shows(/\[y\/N\]/, before)
  gateway.type('n')
  await p.panel.getByText('The gateway refused: the pairing was not confirmed in the terminal').waitFor()

  await finder(p).click()
  await field.waitFor()
  await p.panel.getByRole('button', { name: 'Cancel' }).click()
  await finder(p).waitFor()
  assert.equal(await p.panel.locator('portolan-gateway [role=alert]').textContent(), '')
  assert.match(await gateway.run('origins'), /No origin was paired/)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a list of servers that fails after the pairing is asked for again, without another pairing', async () => {
  const p = await openPanel(browser, site)
  let fails = false
  await p.page.route(`http://${gateway.address}/servers`, (route) => fails ? route.abort() : route.continue())
  await paste(p, gateway.config)
  await useAddress(p, gateway.address)
  const pairInVain = async () => {
    fails = true
    const before = gateway.output().length
    await p.panel.getByLabel('Type the six digits that the terminal shows').fill(await askForDigits(p))
    await p.panel.getByRole('button', { name: 'Check the digits' }).click()
    await gateway.shows(/\[y\/N\]/, before)
    gateway.type('y')
    await p.panel.getByText(`No gateway at ${gateway.address} lets this page in`).waitFor()
    fails = false
  }
  const origin = new URL(site.url).origin
  await pairInVain()
  assert.match(await gateway.run('revoke', origin), /Revoked/) // so that a second pairing is needed
  await pairInVain()
  const before = gateway.output().length
  await finder(p).click()
  await p.panel.getByRole('article', { name: 'files', exact: true }).getByText('Connected').waitFor()
  assert.doesNotMatch(gateway.output().slice(before), /\d{3} \d{3}/)
  assert.match(await gateway.run('revoke', origin), /Revoked/)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a page that is not admitted cannot use or recognize a server', async () => {
  const p = await openPanel(browser, site)
  const [, token] = await gateway.shows(/Token of https:\/\/app\.example for this run: (\S+)/)
  const tries = await p.page.evaluate(async ([address, token]) => {
    const at = (path: string, init: RequestInit) =>
      fetch(`http://${address}${path}`, init).then(
        (r) => r.type === 'opaque' ? 'opaque' : String(r.status),
        () => 'blocked',
      )
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
    return [
      await at('/s/files/mcp', { method: 'POST', headers, body }),
      await at('/s/files/mcp', { method: 'POST', mode: 'no-cors', body }),
      await at('/servers', { headers }),
      await at('/servers', {}),
    ]
  }, [gateway.address, token!] as const)
  assert.deepEqual(tries, ['blocked', 'blocked', 'blocked', 'blocked'])
  await p.page.close()
})

test('nothing remains after the gateway', async () => {
  const registry = await inNode()
  assert.ok(processes().length >= 4)
  assert.equal(await gateway.stop(), 0)
  assert.deepEqual(processes(), [])
  await registry.close()
})
