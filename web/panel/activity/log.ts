import type { Activity } from '../../../wasm/js/shared/types.ts'

/** One call, connection or exchange, from its first event to its last. */
export interface Row extends Omit<Activity, 'phase'> {
  over: boolean
}

/** Rows kept; older ones go. */
const kept = 10_000

/** The most characters of contents. The oldest contents go first. */
const mostContents = 16 << 20

/** Calls and connections of a registry since the panel was opened. */
export class ActivityLog {
  /** Oldest first. */
  readonly rows: Row[] = []
  /** Grows with every event. */
  version = 0
  /** Rows that have gone, so that a row's number stays its own. */
  gone = 0
  private readonly open = new Map<number, number>() // id of what goes on → number of its row
  private readonly listeners = new Set<() => void>()
  /** Numbers of rows with contents, oldest first, and the characters of all. */
  private readonly full = new Map<number, number>()
  private contents = 0

  add({ phase, ...a }: Activity): void {
    const over = phase === 'end'
    const number = this.open.get(a.id)
    const at = number === undefined ? -1 : number - this.gone
    const begun = this.rows[at]
    if (begun) this.rows[at] = { ...begun, ...a, at: begun.at, over }
    else {
      this.open.set(a.id, this.gone + this.rows.length)
      this.rows.push({ ...a, over })
    }
    if (over) this.open.delete(a.id)
    const place = begun ? at : this.rows.length - 1
    this.count(this.gone + place, sizeOf(this.rows[place]!))
    if (this.rows.length > kept + 500) { // in bulk: to move 10,000 entries for each one that comes would be felt
      for (const { id } of this.rows.splice(0, this.rows.length - kept)) {
        this.open.delete(id)
        this.count(this.gone++, 0)
      }
    }
    this.changed()
  }

  clear(): void {
    this.gone += this.rows.length
    this.rows.length = 0
    this.open.clear()
    this.full.clear()
    this.contents = 0
    this.changed()
  }

  /** Notes the contents of a row, and drops the oldest contents beyond the bound. */
  private count(number: number, size: number): void {
    this.contents += size - (this.full.get(number) ?? 0)
    if (size) this.full.set(number, size)
    else this.full.delete(number)
    for (const [oldest, chars] of this.full) {
      if (this.contents <= mostContents) break
      this.full.delete(oldest)
      this.contents -= chars
      const { args: _, answer: __, exchange, ...bare } = this.rows[oldest - this.gone]!
      this.rows[oldest - this.gone] = { ...bare, ...(exchange && { exchange: { ...exchange, ...noBodies } }) }
    }
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  private changed(): void {
    this.version++
    for (const listener of this.listeners) listener()
  }
}

const noBodies = { requestBody: '…', responseBody: '…' }

const sizeOf = ({ args = '', answer = '', exchange }: Row) =>
  args.length + answer.length + (exchange?.requestBody?.length ?? 0) + (exchange?.responseBody?.length ?? 0)

/** The rows as JSON, without contents. Events hold no header values; URLs in messages lose their queries. */
export function exportRows(rows: readonly Row[]): string {
  const bare = (text: string) => text.replace(/(https?:\/\/)(?:[^\s/@]*@)?([^\s?#]*)[^\s]*/g, '$1$2')
  return JSON.stringify(
    rows.map(({ over: _, id: __, args: ___, answer: ____, exchange: _____, ...row }) => ({
      ...row,
      at: new Date(row.at).toISOString(),
    })),
    (_, v: unknown) => typeof v === 'string' ? bare(v) : v,
    1,
  )
}
