import type { HistoryEntry, HistoryPage, HistoryQuery, Options } from '../messages.ts'
import { ToolFault, type Client } from '../tools/tool.ts'
import type { Answer, Site } from './drivermessages.ts'
import { HistoryDb } from './historydb.ts'

/** 10,000 entries, and 200 MiB of text. */
const bounds = { entries: 10_000, units: 100 << 20 }
const longestText = 1 << 20
const day = 86_400_000

/** One prompt to a site. */
export interface Asked {
  client: Client
  site: Site
  question: string
}

/** Keeps questions and answers if the user wants them. */
export class History {
  readonly db = new HistoryDb()
  private readonly options: () => Options
  private cleaned = 0

  constructor(options: () => Options) {
    this.options = options
  }

  get on(): boolean {
    return this.options().history
  }

  async answered(asked: Asked, answered: Answer): Promise<void> {
    const { answer, url, conversationId, timings, model, flags } = answered
    await this.add(asked, { answer, url, conversationId, timings, model, outcome: 'ok', flags })
  }

  /** Keeps a prompt that failed. A cancelled one is not kept. */
  async failed(asked: Asked, e: unknown): Promise<void> {
    const outcome = e instanceof ToolFault ? e.code : 'UNKNOWN'
    if (outcome === 'CANCELLED') return
    await this.add(asked, { answer: '', url: '', conversationId: null, timings: {}, model: null, outcome, flags: [] })
  }

  private async add(
    { client, site, question }: Asked,
    rest: Omit<HistoryEntry, 'id' | 'ts' | 'project' | 'clientName' | 'site' | 'question'>,
  ): Promise<void> {
    if (!this.on) return
    await this.dropOld()
    const texts = { question: question.slice(0, longestText), answer: rest.answer.slice(0, longestText) }
    const entry = {
      ts: new Date().toISOString(),
      ...(client.project && { project: client.project }),
      client: client.key,
      clientName: client.name,
      site,
      ...rest,
      ...texts,
    }
    await this.db.add({ ...entry, size: JSON.stringify(entry).length }, bounds)
  }

  /** Returns entries, newest first. */
  async page(query: HistoryQuery): Promise<HistoryPage> {
    await this.dropOld()
    return { ...await this.db.find(query), projects: await this.db.projects() }
  }

  /** Returns a client's own entries. */
  async of(client: Client, query: HistoryQuery): Promise<HistoryEntry[]> {
    await this.dropOld()
    return (await this.db.find({ ...query, client: client.key })).entries
  }

  /** Returns a part of the history as JSON lines. */
  async lines(after = 0): Promise<{ lines: string; next: number | null }> {
    await this.dropOld()
    return this.db.lines(after)
  }

  /** Forgets what is older than the user wants, at most once a minute. */
  async dropOld(): Promise<void> {
    if (Date.now() - this.cleaned < 60_000) return
    this.cleaned = Date.now()
    await this.db.removeBefore(new Date(Date.now() - this.options().historyDays * day).toISOString())
  }
}
