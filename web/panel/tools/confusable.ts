// Letters that look like Latin ones: Cyrillic and Greek, as far as names of tools could use them.
const lookalikes =
  'аa еe оo рp сc уy хx іi јj ѕs ԁd һh кk мm тt вb нh гr пn ӏl αa εe οo ρp νv ιi κk τt υu χx γy ηn ωw ßb'
const latin = new Map(lookalikes.split(' ').map((pair) => [[...pair][0]!, [...pair][1]!]))

/** Names that look alike, or differ in case and joints only, fold to the same. */
export function foldName(name: string): string {
  const plain = name.slice(0, 200).normalize('NFKD').toLowerCase().replace(/[\p{M}\p{P}\p{S}\p{Z}\p{C}]+/gu, '')
  return [...plain].map((c) => latin.get(c) ?? c).join('').replaceAll('0', 'o').replace(/[1i]/g, 'l')
}
