import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import assert from 'node:assert/strict'
import type { State } from '../../extension/messages.ts'
import { findBridges } from '../../extension/link/discovery.ts'
import { TestBridge } from './bridge.ts'
import { Chromium } from './chromium.ts'
import { call, hasTool, Rig } from './rig.ts'

// B4: the extension finds the bridges of this computer after a click, and believes none of them.

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** Listens on a port of 127.0.0.1. Rejects if it is taken. */
async function listen(answer: RequestListener, port = 0): Promise<Server> {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  open.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return server
}
const portOf = (server: Server) => (server.address() as AddressInfo).port

/** Starts on a free port of those that the extension asks. A connection of another program may take one meanwhile. */
async function atAskedPort<T>(start: (port: number) => Promise<T>): Promise<T> {
  let cause: unknown
  for (let port = 55165; port >= 55156; port--) {
    try {
      const server = await listen(() => {}, port)
      await new Promise((resolve) => server.close(resolve))
      return await start(port)
    } catch (e) {
      cause = e
    }
  }
  throw new Error('other programs use the ports of bridges', { cause })
}

async function startBridge(port: number): Promise<TestBridge> {
  const bridge = await TestBridge.create(undefined, port)
  open.push(bridge)
  await bridge.start()
  return bridge
}

const sound = { name: 'portolan', version: 1, startedAt: 1_700_000_000_000 }
const json = (answer: unknown): RequestListener => (_, res) => res.end(JSON.stringify(answer))

test('B4: a real bridge is found, and answers that are not those of a bridge are left out', async () => {
  const bridge = await TestBridge.create()
  open.push(bridge)
  await bridge.start()
  const at = (wsUrl: string) => json({ ...sound, wsUrl })
  const asked: string[] = []
  const trap = await listen((req, res) => {
    asked.push(req.url!)
    json({ ...sound, wsUrl: 'ws://127.0.0.1:1/extension' })(req, res)
  })
  const hostile: Record<string, RequestListener> = {
    'another host': at('ws://evil.example:55156/extension'),
    'a host that looks like loopback': at('ws://127.0.0.1:55156@evil.example/extension'),
    'a name below localhost': at('ws://localhost.evil.example:1/extension'),
    'no port': at('ws://127.0.0.1/extension'),
    'another path': at('ws://127.0.0.1:1/extension/../x'),
    'another scheme': at('wss://127.0.0.1:1/extension'),
    'no address': json(sound),
    'a list': json([sound]),
    'nothing': json(null),
    'no JSON': (_, res) => res.end('<html>'),
    'markup as a name': json({ ...sound, name: '<img src=x>', wsUrl: 'ws://127.0.0.1:1/extension' }),
    'a time in words': json({ ...sound, startedAt: 'now', wsUrl: 'ws://127.0.0.1:1/extension' }),
    'a failure': (_, res) => {
      res.statusCode = 500
      res.end(JSON.stringify({ ...sound, wsUrl: 'ws://127.0.0.1:1/extension' }))
    },
    'a redirect': (_, res) => {
      res.writeHead(302, { location: `http://127.0.0.1:${portOf(trap)}/trap` })
      res.end()
    },
    'an endless answer': (_, res) => {
      const more = () => {
        while (!res.destroyed && res.write(' '.repeat(1000)));
      }
      res.on('drain', more)
      more()
    },
    'silence': () => {},
    'silence after a beginning': (_, res) => res.write('{'),
  }
  const ports = [Number(bridge.address.split(':')[1])]
  for (const answer of Object.values(hostile)) ports.push(portOf(await listen(answer)))
  const begun = Date.now()
  const found = await findBridges(new AbortController().signal, ports)
  const [{ startedAt, ...rest }] = found as [typeof found[0]]
  assert.deepEqual([found.length, rest], [1, { name: 'portolan', version: 1, address: bridge.address }])
  assert.ok(startedAt > begun - 60_000 && startedAt <= begun, 'when it started')
  assert.deepEqual(asked, [], 'no redirect is followed')
})

const deep = (selector: string) =>
  `(function find(r){for(const e of r.querySelectorAll('*')){if(e.matches(${
    JSON.stringify(selector)
  })&&e.getClientRects().length)return e;const f=e.shadowRoot&&find(e.shadowRoot);if(f)return f}})(document)`

for (const granted of [false, true])
  test(`B4: a click finds two bridges, a second pairs with one, ${granted ? 'with' : 'without'} host permissions`, async () => {
    const requests: string[] = []
    await atAskedPort((port) =>
      listen((req, res) => {
        requests.push(`${req.method} ${req.url} ${req.headers.cookie ?? ''} ${req.headers.authorization ?? ''}`.trim())
        json({})(req, res)
      }, port)
    )
    const rig = new Rig(await atAskedPort(startBridge), await Chromium.create({ granted }))
    open.push(rig)
    await rig.openPanel()
    const shows = (text: string) =>
      rig.panel.until(
        (find, text) => !!((0, eval)(find) as HTMLElement | undefined)?.innerText.includes(text),
        [deep('portolan-bridges'), text],
        `${text} is shown`,
      )
    await shows('Look for bridges')
    assert.deepEqual(requests, [], 'nothing is asked before the click')
    await rig.panel.click(deep('portolan-bridges button'))
    await shows(rig.bridge.address)
    const other = await atAskedPort(startBridge)
    await shows(other.address)
    assert.deepEqual([...new Set(requests)], ['GET /mcp-discovery'], 'a bridge gets nothing but the question')

    const said = other.pair(async (digits) => {
      await rig.until('the digits are asked for', (s) => s.pairing?.step === 'digits')
      await rig.ask('digits', { digits })
    })
    await other.waitsForPairing()
    await rig.panel.click(deep(`portolan-bridges [aria-label$="${other.address}"]`))
    assert.match(await said, /Paired with/)
    await rig.connected()
    const heard = requests.length
    await new Promise((resolve) => setTimeout(resolve, 3500)) // longer than the time between two searches
    assert.equal(requests.length, heard, 'it no longer asks')
  })

test('B4: the extension is connected to two bridges at once, and their clients are kept apart', async () => {
  const rig = await Rig.create({ granted: true })
  open.push(rig)
  const other = await TestBridge.create()
  open.push(other)
  await other.start()
  const [first] = (await rig.connected()).links
  const second = Object.assign(Object.create(rig) as Rig, { bridge: other })
  await second.pair()
  const both = (s: State) => s.links.filter((l) => l.status === 'connected').length === 2
  const { links } = await rig.until('both are connected', both)
  assert.deepEqual(links.map((l) => l.address), [rig.bridge.address, other.address])
  assert.equal(links[0]!.pairing, first!.pairing)

  await rig.ask('setOptions', { bookmarks: true })
  const [one, two] = [await rig.bridge.stdioClient('desk'), await other.stdioClient('desk')]
  await hasTool(one, 'bookmark_add')
  await hasTool(two, 'bookmark_add')
  await Promise.all([one, two].flatMap((client, c) =>
    Array.from({ length: 10 }, async (_, n) => {
      const title = `bridge ${c} call ${n}`
      const r = await call(client, 'bookmark_add', { title, url: `https://example.com/${c}/${n}` })
      assert.equal((JSON.parse(r.text) as { title: string }).title, title)
    })
  ))
  // A rule for a client of one bridge does not hold for its namesake at the other.
  const { clients } = await rig.until('two clients', (s) => s.clients.length === 2)
  const ofOther = clients.find((c) => c.key.startsWith(`${links[1]!.pairing}\n`))!
  assert.ok(ofOther && clients.every((c) => c.name === 'desk'))
  await rig.ask('setGrant', { client: ofOther.key, tool: 'bookmark_search', grant: 'deny' })
  assert.ok(!(await call(one, 'bookmark_search', { query: 'bridge' })).error)
  assert.match((await call(two, 'bookmark_search', { query: 'bridge' })).text, /denied|refused|not allow/i)

  await rig.killWorker()
  await rig.until('both are connected again', both)
  await hasTool(one, 'bookmark_search')
  await hasTool(two, 'bookmark_search')

  await rig.bridge.stop()
  await rig.until('the loss is seen', (s) => s.links[0]?.status === 'waiting')
  assert.ok(!(await call(two, 'bookmark_get_children', { id: '1' })).error, 'the other goes on')
  await rig.bridge.start()
  await rig.until('both are connected', both)
  await rig.ask('unpair', { pairing: links[1]!.pairing })
  const left = await rig.until('one is left', (s) => s.links.length === 1)
  assert.deepEqual([left.links[0]!.pairing, left.links[0]!.status], [links[0]!.pairing, 'connected'])
})

test('an older version’s pairing is used after the update', async () => {
  const rig = await Rig.create({ granted: true })
  open.push(rig)
  const { links } = await rig.connected()
  const { pairing, address } = links[0]!
  await rig.panel.evaluate(
    async (pairing, address) => {
      const open = indexedDB.open('portolan-bridge', 1)
      const done = (r: IDBRequest) => new Promise<unknown>((resolve) => r.onsuccess = () => resolve(r.result))
      await done(open)
      const keys = open.result.transaction('keys', 'readwrite').objectStore('keys')
      await done(keys.put(await done(keys.get(pairing)), 'bridge'))
      await done(keys.delete(pairing))
      open.result.close()
      await chrome.storage.local.set({ bridge: { address, ephemeral: false, pairing } })
    },
    pairing,
    address,
  )
  await rig.killWorker()
  const kept = await rig.panel.evaluate(() => chrome.storage.local.get('bridge'))
  assert.deepEqual(kept, { bridge: [{ address, ephemeral: false, pairing }] })
})
