import { copied } from '../../wasm/js/shared/copied.ts'
import type { Comparison } from '../messages.ts'
import { ToolFault, type ToolCall } from '../tools/tool.ts'
import type { Chats } from './chats.ts'
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

export interface CompareOrder {
  form: JudgeForm
  prompt: string
  services: Site[]
  /** 1: each site answers once. In each further round it sees the others' answers. */
  rounds: number
  /** The judge of the answers: a site, the sites in turn, or the client's own model. */
  judge: Site | 'rotate' | 'client'
  /** The part of an answer that the other sites and the judge see, in UTF-16 units. */
  maxChars: number
  /** For each prompt. */
  timeoutSeconds?: number
}

/** The surroundings of a comparison. */
interface CompareWork {
  chats: Chats
  order: CompareOrder
  /** The site that is to judge. If it has no answer, another one judges. */
  judge: Site | 'client'
  call: ToolCall
  /** Counts a prompt right before it is sent. */
  sends(site: Site): void
  /** Reports progress to the client. */
  step(text: string): void
  /** Reports to the side panel. */
  show(patch: Pick<Partial<Comparison>, 'round' | 'sites'>): void
}

export const longestShown = 4000

/** One comparison: several chats get a question and see each other's answers, and a judge compares them. */
export class Compare {
  readonly services: Site[]
  readonly answers = new Map<Site, Answer>()
  /** The fault of each site without an answer, or without a revised one. */
  readonly faults = new Map<Site, ToolFault>()
  /** The number of rounds that were held. */
  rounds = 0
  judge: Site | 'client' | null = null
  judgement: Judgement<Site> | Consensus<Site> | null = null
  /** The reason why there is no judgement. */
  fault: ToolFault | undefined
  /** For the client's own model, if the client cannot be asked for a sample. */
  judgePrompt: string | undefined
  /** The sites that have answered or failed. */
  private readonly settled = new Set<Site>()
  private readonly work: CompareWork

  constructor(work: CompareWork) {
    this.work = work
    this.services = work.order.services
  }

  /** Rejects with CANCELLED, and with the fault of a site if none answers. */
  async run(): Promise<void> {
    const { order } = this.work
    this.rounds = 1
    await this.each(this.services, (site) => this.ask({ site, prompt: order.prompt }))
    const [why] = this.faults.values()
    if (!this.answers.size && why) throw why
    while (this.answers.size > 1 && this.rounds < order.rounds) if (!await this.revise()) break
    if (this.answers.size > 1) await this.compare()
  }

  /** The answers in the order of the services, so that a site has one letter. */
  private inOrder(): [Site, Answer][] {
    return this.services.flatMap((site) => {
      const answer = this.answers.get(site)
      return answer ? [[site, answer]] : []
    })
  }

  /** One further round. Returns whether a site has changed its answer. */
  private async revise(): Promise<boolean> {
    const { order } = this.work
    this.work.show({ round: ++this.rounds })
    const before = this.inOrder()
    const texts = before.map(([, a]) => a.answer)
    let changed = false
    await this.each(before.map(([site]) => site), async (site) => {
      const own = before.findIndex(([s]) => s === site)
      const answer = before[own]![1]
      const { conversationId } = answer
      const prompt = revisePrompt(texts, own, order.maxChars)
      // Without its conversation, the site gets the question and its own answer again.
      const again = `${order.prompt}\n\nYou answered: ${answer.answer}\n\n${prompt}`
      const reply = await this.ask(conversationId ? { site, prompt, conversationId } : { site, prompt: again })
      if (keepsAnswer(reply.answer)) return answer
      changed = true
      return reply
    })
    return changed
  }

  /** Gets an answer of each site at once. A site that fails keeps its earlier answer. */
  private async each(services: Site[], answer: (site: Site) => Promise<Answer>): Promise<void> {
    await Promise.all(services.map(async (site) => {
      try {
        const got = await answer(site)
        if (!got.answer.trim()) throw new ToolFault('EMPTY_ANSWER', `${siteSpecs[site].label} wrote nothing.`)
        this.answers.set(site, got)
        this.faults.delete(site) // of an earlier round
      } catch (e) {
        this.faults.set(site, e instanceof ToolFault ? e : new ToolFault('UNKNOWN', String(e)))
      }
      this.settled.add(site)
      this.work.show({ sites: this.services.map((s) => this.shown(s)) })
    }))
    if (this.work.call.signal.aborted) throw new ToolFault('CANCELLED', 'The comparison was cancelled.')
  }

  private shown(site: Site): Comparison['sites'][number] {
    if (!this.settled.has(site)) return { site, state: 'asked' }
    const answer = this.answers.get(site)
    return {
      site,
      state: this.faults.has(site) ? 'failed' : 'answered',
      code: this.faults.get(site)?.code,
      answer: answer && copied(answer.answer.slice(0, longestShown)),
      url: answer?.url,
    }
  }

  private ask(
    prompt: Pick<Parameters<Chats['ask']>[0], 'site' | 'prompt' | 'conversationId'>,
    round = this.rounds,
  ): Promise<Answer> {
    const { chats, order: { timeoutSeconds }, call, step, sends } = this.work
    const { label } = siteSpecs[prompt.site]
    sends(prompt.site)
    return chats.askBeside({ ...prompt, fresh: true, timeoutSeconds }, call, {
      step: (text) => step(`Round ${round}: ${text}`),
      partial: (text) => step(`Round ${round}: ${label} has written ${text.length} characters`),
    })
  }

  /** Asks the judge, and once more if its reply cannot be read. */
  private async compare(): Promise<void> {
    const { order, call, judge: wanted } = this.work
    const answers = this.inOrder()
    const names = answers.map(([site]) => site)
    const prompt = judgePrompt(order.form, order.prompt, answers.map(([, a]) => a.answer), order.maxChars)
    this.judge = wanted === 'client' || names.includes(wanted) ? wanted : names[0]!
    if (this.judge === 'client' && !call.client.samples) {
      this.judgePrompt = prompt
      return
    }
    const read = order.form === 'compare' ? readJudgement : readConsensus
    const reply = this.judge === 'client' ? samples(call) : this.repliesOf(this.judge)
    try {
      let wrong = ''
      for (const asked of [() => prompt, () => repairPrompt(wrong)]) {
        const text = await reply(asked())
        try {
          this.judgement = read(text, names)
          return
        } catch (e) {
          wrong = (e as Error).message
        }
      }
      throw noJudgement(wrong)
    } catch (e) {
      if (call.signal.aborted) throw e
      this.fault = e instanceof ToolFault ? e : new ToolFault('NO_JUDGEMENT', (e as Error).message)
    }
  }

  /** Sends a judge's prompts to one conversation. */
  private repliesOf(site: Site): (prompt: string) => Promise<string> {
    let conversationId: string | null = null
    return async (prompt) => {
      this.work.step(`${siteSpecs[site].label} compares the answers`)
      const where = conversationId ? { conversationId } : {}
      const reply = await this.ask({ site, prompt, ...where }, this.work.order.rounds + 1)
      conversationId = reply.conversationId
      return reply.answer
    }
  }
}

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
