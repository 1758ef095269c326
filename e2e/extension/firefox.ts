import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer, connect, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { panelPort, type Method, type Requests, type State } from '../../extension/messages.ts'
import { launchFirefox, type Firefox } from '../rig/firefox.ts'
import { root, type EnginePage } from '../rig/harness.ts'
import { TestBridge } from './bridge.ts'
import { openPort, pairByHand } from './rig.ts'

const addon = 'portolan@portolan-mcp.github.io'
const uuid = '5d2e9b7a-1c3f-4e0f-9a68-0c5d2e9b7a11'

/** A real bridge, and a real Firefox with the extension's build for it. */
export class FirefoxRig {
  readonly bridge: TestBridge
  readonly firefox: Firefox
  readonly panel: EnginePage
  private readonly context: string
  private readonly ends: (() => Promise<unknown>)[]

  private constructor(bridge: TestBridge, firefox: Firefox, context: string, ends: (() => Promise<unknown>)[]) {
    this.bridge = bridge
    this.firefox = firefox
    this.context = context
    this.panel = firefox.page(context)
    this.ends = ends
  }

  /** All hosts are at `httpsPort` of this machine. */
  static async create(httpsPort: number): Promise<FirefoxRig> {
    const ends: (() => Promise<unknown>)[] = []
    try {
      const folder = await mkdtemp(join(tmpdir(), 'portolan-addon-'))
      ends.push(() => rm(folder, { recursive: true, force: true }))
      await cp(`${root}dist/extension`, folder, { recursive: true })
      const zip = join(folder, '..', `${uuid}.zip`)
      const packed = spawnSync(process.execPath, ['extension/pack.ts', folder, zip, 'firefox'], { cwd: root })
      if (packed.status !== 0) throw new Error(String(packed.stderr))
      await rm(zip)
      const tunnel = await startTunnel(httpsPort)
      ends.push(() => new Promise((resolve) => tunnel.close(resolve)))
      const bridge = await TestBridge.create()
      ends.push(() => bridge.close())
      await bridge.start()
      const firefox = await launchFirefox({
        // A page of an extension is opened by the browser itself only.
        args: ['--remote-allow-system-access'],
        prefs: {
          'extensions.webextensions.uuids': JSON.stringify({ [addon]: uuid }),
          'extensions.webextOptionalPermissionPrompts': false,
          'network.proxy.type': 1,
          'network.proxy.ssl': '127.0.0.1',
          'network.proxy.ssl_port': (tunnel.address() as AddressInfo).port,
        },
      })
      ends.push(() => firefox.close())
      await firefox.send('webExtension.install', { extensionData: { type: 'path', path: folder } })
      const url = `moz-extension://${uuid}/sidepanel.html`
      const rig = new FirefoxRig(bridge, firefox, await openAsBrowser(firefox, url), ends)
      await rig.holds(`(${openPort})(${JSON.stringify(panelPort)})`, 'the panel loads')
      await rig.until('the state', () => true)
      return rig
    } catch (e) {
      await endAll(ends)
      throw e
    }
  }

  close(): Promise<void> {
    return endAll(this.ends)
  }

  /** Requests optional permissions in a click, as the user would. */
  async grant(wanted: { permissions?: string[]; origins?: string[] }): Promise<void> {
    if (!await this.inClick<boolean>(`chrome.permissions.request(${JSON.stringify(wanted)})`))
      throw new Error('the browser refused the permission')
  }

  /** Evaluates an expression in the panel during a real click, as a question for a permission needs it. */
  async inClick<T>(expression: string): Promise<T> {
    await this.panel.evaluate(
      `(() => { document.addEventListener('click', (event) => { event.stopPropagation(); window.clicked = ${expression} }, { once: true, capture: true }) })()`,
    )
    const mouse = [{ type: 'pointerMove', x: 5, y: 5 }, { type: 'pointerDown', button: 0 }, {
      type: 'pointerUp',
      button: 0,
    }]
    await this.firefox.send('input.performActions', {
      context: this.context,
      actions: [{ type: 'pointer', id: 'mouse', actions: mouse }],
    })
    return this.panel.evaluate<T>('window.clicked')
  }

  /** Clicks the extension's button in the browser's own window. */
  async clickButton(): Promise<void> {
    const name = addon.replace(/[^a-z0-9-]/g, '_')
    await asBrowser(
      this.firefox,
      `CustomizableUI.addWidgetToArea('${name}-browser-action', 'nav-bar'), document.getElementById('${name}-BAP').click()`,
    )
  }

  ask<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>> {
    return this.panel.evaluate(`window.rig.ask(${JSON.stringify(method)}, ${JSON.stringify(params)})`)
  }

  async until(what: string, test: (state: State) => unknown, ms = 20_000): Promise<State> {
    for (const deadline = Date.now() + ms;;) {
      const state = await this.panel.evaluate<State | null>('window.rig?.state')
      if (state && test(state)) return state
      if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms; ${JSON.stringify(state?.links)}`)
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
  }

  /** Pairs like a user. */
  async pair(): Promise<void> {
    await pairByHand(this)
    await this.until('connected', (s) => s.links[0]?.status === 'connected')
  }

  /** Resolves when an expression of the panel's page is true. */
  async holds(expression: string, what: string): Promise<void> {
    for (const deadline = Date.now() + 20_000; !await this.panel.evaluate<boolean>(expression).catch(() => false);) {
      if (Date.now() > deadline) throw new Error(`${what}: not within 20 s`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function endAll(ends: (() => Promise<unknown>)[]): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end()
}

interface Context {
  context: string
  url: string
}

/** Evaluates an expression in the browser's own window. */
async function asBrowser({ send }: Firefox, expression: string): Promise<void> {
  const [window] = (await send<{ contexts: Context[] }>('browsingContext.getTree', { 'moz:scope': 'chrome' })).contexts
  await send('script.evaluate', { expression, target: { context: window!.context }, awaitPromise: false })
}

/** Opens a tab as the browser's own window does, and returns its context. */
async function openAsBrowser(firefox: Firefox, url: string): Promise<string> {
  const { send } = firefox
  await asBrowser(firefox, `gBrowser.selectedTab = gBrowser.addTrustedTab(${JSON.stringify(url)})`)
  for (let i = 0; i < 200; i++) {
    const { contexts } = await send<{ contexts: Context[] }>('browsingContext.getTree', {})
    const found = contexts.find((c) => c.url === url)
    if (found) return found.context
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${url} does not open`)
}

/** A proxy that leads every https host to one port of this machine. */
function startTunnel(port: number): Promise<Server> {
  const server = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (head) => {
      if (!/^CONNECT /.test(String(head))) return client.destroy()
      const site = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        client.pipe(site).pipe(client)
      })
      site.on('error', () => client.destroy())
      client.on('close', () => site.destroy())
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
