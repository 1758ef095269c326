import { readStored, removeStored, writeStored } from '../browser.ts'
import type { Options } from '../messages.ts'
import { Stored } from '../stored.ts'
import { ToolFault } from '../tools/tool.ts'
import type { Answer, Site } from './drivermessages.ts'

const mostConversations = 200
const mostEntries = 500
const mostText = 20_000
const mostFailures = 20
const day = 86_400_000

/** Keeps each client's last conversation with a site (B27). */
export class Conversations extends Stored<Record<string, string>> {
  constructor() {
    super('local', 'talks', {})
  }

  last(client: string, site: Site): string | undefined {
    return this.value[`${site} ${client}`]
  }

  remember(client: string, site: Site, id: string): void {
    const { [`${site} ${client}`]: _, ...rest } = this.value
    const entries = [...Object.entries(rest), [`${site} ${client}`, id]]
    void this.set(Object.fromEntries(entries.slice(-mostConversations)))
  }
}

/** One line of B28's history.jsonl. The client takes the place of the project. */
interface Entry extends Pick<Answer, 'answer' | 'url' | 'timings'> {
  ts: string
  client: string
  provider: Site
  question: string
}

/** A failed run, without the prompt and the answer. */
export interface FailedRun {
  at: string
  site: Site
  code: string
  details: unknown
}

/** Keeps questions and answers if the user wants them, and the last failures. Only the user can export them. */
export class History {
  readonly failures: FailedRun[] = []
  private entries: Entry[] = []
  private readonly options: () => Options

  constructor(options: () => Options) {
    this.options = options
  }

  async load(): Promise<void> {
    this.entries = await readStored<Entry[]>('local', 'history') ?? []
    this.dropOld()
  }

  add(client: string, provider: Site, question: string, answered: Answer): void {
    const { answer, url, timings, confidence, evidence, layout } = answered
    if (suspicious(question, answer))
      this.addFailure(provider, 'SUSPICIOUS_ANSWER', { length: answer.length, confidence, evidence, layout })
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
    this.dropOld()
    void writeStored('local', 'history', this.entries).catch(() => {
      this.entries.splice(0, this.entries.length / 2) // the browser's quota is reached
    })
  }

  failed(site: Site, e: unknown): void {
    if (e instanceof ToolFault && e.code !== 'CANCELLED') this.addFailure(site, e.code, e.details)
  }

  /** Returns the history as JSON lines. */
  lines(): string {
    this.dropOld()
    return this.entries.map((e) => `${JSON.stringify(e)}\n`).join('')
  }

  async clear(): Promise<void> {
    this.entries = []
    await removeStored('local', 'history')
  }

  private addFailure(site: Site, code: string, details: unknown): void {
    this.failures.push({ at: new Date().toISOString(), site, code, details })
    this.failures.splice(0, this.failures.length - mostFailures)
  }

  private dropOld(): void {
    const oldest = Date.now() - this.options().historyDays * day
    this.entries = this.entries.filter((e) => Date.parse(e.ts) > oldest).slice(-mostEntries)
  }
}

/** Reports an answer that is probably wrong: empty, only "ok", or without the digits that the question has (B29). */
function suspicious(question: string, answer: string): boolean {
  const plain = answer.trim().toLowerCase()
  if (!plain) return true
  if (question.trim().toUpperCase() === 'OK') return false
  return plain === 'ok' || (/\d/.test(question) && !/\d/.test(answer))
}
