import { readStored, writeStored, type Area } from './browser.ts'

/**
 * A value that outlives the worker: read once when it wakes, written at each
 * change. `load` comes before the rest.
 */
export class Stored<T> {
  value: T
  private readonly key: string
  private readonly area: Area
  private readonly changed: () => void
  private readonly pause: number
  private writing: Promise<void> | undefined

  /** Changes within `pause` ms are one write. */
  constructor(area: Area, key: string, initial: T, changed: () => void = () => {}, pause = 0) {
    this.area = area
    this.key = key
    this.value = initial
    this.changed = changed
    this.pause = pause
  }

  async load(): Promise<void> {
    const kept = await readStored<T>(this.area, this.key)
    if (kept === undefined) return
    // What an older version did not know keeps its default.
    this.value = typeof kept === 'object' && !Array.isArray(kept) ? { ...this.value, ...kept } : kept
  }

  /** Resolves when it is written. */
  set(value: T): Promise<void> {
    this.value = value
    this.changed()
    this.writing ??= this.write()
    return this.writing
  }

  private async write(): Promise<void> {
    await new Promise<void>((resolve) => (this.pause ? setTimeout(resolve, this.pause) : queueMicrotask(resolve)))
    this.writing = undefined // what is set from here on is another write
    await writeStored(this.area, this.key, this.value).catch((e: unknown) =>
      console.error(`${this.key} could not be kept`, e)
    )
  }
}
