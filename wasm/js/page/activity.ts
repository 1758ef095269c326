import type { Activity, DispatchOptions, ErrorCode, ServerHealth, Snapshot, ToolResult } from '../shared/types.ts'

type Servers = Snapshot['servers']
type Ending = Pick<Activity, 'durationMs' | 'parts' | 'outcome' | 'errorCode' | 'message'>

/** A connection under way. `connected` is the time at which the list began, in ms since the epoch. */
interface Connecting {
  id: number
  at: number
  lastSuccessful: number | null
  connected?: number
}

/** The longest message, in characters. */
const longestMessage = 500

/** Reports the activities of a registry to observers. */
export class Activities {
  readonly #listeners: ReadonlySet<(a: Activity) => void>
  readonly #connecting = new Map<string, Connecting>()
  #last = 0

  constructor(listeners: ReadonlySet<(a: Activity) => void>) {
    this.#listeners = listeners
  }

  /** Runs a call and reports it. */
  async call(
    server: string,
    tool: string,
    options: DispatchOptions,
    run: (o: DispatchOptions) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const id = ++this.#last, began = performance.now()
    const about = { id, kind: 'call', server, tool } as const
    const end = (e: Ending) =>
      this.#tell({ ...about, phase: 'end', at: Date.now(), durationMs: performance.now() - began, ...e })
    this.#tell({ ...about, phase: 'begin', at: Date.now() })
    try {
      const result = await run({
        ...options,
        onProgress: (progress) => {
          this.#tell({ ...about, phase: 'progress', at: Date.now(), progress, ...message(progress.message) })
          options.onProgress?.(progress)
        },
      })
      const ms = result.durationMs
      end({
        outcome: result.isError ? 'tool_error' : 'ok',
        parts: [{ name: 'waiting', ms: Math.max(performance.now() - began - ms, 0) }, { name: 'server', ms }],
      })
      return result
    } catch (e) {
      const { code, message: text } = e as { code?: ErrorCode; message?: string }
      end({ outcome: code === 'aborted' ? 'cancelled' : 'error', errorCode: code, ...message(text) })
      throw e
    }
  }

  /** Reports connections that began, changed or ended between two states. */
  states(before: Servers, after: Servers): void {
    for (const [server, now] of Object.entries(after))
      if (now !== before[server]) this.#state(server, before[server], now)
    for (const server of this.#connecting.keys()) if (!after[server]) this.#connected(server, { outcome: 'cancelled' })
  }

  #state(server: string, before: ServerHealth | undefined, now: ServerHealth): void {
    const at = Date.now()
    let open = this.#connecting.get(server)
    // A fast connection may be over in its first state.
    const fresh = now.lastConnected !== null && now.lastConnected !== (before?.lastConnected ?? null)
    if (!open && (now.status === 'connecting' || fresh)) {
      open = { id: ++this.#last, at, lastSuccessful: before?.lastSuccessful ?? null }
      this.#connecting.set(server, open)
      this.#tell({ id: open.id, kind: 'connection', server, phase: 'begin', at })
    }
    if (!open || now.status === 'connecting') return
    if (now.status === 'error')
      return this.#connected(server, {
        outcome: 'error',
        errorCode: now.errorCode,
        ...message(now.lastError ?? undefined),
      })
    if (now.status !== 'connected') return this.#connected(server, { outcome: 'cancelled' })
    if (now.lastSuccessful === open.lastSuccessful) {
      open.connected ??= at
      return
    }
    const list = Math.min(open.connected === undefined ? now.latencyMs ?? 0 : at - open.connected, at - open.at)
    this.#connected(server, {
      outcome: 'ok',
      parts: [{ name: 'connect', ms: at - open.at - list }, { name: 'list', ms: list }],
    })
  }

  #connected(server: string, e: Ending): void {
    const { id, at } = this.#connecting.get(server)!
    this.#connecting.delete(server)
    this.#tell({ id, kind: 'connection', server, phase: 'end', at: Date.now(), durationMs: Date.now() - at, ...e })
  }

  /** Calls the listeners. An exception of one becomes an uncaught error of the page. */
  #tell(a: Activity): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(a)
      } catch (e) {
        queueMicrotask(() => {
          throw e
        })
      }
    }
  }
}

const message = (text: string | undefined) => (text ? { message: text.slice(0, longestMessage) } : {})
