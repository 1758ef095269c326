import type { Put } from '../../loop/events.ts'
import { AskingRun } from '../asking.ts'
import type { RunEvent, RunRequest } from '../types.ts'
import type * as types from './types.ts'

/** Characters of the events that are read at once. */
const eventLength = 1_000_000

const names = new Set(['progress', 'clarify', 'results_preview', 'answer', 'error'])

export const remoteRun: typeof types.remoteRun = (url, options) => {
  check(url, options)
  return new RemoteRun(url, options)
}

/** Throws a TypeError for what could only end as an endpoint that cannot be reached. */
function check(url: string | URL, options: types.RemoteRunOptions): void {
  const { prompt, signal } = Object(options) as types.RemoteRunOptions
  const wrong = Object.entries({
    'the url is not a text or a URL': typeof (url as URL | null)?.href === 'string' || typeof url === 'string' && url,
    'prompt is not a text': typeof prompt === 'string',
    'signal is not an AbortSignal': (signal ?? null) === null || signal![Symbol.toStringTag as never] === 'AbortSignal',
  }).find(([, fits]) => !fits)?.[0]
  if (wrong) throw new TypeError(`remoteRun: ${wrong}`)
}

class RemoteRun extends AskingRun {
  private readonly url: string | URL
  private readonly options: types.RemoteRunOptions

  constructor(url: string | URL, options: types.RemoteRunOptions) {
    super()
    this.url = url
    this.options = options
  }

  protected async work(put: Put<RunEvent>, reader: AbortSignal): Promise<void> {
    const { headers, signal, ...request } = this.options
    const over = signal ? AbortSignal.any([reader, signal]) : reader
    try {
      for (let answered = request.answered;;) {
        const last = await this.once(put, over, headers ?? {}, { ...request, ...(answered && { answered }) })
        if (last.type !== 'clarify' || answered) return
        over.throwIfAborted()
        let leave = () => {}
        const left = new Promise<never>((_, reject) => {
          over.addEventListener('abort', leave = () => reject(over.reason))
        })
        const asked = this.ask(put, last.question, left)
        const reply = await asked.finally(() => over.removeEventListener('abort', leave))
        answered = { question: last.question, reply: reply.slice(0, 4000) } // of which an endpoint takes no more
      }
    } catch {
      const code = over.aborted ? 'aborted' : 'refused'
      put({ type: 'error', code, ...(code === 'refused' && { detail: 'The endpoint cannot be reached.' }) })
    }
  }

  /** Makes one request. Returns its last event; a question is not given to the reader yet. */
  private async once(
    put: Put<RunEvent>,
    signal: AbortSignal,
    headers: Record<string, string>,
    request: RunRequest,
  ): Promise<RunEvent> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal,
    })
    const refused = (detail: string): RunEvent => {
      const event = { type: 'error', code: 'refused', detail } as const
      put(event)
      return event
    }
    if (!response.ok || !response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel()
      return refused(`The endpoint answers ${response.status}.`)
    }
    for await (const event of eventsIn(response.body)) {
      this.count(event)
      if (event.type === 'clarify' && !request.answered) return event
      put(event)
      if (event.type === 'answer' || event.type === 'error') return event
    }
    return refused('The events of the endpoint ended early.')
  }

  private count(event: RunEvent): void {
    if (event.type === 'clarify') this.metrics.clarifications++
    if (event.type === 'results_preview') this.metrics.results = event.items.length
    if (event.type === 'answer') this.metrics.removedLinks = event.removedLinks
  }
}

/** The events of a run in a stream of server-sent events. Anything else is left out. */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<RunEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = '', last = '' // `last`: its end, where a blank line may begin
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      if (text.length > eventLength) return
      last += value
      const hasEnd = /\r?\n\r?\n/.test(last)
      last = last.slice(-3)
      if (!hasEnd) continue
      const parts = text.split(/\r?\n\r?\n/)
      text = parts.pop()!
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1]
        const type = field('event')
        if (type && names.has(type)) yield { ...JSON.parse(field('data') ?? '{}') as object, type } as RunEvent
      }
    }
  } finally {
    await reader.cancel()
  }
}
