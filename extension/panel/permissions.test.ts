import assert from 'node:assert/strict'
import { test } from 'node:test'
import { covers, originOf } from './permissions.ts'

test('an origin is scheme, host and port, and nothing that would be dropped silently', () => {
  const rows: [text: string, read: ReturnType<typeof originOf>][] = [
    ['https://app.example', { origin: 'https://app.example' }],
    [' https://APP.example:443/ ', { origin: 'https://app.example' }],
    ['http://localhost:5173', { origin: 'http://localhost:5173' }],
    ['https://bücher.example', { origin: 'https://xn--bcher-kva.example' }],
    ['', { problem: 'empty' }],
    ['app.example', { problem: 'no_origin' }],
    ['localhost:5173', { problem: 'no_origin' }],
    ['https://', { problem: 'no_origin' }],
    ['null', { problem: 'no_origin' }],
    ['*', { problem: 'no_origin' }],
    ['chrome-extension://abc', { problem: 'scheme' }],
    ['file:///x', { problem: 'scheme' }],
    ['ws://a.example', { problem: 'scheme' }],
    ['https://a.example/app', { problem: 'more', origin: 'https://a.example' }],
    ['https://a.example?', { problem: 'more', origin: 'https://a.example' }],
    ['https://a.example/#', { problem: 'more', origin: 'https://a.example' }],
    ['https://me:pw@a.example', { problem: 'more', origin: 'https://a.example' }],
    ['https://a.example@b.example', { problem: 'more', origin: 'https://b.example' }],
    ['javascript:alert(1)', { problem: 'no_origin' }],
  ]
  for (const [text, read] of rows) assert.deepEqual(originOf(text), read, text)
  assert.ok('problem' in originOf('https://*.example'), 'a pattern is no origin')
})

test('match patterns cover what the browser takes them to cover', () => {
  const rows: [pattern: string, origin: string, covered: boolean][] = [
    ['https://a.example/*', 'https://a.example', true],
    ['https://a.example/*', 'http://a.example', false],
    ['https://a.example/*', 'https://b.a.example', false],
    ['https://*.a.example/*', 'https://b.a.example', true],
    ['https://*.a.example/*', 'https://a.example', true],
    ['https://*.a.example/*', 'https://nota.example', false],
    ['*://a.example/*', 'http://a.example', true],
    ['*://*/*', 'https://x.example:8443', true],
    ['<all_urls>', 'http://[::1]:3000', true],
    ['http://127.0.0.1:3000/*', 'http://127.0.0.1:3000', true],
    ['http://127.0.0.1:3000/*', 'http://127.0.0.1:3001', false],
    ['http://127.0.0.1/*', 'http://127.0.0.1:3001', true],
    ['https://a.example:443/*', 'https://a.example', true],
    ['http://[::1]:3000/*', 'http://[::1]:3000', true],
    ['https://a.example/some/*', 'https://a.example', false],
    ['nonsense', 'https://a.example', false],
  ]
  for (const [pattern, origin, covered] of rows)
    assert.equal(covers([pattern], origin), covered, `${pattern} ${origin}`)
  assert.equal(covers([], 'https://a.example'), false)
})
