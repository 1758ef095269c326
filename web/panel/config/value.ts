// Parsed JSON that nobody has checked: read by own members only.

export type Obj = Record<string, unknown>

export const isObject = (v: unknown): v is Obj => typeof v === 'object' && v !== null && !Array.isArray(v)

/** An own member, undefined where there is none. */
export const get = (v: unknown, key: string): unknown => (isObject(v) && Object.hasOwn(v, key) ? v[key] : undefined)

/** The first of the members that is a string and says something. */
export function text(v: unknown, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const s = get(v, key)
    if (typeof s === 'string' && s.trim()) return s
  }
  return undefined
}

export const strings = (v: unknown): string[] => (Array.isArray(v) ? v.filter((e) => typeof e === 'string') : [])

/** The members as name and text; numbers and booleans are written out. */
export const pairs = (v: unknown): [string, string][] =>
  (isObject(v) ? Object.entries(v) : [])
    .filter(([, e]) => ['string', 'number', 'boolean'].includes(typeof e)).map(([k, e]) => [k, String(e)])

/** Without percent signs; undefined where they mean nothing. */
export function decoded(s: string): string | undefined {
  try {
    return decodeURIComponent(s)
  } catch {
    return undefined
  }
}

/** Sets a member, also one that JavaScript would take for the prototype. */
export function set<T>(o: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(o, key, { value, enumerable: true, configurable: true, writable: true })
  else o[key] = value
}
