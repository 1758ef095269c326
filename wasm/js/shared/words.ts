// Splits texts of tools and queries into words, and brings a word to its stem.

/** The longest word, in characters. What is longer is cut. */
const LONGEST = 40

/** Words that say nothing about a tool. */
const stopWords = new Set(
  ('a an the this that these those of to in on at by for from with without and or not no if then than as is are was ' +
    'were be been being it its i me my we our us you your he she they them their there here do does did done can ' +
    'could will would shall should may might must have has had what which who whom whose when where why how all any ' +
    'each some such so very just also only please want wants need needs like would let lets about into over via per ' +
    'using used tool tools mcp server e g eg etc am s t d ll re ve m')
    .split(' '),
)

export const isStopWord = (word: string): boolean => stopWords.has(word)

const ascii = /[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|\d+/g
const cjk = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}'
const unicode = new RegExp(
  `[${cjk}]+|(?:(?![${cjk}])\\p{Lu}){2,}s?(?!\\p{Ll})|(?:(?![${cjk}])\\p{Lu})?(?:(?![${cjk}])[\\p{Ll}\\p{Lo}\\p{Lm}])+|` +
    '\\p{Lu}|\\p{N}+',
  'gu',
)
const dense = new RegExp(`^[${cjk}]`, 'u')

/** The text without accents, and in the plain form of each letter. */
const fold = (text: string): string => text.normalize('NFKD').replace(/\p{M}+/gu, '').replaceAll('ß', 'ss')

/**
 * The words of a text, in lower case, at most `most`. Scripts without spaces give pairs of their letters. `compound`
 * gets the place of the first of two words that stand together, as in fileSystem.
 */
export function split(text: string, most: number, compound?: (place: number) => void): string[] {
  const plain = !/[^\0-\x7f]/.test(text)
  const words: string[] = []
  let end = -1
  const pattern = plain ? ascii : unicode
  for (const { 0: found, index } of (plain ? text : fold(text)).matchAll(pattern)) {
    if (words.length >= most) break
    if (!plain && dense.test(found)) {
      const letters = [...found]
      if (letters.length === 1) words.push(found)
      for (let i = 0; i + 1 < letters.length && words.length < most; i++) words.push(letters[i]! + letters[i + 1]!)
    } else {
      if (index === end && words.length) compound?.(words.length - 1)
      words.push(found.slice(0, LONGEST).toLowerCase())
    }
    end = index + found.length
  }
  return words
}

const known = new Map<string, string>()

/** The stem of an English word: create, created, creating and creation are creat. */
export function stem(word: string): string {
  let found = known.get(word)
  if (found === undefined) {
    if (known.size > 20_000) known.clear()
    known.set(word, found = stemmed(word))
  }
  return found
}

function stemmed(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return word.length === 3 && /[^su]s$/.test(word) ? word.slice(0, 2) : word
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
