// Finds secrets in the arguments and results of calls: those that the registry knows, and texts that look like one.

import { originOf } from './origin.ts'
import { pointer, shown, step } from './pointer.ts'
import { configSecrets, minSecret } from './redaction.ts'
import { RegistryError } from './registry-error.ts'
import type { Flag, ServerConfig } from './types.ts'

/** The shapes of keys and tokens, as their issuers document them. */
const shapes: [kind: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----[\w+/=\s]{0,8192}(?:-----END [A-Z ]*PRIVATE KEY-----)?/g],
  // The look ahead reads each run of letters once, however often a token seems to begin in it.
  [
    'a JSON Web Token',
    /(?<![\w-])(?=[\w-]+\.eyJ[\w-]{10,8192}\.[\w-]{10})[\w-]*?\beyJ[\w-]{10,}\.eyJ[\w-]{10,8192}\.[\w-]{10,4096}/g,
  ],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})\b/g],
  ['a GitLab token', /\bglpat-[\w-]{20,255}/g],
  ['an API key', /\b(?:sk|rk|pk)[-_](?:proj-|ant-|live_|test_|or-)?[\w-]{20,255}/g],
  ['an AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['a Google API key', /\bAIza[\w-]{35}/g],
  ['a Slack token', /\bxox[abeprs]-[\w-]{10,255}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
]

/** The bounds of a search: characters that are looked at, those that a string counts for, the depth, and flags. */
const mostText = 1 << 20, ofString = 50, deepest = 64, mostFlags = 20

const mask = '[redacted]'

/** A text with a mask in place of what looks like a secret. */
export function maskSecrets(text: string): string {
  for (const [, pattern] of shapes) text = text.replace(pattern, mask)
  return text
}

/** The secrets of a registry, for the option `secrets`. */
export class Leaks {
  /** A call with a secret fails. Otherwise the user is asked. */
  readonly #blocks: boolean
  readonly #configs: () => Iterable<[name: string, config: ServerConfig]>

  constructor(blocks: boolean, configs: () => Iterable<[name: string, config: ServerConfig]>) {
    this.#blocks = blocks
    this.#configs = configs
  }

  /** The flags of the arguments, a JSON text, for a server. Its own secrets may go to its `url`. */
  inArguments(args: string, server: string, url: string): Flag[] {
    const flags = this.#find(JSON.parse(args), '/arguments', originOf(url))
    const [flag] = flags
    if (!flag || !this.#blocks) return flags
    throw new RegistryError('secret_blocked', `${flag.where} has ${flag.excerpt}, which would go to ${server}`, {
      server,
      hint: "Take it out. secrets: 'flag' asks the user.",
    })
  }

  /** The flags of a result. */
  inResult({ content, structuredContent }: { content: unknown; structuredContent?: unknown }): Flag[] {
    return this.#find({ content, structuredContent }, '')
  }

  #find(value: unknown, where: string, own?: string): Flag[] {
    const known: [what: string, secret: string][] = []
    for (const [name, config] of this.#configs()) {
      if (originOf(config.url) === own) continue
      for (const secret of configSecrets(config))
        if (secret.length >= minSecret) known.push([`a secret of ${name}`, secret])
    }
    const flags: Flag[] = []
    let left = mostText
    const look = (text: string, where: string): boolean => {
      if ((left -= text.length + ofString) < 0 || flags.length >= mostFlags) return false
      const what = known.find(([, secret]) => text.includes(secret))?.[0] ??
        shapes.find(([, pattern]) => text.search(pattern) >= 0)?.[0]
      if (what) flags.push({ rule: 'secret', where: shown(where), excerpt: what })
      return !!what
    }
    const visit = (v: unknown, where: string, depth: number): void => {
      if (typeof v === 'string') return void look(v, where)
      if (depth > deepest || !v || typeof v !== 'object' || left < 0) return
      for (const [key, item] of Array.isArray(v) ? v.entries() : Object.entries(v)) {
        // A name that is a secret is not shown.
        visit(item, pointer(where, step(typeof key === 'string' && look(key, where) ? '…' : key)), depth + 1)
      }
    }
    visit(value, where, 0)
    // Arguments have no secret behind the bounds either.
    left = Infinity
    if (own !== undefined && !flags.length) look(JSON.stringify(value), where)
    return flags
  }
}
