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
  private writing = Promise.resolve()
  private dirty = false

  constructor(area: Area, key: string, initial: T, changed: () => void = () => {}) {
    this.area = area
    this.key = key
    this.value = initial
    this.changed = changed
  }

  async load(): Promise<void> {
    const kept = await readStored<T>(this.area, this.key)
    if (kept === undefined) return
    // What an older version did not know keeps its default.
    this.value = typeof kept === 'object' && !Array.isArray(kept) ? { ...this.value, ...kept } : kept
  }

  /** Resolves when it is written. Changes of one moment are one write. */
  set(value: T): Promise<void> {
    this.value = value
    this.changed()
    if (!this.dirty) {
      this.dirty = true
      this.writing = this.writing.then(() => {
        this.dirty = false
        return writeStored(this.area, this.key, this.value)
      }).catch((e: unknown) => console.error(`${this.key} could not be kept`, e))
    }
    return this.writing
  }
}
