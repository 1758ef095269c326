import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { canonical, pinOf } from './pin.ts'
import { sha256 } from './sha256.ts'

interface Row {
  name: string
  text: string
  canonical: string
  pin: string
}

const rows: Row[] = JSON.parse(readFileSync(new URL('../../../testdata/pins/pins.json', import.meta.url), 'utf8'))

for (const row of rows) {
  test(`pin: ${row.name}`, () => {
    const tool = JSON.parse(row.text)
    assert.equal(canonical(tool), row.canonical)
    assert.equal(pinOf(tool), row.pin)
  })
}

test('digests are those of SHA-256, at every length around a block', () => {
  const chars = ['a', 'é', '€', '😀', '\0']
  for (let n = 0; n < 300; n++) {
    const text = Array.from({ length: n }, (_, i) => chars[(i * 7 + n) % chars.length]).join('')
    assert.equal(sha256(text), createHash('sha256').update(text).digest('base64url'), String(n))
  }
  const long = 'lorem ipsum '.repeat(50_000)
  assert.equal(sha256(long), createHash('sha256').update(long).digest('base64url'))
})

test('what pinning 5,000 tools costs', (t) => {
  const tools = Array.from({ length: 5000 }, (_, i) => ({
    name: `tool_${i}`,
    description: 'What it does, in some words. '.repeat(10),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from(
          { length: 8 },
          (_, k) => [`p${k}`, { type: 'string', description: `parameter ${k} of ${i}, and what it is for` }],
        ),
      ),
    },
  }))
  const began = performance.now()
  assert.equal(new Set(tools.map(pinOf)).size, tools.length)
  t.diagnostic(
    `${(performance.now() - began).toFixed(0)} ms for ${(JSON.stringify(tools).length / 2 ** 20).toFixed(1)} MiB`,
  )
})
