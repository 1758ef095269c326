import { isHidden } from '../text.ts'
import { parsed } from './url.ts'

const maxName = 64

/** A name that the registry takes: printable, on one line, at most 64 characters. */
export function cleanName(s: string): string {
  const shown = [...s.slice(0, 500)].map((
    c,
  ) => (/\s/.test(c) ? ' ' : isHidden(c.codePointAt(0)!) || c === '\ufffd' ? '' : c)).join('')
  return [...shown.replace(/ +/g, ' ').trim()].slice(0, maxName).join('').trim()
}

const dull = /^(?:mcp|api|www|app|server|remote|gateway|docs|dev|prod|staging)$/
const secondLevel = /^(?:co|com|net|org|gov|ac|edu)$/

/** What a server may be called, by its URL. */
export function nameOf(url: string): string {
  const u = parsed(url)
  if (!u) return 'server'
  if (u.protocol === 'builtin:') return 'demo'
  const labels = u.hostname.split('.')
  if (/^[\d.]+$|^\[/.test(u.hostname) || labels.length === 1) {
    return cleanName((u.hostname + (u.port && '-' + u.port)).replace(/[[\]]/g, '').replace(/[.:]+/g, '-')) || 'server'
  }
  labels.pop()
  if (labels.length > 1 && secondLevel.test(labels.at(-1)!)) labels.pop()
  return labels.find((l) => l && !dull.test(l)) ?? labels[0] ?? 'server'
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
