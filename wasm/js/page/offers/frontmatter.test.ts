import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frontmatterFault } from './frontmatter.ts'

const of = (yaml: string) => `---\n${yaml}\n---\n\nBody\n---\nmore\n`

test('a frontmatter that is the entry, in the core schema of YAML 1.2', () => {
  for (
    const [text, entry] of [
      [of('name: a\ndescription: b'), { description: 'b', name: 'a' }],
      ['---\r\nname: a\r\n---\r\nBody', { name: 'a' }],
      ['---  \nname: a\n---', { name: 'a' }],
      [of('date: 2026-01-01\nv: 1.0\nl: [1, true, null, ~]\nb: |\n  x\n  y\n'), {
        date: '2026-01-01',
        v: 1,
        l: [1, true, null, null],
        b: 'x\ny\n',
      }],
      [of('d: "---"\nyes: no'), { d: '---', yes: 'no' }],
      [of('a: &a [1]\nb: *a'), { a: [1], b: [1] }],
      [of('__proto__: {a: 1}\nconstructor: x'), JSON.parse('{"__proto__":{"a":1},"constructor":"x"}')],
      [of('metadata: {a: {b: [c]}}'), { metadata: { a: { b: ['c'] } } }],
    ] as [string, Record<string, unknown>][]
  ) assert.equal(frontmatterFault(text, entry), undefined, text)
})

test('every difference counts, and so does what is no frontmatter', () => {
  const bomb = Array.from({ length: 60 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join()}]`)
  for (
    const [text, entry] of [
      [of('name: a'), { name: 'b' }],
      [of('name: a'), {}],
      [of('name: a\nhooks: x'), { name: 'a' }],
      [of('name: a'), { name: 'a', hooks: 'x' }],
      [of('name: a'), JSON.parse('{"name":"a","__proto__":{}}')],
      [of('__proto__: {toString: x}'), {}],
      [of('n: 1'), { n: '1' }],
      [of('l: [1, 2]'), { l: { 0: 1, 1: 2 } }],
      [of('l: {0: 1}'), { l: [1] }],
      [of('l: [1]'), { l: [1, 2] }],
      [of('- a'), {}],
      [of('a: 1\na: 2'), { a: 2 }],
      [of('a: !!js/function x'), { a: 'x' }],
      [of('<<: {a: 1}'), { a: 1 }],
      [of(`a0: &a0 [x]\n${bomb.join('\n')}`), { name: 'a' }],
      [of('a: &a {b: *a}'), { a: { b: { b: 1 } } }],
      [of(`a: ${'['.repeat(50_000)}`), { a: [] }],
      [of(`# ${'x'.repeat(70_000)}\nname: a`), { name: 'a' }],
      ['name: a', { name: 'a' }],
      ['\n---\nname: a\n---\n', { name: 'a' }],
      ['----\nname: a\n---\n', { name: 'a' }],
      ['---\nname: a\n', { name: 'a' }],
      ['', {}],
    ] as [string, Record<string, unknown>][]
  ) assert.ok(frontmatterFault(text, entry), text.slice(0, 200))
})
