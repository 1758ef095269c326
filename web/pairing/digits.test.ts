import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caretAfter, digitsOf, grouped } from './digits.ts'

test('six digits are found in what people type, paste and have on their keyboards', () => {
  const rows: [text: string, digits: string][] = [
    ['123456', '123456'],
    ['123 456', '123456'],
    ['  123-456\n', '123456'],
    ['Code: 123 456!', '123456'],
    ['1234567', '123456'],
    ['12a3', '123'],
    ['', ''],
    ['abc', ''],
    ['١٢٣ ٤٥٦', '123456'],
    ['۱۲۳۴۵۶', '123456'],
    ['१२३४५६', '123456'],
    ['１２３４５６', '123456'],
    ['①②③', '123'],
    ['½', '12'],
  ]
  for (const [text, digits] of rows) assert.equal(digitsOf(text), digits, JSON.stringify(text))
})

test('digits are grouped as the terminal shows them, with the caret behind the same digit', () => {
  assert.deepEqual(['', '1', '123', '1234', '123456'].map(grouped), ['', '1', '123', '123 4', '123 456'])
  for (let before = 0; before <= 6; before++)
    assert.equal(digitsOf(grouped('123456').slice(0, caretAfter(before))).length, before)
})
