import { readStored, writeStored, type Area } from './browser.ts'

/** The keys of values of which a part was damaged. It is left out. */
export const damaged = new Set<string>()

/** A value that outlives the worker. It is read once when the worker starts, and written at each change. */
export class Stored<T> {
  value: T
  /** The value that the storage has. */
  private kept: T
  private writing: Promise<unknown> | undefined
  private readonly key: string
  private readonly area: Area
  private readonly changed: () => void
  private readonly pause: number
  private readonly item: object | string | undefined

  /** Changes within `pause` ms are one write. Stored items of another form than `item` are left out. */
  constructor(area: Area, key: string, initial: T, changed: () => void = () => {}, item?: object | string, pause = 0) {
    this.area = area
    this.key = key
    this.value = this.kept = initial
    this.changed = changed
    this.item = item
    this.pause = pause
  }

  /** Reads the value. Call it before any use. A part of another kind keeps its default, and so does a missing one. */
  async load(): Promise<void> {
    const isSound = (is: boolean) => is || !damaged.add(this.key)
    const sound = (kept: unknown, initial: unknown, item?: object | string): unknown => {
      if (initial == null || kept === undefined) return kept ?? initial
      if (!isSound(kindOf(kept) === kindOf(initial))) return initial
      if (typeof kept !== 'object') return kept
      const fits = (value: unknown) => isSound(isLike(value, item))
      if (Array.isArray(kept)) return kept.filter(fits)
      const next = { ...initial as Fields }
      for (const [name, value] of Object.entries(kept as Fields))
        if (fits(value)) next[name] = sound(value, next[name])
      return next
    }
    this.value = this.kept = sound(await readStored(this.area, this.key), this.value, this.item) as T
    if (damaged.has(this.key)) await this.set(this.value)
  }

  /** Resolves when the value is written, or to the fault. Then it counts until the worker ends. */
  set(value: T): Promise<unknown> {
    this.value = value
    this.changed()
    return this.writing ??= this.write()
  }

  /** Resolves when the value is written. Rejects if it cannot be, and takes it back. */
  async keep(value: T): Promise<void> {
    const fault = await this.set(value)
    if (!fault) return
    if (this.value === value) this.value = this.kept
    this.changed()
    throw fault
  }

  private async write(): Promise<unknown> {
    await new Promise<void>((resolve) => (this.pause ? setTimeout(resolve, this.pause) : queueMicrotask(resolve)))
    this.writing = undefined // from here on, a change needs another write
    const { value } = this
    try {
      await writeStored(this.area, this.key, value)
      this.kept = value
    } catch (e) {
      console.error(e)
      return e
    }
  }
}

type Fields = Record<string, unknown>

const kindOf = (value: unknown) => value === null || (Array.isArray(value) ? 'list' : typeof value)

/** Reports whether a value has the kind of another, if that is given, and so have its fields. */
export const isLike = (value: unknown, like: object | string | undefined): boolean =>
  like === undefined || kindOf(value) === kindOf(like) &&
    Object.entries(like).every(([name, field]) => kindOf((value as Fields)[name]) === kindOf(field))

/** Reads all values. */
export const loadAll = async (values: { load(): Promise<void> }[]): Promise<void> =>
  void await Promise.all(values.map((v) => v.load()))
