// The words of an index, found by a beginning, by an abbreviation or by a misspelling.

/** The most words that share letters with a misspelled word and are compared with it. */
const COMPARED = 60
/** The most words that a word is read as. */
const READINGS = 6

/** The words of an index. */
export class Vocabulary {
  /** Words by three letters in a row, with `^` and `$` for the ends, and by their first letter. */
  readonly #pieces = new Map<string, string[]>()

  /** Adds a word that is not there yet. */
  add(word: string): void {
    for (const piece of [`^${word[0]}`, ...pieces(word)]) {
      const list = this.#pieces.get(piece)
      if (list) list.push(word)
      else this.#pieces.set(piece, [word])
    }
  }

  /** Longer words that begin with a word: repository of repo. */
  longer(word: string): string[] {
    return this.#starting(word.slice(0, 2)).filter((w) => w.length > word.length + 2 && w.startsWith(word))
  }

  /** Words that are abbreviated so: configuration of cfg, kubernetes of k8s. */
  abbreviated(word: string): string[] {
    const [, first, left, last] = /^(.)(\d\d?)(.)$/.exec(word) ?? []
    return this.#starting(word[0]!).filter(
      left
        ? (w) => w.length === +left + 2 && w[0] === first && w.at(-1) === last
        : (w) => w.length > word.length + 1 && shortens(word, w),
    ).slice(0, READINGS)
  }

  /** Words with one or two other letters, and how many differ. */
  alike(word: string): { word: string; differ: number }[] {
    const common = new Map<string, number>()
    for (const piece of pieces(word)) {
      for (const other of this.#pieces.get(piece) ?? []) common.set(other, (common.get(other) ?? 0) + 1)
    }
    const most = word.length < 8 ? 1 : 2
    const near = [...common].filter(([w]) => Math.abs(w.length - word.length) <= most)
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, COMPARED)
      .map(([w]) => ({ word: w, differ: distance(word, w) }))
    const least = Math.min(most, ...near.map((n) => n.differ))
    return near.filter((n) => n.differ === least).slice(0, READINGS)
  }

  /** The words that begin with one or two letters. */
  #starting(letters: string): string[] {
    return this.#pieces.get(`^${letters}`) ?? []
  }
}

function pieces(word: string): Set<string> {
  const text = `^${word}$`
  const found = new Set<string>()
  for (let i = 0; i + 3 <= text.length; i++) found.add(text.slice(i, i + 3))
  return found
}

/** Whether a word without vowels has letters of a longer word, in its order. */
function shortens(word: string, long: string): boolean {
  if (/[aeiou]/.test(word.slice(1))) return false
  let at = 0
  for (const letter of long) if (letter === word[at]) at++
  return at === word.length
}

/** How many letters differ. Two letters that changed places count once. */
function distance(a: string, b: string): number {
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
