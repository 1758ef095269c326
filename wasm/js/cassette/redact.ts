import type { CassetteOptions, RedactContext } from './types.ts'

/** A shorter secret is taken out only where it is the whole of a text: it stands in too many. */
const shortest = 8

const mask = '[redacted]'

/** Takes known header values, and what a hook wants gone, out of values. */
export class Redaction {
  readonly #hook: CassetteOptions['redact']
  readonly #secrets = new Set<string>()

  constructor(hook?: CassetteOptions['redact']) {
    this.#hook = hook
  }

  /** Notes header values: whole, and the token behind a scheme such as Bearer. */
  learn(headers: Record<string, string> | null | undefined): void {
    for (const value of Object.values(headers ?? {})) {
      if (typeof value !== 'string' || value === mask) continue
      for (const secret of [value, value.replace(/^\S+\s+/, '')]) if (secret) this.#secrets.add(secret)
    }
  }

  /** The value without them. */
  value<T>(v: T, context: RedactContext): T {
    const plain = this.#secrets.size ? this.#walk(v) : v
    return (this.#hook ? this.#hook(plain === v ? structuredClone(v) : plain, context) : plain) as T
  }

  /** Whether a text can be kept as it is. */
  allows(text: string): boolean {
    return !this.#hook && this.#text(text) === text
  }

  #walk(v: unknown): unknown {
    if (typeof v === 'string') return this.#text(v)
    if (Array.isArray(v)) return v.map((item) => this.#walk(item))
    if (typeof v !== 'object' || v === null) return v
    return Object.fromEntries(Object.entries(v).map(([k, item]) => [this.#text(k), this.#walk(item)]))
  }

  #text(s: string): string {
    for (const secret of this.#secrets) {
      if (s === secret) return mask
      if (secret.length >= shortest && s.includes(secret)) s = s.replaceAll(secret, mask)
    }
    return s
  }
}
