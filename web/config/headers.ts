import { browserHeaders, forbiddenHeaders } from '../../wasm/js/shared/wire.gen.ts'
import type { Draft } from './draft.ts'
import type { Lint } from './types.ts'

// Headers that fetch refuses, that the protocol sets itself, or that a CORS preflight never lets through.
const forbidden = new Set([...forbiddenHeaders, ...browserHeaders])
// Set again by every client: leaving them out changes nothing.
const idle = new Set(('accept content-type content-length user-agent accept-encoding connection mcp-protocol-version ' +
  'host').split(' '))

const secretName = /auth|token|key|secret|passw|credential|session|cookie|signature|bearer|\bpat\b|jwt/i
const secretValue = /^(?:bearer|basic|token)\s|^(?:sk|pk|ghp|gho|ghs|xox[abprs]|glpat|github_pat|eyJ)[-_.A-Za-z0-9]/i

/** Whether a header, a parameter or a variable of that name probably holds a secret. */
export const isSecretName = (name: string) => secretName.test(name)
export const isSecretHeader = (name: string, value: string) => secretName.test(name) || secretValue.test(value)

const maxHeaders = 50
const maxValue = 16_384
const invisible = /^[\s\u200b-\u200f\u2060\ufeff]+|[\s\u200b-\u200f\u2060\ufeff]+$/g

/** The headers that can be sent, and remarks about the others. The last of equal names counts. */
export function usable(list: Draft['headers']): { headers: Record<string, string>; lints: Lint[] } {
  const byName = new Map<string, [string, string]>()
  const lints: Lint[] = []
  for (const [rawName, rawValue] of list) {
    const name = rawName.trim()
    const value = rawValue.replace(invisible, '')
    const header = name.slice(0, 100)
    const lower = name.toLowerCase()
    const say = (code: Lint['code'], level: Lint['level']) => lints.push({ code, level, values: { header } })
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/.test(name) || lower === '__proto__')
      say('invalid_header_name', 'warning')
    else if (forbidden.has(lower) || /^(?:sec|proxy)-/.test(lower)) {
      if (!idle.has(lower)) say('forbidden_header', 'warning')
    } else if (value.length > maxValue || (byName.size === maxHeaders && !byName.has(lower)))
      say('header_too_long', 'warning')
    else {
      if (value !== rawValue.replace(/^ /, '')) say('trailing_space', 'info')
      if (byName.has(lower)) say('duplicate_header', 'warning')
      byName.set(lower, [name, value])
    }
  }
  return { headers: Object.fromEntries(byName.values()), lints }
}

/** A header as tools take it on the command line: `Name: value` or `Name=value`. */
export function splitHeader(s: string): [string, string] | undefined {
  const m = /^([^:=\s]{1,200})\s?[:=]/.exec(s)
  return m ? [m[1]!, s.slice(m[0].length).trim()] : undefined
}

/** A URL in which each value of a parameter that looks secret is replaced. */
export function withoutSecrets(url: string, placeholder: (parameter: string) => string): string {
  const [before, ...hash] = url.split('#')
  const shown = before!.replace(
    /([?&])([^=&]{1,100})=([^&]+)/g,
    (whole, mark: string, name: string) => (isSecretName(name) ? `${mark}${name}=${placeholder(name)}` : whole),
  )
  return [shown, ...hash].join('#')
}

/** Names of variables for a server's secrets: GITHUB_AUTHORIZATION; each is given once. */
export function variables(): (server: string, secret: string) => string {
  const taken = new Set<string>()
  return (server, secret) => {
    const words =
      `${server}_${secret}`.normalize('NFKD').toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(/^_+|_+$/g, '').slice(
        0,
        60,
      ) || 'SECRET'
    const base = /^\d/.test(words) ? '_' + words : words
    let name = base
    for (let n = 2; taken.has(name); n++) name = base + '_' + n
    taken.add(name)
    return name
  }
}
