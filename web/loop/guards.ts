/** The number of times that something may happen in vain. */
const enough = 3

/** Notices a model that turns in a circle. It keeps numbers in place of texts, which may be long. */
export class Guards {
  readonly #seen = new Set<number>()
  readonly #calls = new Map<number, number>()
  #isNew = false
  #idle = 0

  /** A conversation begins. It may repeat the calls of an earlier one. */
  begin(): void {
    this.#calls.clear()
  }

  /** Whether the same call has now got the same answer three times. */
  answered(name: string, args: unknown, answer: string): boolean {
    const key = this.#note(JSON.stringify([name, sorted(typeof args === 'string' ? parsed(args) : args), answer]))
    const times = (this.#calls.get(key) ?? 0) + 1
    this.#calls.set(key, times)
    return times >= enough
  }

  said(text: string): void {
    this.#note(text)
  }

  /** A round ends. Returns whether the third one in a row had nothing new. */
  roundEnds(): boolean {
    this.#idle = this.#isNew ? 0 : this.#idle + 1
    this.#isNew = false
    return this.#idle >= enough
  }

  #note(text: string): number {
    const key = digest(text)
    if (!this.#seen.has(key)) this.#isNew = true
    this.#seen.add(key)
    return key
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The value with the members of its objects in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!value || typeof value !== 'object') return value
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, v]) => [name, sorted(v)])
}

/** 53 bits of a text (cyrb53). Nothing depends on its secrecy. */
function digest(text: string): number {
  let a = 0xdeadbeef, b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 2654435761)
    b = Math.imul(b ^ c, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (b >>> 0) % 2097152 * 4294967296 + (a >>> 0)
}
