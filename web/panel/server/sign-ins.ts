import type { Registry } from '../../../wasm/js/shared/types.ts'

/** Sign-ins that people have begun and not yet ended in the other window. */
export class SignIns {
  private readonly waiting = new Map<string, AbortController>()
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  waits(server: string): boolean {
    return this.waiting.has(server)
  }

  /** To be called from the click itself: a window that opens later is blocked. */
  async begin(registry: Registry, server: string): Promise<void> {
    this.waiting.get(server)?.abort()
    const gives = new AbortController()
    this.waiting.set(server, gives)
    this.changed()
    try {
      await registry.signIn(server, { signal: gives.signal })
    } catch (e) {
      if (!gives.signal.aborted) throw e
    } finally {
      if (this.waiting.get(server) === gives) this.waiting.delete(server)
      this.changed()
    }
  }

  cancel(server: string): void {
    this.waiting.get(server)?.abort()
  }
}
