import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { root } from '../rig/harness.ts'
import { TestBridge } from './bridge.ts'
import { Connection } from '../../web/pairing/connection.ts'
import { encode, joined } from '../../web/pairing/handshake.ts'
import { digest, mac, macKey } from '../../web/pairing/crypto.ts'
import type { LinkRecord } from '../../extension/link/bridgelink.ts'
import { Links, type LinksHost } from '../../extension/link/links.ts'
import type { Link } from '../../extension/messages.ts'
import { ToolModule, type CallHandler } from '../../extension/link/module.ts'
import { Pairer } from '../../extension/link/pairing.ts'

// The extension's whole link in Node: its own handshake and module, and the real
// bridge. Only the socket and the storage are Node's.

const origin = 'chrome-extension://abcdefghijklmnopabcdefghijklmnop'
const wasm = WebAssembly.compile(await readFile(`${root}dist/extension/tools.wasm`))

function dial(url: string): WebSocket {
  return new WebSocket(url, { headers: { origin } } as never)
}

interface Extension {
  links: Links
  /** The first bridge's state. */
  readonly link: Link | undefined
  pairer: Pairer
  seen: string[]
  until(test: () => unknown): Promise<void>
  kept: Kept
}

interface Kept {
  records?: LinkRecord[] | Partial<LinkRecord>
  keys: Map<string, CryptoKey>
}

async function extension(
  handler: CallHandler,
  installId = 'profile-1',
  kept: Kept = { keys: new Map() },
): Promise<Extension> {
  const seen: string[] = []
  let module: Promise<ToolModule> | undefined
  let changed = () => {}
  const host: LinksHost = {
    dial,
    keys: {
      get: async (pairing) => kept.keys.get(pairing),
      set: async (pairing, key) => void kept.keys.set(pairing, key),
      remove: async (isOver) => [...kept.keys.keys()].filter(isOver).forEach((pairing) => kept.keys.delete(pairing)),
    },
    records: {
      get: async () => kept.records,
      set: async (records) => {
        kept.records = records
      },
    },
    ended: () => {},
    profile: async () => ({ installId, label: installId }),
    origin,
    serve: async (line, pairing) => {
      module ??= wasm.then((w) => ToolModule.start(w, '1', handler))
      const m = await module
      m.offer([{
        definition: {
          name: 'echo',
          inputSchema: {
            type: 'object',
            properties: { n: { type: 'number', default: 7 } },
            additionalProperties: false,
          },
        },
        check: true,
      }])
      m.serve(line, pairing)
    },
    changed: () => {
      const status = e.link?.status
      if (status && seen.at(-1) !== status) seen.push(status)
      changed()
    },
    watch: () => {},
  }
  const links = new Links(host)
  const e: Extension = {
    kept,
    seen,
    links,
    get link() {
      return e.links.states[0]
    },
    pairer: new Pairer({
      ...host,
      changed: () => changed(),
      links,
      awakeDuring: (work) => work(),
    }),
    async until(test) {
      const timeout = Date.now() + 20_000
      while (!await test()) {
        if (Date.now() > timeout)
          throw new Error(`it does not happen: ${test}; ${JSON.stringify([e.links.states, e.pairer.state])}`)
        await new Promise<void>((resolve) => {
          changed = resolve
          setTimeout(resolve, 20)
        })
      }
    },
  }
  await e.links.load()
  return e
}

/** The wait of answers of `echo`: the SDK's client drops progress that comes together with the answer. */
let mayAnswer: Promise<void> | undefined
const echo: CallHandler = async ({ arguments: args, client }, _signal, { progress }) => {
  for (let i = 1; i <= 3; i++) progress({ progress: i, total: 3 })
  await mayAnswer
  return JSON.stringify({
    content: [{ type: 'text', text: JSON.stringify(args) }],
    structuredContent: { client: client?.name },
  })
}

async function paired(bridge: TestBridge, e: Extension): Promise<void> {
  const said = bridge.pair(async (digits) => {
    await e.until(() => e.pairer.state?.step === 'digits')
    e.pairer.digits(`${digits.slice(0, 3)} ${digits.slice(3)}`)
  })
  const deadline = Date.now() + 10_000
  do {
    await e.pairer.pair(bridge.address) // until the bridge waits for a pairing
  } while (
    e.pairer.state?.error?.code && ['NOT_PAIRING', 'NO_BRIDGE', 'DISCONNECTED'].includes(e.pairer.state.error.code) &&
    Date.now() < deadline
  )
  assert.match(await said, /Paired with "profile-/)
}

const text = async (client: Client, args: Record<string, unknown> = {}) => {
  const r = await client.callTool({ name: 'echo', arguments: args })
  return (r.content as { text: string }[])[0]!.text
}

test('MACs and digests are those of the bridge', async () => {
  const vectors = JSON.parse(await readFile(`${root}bridge/handshake/testdata/vectors.json`, 'utf8')) as Record<
    string,
    string
  >
  const run = (from: number, n: number) => Uint8Array.from({ length: n }, (_, i) => from + i)
  const key = await macKey(run(0, 32))
  for (const side of ['bridge', 'client']) {
    const said = joined(
      `portolan-connect-1 ${side}`,
      'extension',
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
      '127.0.0.1:55156',
      'i-1',
      run(32, 32),
      run(64, 32),
    )
    assert.equal(encode(await mac(key, said)), vectors[side])
  }
  assert.equal(
    encode(await digest(joined('portolan-pair-1 commitment', run(1, 65), run(2, 65), run(3, 32)))),
    vectors.commitment,
  )
})

test('pairs once, connects again after the bridge restarted, and serves desktop clients', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo)
  try {
    await e.links.wake()
    assert.deepEqual(e.links.states, [])
    await bridge.start()
    await paired(bridge, e)
    await e.until(() => e.link?.status === 'connected')
    const client = await bridge.stdioClient('desk')
    await e.until(async () => (await client.listTools()).tools.length)
    const progress: number[] = []
    const heard = Promise.withResolvers<void>()
    mayAnswer = heard.promise
    const r = await client.callTool({ name: 'echo', arguments: { n: 1 } }, undefined, {
      onprogress: (p) => {
        if (progress.push(p.progress) === 3) heard.resolve()
      },
    })
    assert.deepEqual(r.structuredContent, { client: 'desk' })
    assert.deepEqual(progress, [1, 2, 3])
    assert.equal(await text(client), '{"n":7}')
    assert.match(await text(client, { m: 1 }), /^Invalid arguments:/)

    await bridge.stop()
    await e.until(() => e.link?.status === 'waiting')
    await bridge.start()
    await e.links.wake()
    await e.until(() => e.link?.status === 'connected')
    const other = await bridge.httpClient('other')
    await e.until(async () => (await other.listTools()).tools.length)
    assert.equal(await text(other, { n: 2 }), '{"n":2}')

    e.links.stop(true)
    assert.equal(e.link?.status, 'stopped')
    let said = ''
    // The first call may come before the bridge knows about it.
    await e.until(async () => {
      said = await text(other)
      assert.match(said, /\(STOPPED\)$/)
      return said.startsWith('No browser extension connected')
    })
    e.links.stop(false)
    await e.until(() => e.link?.status === 'connected')

    await bridge.run('revoke', 'profile-1')
    await e.until(() => e.link?.error?.code === 'NOT_PAIRED')
    await e.links.unpair(e.link!.pairing)
    assert.deepEqual([e.links.states, e.kept.records, e.kept.keys.size], [[], [], 0])
  } finally {
    e.links.stop(true)
    await bridge.close()
  }
})

test('two copies of a profile do not take the connection from each other without end', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo)
  let copy: Extension | undefined
  try {
    await bridge.start()
    await paired(bridge, e)
    await e.until(() => e.link?.status === 'connected')
    copy = await extension(echo, 'profile-1', e.kept)
    await copy.links.wake()
    await e.until(() => e.link?.error?.code === 'REPLACED')
    assert.ok(e.link!.retryAt! - Date.now() > 30_000, 'it yields')
    await e.links.wake() // like the alarm
    assert.equal(e.link?.status, 'waiting')
    assert.equal(copy.link?.status, 'connected')
    await e.links.reconnect(e.link!.pairing) // like the user's button
    await e.until(() => e.link?.status === 'connected')
    await copy.until(() => copy!.link?.error?.code === 'REPLACED')
  } finally {
    e.links.stop(true)
    copy?.links.stop(true)
    await bridge.close()
  }
})

test('stopped while it begins, it stays stopped', async () => {
  const e = await extension(echo)
  await e.links.paired('127.0.0.1:1', await macKey(new Uint8Array(32)))
  const waking = e.links.wake()
  e.links.stop(true)
  await waking
  assert.equal(e.link?.status, 'stopped')
})

test('a pairing whose storage fails once, or was cleared, connects all the same', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo)
  try {
    await bridge.start()
    await paired(bridge, e)
    await e.until(() => e.link?.status === 'connected')
    const { get } = e.kept.keys
    e.kept.keys.get = function(pairing) {
      this.get = get
      throw new Error(`the disk is busy with ${pairing}`)
    }
    e.kept.records = undefined
    await e.links.reconnect(e.link!.pairing)
    assert.deepEqual([e.link?.status, e.link?.error?.code], ['waiting', 'UNKNOWN'])
    assert.match(e.link!.error!.message, /the disk is busy/)
    await e.until(() => e.link?.status === 'connected')
  } finally {
    e.links.stop(true)
    await bridge.close()
  }
})

test('a pairing that finds no room says so', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo, 'profile-full')
  try {
    await bridge.start()
    e.kept.keys.set = () => {
      throw new DOMException('', 'QuotaExceededError')
    }
    await paired(bridge, e)
    assert.deepEqual([e.pairer.state?.step, e.pairer.state?.error?.code], ['failed', 'NOT_STORED'])
    assert.equal(e.kept.records, undefined)
  } finally {
    await bridge.close()
  }
})

test('digits that differ, a no in the terminal, and addresses elsewhere pair nothing', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo, 'profile-2')
  try {
    await bridge.start()
    for (
      const address of [
        'example.com:55156',
        '127.0.0.1',
        '10.0.0.1:55156',
        '127.0.0.1:0',
        'localhost:99999',
        '127.0.0.1:55156/x',
      ]
    ) {
      await e.pairer.pair(address)
      assert.equal(e.pairer.state?.error?.code, 'BAD_ADDRESS', address)
    }
    const attempt = async (type: (digits: string) => string, answer: string) => {
      const said = bridge.pair(async (digits) => {
        await e.until(() => e.pairer.state?.step === 'digits')
        e.pairer.digits(type(digits))
      }, answer)
      do await e.pairer.pair(bridge.address)
      while (e.pairer.state?.error?.code === 'NOT_PAIRING')
      return said
    }
    await Promise.race([
      attempt(() => '000000', 'y').catch(() => {}),
      e.until(() => e.pairer.state?.error?.code === 'DECLINED'),
    ])
    assert.match(e.pairer.state!.error!.message, /not the digits/)
    assert.equal(e.kept.keys.size, 0)
  } finally {
    e.pairer.cancel()
    await bridge.close()
  }
})

test('a pairing that is cancelled while its key is being stored is taken back', async () => {
  const bridge = await TestBridge.create()
  const kept: Kept = { keys: new Map() }
  const e = await extension(echo, 'profile-9', kept)
  try {
    await bridge.start()
    let isStored = false
    kept.keys.set = (pairing, key) => {
      isStored = true
      e.pairer.cancel()
      return Map.prototype.set.call(kept.keys, pairing, key)
    }
    await paired(bridge, e)
    assert.ok(isStored)
    assert.deepEqual([kept.records, kept.keys.size, e.links.states, e.pairer.state], [[], 0, [], null])
  } finally {
    await bridge.close()
  }
})

test('another program on the port learns nothing and gets no proof', async () => {
  const { WebSocketServer } = await import('ws')
  const heard: string[] = []
  const squatter = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  squatter.on('connection', (ws) =>
    ws.on('message', (m) => {
      heard.push(String(m))
      ws.send(JSON.stringify({ type: 'challenge', nonce: encode(new Uint8Array(32)), mac: encode(new Uint8Array(32)) }))
    }))
  await new Promise((resolve) => squatter.once('listening', resolve))
  const e = await extension(echo, 'profile-3')
  const address = `127.0.0.1:${(squatter.address() as { port: number }).port}`
  try {
    await e.links.paired(address, await macKey(new Uint8Array(32).fill(9)))
    await e.until(() => e.link?.status === 'refused')
    assert.equal(e.link?.error?.code, 'BAD_PROOF')
    await e.until(() => heard.length === 2)
    const [hello, refusal] = heard.map((m) => JSON.parse(m) as Record<string, unknown>)
    assert.deepEqual(Object.keys(hello!).sort(), ['address', 'installId', 'nonce', 'role', 'type', 'version'])
    assert.equal(refusal!.type, 'refused')
  } finally {
    e.links.stop(true)
    squatter.close()
  }
})

test('a program that sends what no bridge sends is left, with a code that browsers may send', async () => {
  const strange: [send: (socket: Socket) => void, code: number][] = [
    [(socket) => socket.write(Uint8Array.of(0x82, 1, 0)), 4009], // a binary message
    [(socket) => socket.write(Buffer.from('8100'.repeat(1001), 'hex')), 4008], // empty texts that nobody reads
  ]
  for (const [speak, code] of strange) {
    const heard = Promise.withResolvers<number>()
    const server = createServer().on('upgrade', (req, socket) => {
      const accept = createHash('sha1').update(
        `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
      )
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `Sec-WebSocket-Accept: ${accept.digest('base64')}\r\n\r\n`,
      )
      speak(socket as Socket)
      socket.once('data', (frame: Buffer) => {
        heard.resolve((frame[6]! ^ frame[2]!) << 8 | frame[7]! ^ frame[3]!) // its code, without the mask
        socket.end(Uint8Array.of(0x88, 0))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const connection = await Connection.open(new WebSocket(`ws://127.0.0.1:${port}`), 5000)
      assert.equal((await connection.ended).code, code - 3000)
      assert.equal(await heard.promise, code)
    } finally {
      server.close()
    }
  }
})

test('a bridge with --ephemeral is used with its token', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo, 'profile-4')
  try {
    await bridge.start('--ephemeral')
    const token = await (async () => {
      for (let i = 0; i < 1000; i++) {
        const found = /([A-Za-z0-9]{32})/.exec(bridge.log)
        if (found) return found[1]!
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`no token: ${bridge.log}`)
    })()
    await e.links.useToken(bridge.address, token)
    await e.until(() => e.link?.status === 'connected')
    assert.equal(e.link?.ephemeral, true)
  } finally {
    e.links.stop(true)
    await bridge.close()
  }
})

test('B4: two bridges are served at once, each with its own pairing, and neither needs the other', async () => {
  const bridges = [await TestBridge.create(), await TestBridge.create()]
  const pairings: string[] = []
  const e = await extension(async ({ pairing, client }, _signal, { ask }) => {
    pairings.push(pairing)
    const answer = await ask('elicitation/create', {
      message: `whose is ${client?.name}?`,
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    }) as { content: { name: string } }
    return JSON.stringify({ content: [{ type: 'text', text: answer.content.name }] })
  }, 'profile-5')
  try {
    for (const bridge of bridges) {
      await bridge.start()
      await paired(bridge, e)
    }
    const connected = () => e.links.states.filter((l) => l.status === 'connected').map((l) => l.address)
    await e.until(() => connected().length === 2)
    assert.deepEqual(connected(), bridges.map((b) => b.address))
    const clients = await Promise.all(bridges.map((b) => b.stdioClient('desk')))
    for (const [i, client] of clients.entries()) {
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: `bridge ${i}` } }))
      await e.until(async () => (await client.listTools()).tools.length)
    }
    assert.deepEqual(await Promise.all(clients.flatMap((c) => [text(c), text(c)])), [
      'bridge 0',
      'bridge 0',
      'bridge 1',
      'bridge 1',
    ])
    const [first, second] = e.links.states.map((l) => l.pairing) as [string, string]
    assert.deepEqual(pairings.toSorted(), [first, first, second, second].toSorted())

    await bridges[0]!.stop()
    await e.until(() => e.links.states[0]?.status === 'waiting')
    assert.equal(await text(clients[1]!), 'bridge 1', 'while the first is gone')
    await e.links.unpair(first)
    assert.deepEqual([...e.kept.keys.keys()], [second])
    assert.equal(await text(clients[1]!), 'bridge 1', 'after the first pairing ended')

    const again = await extension(echo, 'profile-5', e.kept)
    assert.deepEqual(again.links.states.map((l) => l.address), [bridges[1]!.address])
  } finally {
    e.links.stop(true)
    for (const bridge of bridges) await bridge.close()
  }
})

test('the one pairing of an older version is kept, and nine bridges are too many', async () => {
  const key = await macKey(new Uint8Array(32))
  const kept: Kept = {
    records: { address: '127.0.0.1:1', ephemeral: false, pairing: 'p' },
    keys: new Map([['bridge', key]]),
  }
  const e = await extension(echo, 'profile-6', kept)
  e.links.stop(true)
  assert.deepEqual(kept.records, [{ pairing: 'p', address: '127.0.0.1:1', ephemeral: false }])
  assert.deepEqual([...kept.keys], [['p', key]])
  assert.deepEqual(e.links.states.map((l) => [l.pairing, l.address]), [['p', '127.0.0.1:1']])
  await Promise.all([2, 3, 4, 5, 6, 7, 8].map((port) => e.links.paired(`127.0.0.1:${port}`, key)))
  assert.equal((kept.records as LinkRecord[]).length, 8, 'pairings at the same time are all kept')
  assert.equal(e.links.problem('127.0.0.1:9')?.code, 'TOO_MANY_BRIDGES')
  assert.equal(e.links.problem('127.0.0.1:8'), undefined, 'it may be paired again')
  await e.links.paired('127.0.0.1:8', key)
  assert.equal(e.links.states.length, 8)
  assert.deepEqual([...kept.keys.keys()].toSorted(), e.links.states.map((l) => l.pairing).toSorted())

  // A worker that ends between two writes leaves a key without a record.
  const cut: Kept = {
    records: [{ pairing: 'p', address: '127.0.0.1:1', ephemeral: false }],
    keys: new Map(['p', 'q', 'r'].map((pairing) => [pairing, key])),
  }
  const swept = await extension(echo, 'profile-8', cut)
  swept.links.stop(true)
  assert.deepEqual([[...cut.keys.keys()], swept.links.states.map((l) => l.pairing)], [['p'], ['p']])

  const lost = await extension(echo, 'profile-7', {
    records: [{ pairing: 'q', address: '127.0.0.1:1', ephemeral: false }],
    keys: new Map(),
  })
  await lost.links.wake()
  assert.equal(lost.link?.error?.code, 'NO_KEY')
  lost.links.stop(true)
})
