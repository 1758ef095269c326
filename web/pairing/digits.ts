// The six digits, as people type or paste them.

/** Zeros of the digits that keyboards give: ASCII, Arabic, Persian, Devanagari. */
const zeros = [0x30, 0x660, 0x6f0, 0x966]

/** The first six digits of a text, as ASCII. The text may use other digits, and other characters between them. */
export function digitsOf(text: string): string {
  let out = ''
  for (const c of text.normalize('NFKC')) {
    const code = c.codePointAt(0)!
    const zero = zeros.find((z) => code >= z && code < z + 10)
    if (zero !== undefined) out += code - zero
    if (out.length === 6) break
  }
  return out
}

/** As the terminal shows them: 123 456. */
export const grouped = (digits: string): string =>
  digits.length > 3 ? `${digits.slice(0, 3)} ${digits.slice(3)}` : digits

/** Where the caret goes in the grouped text that has `before` digits in front of it. */
export const caretAfter = (before: number): number => (before > 3 ? before + 1 : before)

/** Groups what was typed into a field, with the caret behind the same digit. Returns the digits. */
export function groupTyped({ target }: Event): string {
  const input = target as HTMLInputElement
  const before = digitsOf(input.value.slice(0, input.selectionStart ?? input.value.length)).length
  const digits = digitsOf(input.value)
  input.value = grouped(digits)
  input.setSelectionRange(caretAfter(before), caretAfter(before))
  return digits
}
