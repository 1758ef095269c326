import { copied } from '../../wasm/js/shared/copied.ts'
import type { Comparison } from '../messages.ts'
import { ToolFault, type ToolCall } from '../tools/tool.ts'
import type { Chats } from './chats.ts'
import { Compare, longestShown, type CompareOrder } from './compare.ts'
import { siteSpecs } from './sites/index.ts'
import { eachSite, type Site } from './sites/site.ts'

/** The number of comparisons that the side panel shows. */
const most = 10

/** The comparisons of several chats' answers, as the side panel shows them. */
export class Comparisons {
  /** Newest first, at most 10. */
  list: Comparison[] = []
  private turn = 0
  /** The prompts that comparisons under way have still to send. */
  private readonly due = eachSite(() => 0)
  private readonly chats: Chats
  private readonly changed: () => void

  constructor(chats: Chats, changed: () => void) {
    this.chats = chats
    this.changed = changed
  }

  clear(): void {
    this.list = this.list.filter((c) => !c.endedAt)
    this.changed()
  }

  /** Rejects with QUOTA before the first prompt, with CANCELLED, and with the fault of a site if none answers. */
  async run(order: CompareOrder, call: ToolCall, step: (text: string) => void): Promise<Compare> {
    const { services, rounds } = order
    if (services.length < 2)
      throw new ToolFault('INVALID_ARGUMENTS', 'Invalid arguments: services must have two or more.')
    const judge = order.judge === 'rotate' ? services[this.turn++ % services.length]! : order.judge
    const reserved = this.reserve(order, judge)
    const prompts = services.length * rounds + (judge === 'client' ? 0 : 1)
    step(`This sends up to ${prompts} prompts: ${services.map((s) => siteSpecs[s].label).join(', ')}`)
    const id = this.add(order, call)
    const show = (patch: Partial<Comparison>) => this.update(id, patch)
    const sends = (site: Site) => {
      if (!reserved[site]) return // a repaired judgement, or another judge
      reserved[site]--
      this.due[site]--
    }
    const compare = new Compare({ chats: this.chats, order, judge, call, step, show, sends })
    try {
      await compare.run()
      return compare
    } finally {
      for (const site of services) this.due[site] -= reserved[site]
      show({ endedAt: Date.now(), ...judged(compare.judgement), fault: compare.fault?.code })
    }
  }

  /** Each site's prompts must fit in what the user set for an hour. Returns how many they are. */
  private reserve({ services, rounds }: CompareOrder, judge: Site | 'client'): Record<Site, number> {
    const needs = eachSite((site) => services.includes(site) ? rounds + (site === judge ? 1 : 0) : 0)
    for (const site of services) {
      const needed = needs[site]
      const left = Math.max(0, this.chats.settings.left(site) - this.due[site])
      if (needed <= left) continue
      throw new ToolFault(
        'QUOTA',
        `This needs ${needed} prompts to ${siteSpecs[site].label}, and ${left} are left in this hour, as the person ` +
          'set it. Nothing was sent. Ask for fewer rounds or other services, or try again later.',
        { service: site, needed, left },
      )
    }
    for (const site of services) this.due[site] += needs[site]
    return needs
  }

  private add({ form, prompt, services, rounds }: CompareOrder, { client }: ToolCall): string {
    const id = crypto.randomUUID()
    const comparison: Comparison = {
      id,
      form,
      client: client.name,
      prompt: copied(prompt.slice(0, 200)),
      round: 1,
      rounds,
      sites: services.map((site) => ({ site, state: 'asked' })),
      rows: [],
    }
    this.list = [comparison, ...this.list].slice(0, most)
    this.changed()
    return id
  }

  private update(id: string, patch: Partial<Comparison>): void {
    this.list = this.list.map((c) => (c.id === id ? { ...c, ...patch } : c))
    this.changed()
  }
}

function judged(found: Compare['judgement']): Partial<Comparison> {
  if (!found) return {}
  if ('claims' in found) {
    const rows = found.claims.map(({ claim, by }) => ({ text: claim, by }))
    return { rows, answer: copied(found.answer.slice(0, longestShown)), openPoints: found.openPoints }
  }
  const { agreements, differences, verdict } = found
  return {
    rows: [
      ...agreements.map((text) => ({ text })),
      ...differences.map(({ topic, by }) => ({ text: topic, by })),
    ],
    ...(verdict !== undefined && { answer: copied(verdict.slice(0, longestShown)) }),
  }
}
