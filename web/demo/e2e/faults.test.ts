import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createRegistry as createInNode } from '../../../dist/npm/index.js'
import type { Registry, RegistryOptions, ServerHealth } from '../../../wasm/js/types.ts'
import { faults, type Fault } from './faults.ts'
import { faultServer, type FaultServer } from './faultserver.ts'
import { launchChromium, openPage, root, serveFolder, type Listening } from './harness.ts'
import { sdkServer } from './sdkserver.ts'

// Servers that misbehave, beside a good one, over real sockets.

const secret = 'k3y-of-the-user'

let site: Listening
let good: Awaited<ReturnType<typeof sdkServer>>
let browser: Browser
let page: Page
before(async () => {
  [browser, site, good] = await Promise.all([launchChromium(), serveFolder(`${root}dist/npm`), sdkServer()])
  page = await openPage(browser, `${site.url}/package.json`, /./)
})
after(async () => {
  for (const [what, ms] of Object.entries(late)) console.log(`latest after its deadline: ${what} ${Math.round(ms)} ms`) // printed, not asserted
  await Promise.all([browser.close(), site.close(), good.close()])
})

interface Visit { bad: string; good: string; secret: string; timeoutMs: number; limits?: Fault['limits'] }

/** Uses both servers at once. Runs in the page, so it refers to nothing outside. */
async function use(createRegistry: (o: RegistryOptions) => Promise<Registry>, { bad, good, secret, timeoutMs, limits }: Visit) {
  const late: Record<string, number> = {}
  const timed = async <T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      return await work
    } finally {
      late[what] = performance.now() - began - deadlineMs
    }
  }
  const r = await createRegistry({
    storage: 'memory', limits,
    servers: { bad: { url: bad, timeoutMs, headers: { 'X-Api-Key': secret } }, good: { url: good } },
  })
  const useGood = async () => {
    const began = performance.now()
    await r.discover(['good'])
    const text = await r.dispatch('good__raw', {})
    return { answered: text.includes('"tools/call"'), ms: performance.now() - began }
  }
  try {
    const discovering = timed('discover', 2 * timeoutMs, r.discover()) // connecting and listing have one deadline each
    const goods = [await useGood()]
    const { tools, status } = await discovering
    const own = tools.filter((t) => t.server === 'bad').map((t) => t.name)
    const health = r.getHealth().bad!
    let called: string | undefined
    if (own.length) {
      const calling = timed('call', timeoutMs, r.dispatch(own[0]!, {}, { timeoutMs })).catch((e: { code: string }) => e.code)
      goods.push(await useGood())
      called = await calling
      goods.push(await useGood()) // what the end of the call sets off is on its way when this is back
    }
    const { bad: { lastError }, good: { status: goodStatus } } = r.getHealth() as Record<'bad' | 'good', ServerHealth>
    return { status, health, tools: own, called, lastError, goodStatus, goods, late, told: JSON.stringify(r.getSnapshot()).includes(secret) }
  } finally {
    await timed('close', 0, r.close())
  }
}

type Used = Awaited<ReturnType<typeof use>>
const late: Record<string, number> = {}

const realms = {
  Node: (v: Visit) => use(createInNode, v),
  Chromium: (v: Visit) =>
    page.evaluate(`import('/index.js').then(({ createRegistry }) => (${use})(createRegistry, ${JSON.stringify(v)}))`) as Promise<Used>,
}

function judge(fault: Fault, realm: string, used: Used): void {
  assert.deepEqual([used.health.status, used.health.errorCode], fault.code ? ['error', fault.code] : ['connected', undefined], used.health.lastError ?? '')
  assert.equal(used.status, fault.code ? 'partial' : 'ready')
  assert.deepEqual(used.tools, fault.tools ?? [])
  if (fault.warning) assert.match((used.health.warnings ?? []).join('\n'), fault.warning)
  assert.equal(used.called, fault.call, used.lastError ?? '')
  assert.equal(used.goodStatus, 'connected')
  for (const g of used.goods) assert.ok(g.answered && g.ms < 2000, `the good server took ${g.ms} ms`)
  assert.equal(used.told, false, 'a header value is shown')
  for (const [what, ms] of Object.entries(used.late)) {
    late[`${realm} ${what}`] = Math.max(late[`${realm} ${what}`] ?? -Infinity, ms)
    assert.ok(ms < 2000, `${what} came ${ms} ms after its deadline`)
  }
}

async function against(server: FaultServer, fault: Fault, realm: keyof typeof realms): Promise<void> {
  try {
    judge(fault, realm, await realms[realm]({ bad: server.url, good: good.url, secret, limits: fault.limits, timeoutMs: fault.timeoutMs ?? 600 }))
    fault.asked?.(server)
    assert.deepEqual(await server.open(1000), [], 'exchanges are open after close()')
  } finally {
    await server.close()
  }
}

for (const realm of ['Node', 'Chromium'] as const) {
  for (const fault of faults) {
    if (fault.except?.realm === realm) continue
    test(`${realm}: ${fault.name}`, async () => against(await faultServer(fault), fault, realm))
  }

  test(`${realm}: it sends the secret elsewhere`, async () => {
    const elsewhere = await faultServer({ on: {} })
    const redirect = { '*': ({ res }: { res: import('node:http').ServerResponse }) => void res.writeHead(307, { location: elsewhere.url }).end() }
    const fault: Fault = { name: 'redirect', on: redirect, code: 'redirect' }
    await against(await faultServer(fault), fault, realm)
    assert.deepEqual(elsewhere.seen, {})
    await elsewhere.close()
  })
}
