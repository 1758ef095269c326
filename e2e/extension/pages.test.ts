import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type * as portolan from '../../wasm/js/shared/types.ts'
import { happens, listen, root, type Listening } from '../rig/harness.ts'
import type { CdpPage } from '../rig/cdp.ts'
import { hasTool, Rig } from './rig.ts'

// Web pages that try to reach the bridge in a real browser, with fetch,
// WebSocket, forms and frames. The table of header tricks that no browser allows
// is in bridge/guard_test.go.

let rig: Rig
let site: Listening
let page: CdpPage
let token: string
before(async () => {
  rig = await Rig.create({ granted: true })
  const types: Record<string, string> = { js: 'text/javascript', wasm: 'application/wasm' }
  site = await listen(async (req, res) => {
    const name = /^\/portolan\/([\w-]+\.(js|wasm))$/.exec(req.url!)
    const body = name ? await readFile(`${root}dist/npm/${name[1]}`) : '<!doctype html><title>page</title>'
    res.writeHead(200, { 'content-type': name ? types[name[2]!]! : 'text/html' }).end(body)
  })
  page = await rig.browser.open(`${site.url}/`)
  token = await rig.bridge.run('token')
})
after(async () => {
  await rig?.close()
  await site?.close()
})

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1' } },
})

/** Returns the outcome of a page's request: its status, `opaque`, or `failed`. */
const tried = (path: string, init: RequestInit) =>
  page.evaluate(
    async (url, init) => {
      try {
        const r = await fetch(url, init)
        return r.type === 'opaque' ? 'opaque' : String(r.status)
      } catch {
        return 'failed'
      }
    },
    `http://${rig.bridge.address}${path}`,
    init,
  )

test('no page opens a socket, with any header', async () => {
  const { address } = rig.bridge
  const tries: [string, string[]][] = [
    ['/extension', []],
    ['/extension', ['mcp']],
    ['/extension', ['chrome-extension']],
    ['/local', []],
    ['/mcp', []],
  ]
  for (const [path, protocols] of tries) { // few, because the browser slows down a page whose sockets fail
    const outcome = await page.evaluate(
      (url, protocols) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(url, protocols)
          socket.onopen = () => {
            socket.send('{"type":"hello"}')
            resolve('open')
          }
          socket.onclose = () => resolve('closed')
        }),
      `ws://${address}${path}`,
      protocols,
    )
    assert.equal(outcome, 'closed', `${path} ${protocols.join()}`)
  }
  const other = await page.evaluate((url) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(url)
      socket.onopen = () => resolve('open')
      socket.onclose = () => resolve('closed')
    }), `ws://${address.replace('127.0.0.1', 'localhost')}/extension`)
  assert.equal(other, 'closed')
})

test('no page reaches the MCP endpoint, with the token or without', async () => {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const tries: [string, RequestInit][] = [
    ['/mcp', { method: 'POST', body: initialize, headers: json }],
    ['/mcp', { method: 'POST', body: initialize, headers: { ...json, authorization: `Bearer ${token}` } }],
    ['/mcp', { method: 'POST', body: initialize, mode: 'no-cors' }],
    ['/mcp', { method: 'POST', body: initialize, mode: 'no-cors', headers: { 'content-type': 'text/plain' } }],
    ['/mcp', {
      method: 'POST',
      body: new URLSearchParams({ a: initialize }).toString(),
      mode: 'no-cors',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }],
    ['/mcp', { headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` } }],
    ['/mcp', { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }],
    ['/mcp', { credentials: 'include' }],
    [`/mcp?token=${token}`, {}],
    ['/mcp-discovery', {}],
    ['/extension', {}],
    ['/local', {}],
  ]
  for (const [path, init] of tries) {
    const outcome = await tried(path, init)
    // An opaque response has no status for a page. The session shows that it was refused.
    assert.ok(
      outcome === 'failed' || outcome === 'opaque',
      `${init.method ?? 'GET'} ${path} ${JSON.stringify(init)}: ${outcome}`,
    )
  }
  const { clients } = await rig.state()
  assert.deepEqual(clients, [])
})

test('forms and frames reach nothing either', async () => {
  const address = `http://${rig.bridge.address}/mcp`
  await page.send('Network.enable')
  let status = 0
  const stop = rig.browser.cdp.on(({ method, params }) => {
    const response = params?.['response'] as { url: string; status: number } | undefined
    if (method === 'Network.responseReceived' && response?.url === address) status = response.status
  })
  const outcome = await page.evaluate(
    (url, body) =>
      new Promise<string>((resolve) => {
        const frame = document.createElement('iframe')
        frame.name = 'target'
        frame.onload = () => {
          try {
            resolve(frame.contentDocument?.body.textContent ?? 'foreign')
          } catch {
            resolve('foreign')
          }
        }
        const form = Object.assign(document.createElement('form'), {
          method: 'post',
          action: url,
          target: 'target',
          enctype: 'text/plain',
        })
        form.append(Object.assign(document.createElement('input'), { name: body, value: '' }))
        document.body.append(frame, form)
        form.submit()
        setTimeout(() => resolve('nothing'), 1500)
      }),
    address,
    initialize,
  )
  assert.ok(['foreign', 'nothing', ''].includes(outcome), outcome)
  await rig.until('the answer to the form', () => status)
  assert.equal(status, 403)
  stop()
  await page.send('Network.disable')
})

test('an approved page gets in with the token, until the approval is removed', async () => {
  await rig.ask('approveOrigin', { origin: site.url, approved: true })
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (headers: Record<string, string>) =>
    tried('/mcp', { method: 'POST', body: initialize, headers: { ...json, ...headers } })
  await happens(async () => await post({ authorization: `Bearer ${token}` }) === '200')
  assert.equal(await post({}), '401')
  assert.equal(await post({ authorization: 'Bearer wrong' }), '401')
  const other = await rig.browser.open(`${site.url.replace('127.0.0.1', 'localhost')}/`)
  const foreign = await other.evaluate(
    (url, init) => fetch(url, init).then((r) => String(r.status), () => 'failed'),
    `http://${rig.bridge.address}/mcp`,
    { method: 'POST', body: initialize, headers: { ...json, authorization: `Bearer ${token}` } },
  )
  assert.equal(foreign, 'failed', 'another origin is not approved')

  await rig.killWorker() // the approval is stored
  await happens(async () => await post({ authorization: `Bearer ${token}` }) === '200')
  await rig.ask('approveOrigin', { origin: site.url, approved: false })
  await happens(async () => await post({ authorization: `Bearer ${token}` }) !== '200')
  assert.equal(await post({ authorization: `Bearer ${token}` }), 'failed')
  for (
    const origin of [
      'https://example.com/path',
      'chrome-extension://abc',
      'null',
      'file:///',
      'https://example.com:443',
      '*',
    ]
  ) {
    await assert.rejects(rig.ask('approveOrigin', { origin, approved: true }))
  }
})

test('an approved page that runs Portolan has the browser’s own tools through the bridge', async () => {
  await rig.ask('setOptions', { bookmarks: true })
  await rig.ask('approveOrigin', { origin: site.url, approved: true })
  await hasTool(await rig.bridge.httpClient('first'), 'bookmark_add')
  const outcome = await page.evaluate(
    async (url, token) => {
      const { createRegistry } = await import('/portolan/index.js' as string) as typeof portolan
      const registry = await createRegistry({
        storage: 'memory',
        servers: { browser: { url, headers: { Authorization: `Bearer ${token}` } } },
      })
      const snapshot = await registry.discover()
      const added = await registry.dispatch('browser__bookmark_add', {
        title: 'By a page',
        url: 'https://page.example/',
      })
      await registry.close()
      return { status: snapshot.servers.browser!.status, error: snapshot.servers.browser!.lastError, added }
    },
    `http://${rig.bridge.address}/mcp`,
    token,
  )
  assert.deepEqual([outcome.status, outcome.error], ['connected', null])
  assert.equal((JSON.parse(outcome.added) as { title: string }).title, 'By a page')
  await rig.ask('approveOrigin', { origin: site.url, approved: false })
})

test("the extension's own storage and ports are closed to content scripts", async () => {
  const seen = await rig.panel.evaluate(async (url) => {
    const tab = (await chrome.tabs.query({})).find((t) => t.url?.startsWith(url))!
    const [outcome] = await chrome.scripting.executeScript({
      target: { tabId: tab.id! },
      func: async () => {
        const read = async (area: 'local' | 'session') => {
          try {
            return Object.keys(await chrome.storage[area].get(null)).length
          } catch {
            return 'refused'
          }
        }
        // The background does not accept it as a page of the extension either.
        const connects = (name: string) =>
          new Promise<string>((resolve) => {
            const port = chrome.runtime.connect({ name })
            port.onMessage.addListener(() => resolve('answered'))
            port.onDisconnect.addListener(() => resolve('closed'))
            try {
              port.postMessage({ id: 1, method: 'stop', params: {} })
            } catch { /* it is closed */ }
          })
        return [
          await read('local'),
          await read('session'),
          await connects('portolan-panel'),
          await connects('portolan-registry'),
          await connects('x'),
        ]
      },
    })
    return outcome!.result
  }, site.url)
  assert.deepEqual(seen, ['refused', 'refused', 'closed', 'closed', 'closed'])
  assert.equal((await rig.state()).stopped, false)
  await hasTool(await rig.bridge.httpClient('still'), 'tabs_list', false)
})
