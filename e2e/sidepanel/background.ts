import {
  panelPort,
  registryPort,
  type FromBackground,
  type State,
  type ToBackground,
} from '../../extension/messages.ts'
import type { Channel, Registry, ServerConfig } from '../../wasm/js/shared/types.ts'
import { historyOf, profile, states, troubles } from './state.ts'

/** The two ends of a page's port, over a MessageChannel. */
interface End {
  /** Resolves when the other end has handled the message. */
  post(message: unknown): Promise<void>
  close(): void
  onmessage: ((message: unknown) => void) | null
  onclose: (() => void) | null
}

function ends(): [End, End] {
  const { port1, port2 } = new MessageChannel()
  let last = 0
  const handled = new Map<number, () => void>()
  const end = (raw: MessagePort): End => {
    const e: End = {
      onmessage: null,
      onclose: null,
      post: (message) =>
        new Promise((resolve) => {
          handled.set(++last, resolve)
          raw.postMessage({ message, id: last })
        }),
      close: () => {
        raw.postMessage({ close: true })
        setTimeout(() => raw.close())
      },
    }
    raw.onmessage = ({ data }: MessageEvent<{ message?: unknown; id?: number; close?: boolean }>) => {
      if (!data.close) {
        e.onmessage?.(data.message)
        handled.get(data.id!)?.()
        return void handled.delete(data.id!)
      }
      raw.close()
      e.onclose?.()
    }
    return e
  }
  return [end(port1), end(port2)]
}

/** Plays the background: tells a state, does to it what is asked, and writes down who asked what. */
export class Background {
  state: State
  /** All that was asked, in order. */
  readonly asked: ToBackground[] = []
  /** The next requests fail with this, if it is set. */
  refusal: { code: string; message: string } | undefined
  /** Answers nothing, as a background that hangs. */
  silent = false
  /** Cannot be reached at all. */
  gone = false
  connections = 0
  registry: Registry | undefined
  /** Ids of entries of the history that were deleted. */
  private readonly forgotten = new Set<number>()
  private readonly pages = new Set<End>()
  private readonly others = new Set<End>()

  constructor(name: string) {
    this.state = states[name]!(Date.now())
  }

  connect(name: string): End {
    if (this.gone) throw new Error('Extension context invalidated.')
    const [theirs, ours] = ends()
    this.connections++
    if (name === registryPort) void this.serve(ours)
    else if (name === panelPort) {
      this.pages.add(ours)
      ours.onclose = () => this.pages.delete(ours)
      ours.onmessage = (m) => this.answer(ours, m as ToBackground)
      void this.tell()
    }
    return theirs
  }

  /** Goes over to one of the states by name. */
  be(name: string): Promise<void> {
    return this.set(states[name]!(Date.now()))
  }

  /** Changes the state and tells the pages. Resolves when they have it. */
  async set(patch: Partial<State>): Promise<void> {
    this.state = { ...this.state, ...patch }
    await this.tell()
  }

  /** Dies as a service worker does: its ports close, and what they waited for is lost. */
  die(): void {
    for (const end of [...this.pages, ...this.others]) end.close()
    this.pages.clear()
    this.others.clear()
  }

  /** A real registry with the built-in demo and an address that nobody answers. */
  async prepare(servers: Record<string, ServerConfig>): Promise<Registry> {
    const path = '/npm/index.js'
    const { createRegistry } = await import(path) as typeof import('../../wasm/js/page/index.ts')
    this.registry = await createRegistry({ mode: 'main', storage: 'memory', servers })
    await this.registry.discover()
    return this.registry
  }

  private async serve(end: End): Promise<void> {
    this.others.add(end)
    const channel: Channel = { post: (m) => end.post(m), onmessage: null, close: () => end.close() }
    const early: unknown[] = []
    end.onmessage = (m) => early.push(m)
    const path = '/npm/index.js'
    const { serveRegistry } = await import(path) as typeof import('../../wasm/js/page/index.ts')
    const stop = serveRegistry(this.registry ?? await this.prepare({}), channel)
    end.onclose = stop
    end.onmessage = (m) => channel.onmessage?.(m)
    for (const m of early) channel.onmessage?.(m)
  }

  private async tell(): Promise<void> {
    if (this.silent) return
    await Promise.all([...this.pages].map((page) => page.post({ state: this.state } satisfies FromBackground)))
  }

  /** The result of the request. */
  private result(m: ToBackground): unknown {
    switch (m.method) {
      case 'debugBundle':
        return '{}'
      case 'exportHistory':
        return { lines: '{"question":"?"}\n', next: m.params.after === 0 ? 7 : null }
      case 'history':
        return historyOf(this.state, m.params, this.forgotten)
      case 'deleteHistory':
        return void this.forgotten.add(m.params.id)
      case 'clearHistory':
        for (let id = 1; id < 10; id++) this.forgotten.add(id)
        return undefined
      case 'troubles':
        return this.state.options.history ? troubles() : []
      case 'profile':
        return profile('')
      case 'setProfile':
        return profile(m.params.json)
      case 'setPageTools':
        return true
    }
    return undefined
  }

  private answer(page: End, m: ToBackground): void {
    this.asked.push(m)
    if (this.silent) return
    if (this.refusal) return void page.post({ id: m.id, error: this.refusal } satisfies FromBackground)
    let result: unknown
    try {
      result = this.result(m)
    } catch (e) {
      const error = { code: 'FAILED', message: (e as Error).message }
      return void page.post({ id: m.id, error } satisfies FromBackground)
    }
    this.state = { ...this.state, ...changed(this.state, m) }
    void this.tell()
    void page.post({ id: m.id, result } satisfies FromBackground)
  }
}

/** Changes of the state. Pairing goes on when a test says so. */
function changed(s: State, m: ToBackground): Partial<State> {
  switch (m.method) {
    case 'pair':
      return { pairing: { step: 'connecting', address: m.params.address, error: null } }
    case 'cancelPairing':
      return { pairing: null }
    case 'unpair':
      return { links: s.links.filter((link) => link.pairing !== m.params.pairing) }
    case 'setLabel':
      return { install: { ...s.install, label: m.params.label } }
    case 'setChat':
      return { chats: { ...s.chats, [m.params.site]: { ...s.chats[m.params.site], ...m.params.patch } } }
    case 'setOptions':
      return { options: { ...s.options, ...m.params } }
    case 'approve':
      return { approvals: s.approvals.filter((a) => a.id !== m.params.id) }
    case 'forgetClient':
      return { clients: s.clients.filter((c) => c.key !== m.params.client) }
    case 'setGrant':
      return {
        clients: s.clients.map((c) => {
          if (c.key !== m.params.client) return c
          const { [m.params.tool]: _, ...grants } = c.grants
          return { ...c, grants: m.params.grant ? { ...grants, [m.params.tool]: m.params.grant } : grants }
        }),
      }
    case 'approveOrigin':
      return {
        origins: m.params.approved ? [...s.origins, m.params.origin] : s.origins.filter((o) => o !== m.params.origin),
      }
    case 'setPageTools': {
      const { origin, on } = m.params
      const rest = s.pageTools.filter((page) => page.origin !== origin)
      return { pageTools: on ? [...rest, { origin, granted: true, tabs: [] }] : rest }
    }
    case 'stop':
      return { stopped: true, links: s.links.map((link) => ({ ...link, status: 'stopped' as const })), runs: [] }
    case 'go':
      return { stopped: false, links: s.links.map((link) => ({ ...link, status: 'connecting' as const })) }
    case 'clearActivity':
      return { activity: [] }
    case 'cancelRun':
      return { runs: s.runs.filter((r) => r.id !== m.params.id) }
  }
  return {}
}
