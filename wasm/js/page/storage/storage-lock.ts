import { ignore } from '../../shared/download.ts'
import type { RequestBody } from '../../shared/protocol.ts'
import { holdLock } from '../../shared/launching.ts'
import { within } from '../requests.ts'
import type { ConfigStore } from './storage.ts'
import type { Trust } from './trust.ts'
import type { RegistryOptions, ServerConfig } from '../../shared/types.ts'

// Coordinates registries in several tabs that share one storage. They take turns at changes and follow them.

/** The prefix of the lock that the last writer holds. The number of its write follows. */
const wrote = 'portolan wrote '
const numberKey = 'portolan.writes'

/** The longest wait for another tab, in ms. */
const patience = 3000

/** The longest time until a change is stored, in ms: the wait for a turn, and that for the last write. */
const storing = patience + patience / 3

/** Releases the lock of this realm's last write. */
let lastWrote = new AbortController()

/** The end of the last turn on each storage, where there are no locks. Texts share one. */
const turns = new WeakMap<object, Promise<unknown>>()

/** The lock of one registry. */
export class StorageLock {
  readonly #store: ConfigStore
  readonly #options: RegistryOptions
  readonly #isLocal: boolean
  readonly #tell: (m: RequestBody) => void
  #reading = false
  #again = false
  /** Since when policies of these configurations have differed from the stored ones, in ms of performance.now(). */
  readonly #differing = new WeakMap<ServerConfig, number>()

  constructor(store: ConfigStore, options: RegistryOptions, tell: (m: RequestBody) => void) {
    this.#store = store
    this.#options = options
    this.#isLocal = isLocal(options.storage)
    this.#tell = tell
  }

  /**
   * Runs work while no other tab changes the storage. Without the Web Locks API it waits for registries of this realm
   * only.
   */
  turn = async <T>(work: () => Promise<T>): Promise<T> => {
    let begun = false
    try {
      return await navigator.locks.request('portolan storage', { signal: AbortSignal.timeout(patience) }, () => {
        begun = true
        return this.#isLocal ? this.#numbered(work) : work()
      })
    } catch (e) {
      if (begun) throw e
      return globalThis.navigator?.locks ? work() : this.#inTurn(work)
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { storage } = this.#options
    const key = typeof storage === 'object' ? storage : turns
    // A turn that hangs is not waited for without end.
    const before = within(AbortSignal.timeout(patience), turns.get(key) ?? Promise.resolve()).catch(ignore)
    const turn = before.then(work)
    turns.set(key, turn.catch(ignore))
    return turn
  }

  /**
   * A write to localStorage reaches other tabs later than the lock does. So each write has a number. The last writer
   * holds a lock named after the number, and the next writer waits until that number is readable.
   */
  async #numbered<T>(work: () => Promise<T>): Promise<T> {
    const { storage } = this.#store
    const number = async () => Number(await storage.get(numberKey)) || 0
    const { held } = await navigator.locks.query()
    const last = Math.max(
      0,
      ...held!.map(({ name }) => (name!.startsWith(wrote) ? parseInt(name!.slice(wrote.length)) : 0)),
    )
    for (const until = performance.now() + patience / 3; await number() < last && performance.now() < until;)
      await new Promise((resolve) => setTimeout(resolve, 2))
    const result = await work()
    const mine = Math.max(last, await number()) + 1
    await storage.set(numberKey, String(mine))
    const before = lastWrote
    await holdLock(`${wrote}${mine} `, (lastWrote = new AbortController()).signal)
    before.abort()
    return result
  }

  /** Reads the storage again after another tab has changed it. Calls during a read lead to one more read. */
  async readAgain(trust: () => Promise<Trust> | undefined): Promise<void> {
    this.#again = true
    if (this.#reading) return
    for (this.#reading = true; this.#again;) {
      this.#again = false
      await this.#policies(() => this.readAgain(trust)).catch(() => {})
      await trust()?.then(async (t) => t.follow(await this.#isCleared())).catch(() => {})
    }
    this.#reading = false
  }

  /** The stored servers, with all changes of this tab. */
  async #settled(): Promise<Awaited<ReturnType<ConfigStore['stored']>>> {
    const { saved } = this.#store
    await saved
    const stored = await this.#store.stored()
    return saved === this.#store.saved ? stored : this.#settled()
  }

  /** Somebody has cleared localStorage: each write leaves a number there. */
  async #isCleared(): Promise<boolean> {
    return this.#isLocal && await this.#store.storage.get(numberKey) == null
  }

  /**
   * Takes over where servers belong, and the trust settings of other tabs, except of servers in the page's own options.
   * Tabs that share a module change it before they store the change. So a tab in mode `shared` follows a difference
   * that stays.
   */
  async #policies(look: () => void): Promise<void> {
    for (const [name, { url, trust, holdNewTools, scope }] of Object.entries(await this.#settled())) {
      const own = this.#store.servers.get(name)
      if (own && scope) this.#store.scopes.set(name, scope)
      else this.#store.scopes.delete(name)
      if (
        !own || this.#options.servers?.[name] || own.url !== url ||
        (own.trust === trust && own.holdNewTools === holdNewTools)
      ) continue
      const now = performance.now(), since = this.#differing.get(own) ?? now
      this.#differing.set(own, since)
      if (this.#options.mode === 'shared' && now < since + storing) {
        setTimeout(look, storing)
        continue
      }
      const config = { trust: trust ?? null, holdNewTools: holdNewTools ?? null } as Partial<ServerConfig>
      this.#store.servers.set(name, { ...own, trust, holdNewTools } as ServerConfig) // until the module has sent it
      this.#tell({ method: 'updateServer', name, config })
    }
  }
}

function isLocal(storage: RegistryOptions['storage'] = 'local'): boolean {
  try {
    return storage === 'local' || storage === globalThis.localStorage
  } catch {
    return false // forbidden in this frame
  }
}
