// Splits texts of tools and queries into words, and brings a word to its stem.

/** The longest word, in characters. What is longer is cut. */
const LONGEST = 40
/** The most words whose stems are remembered. */
const KNOWN = 20_000

/** Words that say nothing about a tool, in English and of its neighbours. */
const stopWords = new Set(
  ('a an the this that these those of to in on at by for from with without and or not no if then than as is are was ' +
    'were be been being it its i me my we our us you your he she they them their there here do does did done can ' +
    'could will would shall should may might must have has had what which who whom whose when where why how all any ' +
    'each some such so very just also only please want wants need needs like let lets about into over via per using ' +
    'used tool tools mcp server e g eg etc am s t d ll re ve m ' +
    'de la el los las le les un una une des du y et en der die das ein eine einen und von mit zu im para por con pour')
    .split(' '),
)

export const isStopWord = (word: string): boolean => stopWords.has(word)

const ascii = /[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+/g
const dense = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}'
const isDense = new RegExp(`^[${dense}]`, 'u')
const upper = `(?![${dense}])\\p{Lu}`, lower = `(?![${dense}])[\\p{Ll}\\p{Lo}\\p{Lm}]`
const unicode = new RegExp(
  `[${dense}]+|(?:${upper}){2,}s?(?!\\p{Ll})|(?:${upper})?(?:${lower})+|${upper}|\\p{N}+`,
  'gu',
)

/**
 * The words of a text, in lower case and without accents, at most `most`. Scripts without spaces give pairs of letters.
 */
export function split(text: string, most: number): string[] {
  if (!/[^\0-\x7f]/.test(text)) {
    const found = text.match(ascii) ?? []
    return (found.length > most ? found.slice(0, most) : found).map((w) => w.slice(0, LONGEST).toLowerCase())
  }
  const words: string[] = []
  const folded = text.normalize('NFKD').replace(/\p{M}+/gu, '').replaceAll('ß', 'ss').normalize('NFKC')
  for (const found of folded.match(unicode) ?? []) {
    if (words.length >= most) break
    if (isDense.test(found)) {
      const letters = [...found]
      if (letters.length === 1) words.push(found)
      for (let i = 0; i + 1 < letters.length && words.length < most; i++) words.push(letters[i]! + letters[i + 1]!)
    } else words.push(found.slice(0, LONGEST).toLowerCase())
  }
  return words
}

const known = new Map<string, string>()

/** The stem of an English word: creat of create, created, creating and creation. */
export function stem(word: string): string {
  let found = known.get(word)
  if (found === undefined) {
    if (known.size >= KNOWN) known.clear()
    known.set(word, found = stemOf(word))
  }
  return found
}

function stemOf(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return /^..[^su]s$/.test(` ${word}`) ? word.slice(0, 2) : word
  let w = word
  if (/ies$/.test(w)) w = `${w.slice(0, -3)}y`
  else if (/(ss|sh|ch|x|zz)es$/.test(w)) w = w.slice(0, -2)
  else if (/[^sui]s$/.test(w)) w = w.slice(0, -1)
  const cut = /^(.*[aeiouy].*?)(ing|ed)$/.exec(w)?.[1]
  if (cut && cut.length > 2) w = cut.replace(/([^aeiouylsz])\1$/, '$1')
  if (w.length > 6) w = w.replace(/([st])ion$/, '$1').replace(/ment$/, '')
  if (w.length > 6) w = w.replace(/([^aeiou])(?:er|or)$/, '$1').replace(/at$/, '')
  if (w.length > 3) w = w.replace(/e$/, '').replace(/([^aeiou])y$/, '$1i')
  return w
}
