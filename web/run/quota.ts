import type { StorageAdapter } from '../../wasm/js/shared/types.ts'
import { fail } from './failed.ts'
import type { RunQuota } from './types.ts'

const day = 86_400_000
/** Keys that are counted in memory at the same time. */
const most = 10_000

const memory = new Map<string, string>()

/** The last request to each store: requests take turns, so that none is counted twice. */
const turns = new WeakMap<object, Promise<unknown>>()
/** The longest time that a request waits for the one before, in ms. That one may hang. */
const patience = 5000

/** Takes one run of a quota. Returns how many are left, and fails if there was none. */
export function take({ key, perDay, store }: RunQuota): Promise<number> {
  const counts: Pick<StorageAdapter, 'get'> & { set(key: string, value: string): unknown } = store ?? memory
  const turn = before(counts).then(async () => {
    const today = Math.floor(Date.now() / day)
    const name = `portolan.quota.${key}`
    const [stored, n] = String(await counts.get(name) ?? '').split(':').map(Number)
    const left = perDay - (stored === today && n! >= 0 ? n! : 0) - 1
    if (left < 0) fail({ code: 'quota', resetsAt: (today + 1) * day })
    await counts.set(name, `${today}:${perDay - left}`)
    if (memory.size > most) memory.delete(memory.keys().next().value!)
    return left
  })
  turns.set(counts, turn)
  return turn
}

/** Waits for the request before. */
async function before(counts: object): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, patience)
  })
  await Promise.race([turns.get(counts), late]).catch(() => {})
  clearTimeout(timer)
}
