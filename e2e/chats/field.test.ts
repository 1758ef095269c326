import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as fieldModule from '../../extension/chats/driver/field.ts'
import { inPage } from './inpage.ts'

declare global {
  var fieldIn: typeof fieldModule
}

const inside = inPage({ fieldIn: 'field.ts' })

const parts = (text: string) =>
  inside.page.evaluate((text) => {
    document.body.setHTMLUnsafe('<div contenteditable></div>')
    const field = document.querySelector('div')!
    const seen: string[] = []
    field.addEventListener('paste', (e) => seen.push(e.clipboardData!.getData('text/plain')))
    fieldIn.paste(field, text)
    return seen
  }, text)

test('a long text is pasted in parts that begin and end within words', async () => {
  const text = 'Name the tides. '.repeat(1000)
  const seen = await parts(text)
  assert.equal(seen.join(''), text)
  assert.ok(seen.length === 5 && seen.slice(0, -1).every((part, i) => /\S$/.test(part) && /^\S/.test(seen[i + 1]!)))
})

test('a text without longer words is pasted in few parts', async () => {
  for (const text of ['1 '.repeat(20_000), `a${'\n'.repeat(40_000)}b`]) {
    const seen = await parts(text)
    assert.equal(seen.join(''), text)
    assert.ok(seen.length < 15)
  }
})
