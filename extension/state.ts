import { showBadge, type Port } from './browser.ts'
import { leading, type FromBackground, type Method, type Requests } from './messages.ts'
import type { State, ToBackground, Trouble } from './messages.ts'

type Handlers = {
  [M in Method]: (p: Parameters<Requests[M]>[0]) => ReturnType<Requests[M]> | Promise<ReturnType<Requests[M]>>
}

/** Changes within this time, in ms, are one message. */
const pause = 30

/** Sends the state to the extension's open pages and to the badge, and answers the pages' requests. */
export class StatePublisher {
  private readonly ports = new Set<Port>()
  private readonly handlers: Handlers
  private readonly state: () => State
  private readonly unseen: () => void
  private timer: ReturnType<typeof setTimeout> | undefined

  /** `unseen`: the last page has closed. */
  constructor(handlers: Handlers, state: () => State, unseen: () => void) {
    this.unseen = unseen
    this.handlers = handlers
    this.state = state
  }

  /** Whether a page is open. */
  get isSeen(): boolean {
    return this.ports.size > 0
  }

  /** Serves a page. `ready` resolves when the state has been read. */
  open(port: Port, ready: Promise<void>): void {
    const post = (m: FromBackground) => {
      this.flush() // a change, or its end, arrives before the reply
      port.post(m)
    }
    let closed = false
    port.onclose = () => {
      closed = true
      this.ports.delete(port)
      if (!this.isSeen) this.unseen()
    }
    port.onmessage = async (raw) => {
      const m = raw as ToBackground
      if (typeof m?.id !== 'number') return
      try {
        await ready
        if (!Object.hasOwn(this.handlers, m.method)) throw new Error(`no request ${String(m.method)}`)
        const result = await (this.handlers[m.method] as (p: unknown) => unknown)(m.params)
        post({ id: m.id, result: result ?? null })
      } catch (e) {
        const { code, message } = e as { code?: string; message: string }
        post({ id: m.id, error: { code: code || 'FAILED', message } })
      }
    }
    void ready.then(() => {
      if (closed) return
      this.ports.add(port)
      post({ state: this.state() })
    })
  }

  /** Publishes a change soon. */
  changed = (): void => {
    this.timer ??= setTimeout(() => this.flush(), pause)
  }

  private flush(): void {
    if (this.timer === undefined) return
    clearTimeout(this.timer)
    this.timer = undefined
    const state = this.state()
    updateBadge(state)
    for (const port of this.ports) port.post({ state })
  }
}

let shown = ''

function updateBadge(state: State): void {
  const [text, color, title] = badgeOf(state)
  if (title === shown) return // the text is another only if the title is
  shown = title
  showBadge(text, color, `Portolan: ${title}`)
}

/** Returns text, color and title for the most urgent part of the state. */
function badgeOf({ stopped, approvals, questions, runs, chats, links }: State): [string, string, string] {
  if (stopped) return ['■', '#6b7280', 'stopped']
  const n = approvals.length + questions.length
  if (n) return ['?', '#b45309', n === 1 ? 'a question waits for you' : `${n} questions wait for you`]
  const driven = runs.filter((run) => run.phase !== 'queued')
  const labels = driven.map((run) => chats[run.site].label).join(', ')
  if (driven.length) return [String(driven.length), '#1d4ed8', `driving ${labels}`]
  const link = leading(links)
  if (link?.status === 'refused') return ['!', '#b91c1c', 'the bridge refused']
  if (link?.status === 'connected') return ['', '#15803d', 'connected to the bridge']
  return ['', '#15803d', link ? 'looking for the bridge' : 'not paired yet']
}

/**
 * Returns a report of a fault as JSON text. It has no prompts, answers, labels, titles, addresses of pages, or names of
 * clients.
 */
export function debugBundle(state: State, troubles: readonly Trouble[]): string {
  const { version, links, pairing, stopped, options, permissions, chats, runs, activity, tools } = state
  const chatFields = [
    'enabled',
    'mode',
    'granted',
    'waiting',
    'usedThisHour',
    'answered',
    'failed',
    'timedOut',
  ] as const
  const counts: Record<string, number> = {}
  for (const { source } of tools) counts[source] = (counts[source] ?? 0) + 1
  const bundle = {
    version,
    at: new Date().toISOString(),
    browser: navigator.userAgent,
    links: links.map(({ status, error, ephemeral }) => ({ status, error: error?.code ?? null, ephemeral })),
    pairing: pairing?.step ?? null,
    stopped,
    options,
    permissions: { ...permissions, origins: permissions.origins.length },
    chats: Object.fromEntries(Object.entries(chats).map(([site, view]) => [site, pick(view, chatFields)])),
    runs: runs.map((run) => pick(run, ['site', 'phase', 'mode'])),
    tools: counts,
    activity: activity.slice(-100).map((a) => pick(a, ['at', 'kind', 'outcome', 'code', 'durationMs'])),
    troubles: troubles.map((t) => pick(t, ['at', 'site', 'code', 'details'])),
  }
  return JSON.stringify(bundle, null, 2)
}

const pick = <T>(from: T, fields: readonly (keyof T)[]) => Object.fromEntries(fields.map((name) => [name, from[name]]))
