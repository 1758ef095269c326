import type { PanelContext } from '../context.ts'

/** A resource that the person watches. */
interface Watch {
  server: string
  uri: string
  /** The last update that the server has reported, until the person has looked at it. */
  updated?: object | undefined
  stop(): void
}

/** The watched resources of a registry, over the views and dialogs of its panels. */
class Watches {
  readonly #all = new Set<Watch>()
  readonly #listeners = new Set<() => void>()

  constructor({ registry }: PanelContext) {
    // A server that is added again knows nothing of them.
    registry?.subscribe(() => {
      for (const watch of this.#all) if (!registry.getSnapshot().servers[watch.server]) this.#end(watch)
    })
  }

  of(server: string, uri: string): Watch | undefined {
    return [...this.#all].find((watch) => watch.server === server && watch.uri === uri)
  }

  /** Calls the listener after each change. The returned function ends that. */
  subscribe(listener: () => void): () => unknown {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Watches a resource, or ends that. The panel shows a failure. */
  toggle(panel: PanelContext, server: string, uri: string): Promise<void> | void {
    const watch = this.of(server, uri)
    if (watch) return this.#end(watch)
    return panel.run(async () => {
      const watch: Watch = { server, uri, stop: () => {} }
      watch.stop = await panel.registry.subscribeResource(server, uri, () => {
        watch.updated = {}
        this.#changed()
      })
      if (this.of(server, uri)) return watch.stop() // another click was faster
      this.#all.add(watch)
      this.#changed()
    })
  }

  #end(watch: Watch): void {
    watch.stop()
    this.#all.delete(watch)
    this.#changed()
  }

  /** Begins a look at a resource. The returned function ends it. An update that came meanwhile stays. */
  look(server: string, uri: string): () => void {
    const watch = this.of(server, uri)
    const seen = watch?.updated
    return () => {
      if (watch && watch.updated === seen) watch.updated = undefined
      this.#changed()
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

const watches = new WeakMap<object, Watches>()

export function watchesOf(panel: PanelContext): Watches {
  const key = panel.registry ?? panel // a view renders once more when its registry has gone
  let own = watches.get(key)
  if (!own) watches.set(key, own = new Watches(panel))
  return own
}
