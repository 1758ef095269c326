import { hasPermissions, removeStored, showTab } from '../browser.ts'
import type { Chat, ChatSettings, Options, Run, Trouble } from '../messages.ts'
import { loadAll } from '../stored.ts'
import { timeout } from '../timeout.ts'
import { ToolFault, type Client, type ToolCall } from '../tools/tool.ts'
import { startRun, type DriverRun } from './driverport.ts'
import { Conversations } from './conversations.ts'
import { History } from './history.ts'
import { Models } from './models.ts'
import type { Answer, Order, TurnState } from './drivermessages.ts'
import { Queue } from './queue.ts'
import { siteSpecs } from './sites/index.ts'
import { eachSite, sites, type Site } from './sites/site.ts'
import { SiteSettings } from './sitesettings.ts'
import { Profiles } from './profiles.ts'
import { ChatTabs } from './tabs.ts'
import { Troubles } from './troubles.ts'

/** The longest time of a prompt, its time in the queue included, in seconds. */
export const longestRun = 480
const retries = 2
/** A further try needs at least this time, in ms. */
const leastTime = 30_000
/** The longest wait of an answer for the history, in ms. */
const patience = 3000

/** A tool's prompt to a site. */
export interface Prompt extends Pick<Order, 'prompt' | 'model' | 'temperature' | 'preferred'> {
  site: Site
  /** `new` begins a conversation. Without one, the user's setting decides. */
  conversationId?: string
  /** Without a `conversationId`, begins a conversation. Later prompts do not continue it unasked. */
  fresh?: boolean
  timeoutSeconds?: number
}

interface RunProgress {
  /** Reports the state of the run, in a sentence. */
  step(text: string): void
  /** Reports the answer so far. */
  partial(text: string): void
}

interface ActiveRun {
  prompt: Prompt
  call: ToolCall
  progress: RunProgress
  view: Run
  timings: { queueMs: number; navigateMs: number; connectMs: number }
  /** The phase behind a pause. */
  phase: Run['phase']
  paused: boolean
  control: AbortController
  /** Aborts with the call, or by `control`. */
  signal: AbortSignal
  /** When it must have ended, in ms of performance.now(): the clock may be set meanwhile. */
  ends: number
  driver?: DriverRun
  tabId?: number
}

/** Runs prompts on the sites that the user switched on. */
export class Chats {
  readonly tabs = new ChatTabs()
  readonly history: History
  readonly settings: SiteSettings
  readonly models: Models
  readonly profiles: Profiles
  readonly troubles: Troubles
  readonly conversations = new Conversations()
  private readonly queues = eachSite(() => new Queue())
  private readonly active = new Map<string, ActiveRun>()
  private readonly options: () => Options
  private readonly changed: () => void
  private readonly trouble: (trouble: Trouble, client: Client) => void

  /** `offersChanged`: the tools' descriptions are different. `trouble`: a bundle was made about a client's prompt. */
  constructor(
    options: () => Options,
    changed: () => void,
    offersChanged: () => void,
    trouble: (trouble: Trouble, client: Client) => void,
  ) {
    this.options = options
    this.changed = changed
    this.history = new History(options)
    this.settings = new SiteSettings(changed)
    this.models = new Models(offersChanged)
    this.profiles = new Profiles(offersChanged)
    this.troubles = new Troubles(options)
    this.trouble = trouble
  }

  async load(): Promise<void> {
    // Where an earlier version kept conversations and history.
    await removeStored('local', ['talks', 'history'])
    await loadAll([this.settings, this.conversations, this.tabs, this.models, this.profiles, this.troubles])
  }

  set(site: Site, patch: Partial<ChatSettings>): Promise<void> {
    const kept = this.settings.set(site, patch)
    if (!this.settings.of(site).enabled) this.stop(site)
    return kept
  }

  /** Follows the browser's permissions. Runs on a site that was taken away end. */
  async permissionsChanged(): Promise<void> {
    await this.settings.permissionsChanged()
    for (const site of sites) if (!this.settings.view(site).granted) this.stop(site)
  }

  /** The sites whose tools are offered. */
  get enabled(): Site[] {
    return sites.filter((s) => this.settings.of(s).enabled)
  }

  get views(): Record<Site, Chat> {
    return eachSite((site) => {
      const { label, newChat, matches } = siteSpecs[site]
      const ownProfile = this.profiles.value[site] !== undefined
      return { ...this.settings.view(site), label, newChat, matches, ownProfile, waiting: this.queues[site].waiting }
    })
  }

  get runs(): Run[] {
    return [...this.active.values()].map((run) => run.view)
  }

  busy(site: Site): boolean {
    return this.runs.some((run) => run.site === site && run.phase !== 'queued')
  }

  /** Closes idle tabs, and forgets old history, also if no more is kept. */
  async tidy(): Promise<void> {
    await Promise.all([this.tabs.tidy((site) => this.busy(site)), this.history.dropOld().catch(console.error)])
  }

  cancel(id: string): void {
    this.active.get(id)?.control.abort()
  }

  /** Stops all runs, or those of one site. */
  stop(site?: Site): void {
    for (const { view, control } of this.active.values()) if (!site || view.site === site) control.abort()
  }

  resume(id: string): void {
    const run = this.active.get(id)
    if (!run?.driver) return
    run.paused = false
    run.view = { ...run.view, phase: run.phase }
    run.driver.resume()
    this.changed()
  }

  handOver(id: string): void {
    this.active.get(id)?.driver?.handOver()
  }

  async show(id: string): Promise<void> {
    const tabId = this.active.get(id)?.tabId
    if (tabId !== undefined) await showTab(tabId)
  }

  /** As {@link ask}, for a tool of several sites: the client's setting of the site's own tool holds, too. */
  async askBeside(prompt: Prompt, call: ToolCall, progress: RunProgress): Promise<Answer> {
    const { grants, name } = call.client
    const tool = `chat_${prompt.site}`
    if ((grants[tool] ?? 'allow') !== 'allow')
      throw new ToolFault('DENIED', `The person does not let ${name} use ${tool} unasked.`)
    return this.ask(prompt, call, progress)
  }

  /** Sends a prompt to a site after those in the queue. Rejects with a ToolFault. */
  async ask(prompt: Prompt, call: ToolCall, progress: RunProgress): Promise<Answer> {
    const { site } = prompt
    const { client } = call
    const now = this.settings.admit(site)
    const longest = (prompt.timeoutSeconds ?? longestRun) * 1000
    const id = crypto.randomUUID()
    const control = new AbortController()
    const signal = AbortSignal.any([call.signal, control.signal])
    const timings = { queueMs: 0, navigateMs: 0, connectMs: 0 }
    const run: ActiveRun = {
      prompt,
      call,
      progress,
      view: {
        id,
        site,
        client: client.name,
        phase: 'queued',
        prompt: prompt.prompt.slice(0, 200),
        startedAt: now,
        mode: this.settings.of(site).mode,
      },
      timings,
      phase: 'queued',
      paused: false,
      control,
      signal,
      ends: performance.now() + longest,
    }
    const asked = { client, site, question: prompt.prompt }
    this.active.set(id, run)
    this.changed()
    try {
      const answered = await this.queues[site].add(() => {
        timings.queueMs = Date.now() - now
        return this.attempts(run)
      }, {
        signal,
        deadline: now + longest,
        moved: (ahead) => {
          progress.step(`${siteSpecs[site].label}: ${ahead} before this one`)
          this.changed()
        },
      })
      const { debug: _, ...answer } = answered
      answer.timings = { ...timings, ...answer.timings, totalMs: Date.now() - now }
      if (!prompt.fresh) this.conversations.remember(client, site, answer)
      this.settings.count(site)
      if (answer.flags.length) this.trouble(this.troubles.suspicious(site, prompt.prompt, answered), client)
      await kept(this.history.answered(asked, answer))
      return answer
    } catch (e) {
      if (run.phase === 'queued') this.settings.release(site, now)
      this.settings.count(site, e)
      const trouble = this.troubles.failed(site, prompt.prompt, e)
      if (trouble) this.trouble(trouble, client)
      await kept(this.history.failed(asked, e))
      if (e instanceof ToolFault) delete e.details?.debug
      throw e
    } finally {
      this.active.delete(id)
      this.changed()
    }
  }

  /** Tries again in a new tab if the site is stuck, and in a new chat if the remembered conversation is gone. */
  private async attempts(run: ActiveRun): Promise<Answer> {
    const { prompt: { site, conversationId: wanted, fresh }, call, progress } = run
    const { label, conversationUrl, newChat } = this.profiles.of(site)
    const conversationId = wanted === 'new' ? undefined : wanted
    let remembered = wanted || fresh ? undefined : this.conversations.last(call.client, site, this.options().reuse)
    for (let attempt = 0;; attempt++) {
      const id = conversationId ?? remembered
      const url = id ? conversationUrl.replace('{id}', encodeURIComponent(id)) : newChat
      this.phase(run, 'opening')
      try {
        return await this.attempt(run, url, id !== undefined && attempt === 0)
      } catch (e) {
        const { code, details } = e as ToolFault
        // The client did not name the conversation, so it cannot do anything about it. Some sites then show no chat.
        const gone = remembered && /UNKNOWN$/.test(code) &&
          (details?.state as TurnState | undefined)?.phase === 'opening'
        const stuck = code === 'STUCK' && !run.paused && attempt < retries && performance.now() < run.ends - leastTime
        if (!(stuck || gone) || run.signal.aborted) throw e
        if (details?.kind === 'no response') { // the site has the prompt, and gets it once more
          if (!this.settings.left(site)) throw e
          this.settings.admit(site)
        }
        remembered = undefined
        progress.step(
          gone ? `${label}: the last conversation is gone; a new one` : `${label} is stuck; once more in a new tab`,
        )
        if (!gone) await this.tabs.abandon(site)
      }
    }
  }

  private async attempt(run: ActiveRun, url: string, stay: boolean): Promise<Answer> {
    const { prompt, prompt: { site }, progress, view: { mode }, signal, ends } = run
    const spec = this.profiles.of(site)
    const begun = Date.now()
    const tabId = run.tabId = await this.tabs.open(spec, url, stay, signal, ends)
    const opened = Date.now()
    run.timings.navigateMs += opened - begun
    const { focus, debugTexts } = this.options()
    if (mode === 'assist' || focus) await showTab(tabId)
    const trustedInput = await hasPermissions({ permissions: ['debugger'] })
    run.paused = false
    const order: Order = {
      ...prompt,
      mode,
      readModels: mode === 'auto' && this.models.wanted(site),
      debugTexts,
      deadline: Date.now() + ends - performance.now(),
      continues: url !== spec.newChat,
      trustedInput,
    }
    run.driver = await startRun(tabId, order, spec, signal, {
      models: (models) => this.models.offered(site, models),
      phase: (phase) => this.phase(run, phase),
      partial: (text) => progress.partial(text),
      paused: () => {
        run.paused = true
        this.phase(run, 'paused')
      },
    })
    run.timings.connectMs += Date.now() - opened
    return run.driver.answer.finally(() => this.tabs.leave(site))
  }

  private phase(run: ActiveRun, phase: Run['phase']): void {
    const said: Partial<Record<Run['phase'], string>> = {
      paused: 'the person uses the tab; they can let it go on in the side panel',
      handover: 'the person sends the prompt and hands the answer over',
    }
    run.progress.step(`${siteSpecs[run.view.site].label}: ${said[phase] ?? phase}`)
    if (phase !== 'paused') run.phase = phase
    // The answer continues behind a pause, which lasts until the user ends it.
    run.view = { ...run.view, phase: run.paused ? 'paused' : phase }
    this.changed()
  }
}

/** Waits for the history, but not for long: a database may never answer. */
const kept = (work: Promise<void>) => timeout(patience, work).catch(console.error)
