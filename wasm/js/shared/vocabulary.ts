// Compares words: by their letters in threes, as abbreviations, and as misspellings.

/** Three letters in a row each, with `^` and `$` for the ends, and the beginning. */
export function pieces(word: string): Set<string> {
  const text = `^${word}$`
  const found = new Set([text.slice(0, 2)])
  for (let i = 0; i + 3 <= text.length; i++) found.add(text.slice(i, i + 3))
  return found
}

/** Whether a word stands for a longer one: cfg for configuration, k8s for kubernetes. */
export function abbreviates(word: string, long: string): boolean {
  const [, first, left, last] = /^(.)(\d\d?)(.)$/.exec(word) ?? []
  if (left) return long.length === +left + 2 && long[0] === first && long.at(-1) === last
  if (/[aeiou]/.test(word.slice(1)) || long.length < word.length + 2) return false
  let at = 0
  for (const letter of long) if (letter === word[at]) at++
  return at === word.length
}

/** The number of letters that differ. Two letters that changed places count once. */
export function distance(a: string, b: string): number {
  let before: number[] = [], row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      let n = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + +(a[i - 1] !== b[j - 1]))
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) n = Math.min(n, (before[j - 2] ?? 0) + 1)
      next.push(n)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
