import type { StorageAdapter } from '../../wasm/js/shared/types.ts'
import type { RunQuota } from './types.ts'

const day = 86_400_000

/** Counts in memory, of the last 10,000 keys. */
const counts = new Map<string, string>()
const memory: StorageAdapter = {
  get: (key) => counts.get(key),
  set(key, value) {
    counts.delete(key)
    counts.set(key, value)
    if (counts.size > 10_000) counts.delete(counts.keys().next().value!)
  },
  remove: (key) => void counts.delete(key),
}

/** The last request to each store: requests take turns, so that none is counted twice. */
const turns = new WeakMap<StorageAdapter, Promise<unknown>>()

/** Takes one run of a quota. Returns how many are left, or -1 if there was none. */
export function take({ key, perDay, store = memory }: RunQuota): Promise<{ left: number; resetsAt: number }> {
  const turn = (turns.get(store) ?? Promise.resolve()).catch(() => {}).then(async () => {
    const today = Math.floor(Date.now() / day)
    const resetsAt = (today + 1) * day
    const name = `portolan.quota.${key}`
    const [stored, n] = String(await store.get(name) ?? '').split(':').map(Number)
    const used = stored === today && n! >= 0 ? n! : 0
    if (used >= perDay) return { left: -1, resetsAt }
    await store.set(name, `${today}:${used + 1}`)
    return { left: perDay - used - 1, resetsAt }
  })
  turns.set(store, turn)
  return turn
}
