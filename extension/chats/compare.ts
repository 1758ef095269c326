import type { Comparison } from '../messages.ts'
import { ToolFault, type ToolCall } from '../tools/tool.ts'
import { longestRun, type Chats } from './chats.ts'
import type { Answer } from './drivermessages.ts'
import {
  judgePrompt,
  keepsAnswer,
  noJudgement,
  readConsensus,
  readJudgement,
  repairPrompt,
  revisePrompt,
  type Consensus,
  type Judgement,
  type JudgeForm,
} from './judge.ts'
import { siteSpecs } from './sites/index.ts'
import type { Site } from './sites/site.ts'

/** What compares the answers: a site, the sites in turn, or the client's own model. */
export type Judge = Site | 'rotate' | 'client'

export interface CompareOrder {
  form: JudgeForm
  prompt: string
  services: Site[]
  /** 1: each site answers once. In each further round it sees the others' answers. */
  rounds: number
  judge: Judge
  /** How much of an answer the other sites and the judge see, in UTF-16 units. */
  maxChars: number
  /** For each prompt. */
  timeoutSeconds?: number
}

export interface Compared {
  services: Site[]
  answers: Map<Site, Answer>
  /** Why a site has no answer, or no revised one. */
  faults: Map<Site, ToolFault>
  /** How many rounds there were. */
  rounds: number
  judge: Site | 'client' | null
  judgement: Judgement<Site> | Consensus<Site> | null
  /** Why there is no judgement. */
  fault?: ToolFault
  /** For the client's own model, if the client cannot be asked for a sample. */
  judgePrompt?: string
}

/** How many comparisons the side panel shows. */
const most = 10
const longestShown = 4000

/** Puts one question to several chats, lets them see each other's answers, and has a judge compare them (T36). */
export class Comparisons {
  private shown: Comparison[] = []
  private turn = 0
  private readonly chats: Chats
  private readonly changed: () => void

  constructor(chats: Chats, changed: () => void) {
    this.chats = chats
    this.changed = changed
  }

  /** Newest first, at most 10. */
  get list(): Comparison[] {
    return this.shown
  }

  clear(): void {
    this.shown = this.shown.filter((c) => !c.endedAt)
    this.changed()
  }

  /** Rejects with QUOTA before the first prompt, with CANCELLED, and with the fault of a site if none answers. */
  async run(order: CompareOrder, call: ToolCall, step: (text: string) => void): Promise<Compared> {
    const { services, rounds } = order
    const first = order.judge === 'rotate' ? services[this.turn++ % services.length]! : order.judge
    this.checkQuota(order, first)
    const prompts = services.length * rounds + (first === 'client' ? 0 : 1)
    step(`This sends up to ${prompts} prompts: ${services.map((s) => siteSpecs[s].label).join(', ')}`)
    const view = this.show(order, call)
    const compared: Compared = {
      services,
      answers: new Map(),
      faults: new Map(),
      rounds: 0,
      judge: null,
      judgement: null,
    }
    try {
      await this.firstRound(order, call, step, compared, view)
      while (compared.answers.size > 1 && compared.rounds < rounds)
        if (!await this.furtherRound(order, call, step, compared, view)) break
      if (compared.answers.size > 1) await this.judge(order, first, call, step, compared)
      return compared
    } finally {
      this.update(view, {
        endedAt: Date.now(),
        judge: compared.judge,
        ...shownJudgement(compared.judgement),
        fault: compared.fault?.code,
      })
    }
  }

  /** Each site's prompts must fit in what the user set for an hour. */
  private checkQuota({ services, rounds }: CompareOrder, judge: Site | 'client'): void {
    for (const site of services) {
      const needed = rounds + (site === judge ? 1 : 0)
      const left = this.chats.settings.left(site)
      if (needed <= left) continue
      throw new ToolFault(
        'QUOTA',
        `This needs ${needed} prompts to ${siteSpecs[site].label}, and ${left} are left in this hour, as the person ` +
          'set it. Nothing was sent. Ask for fewer rounds or other services, or try again later.',
        { service: site, needed, left },
      )
    }
  }

  private async firstRound(
    order: CompareOrder,
    call: ToolCall,
    step: (text: string) => void,
    compared: Compared,
    view: string,
  ): Promise<void> {
    compared.rounds = 1
    await this.each(
      order.services,
      compared,
      view,
      call,
      (site) => this.ask(order, { site, prompt: order.prompt, fresh: true }, call, step, 1),
    )
    const [why] = compared.faults.values()
    if (!compared.answers.size && why) throw why
  }

  /** Returns whether a site has changed its answer. */
  private async furtherRound(
    order: CompareOrder,
    call: ToolCall,
    step: (text: string) => void,
    compared: Compared,
    view: string,
  ): Promise<boolean> {
    const round = ++compared.rounds
    const before = inOrder(compared)
    const texts = before.map(([, a]) => a.answer)
    let changed = false
    await this.each(before.map(([site]) => site), compared, view, call, async (site) => {
      const own = before.findIndex(([s]) => s === site)
      const { conversationId } = before[own]![1]
      const revise = revisePrompt(texts, own, order.maxChars)
      // Without its conversation, the site gets the question and its own answer again.
      const prompt = conversationId ? revise : `${order.prompt}\n\nYou answered: ${texts[own]}\n\n${revise}`
      const reply = await this.ask(
        order,
        conversationId ? { site, prompt, conversationId } : { site, prompt, fresh: true },
        call,
        step,
        round,
      )
      if (keepsAnswer(reply.answer)) return before[own]![1]
      changed = true
      return reply
    })
    this.update(view, { round })
    return changed
  }

  /** Gets an answer of each site at once. A site that fails keeps its earlier answer. */
  private async each(
    services: Site[],
    compared: Compared,
    view: string,
    call: ToolCall,
    answer: (site: Site) => Promise<Answer>,
  ): Promise<void> {
    await Promise.all(services.map(async (site) => {
      try {
        const got = await answer(site)
        if (!got.answer.trim()) throw new ToolFault('EMPTY_ANSWER', `${siteSpecs[site].label} wrote nothing.`)
        compared.answers.set(site, got)
      } catch (e) {
        compared.faults.set(site, e instanceof ToolFault ? e : new ToolFault('UNKNOWN', String(e)))
      }
      const known = compared.answers.get(site)
      this.updateSite(view, site, {
        state: compared.faults.has(site) ? 'failed' : 'answered',
        code: compared.faults.get(site)?.code,
        answer: known?.answer.slice(0, longestShown),
        url: known?.url,
      })
    }))
    if (call.signal.aborted) throw new ToolFault('CANCELLED', 'The comparison was cancelled.')
  }

  private ask(
    { timeoutSeconds = longestRun }: CompareOrder,
    prompt: Pick<Parameters<Chats['ask']>[0], 'site' | 'prompt' | 'fresh' | 'conversationId'>,
    call: ToolCall,
    step: (text: string) => void,
    round: number,
  ): Promise<Answer> {
    const { label } = siteSpecs[prompt.site]
    return this.chats.ask({ ...prompt, timeoutSeconds }, call, {
      step: (text) => step(`Round ${round}: ${text}`),
      partial: (text) => step(`Round ${round}: ${label} has written ${text.length} characters`),
    })
  }

  /** Asks the judge, and once more if its reply cannot be read. */
  private async judge(
    order: CompareOrder,
    first: Site | 'client',
    call: ToolCall,
    step: (text: string) => void,
    compared: Compared,
  ): Promise<void> {
    const answers = inOrder(compared)
    const names = answers.map(([site]) => site)
    const texts = answers.map(([, a]) => a.answer)
    const prompt = judgePrompt(order.form, order.prompt, texts, order.maxChars)
    const judge = first === 'client' || names.includes(first) ? first : names[0]!
    compared.judge = judge
    if (judge === 'client' && !call.client.samples) {
      compared.judgePrompt = prompt
      return
    }
    const read = order.form === 'compare' ? readJudgement : readConsensus
    const reply = judge === 'client' ? samples(call) : this.repliesOf(judge, order, call, step)
    try {
      let text = await reply(prompt)
      try {
        compared.judgement = read(text, names)
      } catch (e) {
        text = await reply(repairPrompt((e as Error).message))
        try {
          compared.judgement = read(text, names)
        } catch (again) {
          throw noJudgement((again as Error).message)
        }
      }
    } catch (e) {
      if (call.signal.aborted) throw e
      compared.fault = e instanceof ToolFault ? e : new ToolFault('NO_JUDGEMENT', (e as Error).message)
    }
  }

  /** Sends a judge's prompts to one conversation. */
  private repliesOf(site: Site, order: CompareOrder, call: ToolCall, step: (text: string) => void) {
    let conversationId: string | null = null
    return async (prompt: string) => {
      step(`${siteSpecs[site].label} compares the answers`)
      const where = conversationId ? { conversationId } : { fresh: true }
      const reply = await this.ask(order, { site, prompt, ...where }, call, step, order.rounds + 1)
      conversationId = reply.conversationId
      return reply.answer
    }
  }

  // What the side panel shows.

  private show({ form, prompt, services, rounds }: CompareOrder, { client }: ToolCall): string {
    const id = crypto.randomUUID()
    const shown: Comparison = {
      id,
      form,
      client: client.name,
      prompt: prompt.slice(0, 200),
      startedAt: Date.now(),
      round: 1,
      rounds,
      sites: services.map((site) => ({ site, state: 'asked' })),
      judge: null,
      rows: [],
    }
    this.shown = [shown, ...this.shown].slice(0, most)
    this.changed()
    return id
  }

  private update(id: string, patch: Partial<Comparison>): void {
    this.shown = this.shown.map((c) => (c.id === id ? { ...c, ...patch } : c))
    this.changed()
  }

  private updateSite(id: string, site: Site, patch: Partial<Comparison['sites'][number]>): void {
    const known = this.shown.find((c) => c.id === id)?.sites ?? []
    this.update(id, { sites: known.map((s) => (s.site === site ? { ...s, ...patch } : s)) })
  }
}

/** The answers in the order of the services, so that a site has one letter. */
const inOrder = ({ services, answers }: Compared): [Site, Answer][] =>
  services.flatMap((site) => {
    const answer = answers.get(site)
    return answer ? [[site, answer]] : []
  })

/** Asks the client's own model (sampling of 2025-11-25). Each prompt has the earlier ones before it. */
function samples(call: ToolCall): (prompt: string) => Promise<string> {
  const messages: { role: string; content: object }[] = []
  return async (prompt) => {
    messages.push({ role: 'user', content: { type: 'text', text: prompt } })
    const { content } = await call.sample({ messages, maxTokens: 8000 }) as { content: { text?: string } }
    messages.push({ role: 'assistant', content })
    if (typeof content?.text !== 'string') throw new ToolFault('NO_JUDGEMENT', 'The client’s model wrote no text.')
    return content.text
  }
}

function shownJudgement(found: Compared['judgement']): Partial<Comparison> {
  if (!found) return {}
  if ('claims' in found) {
    const rows = found.claims.map(({ claim, by }) => ({ text: claim, by }))
    return { rows, answer: found.answer.slice(0, longestShown), openPoints: found.openPoints }
  }
  const { agreements, differences, verdict } = found
  return {
    rows: [
      ...agreements.map((text) => ({ text })),
      ...differences.map(({ topic, by }) => ({ text: topic, by })),
    ],
    ...(verdict !== undefined && { answer: verdict.slice(0, longestShown) }),
  }
}
