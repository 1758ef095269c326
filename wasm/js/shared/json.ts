// JSON beyond JSON.parse: depths, digits of large integers, and texts of members.

export type JsonObject = Record<string, unknown>

export function isObject(v: unknown): v is JsonObject {
  return typeof v === 'object' && v !== null && !Array.isArray(v)
}

/**
 * The approximate size of a parsed value as JSON text: strings count their UTF-16 units, numbers 4. -1 if the value
 * nests deeper than `depth`.
 */
export function measure(v: unknown, depth: number): number {
  if (typeof v === 'string') return v.length + 2
  if (typeof v !== 'object' || v === null) return 4
  if (depth <= 0) return -1
  let size = 2
  if (Array.isArray(v)) {
    for (let i = 0; i < v.length; i++) {
      const n = measure(v[i], depth - 1)
      if (n < 0) return -1
      size += n + 1
    }
    return size
  }
  for (const key in v) {
    const n = measure((v as JsonObject)[key], depth - 1)
    if (n < 0) return -1
    size += key.length + n + 4
  }
  return size
}

/** Whether a text may have a number that a double cannot hold. It may be true without one, never false with one. */
export function mayLoseDigits(text: string): boolean {
  return /\d{16}/.test(text)
}

/**
 * The text of the member `key` of the object in `text`, which has to be valid JSON. Undefined if there is none. The
 * last of several counts, as for JSON.parse.
 */
export function memberText(text: string, key: string): string | undefined {
  let found: string | undefined
  let at = text.indexOf('{') + 1
  while (at > 0) {
    at = skipSpace(text, at)
    if (text[at] !== '"') break
    const nameEnd = skipString(text, at)
    const name: unknown = JSON.parse(text.slice(at, nameEnd))
    const from = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const to = skipValue(text, from)
    if (name === key) found = text.slice(from, to)
    at = skipSpace(text, to)
    if (text[at] !== ',') break
    at++
  }
  return found
}

/** The texts of the elements of the array in `text`, which has to be valid JSON. */
export function elementTexts(text: string): string[] {
  const found: string[] = []
  let at = skipSpace(text, text.indexOf('[') + 1)
  while (at < text.length && text[at] !== ']') {
    const to = skipValue(text, at)
    found.push(text.slice(at, to))
    at = skipSpace(text, to)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return found
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++
  return at
}

// A string ends at the first quote that an even number of backslashes precedes.
function skipString(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at < 0) return text.length
    let slash = at
    while (text[slash - 1] === '\\') slash--
    if ((at - slash) % 2 === 0) return at + 1
  }
}

function skipValue(text: string, at: number): number {
  const structural = /["[\]{},]/g
  for (let depth = 0; at < text.length;) {
    structural.lastIndex = at
    const hit = structural.exec(text)
    if (!hit) return text.length
    const c = hit[0]
    if (c === '"') {
      at = skipString(text, hit.index)
      continue
    }
    if (c === '{' || c === '[') depth++
    else if (c === ',') {
      if (depth === 0) return trimEnd(text, hit.index)
    } else if (depth === 0) return trimEnd(text, hit.index)
    else depth--
    at = hit.index + 1
  }
  return text.length
}

function trimEnd(text: string, at: number): number {
  while (at > 0 && ' \t\n\r'.includes(text[at - 1]!)) at--
  return at
}
