/** A shorter secret is redacted only if it is a whole text, because it occurs in too many others. */
const shortest = 8

const mask = '[redacted]'

/** Removes known header values from values, and applies a hook. `C` is what the hook learns of a value. */
export class Redaction<C = void> {
  readonly #hook: ((value: unknown, context: C) => unknown) | undefined
  readonly #secrets = new Set<string>()

  constructor(hook?: (value: unknown, context: C) => unknown) {
    this.#hook = hook
  }

  /** Adds header values: the whole value, and the token after a scheme such as Bearer. */
  learn(headers: Record<string, string> | null | undefined): void {
    for (const value of Object.values(headers ?? {})) {
      if (typeof value !== 'string' || value === mask) continue
      for (const secret of [value, value.replace(/^\S+\s+/, '')]) if (secret) this.#secrets.add(secret)
    }
  }

  /** The redacted value. */
  value<T>(v: T, context: C): T {
    const plain = this.#secrets.size ? this.#walk(v) : v
    return (this.#hook ? this.#hook(plain === v ? structuredClone(v) : plain, context) : plain) as T
  }

  /** Whether a text has nothing to redact. */
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
