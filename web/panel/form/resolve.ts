import { decoded, get, isObject, type Obj } from '../config/value.ts'

/** What a local reference points to. */
export function lookup(root: unknown, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/') || ref.length > 1000) return undefined
  let at = root
  for (const step of ref.slice(2).split('/')) {
    const key = (decoded(step) ?? step).replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? at[Number(key)] : get(at, key)
  }
  return at
}

/** Both schemas at once, where that can be said in one: properties and required are joined, else `over` counts. */
export function join(base: Obj, over: Obj): Obj {
  const both: Obj = { ...base, ...over }
  const properties = [get(base, 'properties'), get(over, 'properties')].filter(isObject)
  const required = [get(base, 'required'), get(over, 'required')].filter(Array.isArray).flat()
  if (properties.length) both.properties = Object.assign({}, ...properties)
  if (required.length) both.required = required
  return both
}

export const without = (o: Obj, ...keys: string[]): Obj =>
  Object.fromEntries(Object.entries(o).filter(([k]) => !keys.includes(k)))
