import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { panelPort, type Method, type Requests, type State } from '../../extension/messages.ts'
import { TestBridge } from './bridge.ts'
import type { CdpPage } from '../rig/cdp.ts'
import { Chromium, extensionId } from './chromium.ts'
import { template } from './profiles.ts'

interface PageRig {
  state?: State
  ask(method: string, params: unknown): Promise<unknown>
}
declare global {
  interface Window {
    rig: PageRig
  }
}

/** In the extension's page: opens a port beside the page's own. Returns false while the page is not there. */
export const openPort = (name: string): boolean => {
  if (!globalThis.chrome?.runtime?.id) return false
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let port: chrome.runtime.Port
  let last = 0
  const connect = () => {
    port = chrome.runtime.connect({ name })
    port.onMessage.addListener((m) => {
      if (m.state) rig.state = m.state as State
      else if (m.error) waiting.get(m.id)?.reject(Object.assign(new Error(m.error.message), m.error))
      else waiting.get(m.id)?.resolve(m.result)
    })
    port.onDisconnect.addListener(() => {
      rig.state = undefined
      for (const w of waiting.values()) w.reject(new Error('the background is gone'))
      setTimeout(connect, 50)
    })
  }
  const rig: PageRig = window.rig = {
    ask(method, params) {
      const id = ++last
      const asked = Promise.withResolvers<unknown>()
      waiting.set(id, asked)
      port.postMessage({ id, method, params })
      return asked.promise
    },
  }
  connect()
  return true
}

/** A real bridge, a real browser with the real extension, and its side panel's page, open in a tab. */
export class Rig {
  readonly bridge: TestBridge
  readonly browser: Chromium
  panel!: CdpPage

  constructor(bridge: TestBridge, browser: Chromium) {
    this.bridge = bridge
    this.browser = browser
  }

  /** Pairs by a copy of the template's pairing, or by hand, unless `paired` is false. */
  static async create({ paired = true, ...options }: Parameters<typeof Chromium.create>[0] = {}): Promise<Rig> {
    const copied = paired && !!options.granted && !options.debugger
    const bridge = await TestBridge.create(copied ? await template('bridge') : undefined)
    const rig = new Rig(bridge, await Chromium.create({ ...options, paired: copied }))
    try {
      if (paired) await bridge.start()
      await rig.openPanel()
      if (copied) {
        await rig.moveBridge(bridge.address)
        await rig.connected()
      } else if (paired) await rig.pair()
      return rig
    } catch (e) {
      await rig.close()
      throw e
    }
  }

  /** Opens the side panel's page, and a second port beside the page's. */
  async openPanel(): Promise<void> {
    this.panel = await this.browser.open(`chrome-extension://${extensionId}/sidepanel.html`)
    await this.panel.until(
      openPort,
      [panelPort],
      'the panel loads',
    )
    await this.until('the state', () => true)
  }

  ask<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>> {
    return this.panel.evaluate(
      (method, params) => window.rig.ask(method, params),
      method as string,
      params as unknown,
    ) as Promise<ReturnType<Requests[M]>>
  }

  async state(): Promise<State> {
    return this.until('the state', () => true)
  }

  /** Resolves with the first state for which `test` holds. */
  async until(what: string, test: (state: State) => unknown, ms = 20_000): Promise<State> {
    const deadline = Date.now() + ms
    for (;;) {
      let failure: unknown
      const state = await this.panel.evaluate(() => window.rig.state).catch((e: unknown) => void (failure = e))
      if (state && test(state)) return state
      if (Date.now() > deadline) {
        const seen = state
          ? { links: state.links, pairing: state.pairing, runs: state.runs, permissions: state.permissions }
          : { failure: String(failure), targets: (await this.browser.targets()).map(({ type, url }) => [type, url]) }
        throw new Error(`${what}: not within ${ms} ms; ${JSON.stringify(seen)}\n${this.bridge.log}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
  }

  /** Pairs like a user. */
  async pair(): Promise<void> {
    await pairByHand(this)
    await this.connected(this.bridge.address)
  }

  /** Changes the address of the paired bridge. */
  async moveBridge(address: string): Promise<void> {
    const { pairing } = (await this.until('a pairing', (s) => s.links.length)).links[0]!
    await this.panel.evaluate(
      (pairing, address) => chrome.storage.local.set({ bridge: [{ pairing, address, ephemeral: false }] }),
      pairing,
      address,
    )
    await this.ask('reconnect', { pairing })
  }

  /** Adds servers to the extension's registry, by name, and connects to them. */
  addServers(servers: Record<string, string>): Promise<void> {
    const added = Object.entries(servers).map(([name, url]) => ({ method: 'addServer', name, config: { url } }))
    return this.askRegistry(...added, { method: 'discover' })
  }

  removeServer(name: string): Promise<void> {
    return this.askRegistry({ method: 'removeServer', name })
  }

  /** Sends requests to the extension's registry, one after the other. */
  private async askRegistry(...requests: object[]): Promise<void> {
    await this.panel.evaluate(async (requests) => {
      const port = chrome.runtime.connect({ name: 'portolan-registry' })
      const waiting = new Map<number, () => void>()
      port.onMessage.addListener((m) => waiting.get(m.id)?.())
      let last = 0
      const ask = (m: object) =>
        new Promise<void>((resolve) => {
          waiting.set(++last, resolve)
          port.postMessage({ id: last, ...m })
        })
      await ask({ method: 'attach' })
      for (const m of requests) await ask(m)
    }, requests)
  }

  /** Resolves when a bridge is connected: the one at an address, or any. */
  connected(address?: string): Promise<State> {
    return this.until(
      'connected',
      (s) => s.links.some((l) => l.status === 'connected' && (!address || l.address === address)),
    )
  }

  /** Ends the worker, and resolves when another one is connected. */
  async killWorker(): Promise<void> {
    const before = (await this.state()).links[0]?.since
    await this.browser.killWorker()
    await this.until('another worker', (s) => s.links[0]?.status === 'connected' && s.links[0].since !== before)
  }

  /** Reloads the extension, as an update does, and opens the side panel again. */
  async reload(): Promise<void> {
    const before = await this.browser.worker()
    void this.panel.evaluate(() => chrome.runtime.reload()).catch(() => {}) // the page ends, and may not reply
    await this.browser.worker(before)
    await this.openPanel()
    await this.connected()
  }

  async close(): Promise<void> {
    await this.browser.remove()
    await this.bridge.close()
  }
}

/** The parts of a rig that pairing needs, in any browser. */
export interface Pairs {
  bridge: TestBridge
  ask<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>>
  until(what: string, test: (state: State) => unknown): Promise<State>
}

/** Pairs like a user: the command, its digits into the panel, a yes in the terminal. */
export async function pairByHand(rig: Pairs): Promise<void> {
  const said = rig.bridge.pair(async (digits) => {
    await rig.until('the digits are asked for', (s) => s.pairing?.step === 'digits')
    await rig.ask('digits', { digits })
  })
  for (const deadline = Date.now() + 20_000;;) {
    await rig.ask('pair', { address: rig.bridge.address })
    const { pairing } = await rig.until(
      'the pairing begins',
      (s) => (s.pairing ? s.pairing.step !== 'connecting' : s.links.length),
    )
    if (pairing?.step !== 'failed') break
    if (Date.now() > deadline) throw new Error(`no pairing: ${JSON.stringify(pairing)}`)
    await new Promise((resolve) => setTimeout(resolve, 100)) // the bridge does not wait for a pairing yet
  }
  const text = await said
  if (!text.includes('Paired with')) throw new Error(text)
}

/** Resolves when a client lists a tool, because the bridge lists again in the background. */
export async function hasTool(client: Client, name: string, there = true): Promise<void> {
  for (let i = 0;; i++) {
    const { tools } = await client.listTools()
    if (tools.some((t) => t.name === name) === there) return
    if (i > 400) throw new Error(`${name} is ${there ? 'not' : 'still'} among ${tools.map((t) => t.name).join(', ')}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export interface Outcome {
  text: string
  error: boolean
  structured: Record<string, unknown>
  meta: Record<string, unknown>
}

export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[2] = {},
): Promise<Outcome> {
  const r = await client.callTool({ name, arguments: args }, undefined, { timeout: 60_000, ...options })
  return {
    text: (r.content as { text?: string }[]).map((c) => c.text ?? '').join('\n'),
    error: !!r.isError,
    structured: (r.structuredContent ?? {}) as Record<string, unknown>,
    meta: (r._meta ?? {}) as Record<string, unknown>,
  }
}
