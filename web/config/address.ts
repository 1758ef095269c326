import { isHidden } from '../ui/text.ts'
import { replace } from './placeholders.ts'

// The properties of a URL. A configured URL may hold ${input:id}; it is looked
// at with a digit in their places, which may be a port.

const probe = (url: string) => replace(url, (_, at) => (at ? '1' : 'https://x.x'))

/** The URL, parsed; undefined where it is none. */
export const parsed = (url: string): URL | undefined => URL.canParse(probe(url)) ? new URL(probe(url)) : undefined

const scheme = /^[a-z][a-z0-9+.-]{0,30}:(?!\d{1,5}(?:[/?#]|$))/i
const bareHost = new RegExp(
  /^(?:localhost|\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,20}|[a-z0-9-]{1,63}(?=:\d))/.source +
    /(?::\d{1,5})?(?=[/?#]|$)/.source,
  'i',
)

/** A URL as typed, with its scheme: https, or http for this machine. undefined: it does not look like one. */
export function withScheme(typed: string): string | undefined {
  const s = typed.trim().replace(/^\/+/, '')
  if (!s || /\s/.test(s)) return undefined
  if (scheme.test(s)) return /^(?:https?|wss?):\/\/[^/?#]/i.test(s) || s === 'builtin:demo' ? s : undefined
  const host = bareHost.exec(s.replace(/^[^/?#@]{1,200}@/, ''))
  if (!host) return undefined
  return (isLoopback(hostname(host[0])) ? 'http://' : 'https://') + s
}

const hostname = (host: string) => parsed('http://' + host)?.hostname ?? host

const bare = (host: string) => host.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** Names of this machine. `host` is URL.hostname. */
export function isLoopback(host: string): boolean {
  const h = bare(host)
  return h === 'localhost' || h.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(h) || h === '0.0.0.0' ||
    h === '::1' || /^::ffff:7f/.test(h)
}

/** Addresses and names that are not on the public Internet, loopback left out. */
export function isPrivate(host: string): boolean {
  const h = bare(host)
  return /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(
        h,
      ) && /^[\d.]+$/.test(h) ||
    (h.includes(':') && /^(?:f[cd]|fe[89ab]|::ffff:(?:a[0-9a-f]{2}:|c0a8:|a9fe:|ac1))/.test(h)) ||
    /\.(?:local|internal|lan|home\.arpa|corp|intranet)$/.test(h) || (!/[.:]/.test(h) && h !== 'localhost')
}

const maxName = 64

/** Whether tools of a server with that name are called `name__tool`, without a hash. The rule is registry/names. */
export const isPlainName = (name: string): boolean => /^(?![-\d])(?!.*__)[\w-]*[a-z\d-]$/i.test(name)

/** A name that the registry takes: printable, on one line, at most 64 characters. */
export function cleanName(s: string): string {
  const shown = [...s.slice(0, 500)].map((
    c,
  ) => (/\s/.test(c) ? ' ' : isHidden(c.codePointAt(0)!) || c === '\ufffd' ? '' : c)).join('')
  return [...shown.replace(/ +/g, ' ').trim()].slice(0, maxName).join('').trim()
}

const dull = /^(?:mcp|api|www|app|server|remote|gateway|docs|dev|prod|staging)$/
const secondLevel = /^(?:co|com|net|org|gov|ac|edu)$/

/** The possible names of a server, by its URL. */
export function nameOf(url: string): string {
  const u = parsed(url)
  if (!u) return 'server'
  if (u.protocol === 'builtin:') return 'demo'
  const labels = u.hostname.split('.')
  if (/^[\d.]+$|^\[/.test(u.hostname) || labels.length === 1) {
    const host = isLoopback(u.hostname) ? 'localhost' : u.hostname
    return plainName(host + (u.port && '-' + u.port)) || 'server'
  }
  labels.pop()
  if (labels.length > 1 && secondLevel.test(labels.at(-1)!)) labels.pop()
  return plainName(labels.find((l) => l && !dull.test(l)) ?? labels[0] ?? '') || 'server'
}

/** The plain name that is most like a given one; empty if it has no letter or digit of ASCII. */
export function plainName(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^\w-]+/g, '-').replace(/-{2,}/g, '-')
    .replace(/_{2,}/g, '_').replace(/^-|[-_]+$/g, '').slice(0, maxName - 4)
  return /^\d/.test(plain) ? `mcp-${plain}` : plain
}

/** A name that is not taken: the name itself, or name-2, name-3, … */
export function renameFree(name: string, taken: Iterable<string>): string {
  const all = new Set(taken)
  const base = cleanName(name) || 'server'
  if (!all.has(base)) return base
  for (let n = 2;; n++) {
    const tail = '-' + n
    const next = [...base].slice(0, maxName - tail.length).join('') + tail
    if (!all.has(next)) return next
  }
}
