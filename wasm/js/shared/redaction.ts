import type { ServerConfig } from './types.ts'
import { secretAuthFields } from './wire.gen.ts'

/** A shorter secret is redacted only if it is a whole text, because it occurs in too many others. In characters. */
export const minSecret = 8

const mask = '[redacted]'

/**
 * The secrets of a configuration: values of headers, and secrets of `auth`. A value with a scheme such as Bearer counts
 * without it, too, and each as it stands in a JSON text.
 */
export function configSecrets({ headers, auth }: ServerConfig): string[] {
  const fields = Object.entries(auth ?? {}).filter(([name]) => secretAuthFields.includes(name))
  const secrets = [...Object.values(headers ?? {}), ...fields.map(([, value]) => value)].flatMap((value) =>
    typeof value !== 'string' || value === mask ? [] : [value, value.replace(/^\S+\s+/, '')]
  )
  return [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))].filter(Boolean)
}

/** Removes known header values from values, and applies a hook. `C` is what the hook learns of a value. */
export class Redaction<C = void> {
  readonly #hook: ((value: unknown, context: C) => unknown) | undefined
  readonly #mask: ((text: string) => string) | undefined
  /** The longest first, because one may be a part of another. */
  #secrets: string[] = []

  /** `mask` removes from a text what looks like a secret. */
  constructor(hook?: (value: unknown, context: C) => unknown, mask?: (text: string) => string) {
    this.#hook = hook
    this.#mask = mask
  }

  /** Adds the secrets of a configuration. */
  learn(config: Partial<ServerConfig>): void {
    const all = new Set([...this.#secrets, ...configSecrets(config as ServerConfig)])
    this.#secrets = [...all].sort((a, b) => b.length - a.length)
  }

  /** The redacted value. */
  value<T>(v: T, context: C): T {
    const plain = this.#secrets.length || this.#mask ? this.#walk(v) : v
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
      if (secret.length >= minSecret && s.includes(secret)) s = s.replaceAll(secret, mask)
    }
    return this.#mask?.(s) ?? s
  }
}
