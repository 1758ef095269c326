import { sortedJSON } from '../../ui/json.ts'

/** A stretch of text that is in both, only in the former, or only in the latter. */
export interface Stretch {
  kind: 'same' | 'gone' | 'come'
  text: string
}

/** Steps that a comparison may take; texts that need more are shown whole. */
const maxSteps = 2_000_000

/** The difference between two texts, word by word. */
export const wordDiff = (before: string, now: string): Stretch[] =>
  runs(diff(before.match(words) ?? [], now.match(words) ?? []))
const words = /\s+|[\p{L}\p{M}\p{N}_]+|[^]/gu

/** Words that all differ are one difference, and not one for each. */
function runs(list: Stretch[]): Stretch[] {
  const out: Stretch[] = []
  let gone = '', come = ''
  const flush = () => {
    if (gone) out.push({ kind: 'gone', text: gone })
    if (come) out.push({ kind: 'come', text: come })
    gone = come = ''
  }
  list.forEach(({ kind, text }, i) => {
    if (kind === 'gone') gone += text
    else if (kind === 'come') come += text
    else if (gone && come && i < list.length - 1 && !text.trim()) [gone, come] = [gone + text, come + text]
    else {
      flush()
      out.push({ kind, text })
    }
  })
  flush()
  return out
}

/**
 * The difference between two values, line by line of their JSON, whose members are in order. Of what is the same, only
 * `around` lines beside a difference.
 */
export function valueDiff(before: unknown, now: unknown, around = 2): Stretch[] {
  return diff(lines(before), lines(now)).flatMap((s, i, all): Stretch[] => {
    if (s.kind !== 'same') return [s]
    const same = s.text.split(/(?<=\n)/)
    const [head, tail] = [i ? around : 0, i < all.length - 1 ? around : 0]
    if (same.length <= head + tail + 1) return [s]
    return [{ kind: 'same', text: [...same.slice(0, head), '⋯\n', ...same.slice(same.length - tail)].join('') }]
  })
}

const lines = (v: unknown): string[] => (v === undefined ? [] : `${sortedJSON(v, 2)}\n`.split(/(?<=\n)/))

/** The longest common subsequence decides. */
function diff(a: readonly string[], b: readonly string[]): Stretch[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)]
  const out: Stretch[] = []
  const put = (kind: Stretch['kind'], text: string) => {
    if (!text) return
    const last = out.at(-1)
    if (last?.kind === kind) last.text += text
    else out.push({ kind, text })
  }
  put('same', a.slice(0, head).join(''))
  if (x.length * y.length > maxSteps) {
    put('gone', x.join(''))
    put('come', y.join(''))
  } else {
    // common[i][j]: how much x from i on and y from j on have in common.
    const width = y.length + 1
    const common = new Uint32Array((x.length + 1) * width)
    for (let i = x.length - 1; i >= 0; i--) {
      for (let j = y.length - 1; j >= 0; j--) {
        common[i * width + j] = x[i] === y[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
      }
    }
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) put('same', (j++, x[i++]!))
      else if (j >= y.length || (i < x.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
        put('gone', x[i++]!)
      else put('come', y[j++]!)
    }
  }
  put('same', a.slice(a.length - tail).join(''))
  return out
}
