import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJudgement } from './judge.ts'

const json = '{"agreements":["a"],"differences":[]}'

test("a judge's JSON is read from a fence, or from the first brace to the last", () => {
  const fenced = '```json'
  for (
    const reply of [
      json,
      `Here:\n${fenced}\n${json}\n\`\`\`\nDone.`,
      `${fenced} \n\n${json}\n\n  \`\`\``,
      `\`\`\`\n${json}\n\`\`\``,
      `${fenced}\n${json}`,
      `${fenced}\n\`\`\`\n${json}`,
    ]
  ) assert.deepEqual(readJudgement(reply, ['x', 'y']).agreements, ['a'], reply)
})

test('a reply with fences that never end takes time in proportion to its length', () => {
  const n = 100_000
  for (const reply of ['```json' + '\n'.repeat(n) + 'x', 'a```\n'.repeat(n), '```\n' + '\n '.repeat(n)])
    assert.throws(() => readJudgement(reply, ['x', 'y']), /there is no JSON/)
})
