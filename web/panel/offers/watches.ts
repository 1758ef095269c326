import type { PanelContext } from '../context.ts'

/** A resource that the person watches. */
interface Watch {
  /** The server has reported an update that the person has not looked at. */
  updated: boolean
  stop(): void
}

/** The watched resources of a registry, over the views and dialogs of its panels. */
class Watches {
  readonly #all = new Map<string, Watch>()
  readonly #listeners = new Set<() => void>()

  of(server: string, uri: string): Watch | undefined {
    return this.#all.get(JSON.stringify([server, uri]))
  }

  /** Calls the listener after each change. The returned function ends that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Watches a resource, or ends that. The panel shows a failure. */
  async toggle(panel: PanelContext, server: string, uri: string): Promise<void> {
    const key = JSON.stringify([server, uri])
    const watch = this.#all.get(key)
    if (watch) {
      this.#all.delete(key)
      watch.stop()
      return this.#changed()
    }
    await panel.run(async () => {
      const stop = await panel.registry.subscribeResource(server, uri, () => this.#mark(key, true))
      if (this.#all.has(key)) return stop() // another click was faster
      this.#all.set(key, { updated: false, stop })
      this.#changed()
    })
  }

  /** The person has looked at the resource. */
  seen(server: string, uri: string): void {
    this.#mark(JSON.stringify([server, uri]), false)
  }

  #mark(key: string, updated: boolean): void {
    const watch = this.#all.get(key)
    if (!watch || watch.updated === updated) return
    watch.updated = updated
    this.#changed()
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

const watches = new WeakMap<object, Watches>()

export function watchesOf(panel: PanelContext): Watches {
  const key = panel.registry ?? panel // a view renders once more when its registry has gone
  let own = watches.get(key)
  if (!own) watches.set(key, own = new Watches())
  return own
}
