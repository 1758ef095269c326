import { create } from '../../wasm/js/page/create.ts'
import { RegistryImage } from '../../wasm/js/page/registry.ts'
import { serve } from '../../wasm/js/page/serve.ts'
import type { StorageAdapter } from '../../wasm/js/shared/types.ts'
import { Host } from '../../wasm/js/host/host.ts'
import { authorize, redirectUrl } from '../signin.ts'
import { extensionUrl, readStored, removeStored, writeStored, type Port } from '../browser.ts'
import { ToolFault, type Tool, type ToolCall } from './tool.ts'

const storage: StorageAdapter = {
  get: (key) => readStored<string>('local', `registry:${key}`),
  set: (key, value) => writeStored('local', `registry:${key}`, value),
  remove: (key) => removeStored('local', `registry:${key}`),
}

/** The registry of MCP servers that the person configured, for the pages and for desktop clients. */
export class PublishedRegistry {
  private registry: RegistryImage | undefined
  private starting: Promise<RegistryImage> | undefined
  private readonly changed: () => void
  /** Calls under way, by the tool's server. */
  private readonly calls = new Map<string, Set<ToolCall>>()
  private cached: { snapshot: unknown; tools: Tool[] } | undefined

  constructor(changed: () => void) {
    this.changed = changed
  }

  /** Loads the servers that are stored; those that are on are connected to. */
  open(): Promise<RegistryImage> {
    this.starting ??= this.start().catch((e: unknown) => {
      this.starting = undefined
      throw e
    })
    return this.starting
  }

  private async start(): Promise<RegistryImage> {
    const registry = await create(RegistryImage, {
      wasm: extensionUrl('portolan.wasm'),
      mode: 'main',
      host: Host,
      storage,
      rememberSecrets: true,
      signIn: { redirectUrl, onAuthorize: authorize, clientName: 'Portolan' },
      onElicitation: async (request) => {
        const [call, another] = this.calls.get(request.server) ?? []
        // With two calls under way it could be either client's question.
        if (!call || another) return { action: 'decline' }
        const { server: _, ...params } = request
        return await call.elicit(params) as { action: 'decline' }
      },
    })
    this.registry = registry
    registry.subscribe(() => {
      if (this.cached?.snapshot !== registry.getSnapshot().tools) this.changed()
    })
    void registry.discover()
    return registry
  }

  /** Lets a page use it, once `ready` is settled: a worker that was woken for the port still reads its state. */
  async serve(port: Port, ready: Promise<void>): Promise<void> {
    // What the page says while the registry starts is kept in order.
    const early: unknown[] = []
    let gone = false
    port.onmessage = (m) => early.push(m)
    port.onclose = () => {
      gone = true
    }
    await ready
    const registry = await this.open()
    if (gone) return
    const channel = {
      post: (m: unknown) => port.post(m),
      onmessage: null as ((m: unknown) => void) | null,
      close: () => port.close(),
    }
    port.onclose = serve(registry, channel)
    port.onmessage = (m) => channel.onmessage?.(m)
    for (const m of early) channel.onmessage?.(m)
  }

  /** Its tools, under their names in the registry. */
  get tools(): Tool[] {
    const { registry } = this
    if (!registry) return []
    const { tools } = registry.getSnapshot()
    if (this.cached?.snapshot === tools) return this.cached.tools
    const made = tools.map(({ name, server, definition }): Tool => ({
      ...definition,
      name,
      description: `[${server}] ${definition.description ?? ''}`.trim(),
      annotations: definition.annotations as Tool['annotations'],
      run: (call) => this.call(registry, server, call),
    }))
    this.cached = { snapshot: tools, tools: made }
    return made
  }

  private async call(registry: RegistryImage, server: string, call: ToolCall) {
    const calls = this.calls.get(server) ?? new Set()
    this.calls.set(server, calls.add(call))
    try {
      const { content, structuredContent, isError } = await registry.call(call.tool, call.args, {
        signal: call.signal,
        onProgress: (p) => call.progress(p.progress, p.total, p.message),
      })
      return { content, structuredContent, isError }
    } catch (e) {
      const { code, message, hint } = e as { code?: string; message: string; hint?: string }
      throw new ToolFault(code ?? 'UNKNOWN', hint ? `${message}. ${hint}` : message)
    } finally {
      calls.delete(call)
    }
  }
}
