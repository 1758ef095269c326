type Tell = (m: { method: 'online'; online?: boolean }) => void

/** Reports the state of the network, the return of the user, and changes that other pages make to the storage. */
export class PageEvents {
  readonly #ends = new AbortController()
  #channel: BroadcastChannel | undefined

  /** Without `onStorage`, no other page uses the storage. */
  constructor(tell: Tell, onStorage?: () => void) {
    const on = (target: EventTarget | undefined, type: string, listener: (e: Event) => void) =>
      target?.addEventListener?.(type, listener, this.#ends)
    on(globalThis, 'online', () => tell({ method: 'online', online: true }))
    on(globalThis, 'offline', () => tell({ method: 'online', online: false }))
    on(globalThis.document, 'visibilitychange', () => {
      if (!document.hidden) tell({ method: 'online' })
    })
    if (!onStorage) return
    // localStorage sends this event once its change can be read. Other storages need the channel. The key null means
    // that all was cleared.
    on(globalThis, 'storage', (e) => {
      if (/^(null|portolan\.(pins|approvals|servers|project))/.test((e as StorageEvent).key as string)) onStorage()
    })
    try {
      this.#channel = new BroadcastChannel('portolan storage')
      this.#channel.onmessage = onStorage
      ;(this.#channel as { unref?(): void }).unref?.() // in Node
    } catch { /* none here, or forbidden */ }
  }

  /** Reports to other pages that this one has changed the storage. */
  stored(): void {
    this.#channel?.postMessage(null)
  }

  close(): void {
    this.#ends.abort()
    this.#channel?.close()
    this.#channel = undefined
  }
}
