import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fill } from './placeholders.ts'
import { readConfig } from './read.ts'

function random(seed: number): (n: number) => number {
  let x = seed
  return (n) => (x = (x * 48271) % 0x7fffffff) % n
}

test('no text breaks the reading of configurations', () => {
  const next = random(5)
  const parts = [
    '{',
    '}',
    '[',
    '"mcpServers":',
    '"command":"npx"',
    '"url":"https://a.example/mcp"',
    ',',
    '"headers":{"A":"b"}',
    '"__proto__":{}',
    'curl -H "A: b" https://a.example',
    ' --header ',
    "'",
    '"',
    '\\',
    '\n',
    '//',
    '/*',
    '[a]\n',
    '[mcp_servers.a]\n',
    '\n[[a.__proto__]]\n',
    'url = "https://a"',
    'a = { b = [1, 1979-05-27, inf] }',
    'claude mcp add x -- ',
    '\0',
    '\ud800',
    '${input:k}',
    '9e999',
    'null',
  ]
  for (let round = 0; round < 20_000; round++) {
    let text = ''
    for (let i = next(20); i > 0; i--) text += parts[next(parts.length)]
    readConfig(text)
  }
  assert.ok(!('polluted' in {}))
})

test('remotes and packages of a server.json that are no lists are none', () => {
  for (const members of ['"remotes":[],"packages":{}', '"remotes":"x","packages":[]']) {
    const { entries } = readConfig(`{"name":"a",${members}}`)
    assert.deepEqual(entries, [], members)
  }
})

test('a server with a value that is no text does not break the reading of others', () => {
  const { entries } = readConfig(
    '{"a":{"url":"https://a.example/mcp","type":{"toString":1}},"b":{"url":"https://b.example"}}',
  )
  assert.deepEqual(entries.map((entry) => entry.config?.url), ['https://a.example/mcp', 'https://b.example'])
})

test('half a character in a value of a URL is replaced', () => {
  const [entry] = readConfig('{"a":{"url":"https://a.example/${input:a}"}}').entries
  assert.equal(fill(entry!, { a: 'x\ud800' }).url, 'https://a.example/x%EF%BF%BD')
})

test('the longest texts are read at once', () => {
  const most = 1 << 20
  const config = (url: string) => `{"mcpServers":{"a":{"url":"${url}`
  for (
    const [start, part, end] of [
      ['https://a.example/', 'mcp', ''],
      [config('https://a.example/'), '/', 'a"}}}'],
      [config('https://a.example/'), '${input:', '"}}}'],
      [config('https://a.example" , "headers":{"A":"'), '${input:', '"}}}}'],
      ['{"a', '\\"', ''],
      ['https://a.example/?', '&key=b', ''],
    ] as const
  ) {
    const { entries } = readConfig(start + part.repeat((most - start.length - end.length) / part.length) + end)
    for (const entry of entries) if (entry.config) fill(entry)
  }
  fill(readConfig(config('${input:a}/mcp"}}}')).entries[0]!, { a: 'https://a.example' + '/'.repeat(most) + 'a' })
})
