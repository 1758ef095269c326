/**
 * Registries that share a storage tell each other that they have changed it, and nothing
 * else. localStorage says itself when that can be read.
 */
export class StorageEvents {
  readonly #ends = new AbortController()
  #channel: BroadcastChannel | undefined

  constructor(heard: () => void) {
    globalThis.addEventListener?.('storage', ({ key }) => {
      if (/^portolan\.(pins|approvals|servers)$/.test(key ?? '')) heard()
    }, this.#ends)
    try {
      this.#channel = new BroadcastChannel('portolan storage')
      this.#channel.onmessage = heard
      ;(this.#channel as { unref?(): void }).unref?.() // in Node
    } catch { /* none here, or forbidden */ }
  }

  tell = (): void => this.#channel?.postMessage(null)

  close(): void {
    this.#ends.abort()
    this.#channel?.close()
    this.#channel = undefined
  }
}
