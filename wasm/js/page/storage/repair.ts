// Mends what a storage holds: a person or a program has changed it, or a write was cut off. Bounds one that is silent.

import type { StorageAdapter } from '../../shared/types.ts'
import { isObject } from '../../shared/object.ts'

/** The methods of a storage that a registry uses. */
export type Texts = Pick<StorageAdapter, 'get'> & { set(key: string, text: string): unknown }

/** The shape of a key's value: entries by name, or a list. */
export interface Shape {
  key: string
  isSound(entry: unknown): boolean
  isList?: boolean
  /** The member with the entries. */
  inside?: string
}

/** The most names of dropped entries that a warning has, and the longest name. */
const MOST_NAMES = 5, NAME_CHARS = 50

/** The longest wait for a storage of the app, in ms. */
const patience = 10_000

/**
 * A storage of the app, whose operations fail after 10 s, with one warning. Until the silent operation has settled, all
 * others fail at once.
 */
export function bounded(under: Texts, warn: (warning: string) => void): Texts {
  const message = `the storage of this app has not answered for ${patience / 1000} s`
  let silent = 0
  const within = <T>(work: () => T | Promise<T>): Promise<T> => {
    if (silent) return Promise.reject(new Error(message))
    let timer: ReturnType<typeof setTimeout> | undefined, isLate = false
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true
        silent++
        warn(`${message}; nothing is read from it, or kept in it, until it does`)
        reject(new Error(message))
      }, patience)
    })
    const settled = (async () => work())().finally(() => {
      clearTimeout(timer)
      if (isLate) silent--
    })
    return Promise.race([settled, late])
  }
  return {
    get: (key) => within(() => under.get(key)),
    set: (key, value) => within(() => under.set(key, value)),
  }
}

/**
 * The sound entries of a damaged text, and a warning about the others. The storage keeps the sound entries in its
 * place, and the first damaged text of a key under `<key>.damaged`. The last text of a newer version stays under
 * `<key>.newer`.
 */
export async function mend(
  storage: Texts,
  shape: Shape,
  text: unknown,
): Promise<{ entries: object; warning: string }> {
  const { key, isSound, isList } = shape
  let value: unknown
  try {
    value = JSON.parse(String(text))
  } catch { /* no entry is left */ }
  const all = shape.inside && isObject(value) ? value[shape.inside] : value
  const dropped: string[] = []
  const keep = ([name, entry]: [string, unknown]) => isSound(entry) || void dropped.push(name.slice(0, NAME_CHARS))
  let entries: object = isList ? [] : {}
  let warning = 'nothing of it can be read'
  if (isList ? Array.isArray(all) : isObject(all)) {
    const kept = Object.entries(all as object).filter(keep)
    entries = isList ? kept.map(([, entry]) => entry) : Object.fromEntries(kept)
    const more = dropped.length - MOST_NAMES
    warning = `dropped: ${dropped.slice(0, MOST_NAMES).map((name) => JSON.stringify(name)).join(', ')}` +
      (more > 0 ? ` and ${more} more` : '')
  }
  const isNewer = shape.inside && isObject(value) && Number(value['version']) > 1
  let aside = ''
  try {
    const copy = `${key}.${isNewer ? 'newer' : 'damaged'}`
    if (isNewer || await storage.get(copy) == null) await storage.set(copy, String(text))
    aside = `; the text is kept under ${copy}`
    await storage.set(key, JSON.stringify(shape.inside ? { version: 1, [shape.inside]: entries } : entries))
  } catch { /* it is full or forbidden */ }
  const what = isNewer
    ? `is of a newer version, of which ${Object.keys(entries).length} entries can be read`
    : `was damaged: ${warning}`
  return { entries, warning: `${key} in the storage ${what}${aside}` }
}
