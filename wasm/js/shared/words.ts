// Splits texts of tools and queries into words, and brings a word to its stem.

/** The longest word, in characters. A longer one is cut. */
const LONGEST = 40

/** Words that say nothing about a tool, in English. */
const stopWords = new Set(
  ('a an the this that these those of to in on at by for from with without and or not no if then than as is are was ' +
    'were be been being it its i me my we our us you your he she they them their there here do does did done can ' +
    'could will would shall should may might must have has had what which who whom whose when where why how all any ' +
    'each some such so very just also only please want wants need needs like let lets about into over via per using ' +
    'used tool tools mcp server e g eg etc am s t d ll re ve m')
    .split(' '),
)

/** The words that say something; all words if none does, as for a tool that is called about. */
export function telling(words: string[]): string[] {
  const some = words.filter((word) => !stopWords.has(word))
  return some.length ? some : words
}

/** Letters of scripts that put no spaces between words. */
const dense = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}]'
const isDense = new RegExp(`^${dense}`, 'u')
/** k8s, a word in capitals, a word, letters of other scripts, a number. */
const wordPattern = new RegExp(
  `\\b[a-zA-Z]\\d\\d?[a-z]\\b|[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]|${dense}+|(?:(?!${dense})\\p{L})+|\\p{N}+`,
  'gu',
)

/**
 * The words of a text, in lower case and without accents, at most `most`. Scripts without spaces give pairs of letters.
 */
export function split(text: string, most: number): string[] {
  const isAscii = !/[^\0-\x7f]/.test(text)
  const folded = isAscii
    ? text
    : text.normalize('NFKD').replace(/\p{M}+/gu, '').replaceAll('ß', 'ss').normalize('NFKC')
  const words: string[] = []
  for (const found of folded.match(wordPattern) ?? []) {
    const letters = !isAscii && isDense.test(found) ? [...found] : []
    if (letters.length < 2) words.push(found.slice(0, LONGEST).toLowerCase())
    for (const [i, letter] of letters.slice(1).entries()) words.push(letters[i]! + letter)
  }
  return words.slice(0, most)
}

/** The stem of an English word: cre of create, creates, created, creating and creation. */
export function stem(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word)) return word.replace(/([^su])s$/, '$1')
  return word.replace(/ies$/, 'y').replace(/([^sui])s$/, '$1')
    .replace(/(...)(?:ing|ed|ment|ion)$/, '$1').replace(/([^aeiouylsz])\1$/, '$1')
    .replace(/(...)(?:er|or|ate?|e)$/, '$1').replace(/y$/, 'i')
}
