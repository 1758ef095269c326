import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { frameDigest, frameScript, head, tail } from './codeframe.ts'

test('the digest is of the script, and docs/csp.md has it', () => {
  assert.equal(frameDigest, `sha256-${createHash('sha256').update(frameScript).digest('base64')}`)
  assert.ok(readFileSync(new URL('../../../../docs/csp.md', import.meta.url), 'utf8').includes(`'${frameDigest}'`))
})

test('the text around the code is JavaScript', () => {
  for (const code of ['', 'return 1', '// a comment', 'await tools.a.b()'])
    assert.ok(new Function(head + code + tail), code)
  assert.throws(() => new Function(head + '}' + tail), SyntaxError)
})
