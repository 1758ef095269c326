import { create } from '../../wasm/js/page/create.ts'
import { once } from '../../wasm/js/page/imported.ts'
import type { RegistryImage } from '../../wasm/js/page/registry.ts'
import { serve } from '../../wasm/js/page/serve.ts'
import { channelOf } from '../../wasm/js/page/signin.ts'
import { Host } from '../../wasm/js/host/host.ts'
import { originOf } from '../../wasm/js/shared/origin.ts'
import { scanDefinition } from '../../wasm/js/shared/scan.ts'
import type {
  AuthorizeRequest,
  ElicitationAnswer,
  LogEntry,
  Snapshot,
  StorageAdapter,
} from '../../wasm/js/shared/types.ts'
import * as browser from '../browser.ts'
import { PublishedOffers, marked } from './offers.ts'
import { ToolFault, type AskUser, type ServerQuestion, type Tool, type ToolCall } from './tool.ts'

const storage: StorageAdapter = {
  get: (key) => browser.readStored<string>('local', `registry:${key}`),
  set: (key, value) => browser.writeStored('local', `registry:${key}`, value),
  remove: (key) => browser.removeStored('local', `registry:${key}`),
}

/** The registry of the user's MCP servers, for the extension's pages and for desktop clients. */
export class PublishedRegistry {
  #registry: RegistryImage | undefined
  readonly offers: PublishedOffers
  #known = new Map<string, string[]>()
  /** Calls of desktop clients under way, by id. */
  readonly #calls = new Map<string, ToolCall>()
  #cached: { snapshot: unknown; tools: Tool[] } | undefined
  readonly #askUser: AskUser
  readonly #changed: () => void
  readonly #offersChanged: () => void
  readonly #logged: (entry: LogEntry) => void
  #unfollow = () => {}
  /** Settles when the stored servers have answered, or have failed. */
  listed: Promise<unknown> | undefined

  /**
   * `changed`: the tools may differ. `offersChanged`: resources and prompts may. `logged` gets messages of logs.
   * `updated` gets the URI of a watched resource that has changed.
   */
  constructor(
    askUser: AskUser,
    changed: () => void,
    offersChanged: () => void,
    logged: (entry: LogEntry) => void,
    updated: (uri: string) => void,
  ) {
    this.#askUser = askUser
    this.#changed = changed
    this.#offersChanged = offersChanged
    this.#logged = logged
    this.offers = new PublishedOffers(updated)
  }

  /**
   * Puts a question to the client of its call. The side panel asks during its own calls, and if the client cannot ask.
   * A question that may belong to several calls is asked there, too.
   */
  async #ask(callId: unknown, question: ServerQuestion, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { server: _, tool: __, awaitsEnd: ___, ...params } = question
    const call = this.#calls.get(String(callId))
    if (call) {
      try {
        return await call.elicit(params) as ElicitationAnswer
      } catch {
        if (call.signal.aborted || signal.aborted) return { action: 'cancel' }
      }
    }
    return this.#askUser(question, signal)
  }

  /** Passes on what servers write to their logs, or no more. */
  async follow(on: boolean): Promise<void> {
    this.#unfollow()
    const off = this.#unfollow = () => {}
    const registry = on && await this.open()
    if (registry && this.#unfollow === off) // else a later call decides
      this.#unfollow = registry.observe(({ log }) => log && this.#logged(log), { logs: true })
  }

  /** A request of a desktop client as a tool, so that it is admitted, stopped and logged as calls are. */
  request(method: string): Tool {
    return {
      name: method,
      description: '',
      inputSchema: {},
      run: async (call) => {
        const registry = await this.open()
        const { id: callId, signal, client: { pairing } } = call
        return this.#during(
          call,
          () => this.offers.answer(registry, method, call.args, { callId, signal, pairing }) as never,
        )
      },
    }
  }

  /** Loads the stored servers, and connects to those that are on. A database may open late, as on a slow disk. */
  readonly open = once(async () => {
    for (let left = 4;; await new Promise((resolve) => setTimeout(resolve, 1000))) {
      try {
        return await this.#start()
      } catch (e) {
        if (!left--) throw e
      }
    }
  })

  async #start(): Promise<RegistryImage> {
    const registry = await create({
      wasm: browser.extensionUrl('portolan.wasm'),
      mode: 'main',
      host: Host,
      storage,
      rememberSecrets: true,
      limits: { eventBytes: 16 << 20 }, // as for answers: a large result is kept for its client
      validateResults: 'off', // desktop clients check results themselves
      signIn: { redirectUrl: browser.extensionUrl('callback.html'), onAuthorize: authorize, clientName: 'Portolan' },
      onElicitation: ({ callId, signal, server, tool, message, requestedSchema }) =>
        this.#ask(callId, { mode: 'form', server, tool, message, requestedSchema }, signal),
      onElicitationUrl: async ({ callId, signal, server, tool, message, url, elicitationId, awaitsEnd }) =>
        (await this.#ask(callId, { mode: 'url', server, tool, message, url, elicitationId, awaitsEnd }, signal)).action,
    }, false) // the side panel offers tools to models
    this.#registry = registry
    registry.subscribe(() => {
      const { tools, servers } = registry.getSnapshot()
      if (this.#cached?.snapshot !== tools) this.#changed()
      this.offers.keep(servers)
      const known = knownLists(servers)
      if (haveChanged(this.#known, known)) this.#offersChanged()
      this.#known = known
    })
    this.listed = registry.discover()
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
    port.onclose = serve(registry, port)
    for (const m of early) port.onmessage?.(m)
  }

  /** Whether a server of an origin is known, or may be stored. */
  uses(origin: string): boolean {
    const servers = this.#registry?.getSnapshot().servers
    return !servers || Object.values(servers).some((s) => originOf(s.config.url) === origin)
  }

  /** The servers' tools, by their names in the registry. */
  get tools(): Tool[] {
    const registry = this.#registry
    if (!registry) return []
    const { tools } = registry.getSnapshot()
    if (this.#cached?.snapshot === tools) return this.#cached.tools
    const made = tools.map(({ name, server, definition, flags = [] }): Tool => ({
      ...definition,
      name,
      description: `[${server}] ${definition.description ?? ''}`.trim(),
      annotations: definition.annotations as Tool['annotations'],
      flags: () => [...flags, ...scanDefinition(definition)],
      // Another server may get the name. A query may have secrets.
      scope: async () => {
        const s = registry.getSnapshot().servers[server]
        if (!s) throw new ToolFault('UNKNOWN_TOOL', `There is no tool ${name} any more.`)
        return s.config.url.split('?')[0]!
      },
      run: (call) => this.#during(call, () => this.#call(registry, server, call)),
    }))
    this.#cached = { snapshot: tools, tools: made }
    return made
  }

  async #call(registry: RegistryImage, server: string, call: ToolCall) {
    const { content, structuredContent, _meta, isError } = await registry.call(call.tool, call.args, {
      callId: call.id,
      signal: call.signal,
      onProgress: (p) => call.progress(p.progress, p.total, p.message),
    })
    this.offers.note(server, content)
    return { content, structuredContent, _meta: marked(server, _meta), isError }
  }

  /** Does what a client asked for. Meanwhile, questions of servers go to this client. */
  async #during<T>(call: ToolCall, work: () => Promise<T>): Promise<T> {
    this.#calls.set(call.id, call)
    try {
      return await work()
    } catch (e) {
      const { code = 'UNKNOWN', message, hint } = e as { code?: string; message: string; hint?: string }
      throw new ToolFault(code, hint ? `${message}. ${hint}` : message)
    } finally {
      this.#calls.delete(call.id)
    }
  }
}

/** The lists of each connected server whose length is known. */
const knownLists = (servers: Snapshot['servers']) =>
  new Map(
    Object.entries(servers).filter(([, s]) => s.status === 'connected').map(([name, s]) => [
      name,
      (['promptCount', 'resourceCount', 'templateCount'] as const).filter((list) => s[list] !== undefined),
    ]),
  )

/** Servers came or went, or a list is not known any more. A list that becomes known has not changed. */
function haveChanged(before: Map<string, string[]>, now: Map<string, string[]>): boolean {
  return before.size !== now.size ||
    [...before].some(([name, lists]) => !now.has(name) || lists.some((list) => !now.get(name)!.includes(list)))
}

/** The time between two checks of the sign-in's tab, in ms. */
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
    signal.addEventListener('abort', () => reject(signal.reason))
    try {
      signal.throwIfAborted() // while the tab was opened
      return await promise
    } finally {
      clearInterval(watch)
      channel.close()
      await browser.closeTab(tab)
    }
  })
}
