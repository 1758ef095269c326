import { create } from '../../wasm/js/page/create.ts'
import { RegistryImage } from '../../wasm/js/page/registry.ts'
import { serve } from '../../wasm/js/page/serve.ts'
import { channelOf } from '../../wasm/js/page/signin.ts'
import { Host } from '../../wasm/js/host/host.ts'
import { scanDefinition } from '../../wasm/js/shared/scan.ts'
import type { AuthorizeRequest, StorageAdapter } from '../../wasm/js/shared/types.ts'
import * as browser from '../browser.ts'
import { ToolFault, type Tool, type ToolCall } from './tool.ts'

const storage: StorageAdapter = {
  get: (key) => browser.readStored<string>('local', `registry:${key}`),
  set: (key, value) => browser.writeStored('local', `registry:${key}`, value),
  remove: (key) => browser.removeStored('local', `registry:${key}`),
}

/** The registry of the user's MCP servers, for the extension's pages and for desktop clients. */
export class PublishedRegistry {
  private registry: RegistryImage | undefined
  private starting: Promise<RegistryImage> | undefined
  /** Calls of desktop clients under way, by id. */
  private readonly calls = new Map<string, ToolCall>()
  private cached: { snapshot: unknown; tools: Tool[] } | undefined
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  /** Loads the stored servers, and connects to those that are on. */
  open(): Promise<RegistryImage> {
    this.starting ??= this.start().catch((e: unknown) => {
      this.starting = undefined
      throw e
    })
    return this.starting
  }

  private async start(): Promise<RegistryImage> {
    const registry = await create(RegistryImage, {
      wasm: browser.extensionUrl('portolan.wasm'),
      mode: 'main',
      host: Host,
      storage,
      rememberSecrets: true,
      validateResults: 'off', // desktop clients check results themselves
      signIn: { redirectUrl: browser.extensionUrl('callback.html'), onAuthorize: authorize, clientName: 'Portolan' },
      onElicitation: async ({ callId, message, requestedSchema }) => {
        const call = this.calls.get(String(callId))
        // A call of the side panel, or a question that may belong to several calls.
        if (!call) return { action: 'decline' }
        return await call.elicit({ message, requestedSchema }) as { action: 'decline' }
      },
    })
    this.registry = registry
    registry.subscribe(() => {
      if (this.cached?.snapshot !== registry.getSnapshot().tools) this.changed()
    })
    void registry.discover()
    return registry
  }

  /** Lets a page use the registry once `ready` resolves. Messages that come before are kept in order. */
  async serve(port: browser.Port, ready: Promise<void>): Promise<void> {
    const early: unknown[] = []
    let closed = false
    port.onmessage = (m) => early.push(m)
    port.onclose = () => {
      closed = true
    }
    await ready
    const registry = await this.open()
    if (closed) return
    const channel = {
      post: (m: unknown) => port.post(m),
      onmessage: null as ((m: unknown) => void) | null,
      close: () => port.close(),
    }
    port.onclose = serve(registry, channel)
    port.onmessage = (m) => channel.onmessage?.(m)
    for (const m of early) channel.onmessage?.(m)
  }

  /** The servers' tools, by their names in the registry. */
  get tools(): Tool[] {
    const { registry } = this
    if (!registry) return []
    const { tools } = registry.getSnapshot()
    if (this.cached?.snapshot === tools) return this.cached.tools
    const made = tools.map(({ name, server, definition, flags = [] }): Tool => ({
      ...definition,
      name,
      description: `[${server}] ${definition.description ?? ''}`.trim(),
      annotations: definition.annotations as Tool['annotations'],
      flags: () => [...flags, ...scanDefinition(definition)],
      run: (call) => this.call(registry, server, call),
    }))
    this.cached = { snapshot: tools, tools: made }
    return made
  }

  private async call(registry: RegistryImage, server: string, call: ToolCall) {
    this.calls.set(call.id, call)
    try {
      const { content, structuredContent, _meta, isError } = await registry.call(call.tool, call.args, {
        callId: call.id,
        signal: call.signal,
        onProgress: (p) => call.progress(p.progress, p.total, p.message),
      })
      const meta = { ..._meta, 'portolan/server': server, 'portolan/untrusted': true }
      return { content, structuredContent, _meta: meta, isError }
    } catch (e) {
      const { code, message, hint } = e as { code?: string; message: string; hint?: string }
      throw new ToolFault(code ?? 'UNKNOWN', hint ? `${message}. ${hint}` : message)
    } finally {
      this.calls.delete(call.id)
    }
  }
}

/** How often the sign-in's tab is checked, in ms. */
const checkEvery = 1000

/**
 * Shows an authorization page in a tab, and resolves to the address of the redirect. The redirect leads to the
 * package's own callback.html in the extension. Web pages can open that page too. It only passes its address on.
 */
function authorize({ url, signal }: AuthorizeRequest): Promise<string> {
  return browser.awakeDuring(async () => {
    const tab = await browser.openFrontTab(url)
    const channel = channelOf(new URL(url).searchParams.get('state')!)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    channel.onmessage = ({ data }: MessageEvent<{ url?: unknown }>) => {
      if (typeof data?.url !== 'string') return
      channel.postMessage({ taken: true })
      resolve(data.url)
    }
    const watch = setInterval(async () => {
      if (!await browser.getTab(tab)) reject(new Error('the tab was closed'))
    }, checkEvery)
    signal.addEventListener('abort', () => reject(new Error('nobody waits any more')))
    try {
      return await promise
    } finally {
      clearInterval(watch)
      channel.close()
      await browser.closeTab(tab)
    }
  })
}
