import { readStored, removeStored, writeStored } from '../browser.ts'
import type { Options } from '../messages.ts'
import { ToolFault } from '../tools/tool.ts'
import type { Answer, Site } from './wire.ts'

const most = 500
const mostText = 20_000
const mostFailures = 20
const day = 86_400_000

/** As one line of B28's history.jsonl; client is its project. */
interface Entry {
  ts: string
  client: string
  provider: Site
  question: string
  answer: string
  url: string
  timings: Record<string, number>
}

/** A run that went wrong, without the prompt and the answer. */
interface Trouble {
  at: string
  site: Site
  code: string
  details: unknown
}

/**
 * Questions and answers, if the person wants them kept, and what went wrong lately. Nothing leaves the profile but by
 * the person's hand.
 */
export class History {
  private entries: Entry[] = []
  private readonly troubles: Trouble[] = []
  private readonly options: () => Options

  constructor(options: () => Options) {
    this.options = options
  }

  async load(): Promise<void> {
    this.entries = await readStored<Entry[]>('local', 'history') ?? []
    this.keepTo()
  }

  add(
    client: string,
    provider: Site,
    question: string,
    { answer, url, timings, confidence, evidence, layout }: Answer,
  ): void {
    if (suspicious(question, answer))
      this.trouble(provider, 'SUSPICIOUS_ANSWER', { length: answer.length, confidence, evidence, layout })
    if (!this.options().history) return
    this.entries.push({
      ts: new Date().toISOString(),
      client,
      provider,
      question: question.slice(0, mostText),
      answer: answer.slice(0, mostText),
      url,
      timings,
    })
    this.keepTo()
    void writeStored('local', 'history', this.entries).catch(() => {
      this.entries.splice(0, this.entries.length / 2) // the browser's quota
    })
  }

  failed(site: Site, e: unknown): void {
    if (e instanceof ToolFault && e.code !== 'CANCELLED') this.trouble(site, e.code, e.details)
  }

  private trouble(site: Site, code: string, details: unknown): void {
    this.troubles.push({ at: new Date().toISOString(), site, code, details })
    this.troubles.splice(0, this.troubles.length - mostFailures)
  }

  /** What lies longer than the person wants is forgotten. */
  private keepTo(): void {
    const oldest = Date.now() - this.options().historyDays * day
    this.entries = this.entries.filter((e) => Date.parse(e.ts) > oldest).slice(-most)
  }

  get troublesSeen(): readonly Trouble[] {
    return this.troubles
  }

  lines(): string {
    this.keepTo()
    return this.entries.map((e) => `${JSON.stringify(e)}\n`).join('')
  }

  async clear(): Promise<void> {
    this.entries = []
    await removeStored('local', 'history')
  }
}

/** B29: an answer that hardly can be one. */
function suspicious(question: string, answer: string): boolean {
  const plain = answer.trim().toLowerCase()
  if (!plain) return true
  if (question.trim().toUpperCase() === 'OK') return false
  return plain === 'ok' || (/\d/.test(question) && !/\d/.test(answer))
}
