import { randomBytes, randomUUID } from 'node:crypto'
import type { Site } from '../../extension/chats/drivermessages.ts'
import { answer, outline, subject, thought } from './answer.ts'
import { Scenario } from './scenario.ts'
import {
  freshState,
  type Boot,
  type ErrorKind,
  type Event,
  type Locale,
  type PageState,
  type Posted,
  type StoredConversation,
  type StoredTurn,
} from './state.ts'

/** A prompt that reached a site's backend. */
export interface Prompt {
  text: string
  /** The prompt's conversation, and its number of turns. */
  conversation: string
  turn: number
  model?: string
  temperature?: number
  /** In ms since the epoch. */
  at: number
}

/** Returns the answer to a prompt, or nothing where the usual one is right. A promise holds the answer back. */
export type Reply = (prompt: string) => string | undefined | Promise<string>

/** Keeps one site's conversations and plays its model. */
export class Backend {
  state: PageState
  prompts: Prompt[] = []
  stopped = 0
  reply: Reply = () => undefined
  #site: Site
  #conversations = new Map<string, StoredConversation>()
  #running = new Map<string, { prompt: string; stop: AbortController; skip: AbortController }>()

  constructor(site: Site) {
    this.#site = site
    this.state = freshState(site)
  }

  reset(): void {
    for (const { stop } of this.#running.values()) stop.abort()
    this.state = freshState(this.#site)
    this.prompts = []
    this.stopped = 0
    this.reply = () => undefined
    this.#conversations.clear()
  }

  /** Makes an earlier conversation with a number of turns, and returns its id. */
  seed(turns: number, about = 'earlier'): string {
    const conversation = this.#begin(`An earlier talk about ${about}`)
    for (let n = 1; n <= turns; n++) {
      const prompt = `Earlier question ${n}: token:${about}-${n}`
      conversation.turns.push({
        id: randomUUID(),
        prompt,
        answer: answer(prompt, new Scenario(prompt), this.state.locale, n),
      })
    }
    return conversation.id
  }

  /** Returns the content of a page at its start, or null if the conversation does not exist. */
  boot(id: string | undefined, state: PageState): Boot | null {
    const known = id === undefined ? undefined : this.#conversations.get(id)
    if (id !== undefined && !known) return null
    const conversation = known ?? (state.old === false ? undefined : this.#conversations.get(this.seed(2, 'stale')))
    const filler = Array.from(
      { length: state.sidebar },
      (_, n) => ({ id: `gone-${n}`, title: `Passage plan ${n + 1}` }),
    )
    const history = [
      ...[...this.#conversations.values()].filter(({ turns }) => turns.length).map(({ id, title }) => ({ id, title }))
        .reverse(),
      ...filler,
    ]
    return { site: this.#site, state, conversation, history }
  }

  stop(turn: string): void {
    this.stopped++
    this.#running.get(turn)?.stop.abort()
    for (const { turns } of this.#conversations.values())
      for (const each of turns) if (each.id === turn) delete each.frozen
  }

  skip(turn: string): void {
    this.#running.get(turn)?.skip.abort()
  }

  /** Ends what prompts about something rest for. */
  goOn(about: string): void {
    for (const { prompt, skip } of this.#running.values()) if (prompt.includes(about)) skip.abort()
  }

  /** Returns the failure that a prompt gets in place of an answer. */
  refuses(posted: Posted, state: PageState): ErrorKind | undefined {
    const scenario = new Scenario(posted.prompt)
    if (state.loggedOut || scenario.has('expire')) return 'expired'
    if (scenario.has('ratelimit')) return 'ratelimit'
    if (scenario.has('network') && !scenario.is('network', 'mid')) return 'network'
    return undefined
  }

  record(posted: Posted): StoredConversation {
    const conversation = this.#conversations.get(posted.conversation ?? '') ?? this.#begin(posted.prompt.slice(0, 40))
    const { prompt: text, model, temperature } = posted
    this.prompts.push({
      text,
      conversation: conversation.id,
      turn: conversation.turns.length + 1,
      model,
      temperature,
      at: Date.now(),
    })
    return conversation
  }

  /** Throws before `done` if the network fails in the middle. */
  async *play(
    posted: Posted,
    conversation: StoredConversation,
    locale: Locale,
    gone: AbortSignal,
  ): AsyncGenerator<Event> {
    const scenario = new Scenario(posted.prompt)
    const turn: StoredTurn = { id: randomUUID(), prompt: posted.prompt, answer: '' }
    conversation.turns.push(turn)
    const stop = new AbortController()
    const skip = new AbortController()
    this.#running.set(turn.id, { prompt: turn.prompt, stop, skip })
    const over = AbortSignal.any([stop.signal, gone])
    try {
      yield { type: 'began', conversation: conversation.id, turn: turn.id }
      if (scenario.has('noresponse')) return void (yield { type: 'silent' })
      for await (
        const event of this.#answering(
          turn,
          scenario,
          await this.reply(turn.prompt) ?? answer(turn.prompt, scenario, locale, conversation.turns.length),
          over,
          skip.signal,
        )
      ) {
        if (over.aborted) break
        if (event.type === 'delta') turn.answer += event.text
        if (event.type === 'replace') turn.answer = event.text
        if (event.type === 'thought') turn.thought = { seconds: event.seconds, text: event.text }
        yield event
      }
      const frozen = scenario.has('frozen') && !stop.signal.aborted
      if (frozen && scenario.is('frozen', 'kept')) turn.frozen = true
      yield { type: 'done', frozen: frozen ? (turn.frozen ? 'kept' : 'turn') : undefined }
    } finally {
      this.#running.delete(turn.id)
    }
  }

  async *#answering(
    turn: StoredTurn,
    scenario: Scenario,
    whole: string,
    over: AbortSignal,
    skip: AbortSignal,
  ): AsyncGenerator<Event> {
    const restless = AbortSignal.any([over, skip])
    await rest(50, over)
    if (scenario.has('stuck')) await rest(Infinity, over)
    if (scenario.has('think')) {
      const began = Date.now()
      yield { type: 'thinking', skippable: scenario.is('think', 'skip') }
      await rest(scenario.number('think', 'ms', 1000), restless)
      yield { type: 'thought', seconds: Math.max(1, Math.round((Date.now() - began) / 1000)), text: thought }
    }
    if (scenario.has('outline')) {
      yield { type: 'delta', text: outline(turn.prompt) }
      const lull = scenario.is('outline', 'nostop')
      if (lull) yield { type: 'lull', on: true }
      await rest(scenario.number('outline', 'ms', 2000), restless)
      if (lull) yield { type: 'lull', on: false }
      yield { type: 'replace', text: '' }
    }
    const chunks = pieces(whole)
    const each = (scenario.has('slow') ? scenario.number('slow', 'ms', 3000) : 400) / chunks.length
    for (const [n, text] of chunks.entries()) {
      if (n === chunks.length >> 1) {
        if (scenario.has('network')) throw new Error(`the network fails in the answer on ${subject(turn.prompt)}`)
        if (scenario.has('pause')) await rest(scenario.number('pause', 'ms', 3000), restless)
        if (scenario.has('remount')) yield { type: 'remount' }
      }
      yield { type: 'delta', text }
      await rest(each, over)
    }
  }

  #begin(title: string): StoredConversation {
    const ids: Partial<Record<Site, () => string>> = {
      gemini: () => randomBytes(8).toString('hex'),
      aistudio: () => `1${randomBytes(24).toString('base64url')}`,
      perplexity: () => `an-earlier-talk-${randomBytes(4).toString('hex')}.${randomBytes(8).toString('base64url')}`,
    }
    const id = ids[this.#site]?.() ?? randomUUID()
    const conversation = { id, title, turns: [] }
    this.#conversations.set(id, conversation)
    return conversation
  }
}

/** Cuts a stream into about twenty pieces. They end within words and marks, as tokens do. */
function pieces(text: string): string[] {
  const size = Math.max(7, Math.ceil(text.length / 20))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size))
}

function rest(ms: number, over: AbortSignal): Promise<void> {
  if (over.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = ms === Infinity ? undefined : setTimeout(end, ms)
    over.addEventListener('abort', end, { once: true })
    function end(): void {
      clearTimeout(timer)
      over.removeEventListener('abort', end)
      resolve()
    }
  })
}
