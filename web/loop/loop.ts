import { RegistryError } from '../../wasm/js/page/index.ts'
import { checkFields } from '../../wasm/js/shared/fields.ts'
import { isObject } from '../../wasm/js/shared/object.ts'
import { eventsOf, type Put } from './events.ts'
import { Guards } from './guards.ts'
import type * as types from './types.ts'

const answersOfRound = 50
const callsOfAnswer = 100
/** The part of the last round's text with which the next one begins. */
const stateLength = 20_000
/** The most characters of what failed, in an error and for the model. */
const longest = 4000
const goOn = 'This is not done yet. Go on.'

/** Ends the loop with an event. */
class Stop {
  readonly why: types.StopReason
  readonly error: unknown
  constructor(why: types.StopReason, error?: unknown) {
    this.why = why
    this.error = error
  }
}

export const loop: typeof types.loop = (options) => {
  check(options)
  return eventsOf<types.LoopEvent>((put, signal) => new Running(options, put).run(signal))
}

function check(options: types.LoopOptions): void {
  checkFields('loop', options ?? null, 'view model prompt done rounds tokens seconds fresh format signal')
  const { view, model, prompt, done, rounds, tokens, seconds } = options
  const wrong = (what: string, hint: string) => new RegistryError('invalid_option', what, { hint })
  if (!view?.getTools || !('call' in view || 'dispatch' in view))
    throw wrong('The loop has no view.', 'Pass a registry, or an object with getTools, has, and call or dispatch.')
  if (typeof model !== 'function') throw wrong('The loop has no model.', 'Pass a function that asks your model.')
  if (!prompt?.length && typeof prompt !== 'function')
    throw wrong('The loop has no prompt.', 'Pass a text, messages, or a function.')
  if (done && typeof done !== 'function') throw wrong('done is no function.', 'done says whether the work is done.')
  for (const [name, n] of Object.entries({ rounds, tokens, seconds })) {
    if (n !== undefined && !(typeof n === 'number' && n > 0))
      throw wrong(`${name} is ${n}.`, `${name} is a number above 0.`)
  }
}

/** Whether it is an answer. One in a provider's own form has neither a text nor calls. */
const isAnswer = (answer: unknown) => {
  const calls = isObject(answer) && (answer['calls'] ?? ('text' in answer || answer['incomplete'] ? [] : undefined))
  return Array.isArray(calls) && calls.every(isObject)
}

class Running {
  readonly #options: types.LoopOptions
  readonly #put: Put<types.LoopEvent>
  readonly #guards = new Guards()
  readonly #began = performance.now()
  #messages: types.ModelMessage[] = []
  #round = 0
  #text = ''
  #calls = 0
  #tokens = 0
  #signal!: AbortSignal

  constructor(options: types.LoopOptions, put: Put<types.LoopEvent>) {
    this.#options = options
    this.#put = put
  }

  async run(reader: AbortSignal): Promise<void> {
    const { signal, seconds } = this.#options
    const clock = new AbortController()
    const timer = seconds && setTimeout(() => clock.abort(), Math.min(seconds * 1000, 2 ** 31 - 1))
    this.#signal = AbortSignal.any([reader, clock.signal, signal ?? reader])
    try {
      await this.#rounds()
      this.#put({ type: 'done', text: this.#text, state: this.#state() })
    } catch (e) {
      let { why, error } = e instanceof Stop ? e : new Stop('error', e)
      if (this.#signal.aborted) {
        why = signal?.aborted || reader.aborted ? 'aborted' : 'seconds'
        error = undefined
      }
      this.#put({ type: 'stopped', why, state: this.#state(), ...(error !== undefined && { error }) })
    } finally {
      clearTimeout(timer)
    }
  }

  async #rounds(): Promise<void> {
    const { done, fresh, rounds = 20 } = this.#options
    for (;;) {
      if (this.#round >= rounds) throw new Stop('rounds')
      this.#round++
      if (fresh || this.#round === 1) await this.#begin()
      this.#put({ type: 'round', round: this.#round, state: this.#state() })
      let ended = false
      for (let i = 0; !ended && i < (fresh ? answersOfRound : 1); i++) ended = await this.#answer()
      if (ended && (!done || await this.#race(done(this.#text, this.#state())))) return
      if (this.#guards.roundEnds()) throw new Stop('no_progress')
      if (ended && !fresh) this.#messages.push({ role: 'user', content: goOn })
    }
  }

  /** Begins a conversation. */
  async #begin(): Promise<void> {
    const { prompt } = this.#options
    const made = typeof prompt === 'function' ? await this.#race(prompt(this.#state())) : prompt
    if (typeof made !== 'string' && !Array.isArray(made as unknown))
      throw new RegistryError('invalid_option', 'the prompt gave no text', { hint: 'Return a text, or messages.' })
    this.#messages = typeof made === 'string' ? [{ role: 'user', content: made }] : [...made]
    if (typeof prompt !== 'function' && this.#text) {
      const state = this.#text.slice(-stateLength)
      this.#messages.push({ role: 'user', content: `Where the round before ended:\n${state}` })
    }
    this.#guards.begin()
  }

  /** Asks the model once, and runs its calls. Returns whether there were none. */
  async #answer(): Promise<boolean> {
    const { view, model, format = 'openai', tokens = Infinity } = this.#options
    if (this.#tokens >= tokens) throw new Stop('tokens')
    this.#signal.throwIfAborted()
    const tools = view.getTools({ format }) // each time, because servers come and go
    const asked = this.#messages.slice()
    const said = await this.#race(model(asked, { tools, signal: this.#signal }))
    const answer = typeof said === 'string' ? { text: said } as types.ModelAnswer : said
    if (!isAnswer(answer))
      throw new RegistryError('protocol', 'the model gave no answer', { hint: 'Return a text, or { text, calls }.' })
    const { text = '', usage, incomplete } = answer
    const { calls: asks, raw } = incomplete ? {} as types.ModelAnswer : answer
    const calls = asks ?? []
    const spent = Number(usage?.input ?? 0) + Number(usage?.output ?? 0)
    this.#tokens += spent > 0 ? spent : Math.ceil(JSON.stringify([asked.map(shown), tools, text, calls]).length / 4)
    this.#messages.push({
      role: 'assistant',
      content: text,
      ...(calls.length && { calls }),
      ...(raw !== undefined && { raw }),
    })
    if (text) {
      this.#text = text
      this.#guards.said(text)
      this.#put({ type: 'text', text })
    }
    if (incomplete)
      throw new Stop(
        'incomplete',
        new Error(`The provider ended the model's answer early: ${String(incomplete).slice(0, longest)}.`),
      )
    if (!calls.length) return true
    // A conversation can go on however its loop ended: providers refuse a call that has no answer.
    const answers = calls.map(({ id, name }): types.ModelMessage => (
      { role: 'tool', callId: id, name, content: 'This call was stopped.', isError: true }
    ))
    try {
      if (this.#tokens >= tokens) throw new Stop('tokens')
      await this.#race(Promise.all(calls.map(async (call, i) => {
        answers[i] = await this.#use(call, i)
      })))
    } finally {
      this.#messages.push(...answers)
    }
    const isRepeated = (call: types.ToolCall, i: number) =>
      i < callsOfAnswer && this.#guards.answered(call.name, call.arguments, answers[i]!.content)
    if (calls.some(isRepeated)) throw new Stop('same_call')
    return false
  }

  /** Runs a call. Its failure is an answer too, because a model can make something of it. */
  async #use(call: types.ToolCall, place: number): Promise<types.ModelMessage> {
    const { view } = this.#options
    const { id, name, arguments: args } = call
    const began = performance.now()
    let text: string,
      isError = false,
      result: Awaited<ReturnType<Extract<types.ToolView, { call: unknown }>['call']>> | undefined
    this.#put({ type: 'tool', phase: 'begin', call })
    try {
      if (place >= callsOfAnswer) throw new Error(`At most ${callsOfAnswer} calls run at once. This one did not.`)
      if (!view.has(name)) throw new Error(`unknown_tool: There is no tool ${JSON.stringify(name)}.`)
      const options: types.ToolViewOptions = {
        signal: this.#signal,
        callId: id,
        onProgress: (progress) =>
          this.#put(
            { type: 'tool', phase: 'progress', call, progress },
            (waiting) => waiting.type === 'tool' && waiting.phase === 'progress' && waiting.call === call,
          ),
      }
      if ('call' in view) {
        result = await view.call(name, args, options)
        text = result.text
        isError = result.isError
      } else text = await view.dispatch(name, args, options)
    } catch (e) {
      const { code, message = String(e), hint = '' } = e as RegistryError
      text = `${code ? `${code}: ` : ''}${message} ${hint}`.trim().slice(0, longest)
      isError = true
    }
    this.#signal.throwIfAborted()
    this.#calls++
    const durationMs = performance.now() - began
    this.#put({ type: 'tool', phase: 'end', call, text, isError, durationMs, ...(result && { result }) })
    return { role: 'tool', callId: id, name, content: text, isError, ...(result && { result }) }
  }

  /** Waits no longer than the signal allows: a model or a tool may not obey it. */
  #race<T>(work: T | Promise<T>): Promise<T> {
    const signal = this.#signal
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      Promise.resolve(work).finally(() => signal.removeEventListener('abort', stop)).then(resolve, reject)
    })
  }

  #state(): types.LoopState {
    return {
      round: this.#round,
      text: this.#text,
      messages: this.#messages.slice(),
      calls: this.#calls,
      tokens: this.#tokens,
      seconds: (performance.now() - this.#began) / 1000,
    }
  }
}

/** The part of a message that a model reads. */
const shown = ({ content, ...rest }: types.ModelMessage) => [content, 'calls' in rest && rest.calls]
