import type { Port } from '../browser.ts'
import type { FromBackground, Method, Requests, State, ToBackground } from '../messages.ts'

export type Handlers = {
  [M in Method]: (p: Parameters<Requests[M]>[0]) => ReturnType<Requests[M]> | Promise<ReturnType<Requests[M]>>
}

/** Changes within so many ms are told at once. */
const pause = 30

/** The pages that are open: they are told the state, and ask. */
export class Panels {
  private readonly ports = new Set<Port>()
  private readonly handlers: Handlers
  private readonly state: () => State
  private readonly shown: (state: State) => void
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `shown`: what shows the state beside the pages. */
  constructor(handlers: Handlers, state: () => State, shown: (state: State) => void) {
    this.handlers = handlers
    this.state = state
    this.shown = shown
  }

  /** `ready` is when the state has been read. */
  open(port: Port, ready: Promise<void>): void {
    const post = (m: FromBackground) => port.post(m)
    port.onclose = () => this.ports.delete(port)
    port.onmessage = async (raw) => {
      const m = raw as ToBackground
      if (typeof m?.id !== 'number') return
      try {
        await ready
        if (!Object.hasOwn(this.handlers, m.method)) throw new Error(`no request ${String(m.method)}`)
        const result = await (this.handlers[m.method] as (p: unknown) => unknown)(m.params)
        this.flush() // who asked for a change sees it when the answer comes
        post({ id: m.id, result: result ?? null })
      } catch (e) {
        const { code, message } = e as { code?: string; message: string }
        post({ id: m.id, error: { code: code || 'FAILED', message } })
      }
    }
    void ready.then(() => {
      this.ports.add(port)
      post({ state: this.state() })
    })
  }

  /** The state has changed. */
  tell = (): void => {
    this.timer ??= setTimeout(() => this.flush(), pause)
  }

  private flush(): void {
    if (this.timer === undefined) return
    clearTimeout(this.timer)
    this.timer = undefined
    const state = this.state()
    this.shown(state)
    for (const port of this.ports) port.post({ state })
  }
}
