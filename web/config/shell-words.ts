/**
 * The commands of a shell text, each as its words: quotes of all kinds, $'…',
 * continued lines (of sh, PowerShell and cmd). Variables outside of single quotes
 * are written as ${NAME}. An & or ; inside a word stays: it is a URL's. undefined: a quote is not closed.
 */
export function commands(s: string): string[][] | undefined {
  const all: string[][] = []
  let words: string[] = []
  let word: string | undefined
  const add = (part: string) => {
    word = (word ?? '') + part
  }
  const endWord = () => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = () => {
    endWord()
    if (words.length) all.push(words)
    words = []
  }

  for (let at = 0; at < s.length;) {
    const c = s[at]!
    const next = s[at + 1]
    if ((c === '\\' || c === '^' || c === '`') && (next === '\n' || (next === '\r' && s[at + 2] === '\n')))
      at += next === '\n' ? 2 : 3
    else if (
      c === '\n' || (';|&'.includes(c) && (word === undefined || next === undefined || next <= ' ' || next === c))
    ) {
      endCommand()
      at++
    } else if (c <= ' ' || c === '\u00a0') {
      endWord()
      at++
    } else if (c === '#' && word === undefined) {
      while (at < s.length && s[at] !== '\n') at++
    } else if (c === "'") {
      const end = s.indexOf("'", at + 1)
      if (end < 0) return undefined
      add(s.slice(at + 1, end))
      at = end + 1
    } else if (c === '$' && next === "'") {
      const [part, end] = ansi(s, at + 2)
      if (end < 0) return undefined
      add(part)
      at = end
    } else if (c === '"') {
      let part = ''
      for (at++; s[at] !== '"';) {
        if (at >= s.length) return undefined
        if (s[at] === '\\' && '"\\$`\n'.includes(s[at + 1] ?? ' ')) {
          part += s[at + 1] === '\n' ? '' : s[at + 1]!
          at += 2
        } else {
          const [v, end] = variable(s, at)
          part += v
          at = end
        }
      }
      add(part)
      at++
    } else if (c === '\\' && next !== undefined) {
      add(next)
      at += 2
    } else {
      const [v, end] = variable(s, at)
      add(v)
      at = end
    }
  }
  endCommand()
  return all
}

const name = /\$(?:env:)?([A-Za-z_][A-Za-z0-9_]{0,99})/y

/** $NAME as ${NAME}; any other character as it is. */
function variable(s: string, at: number): [text: string, end: number] {
  name.lastIndex = at
  const m = s[at] === '$' ? name.exec(s) : null
  return m ? ['${' + m[1] + '}', at + m[0].length] : [s[at]!, at + 1]
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b', f: '\f', v: '\v' }
const digits = /x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})/y

function ansi(s: string, at: number): [text: string, end: number] {
  let out = ''
  for (; at < s.length; at++) {
    if (s[at] === "'") return [out, at + 1]
    if (s[at] !== '\\') {
      out += s[at]
      continue
    }
    digits.lastIndex = ++at
    const m = digits.exec(s)
    const code = m && parseInt(m[1] ?? m[2] ?? m[3]!, 16)
    if (m && code! <= 0x10ffff) {
      out += String.fromCodePoint(code!)
      at += m[0].length - 1
    } else out += escapes[s[at] ?? ''] ?? s[at] ?? ''
  }
  return [out, -1]
}
