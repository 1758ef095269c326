import { hasPermissions } from '../browser.ts'
import type { Chat, ChatSettings, Options, Run } from '../messages.ts'
import { ToolFault, type ToolCall } from '../tools/tool.ts'
import { drive, type Driven } from './drive.ts'
import { History } from './history.ts'
import { Places } from './place.ts'
import { profiles } from './profiles/index.ts'
import { Queue } from './queue.ts'
import { Rules } from './rules.ts'
import { Talks } from './talks.ts'
import { sites, type Answer, type Order, type Seen, type Site } from './wire.ts'

/** How long a prompt may take in all, its turn in the queue included, in seconds: B16. */
export const longestRun = 480
const retries = 2
/** What a further try needs of the time, in ms. */
const leastTime = 30_000

/** What a tool asks of a site. */
export interface Question {
  site: Site
  prompt: string
  conversationId?: string
  model?: string
  temperature?: number
  preferred?: Order['preferred']
  timeoutSeconds?: number
}

export interface Told {
  /** A sentence about where the run is. */
  step(text: string): void
  /** The answer so far. */
  partial(text: string): void
}

interface Live {
  view: Run
  /** Where the run is beneath a pause. */
  phase: Run['phase']
  paused: boolean
  ends: AbortController
  driven?: Driven
  tabId?: number
}

/** Chats with the sites that the person switched on: their settings, queues and runs. */
export class ChatDesk {
  readonly places = new Places()
  readonly history: History
  readonly rules: Rules
  private readonly talks = new Talks()
  private readonly queues = Object.fromEntries(sites.map((s) => [s, new Queue()])) as Record<Site, Queue>
  private readonly live = new Map<string, Live>()
  private readonly options: () => Options
  private readonly changed: () => void

  constructor(options: () => Options, changed: () => void) {
    this.options = options
    this.changed = changed
    this.history = new History(options)
    this.rules = new Rules(changed)
  }

  async load(): Promise<void> {
    await Promise.all([this.rules, this.talks, this.places, this.history].map((s) => s.load()))
  }

  set(site: Site, patch: Partial<ChatSettings>): void {
    this.rules.set(site, patch)
    if (!this.rules.of(site).enabled) this.end(site)
  }

  /** Sites whose tools are offered. */
  get enabled(): Site[] {
    return sites.filter((s) => this.rules.of(s).enabled)
  }

  get views(): Record<Site, Chat> {
    return Object.fromEntries(sites.map((s) => {
      const { label, newChat, matches } = profiles[s]
      return [s, {
        ...this.rules.of(s),
        ...this.rules.tally(s),
        label,
        newChat,
        matches,
        granted: this.rules.isGranted(s),
        waiting: this.queues[s].waiting,
        usedThisHour: this.rules.usedThisHour(s),
      }]
    })) as Record<Site, Chat>
  }

  get runs(): Run[] {
    return [...this.live.values()].map((l) => l.view)
  }

  busy(site: Site): boolean {
    return this.runs.some((r) => r.site === site && r.phase !== 'queued')
  }

  cancel(id: string): void {
    this.live.get(id)?.ends.abort()
  }

  resume(id: string): void {
    const live = this.live.get(id)
    if (!live?.driven) return
    live.paused = false
    live.view = { ...live.view, phase: live.phase }
    live.driven.resume()
    this.changed()
  }

  handOver(id: string): void {
    this.live.get(id)?.driven?.handOver()
  }
  async show(id: string): Promise<void> {
    const tab = this.live.get(id)?.tabId
    if (tab !== undefined) await this.places.show(tab)
  }

  /** Asks a site, when its turn comes. Rejects with a ToolFault whose code is one of failureCodes. */
  async ask(question: Question, call: ToolCall, told: Told): Promise<Answer> {
    const { site } = question
    const { label } = profiles[site]
    this.rules.admit(site)
    const now = Date.now()
    const ends = new AbortController()
    const abort = () => ends.abort()
    call.signal.addEventListener('abort', abort)
    if (call.signal.aborted) abort()
    const live: Live = {
      ends,
      phase: 'queued',
      paused: false,
      view: {
        id: crypto.randomUUID(),
        site,
        client: call.client.name,
        phase: 'queued',
        prompt: question.prompt.slice(0, 200),
        startedAt: now,
        deadline: now + (question.timeoutSeconds ?? longestRun) * 1000,
        mode: this.rules.of(site).mode,
      },
    }
    this.live.set(live.view.id, live)
    this.changed()
    try {
      const answer = await this.queues[site].add(() => this.run(question, call, live, told), {
        signal: ends.signal,
        deadline: live.view.deadline,
        moved: (ahead) => {
          told.step(`${label}: ${ahead} before this one`)
          this.changed()
        },
      })
      if (answer.conversationId) this.talks.remember(call.client.key, site, answer.conversationId)
      this.rules.count(site)
      this.history.add(call.client.key, site, question.prompt, answer)
      return answer
    } catch (e) {
      this.rules.count(site, e)
      this.history.failed(site, e)
      throw e
    } finally {
      call.signal.removeEventListener('abort', abort)
      this.live.delete(live.view.id)
      this.changed()
    }
  }

  private async run(question: Question, call: ToolCall, live: Live, told: Told): Promise<Answer> {
    const { site } = question
    const profile = profiles[site]
    let talk = question.conversationId ??
      (this.options().reuseChats ? this.talks.last(call.client.key, site) : undefined)
    for (let attempt = 0;; attempt++) {
      const url = talk ? profile.conversationUrl.replace('{id}', encodeURIComponent(talk)) : profile.newChat
      this.phase(live, 'opening', told)
      try {
        return await this.once(question, live, told, url, talk !== undefined && attempt === 0)
      } catch (e) {
        const fault = e as ToolFault
        const remembered = talk !== undefined && talk !== question.conversationId
        // The client named no conversation, and can do nothing about one that is gone.
        const gone = remembered && fault.code === 'UNKNOWN' &&
          (fault.details?.state as Seen | undefined)?.phase === 'opening'
        const stuck = fault.code === 'STUCK' && attempt < retries && Date.now() < live.view.deadline - leastTime
        if (!(stuck || gone) || live.ends.signal.aborted) throw e
        if (remembered) talk = undefined
        told.step(
          gone
            ? `${profile.label}: the last conversation is gone; a new one`
            : `${profile.label} is stuck; once more in a new tab`,
        )
        if (!gone) await this.places.abandon(site)
      }
    }
  }

  private async once(question: Question, live: Live, told: Told, url: string, stay: boolean): Promise<Answer> {
    const { site, prompt, model, temperature, preferred } = question
    const profile = profiles[site]
    const { signal } = live.ends
    const tabId = live.tabId = await this.places.open(profile, url, stay, signal, live.view.deadline)
    const { mode, deadline, id } = live.view
    const assist = mode === 'assist'
    if (assist || this.options().focus) await this.places.show(tabId)
    const trustedInput = await hasPermissions({ permissions: ['debugger'] })
    live.paused = false
    const order: Order = {
      id,
      prompt,
      mode,
      model,
      temperature,
      preferred,
      deadline,
      continues: url !== profile.newChat,
      trustedInput,
    }
    live.driven = await drive(tabId, order, profile, signal, {
      phase: (phase) => this.phase(live, phase, told),
      partial: (text) => told.partial(text),
      paused: () => {
        live.paused = true
        this.phase(live, 'paused', told)
      },
    })
    return live.driven.answer.finally(() => this.places.leave(site))
  }

  private phase(live: Live, phase: Run['phase'], told: Told): void {
    const { label } = profiles[live.view.site]
    if (phase === 'paused') told.step(`${label}: the person uses the tab; they can let it go on in the side panel`)
    else if (phase === 'handover') told.step(`${label}: the person sends the prompt and hands the answer over`)
    else told.step(`${label}: ${phase}`)
    if (phase !== 'paused') live.phase = phase
    // An answer goes on under a pause, which lasts until the person ends it.
    live.view = { ...live.view, phase: live.paused ? 'paused' : phase }
    this.changed()
  }

  /** Ends all runs, or those of one site. */
  end(site?: Site): void {
    for (const { view, ends } of this.live.values()) if (!site || view.site === site) ends.abort()
  }
}
