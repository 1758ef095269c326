import { request, retried, written } from '../../wasm/js/shared/database.ts'
import type { HistoryEntry, HistoryQuery } from '../messages.ts'

/** An entry as it is kept. `size` is its length in UTF-16 units, twice that in bytes. */
type Row = Omit<HistoryEntry, 'id'> & { id?: number; size: number; client: string }
type Kept = Row & { id: number }

const name = 'portolan-history'
const store = 'entries'

/** The part of an answer that a list shows, in UTF-16 units. */
const longestShown = 4000
/** A page of the export has about as many UTF-16 units. A message of a port may have 64 MiB. */
const exportUnits = 4 << 20

/** The bounds of the history. */
export interface Bounds {
  entries: number
  units: number
}

/** The stored questions and answers, in IndexedDB. Ids grow with time. */
export class HistoryDb {
  private opened: Promise<IDBDatabase> | undefined
  /** UTF-16 units that are kept, if they are known. */
  private units: number | undefined

  async add(row: Row, bounds: Bounds): Promise<void> {
    await this.write((entries) => entries.add(row))
    if (this.units !== undefined) this.units += row.size
    await this.dropOldest(bounds)
  }

  /** Returns entries, newest first. */
  async find(query: HistoryQuery & { client?: string }): Promise<{ entries: HistoryEntry[]; more: boolean }> {
    const { text = '', site, project, client, before, limit = 50 } = query
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    const range = before === undefined ? null : IDBKeyRange.upperBound(before, true)
    return this.use('readonly', async (entries) => {
      const found: HistoryEntry[] = []
      let more = false
      await each(entries.openCursor(range, 'prev'), ({ value }) => {
        const e = value as Kept
        if (site && e.site !== site || project && e.project !== project || client && e.client !== client) return
        const all = `${e.question}\n${e.answer}\n${e.url}\n${e.project ?? ''}\n${e.clientName}`.toLowerCase()
        if (!words.every((word) => all.includes(word))) return
        if (found.length >= limit) {
          more = true
          return false
        }
        const { size: _, client: __, ...entry } = e
        found.push({ ...entry, answer: e.answer.slice(0, longestShown), cut: e.answer.length > longestShown })
      })
      return { entries: found, more }
    })
  }

  /** Returns a part of the history as JSON lines, from after an id on, and where the next part begins. */
  async lines(after: number): Promise<{ lines: string; next: number | null }> {
    return this.use('readonly', async (entries) => {
      let lines = ''
      let next: number | null = null
      await each(entries.openCursor(IDBKeyRange.lowerBound(after, true)), ({ value }) => {
        // Programs that read such histories look for `provider`.
        const { size: _, id, client: __, clientName: client, ...entry } = value as Kept
        lines += `${JSON.stringify({ ...entry, client, provider: entry.site })}\n`
        if (lines.length < exportUnits) return
        next = id
        return false
      })
      return { lines, next }
    })
  }

  /** Returns the projects that entries have. */
  async projects(): Promise<string[]> {
    return this.use('readonly', async (entries) => {
      const found: string[] = []
      await each(entries.index('project').openKeyCursor(null, 'nextunique'), (cursor) => {
        found.push(String(cursor.key))
        if (found.length === 200) return false
      })
      return found
    })
  }

  async remove(id: number): Promise<void> {
    await this.write((entries) => entries.delete(id))
    this.units = undefined
  }

  async clear(): Promise<void> {
    await this.write((entries) => entries.clear())
    this.units = undefined
  }

  /** Removes what is older than a time, as an ISO text. */
  async removeBefore(ts: string): Promise<void> {
    await this.use(
      'readwrite',
      (entries) => each(entries.index('ts').openCursor(IDBKeyRange.upperBound(ts)), (cursor) => void cursor.delete()),
    )
    this.units = undefined
  }

  private async dropOldest({ entries: most, units: longest }: Bounds): Promise<void> {
    await this.use('readwrite', async (entries) => {
      let count = await request(entries.count())
      let units = this.units ?? await sum(entries)
      await each(entries.openCursor(), (cursor) => {
        if (count <= most && units <= longest) return false
        count--
        units -= (cursor.value as Kept).size
        cursor.delete()
      })
      this.units = units
    })
  }

  private write(change: (entries: IDBObjectStore) => IDBRequest): Promise<void> {
    return this.use('readwrite', (entries) => written(change(entries)))
  }

  /** Does work in a transaction. Work whose connection ends before the result is done again with a new connection. */
  private use<T>(mode: IDBTransactionMode, work: (entries: IDBObjectStore) => Promise<T>): Promise<T> {
    let mine: Promise<IDBDatabase> | undefined
    return retried(async () => {
      mine = this.connection()
      return work((await mine).transaction(store, mode).objectStore(store))
    }, () => this.forget(mine))
  }

  private connection(): Promise<IDBDatabase> {
    if (this.opened) return this.opened
    const made = this.opened = open(() => this.forget(made))
    made.catch(() => this.forget(made))
    return made
  }

  private forget(opened: Promise<IDBDatabase> | undefined): void {
    if (this.opened === opened) this.opened = this.units = undefined
  }
}

/** `closed`: the browser closed the database, because its files are gone or cannot be read. */
function open(closed: () => void): Promise<IDBDatabase> {
  const opening = indexedDB.open(name, 1)
  opening.onupgradeneeded = () => {
    const entries = opening.result.createObjectStore(store, { keyPath: 'id', autoIncrement: true })
    for (const index of ['size', 'project', 'ts']) entries.createIndex(index, index)
  }
  return request(opening).then((db) => Object.assign(db, { onclose: closed }))
}

async function sum(entries: IDBObjectStore): Promise<number> {
  let sum = 0
  await each(entries.index('size').openKeyCursor(), (cursor) => void (sum += Number(cursor.key)))
  return sum
}

/** Follows a cursor until `see` returns false. */
function each<C extends IDBCursor>(request: IDBRequest<C | null>, see: (cursor: C) => false | void): Promise<void> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => {
      const cursor = request.result
      if (!cursor || see(cursor) === false) return resolve()
      cursor.continue()
    }
    request.onerror = () => reject(request.error ?? new Error('the history could not be read'))
  })
}
