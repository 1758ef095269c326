import { readStored, writeStored, type Area } from './browser.ts'

/** A value that outlives the worker. It is read once when the worker starts, and written at each change. */
export class Stored<T> {
  value: T
  private writing: Promise<void> | undefined
  private readonly key: string
  private readonly area: Area
  private readonly changed: () => void
  private readonly pause: number

  /** Changes within `pause` ms are one write. */
  constructor(area: Area, key: string, initial: T, changed: () => void = () => {}, pause = 0) {
    this.area = area
    this.key = key
    this.value = initial
    this.changed = changed
    this.pause = pause
  }

  /** Reads the value. Call it before any use. */
  async load(): Promise<void> {
    const kept = await readStored<T>(this.area, this.key)
    const initial = this.value as Record<string, unknown>
    if (kindOf(kept) !== kindOf(initial)) return
    // A field that an older version did not write keeps its default. So does one of another kind.
    const isSound = ([name, value]: [string, unknown]) =>
      !Object.hasOwn(initial, name) || kindOf(value) === kindOf(initial[name])
    this.value = Array.isArray(kept)
      ? kept
      : { ...this.value, ...Object.fromEntries(Object.entries(kept as object).filter(isSound)) }
  }

  /** Resolves when the value is written. */
  set(value: T): Promise<void> {
    this.value = value
    this.changed()
    this.writing ??= this.write()
    return this.writing
  }

  private async write(): Promise<void> {
    await new Promise<void>((resolve) => (this.pause ? setTimeout(resolve, this.pause) : queueMicrotask(resolve)))
    this.writing = undefined // from here on, a change needs another write
    await writeStored(this.area, this.key, this.value).catch((e: unknown) =>
      console.error(`${this.key} could not be kept`, e)
    )
  }
}

const kindOf = (value: unknown) => value === null || (Array.isArray(value) ? 'list' : typeof value)

/** Reads all values. */
export const loadAll = async (values: { load(): Promise<void> }[]): Promise<void> =>
  void await Promise.all(values.map((v) => v.load()))
