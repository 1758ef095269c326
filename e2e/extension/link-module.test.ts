import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { root } from '../web/harness.ts'
import { TestBridge } from './bridge.ts'
import { encode, joined } from '../../web/pairing/handshake.ts'
import { digest, mac, macKey } from '../../web/pairing/crypto.ts'
import { BridgeLink, type LinkHost, type LinkRecord } from '../../extension/link/bridgelink.ts'
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
  link: BridgeLink
  pairer: Pairer
  seen: string[]
  until(test: () => unknown): Promise<void>
  kept: { record?: LinkRecord; key?: CryptoKey }
}

async function extension(handler: CallHandler, installId = 'profile-1'): Promise<Extension> {
  const kept: Extension['kept'] = {}
  const seen: string[] = []
  let module: Promise<ToolModule> | undefined
  let changed = () => {}
  const host: LinkHost = {
    dial,
    keys: {
      get: async () => kept.key,
      set: async (key) => {
        kept.key = key
      },
      remove: async () => {
        delete kept.key
      },
    },
    record: {
      get: async () => kept.record,
      set: async (record) => {
        kept.record = record
      },
    },
    profile: async () => ({ installId, label: installId }),
    origin,
    serve: async (line) => {
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
      m.serve(line)
    },
    changed: () => {
      if (seen.at(-1) !== e.link.state.status) seen.push(e.link.state.status)
      changed()
    },
    watch: () => {},
  }
  const e: Extension = {
    kept,
    seen,
    link: new BridgeLink(host),
    pairer: new Pairer({
      ...host,
      changed: () => changed(),
      paired: (address, key) => e.link.paired(address, key),
      awakeDuring: (work) => work(),
    }),
    async until(test) {
      const timeout = Date.now() + 20_000
      while (!await test()) {
        if (Date.now() > timeout)
          throw new Error(`it does not happen: ${test}; ${JSON.stringify([e.link.state, e.pairer.state])}`)
        await new Promise<void>((resolve) => {
          changed = resolve
          setTimeout(resolve, 20)
        })
      }
    },
  }
  return e
}

const echo: CallHandler = async ({ arguments: args, client }, _signal, { progress }) => {
  for (let i = 1; i <= 3; i++) progress({ progress: i, total: 3 })
  await new Promise((resolve) => setTimeout(resolve, 50)) // the SDK's client drops progress that comes together with the answer
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
    await e.link.wake()
    assert.equal(e.link.state.status, 'unpaired')
    await bridge.start()
    await paired(bridge, e)
    await e.until(() => e.link.state.status === 'connected')
    const client = await bridge.stdioClient('desk')
    await e.until(async () => (await client.listTools()).tools.length)
    const progress: number[] = []
    const r = await client.callTool({ name: 'echo', arguments: { n: 1 } }, undefined, {
      onprogress: (p) => progress.push(p.progress),
    })
    assert.deepEqual(r.structuredContent, { client: 'desk' })
    assert.deepEqual(progress, [1, 2, 3])
    assert.equal(await text(client), '{"n":7}')
    assert.match(await text(client, { m: 1 }), /^Invalid arguments:/)

    await bridge.stop()
    await e.until(() => e.link.state.status === 'waiting')
    await bridge.start()
    await e.link.wake()
    await e.until(() => e.link.state.status === 'connected')
    const other = await bridge.httpClient('other')
    await e.until(async () => (await other.listTools()).tools.length)
    assert.equal(await text(other, { n: 2 }), '{"n":2}')

    e.link.stop(true)
    assert.equal(e.link.state.status, 'stopped')
    let said = ''
    // The first call may come before the bridge knows about it.
    await e.until(async () => {
      said = await text(other)
      assert.match(said, /\(STOPPED\)$/)
      return said.startsWith('No browser extension connected')
    })
    e.link.stop(false)
    await e.until(() => e.link.state.status === 'connected')

    await bridge.run('revoke', 'profile-1')
    await e.until(() => e.link.state.error?.code === 'NOT_PAIRED')
    await e.link.unpair()
    assert.equal(e.link.state.status, 'unpaired')
    assert.equal(e.kept.key, undefined)
  } finally {
    e.link.stop(true)
    await bridge.close()
  }
})

test('two copies of a profile do not take the connection from each other without end', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo)
  const copy = await extension(echo)
  try {
    await bridge.start()
    await paired(bridge, e)
    await e.until(() => e.link.state.status === 'connected')
    Object.assign(copy.kept, e.kept)
    await copy.link.wake()
    await e.until(() => e.link.state.error?.code === 'REPLACED')
    assert.ok(e.link.state.retryAt! - Date.now() > 30_000, 'it yields')
    await e.link.wake() // like the alarm
    assert.equal(e.link.state.status, 'waiting')
    assert.equal(copy.link.state.status, 'connected')
    await e.link.reconnect() // like the user's button
    await e.until(() => e.link.state.status === 'connected')
    await copy.until(() => copy.link.state.error?.code === 'REPLACED')
  } finally {
    e.link.stop(true)
    copy.link.stop(true)
    await bridge.close()
  }
})

test('stopped while it begins, it stays stopped', async () => {
  const e = await extension(echo)
  e.kept.key = await macKey(new Uint8Array(32))
  e.kept.record = { address: '127.0.0.1:1', ephemeral: false }
  const waking = e.link.wake()
  e.link.stop(true)
  await waking
  assert.equal(e.link.state.status, 'stopped')
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
    assert.equal(e.kept.key, undefined)
  } finally {
    e.pairer.cancel()
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
  e.kept.key = await macKey(new Uint8Array(32).fill(9))
  e.kept.record = { address: `127.0.0.1:${(squatter.address() as { port: number }).port}`, ephemeral: false }
  try {
    await e.link.wake()
    assert.equal(e.link.state.status, 'refused')
    assert.equal(e.link.state.error?.code, 'BAD_PROOF')
    await e.until(() => heard.length === 2)
    const [hello, refusal] = heard.map((m) => JSON.parse(m) as Record<string, unknown>)
    assert.deepEqual(Object.keys(hello!).sort(), ['address', 'installId', 'nonce', 'role', 'type', 'version'])
    assert.equal(refusal!.type, 'refused')
  } finally {
    e.link.stop(true)
    squatter.close()
  }
})

test('a bridge with --ephemeral is used with its token', async () => {
  const bridge = await TestBridge.create()
  const e = await extension(echo, 'profile-4')
  try {
    await bridge.start('--ephemeral')
    const token = await (async () => {
      for (let i = 0; i < 100; i++) {
        const found = /([A-Za-z0-9]{32})/.exec(bridge.log)
        if (found) return found[1]!
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`no token: ${bridge.log}`)
    })()
    await e.link.useToken(bridge.address, token)
    await e.until(() => e.link.state.status === 'connected')
    assert.equal(e.link.state.ephemeral, true)
  } finally {
    e.link.stop(true)
    await bridge.close()
  }
})
