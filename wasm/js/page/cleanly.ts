import { isObject } from '../shared/object.ts'
import { excerptAt, plain } from '../shared/plaintext.ts'
import { pointer, shown, step } from '../shared/pointer.ts'
import type { Flag } from '../shared/types.ts'

/** The most flags of one value. */
const MOST = 10

/** A JSON value whose texts have no hidden characters. `flags` gets a flag for each text that had some. */
export function cleanly<T>(value: T, flags: Flag[], where = ''): T {
  if (typeof value === 'string') {
    const { text, at } = plain(value)
    if (at >= 0 && flags.length < MOST)
      flags.push({ rule: 'hidden_text', where: shown(where), excerpt: excerptAt(value, at) })
    return text as T
  }
  if (Array.isArray(value)) return value.map((v, i) => cleanly(v, flags, pointer(where, `/${i}`))) as T
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      key,
      cleanly(v, flags, pointer(where, step(key))),
    ]),
  ) as T
}
