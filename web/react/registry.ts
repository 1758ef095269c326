import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { Registry, Snapshot } from '../../wasm/js/shared/types.ts'
import type * as types from './types.ts'

const empty: Snapshot = Object.freeze({ status: 'idle', version: 0, servers: {}, tools: [], withheld: [], held: [] })

const whole = (s: Snapshot): unknown => s
const never = () => () => {}

export const useRegistry = ((
  registry: Registry | null | undefined,
  select: (s: Snapshot) => unknown = whole,
  equal: (a: unknown, b: unknown) => boolean = alike,
): unknown => {
  const committed = useRef<{ selection: unknown }>(undefined)
  const get = useMemo(() => {
    let from: Snapshot | undefined
    let selection: unknown
    // The same selection as long as it is equal, also to what another selector has made.
    return () => {
      const snapshot = registry ? registry.getSnapshot() : empty
      if (snapshot === from) return selection
      const made = select(snapshot)
      const last = from ? { selection } : committed.current
      from = snapshot
      return (selection = last && equal(last.selection, made) ? last.selection : made)
    }
  }, [registry, select, equal])
  const selection = useSyncExternalStore(registry ? registry.subscribe : never, get, get)
  useEffect(() => {
    committed.current = { selection }
  }, [selection])
  return selection
}) as typeof types.useRegistry

/** Whether two values are the same, or plain objects or arrays with the same members. */
function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || !hasMembers(a)) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length &&
    keys.every((k) => Object.hasOwn(b, k) && Object.is((a as never)[k], (b as never)[k]))
}

/** All that others hold, such as a `Set`, is in no members. */
const hasMembers = (a: object): boolean =>
  [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(a) as never)
