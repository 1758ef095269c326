import { en } from '../messages.ts'
import type { Message, Messages } from '../words.ts'

const letters: Record<string, string> = {
  a: 'á',
  c: 'ç',
  e: 'é',
  g: 'ğ',
  i: 'í',
  n: 'ñ',
  o: 'ö',
  s: 'š',
  u: 'ü',
  y: 'ý',
  A: 'Á',
  E: 'É',
  I: 'Í',
  O: 'Ö',
  S: 'Š',
  U: 'Ü',
}

const odd = (text: string) =>
  `⟦${text.replace(/\{\w+\}|[a-zA-Z]/g, (m) => letters[m] ?? m)}${' ···'.repeat(Math.ceil(text.length * 0.08))}⟧`

/** English made odd and a third longer: shows what is not translated, and what does not fit. */
const pseudo: Messages = Object.fromEntries(
  Object.entries(en as Record<string, Message>).map(([key, message]) => [
    key,
    typeof message === 'string'
      ? odd(message)
      : Object.fromEntries(Object.entries(message).map(([category, text]) => [category, odd(text)])),
  ]),
)

export default pseudo
