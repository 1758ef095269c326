import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { maxTimeoutMs } from '../../wasm/js/shared/wire.gen.ts'
import { fill, missing } from './placeholders.ts'
import { readConfig } from './read.ts'
import type { Lint, Reading } from './types.ts'

const folder = new URL('../../testdata/config-dialects/', import.meta.url)
const files = readdirSync(folder).filter((f) => !f.endsWith('.reading.json') && f !== 'README.md')
const source = (file: string) => readFileSync(new URL(file, folder), 'utf8')

for (const file of files) {
  test(`reads ${file}`, () => {
    const golden = new URL(file + '.reading.json', folder)
    const reading = readConfig(source(file))
    if (process.env.UPDATE) writeFileSync(golden, JSON.stringify(reading, null, 2) + '\n')
    assert.deepEqual(JSON.parse(JSON.stringify(reading)), JSON.parse(readFileSync(golden, 'utf8')))
  })
}

const one = (text: string, page?: string) => {
  const { entries } = readConfig(text, page ? { page } : {})
  assert.equal(entries.length, 1, text)
  return entries[0]!
}
const codes = (text: string, page?: string) => one(text, page).lints.map((l) => l.code)
const withHeader = (name: string, value: string) =>
  JSON.stringify({ url: 'https://a.example.com/mcp', headers: { [name]: value } })

test('lints by code', () => {
  const rows: [text: string, code: Lint['code'], page?: string][] = [
    [withHeader('Authorization', 'Bearer'), 'empty_bearer'],
    [withHeader('authorization', 'bearer  '), 'empty_bearer'],
    [withHeader('Authorization', 'abcdef'), 'bearer_missing_scheme'],
    [withHeader('X-Key', '  '), 'empty_header'],
    [withHeader('X-Key', 'abc '), 'trailing_space'],
    [withHeader('X-Key', 'YOUR_API_KEY'), 'placeholder_left'],
    [withHeader('X-Key', 'Bearer <your token>'), 'placeholder_left'],
    [withHeader('X-Key', 'a\nb'), 'invalid_header_value'],
    [withHeader('Sec-Fetch-Mode', 'cors'), 'forbidden_header'],
    [withHeader('a b', 'cors'), 'invalid_header_name'],
    ['{"url":"https://a.example.com/mcp","headers":{"__proto__":"x"}}', 'invalid_header_name'],
    ['http://shop.example.com/mcp', 'http_public_host'],
    ['https://shop.example.com', 'path_looks_like_homepage'],
    ['https://shop.example.com/docs/intro', 'path_is_docs'],
    ['https://shop.example.com/mcp?access_token=abc', 'secret_in_url'],
    ['https://shop.example.com/mcp/<your-id>', 'placeholder_left'],
    ['localhost:3000/mcp', 'localhost_from_public', 'https://ide.example.com/'],
    ['http://10.0.0.1/mcp', 'private_address'],
    ['http://nas.local/mcp', 'private_address'],
    ['{"url":"https://a.example.com/sse","type":"streamable-http"}', 'transport_mismatch'],
    ['{"url":"https://a.example.com/mcp","type":"sse"}', 'transport_mismatch'],
    ['{"url":"https://a.example.com/mcp","type":"carrier-pigeon"}', 'unknown_transport'],
    ['{"url":"https://a.example.com/mcp","colour":1}', 'ignored_field'],
    ['http://localhost:6274/?transport=streamable-http&serverUrl=https://a.example.com/mcp', 'inspector_proxy_url'],
    ['{"url":"not a url"}', 'bad_url'],
    ['{"url":"javascript:alert(1)"}', 'bad_url'],
    ['{"mcpServers":{"a":{}, "b":{"url":"https://b.example.com/mcp"}}}', 'no_url'],
  ]
  for (const [text, code, page] of rows) {
    const found = readConfig(text, page ? { page } : {}).entries.flatMap((e) => e.lints.map((l) => l.code))
    assert.ok(found.includes(code), `${text}: ${code} is not in ${found.join(' ')}`)
  }
  for (
    const fine of [
      'https://a.example.com/mcp',
      'https://a.example.com/v1/sse',
      'https://docs.example.com/mcp',
      withHeader('Authorization', 'Bearer abc'),
      withHeader('X-Key', 'my-team'),
    ]
  ) {
    assert.deepEqual(codes(fine), [], fine)
  }
  assert.deepEqual(codes('http://localhost:3000/mcp', 'http://localhost:5173/'), [])
})

test('a file of opencode is an input, as a variable is', () => {
  const entry = one(withHeader('Authorization', 'Bearer {file:~/.key}'))
  assert.deepEqual(entry.config?.headers, { Authorization: 'Bearer ${input:~/.key}' })
  assert.deepEqual(missing(entry, {}).map((i) => i.id), ['~/.key'])
  assert.deepEqual(fill(entry, { '~/.key': 'k' }).headers, { Authorization: 'Bearer k' })
})

test('a timeout that the registry refuses is left out', () => {
  const timeout = (timeoutMs: number) =>
    one(JSON.stringify({ url: 'https://a.example.com/mcp', timeoutMs })).config?.timeoutMs
  assert.equal(timeout(maxTimeoutMs), maxTimeoutMs)
  assert.equal(timeout(maxTimeoutMs + 1), undefined)
})

test('a URL with a placeholder in its host or its port is whole, and says nothing of the host', () => {
  for (
    const url of [
      'https://${HOST}/mcp',
      '${BASE}/mcp',
      'https://${ORG}.example.com/mcp',
      'http://localhost:${PORT:-80}/mcp',
      'https://a.example.com/mcp?api_key=${KEY}',
    ]
  ) {
    const entry = one(JSON.stringify({ mcpServers: { a: { url } } }))
    assert.deepEqual([entry.lints, entry.inputs.length], [[], 1], url)
    assert.ok(entry.config, url)
  }
  assert.equal(
    fill(one('{"mcpServers":{"a":{"url":"http://localhost:${PORT:-8080}/mcp"}}}')).url,
    'http://localhost:8080/mcp',
  )
})

test('nothing of a header value or an environment is outside of the configuration', () => {
  for (const file of files) {
    const { entries } = readConfig(source(file))
    const shown = JSON.stringify(entries.map(({ config: _, ...rest }) => rest))
    for (
      const secret of [
        'fs-secret',
        'not-shown',
        'tk-123',
        'tk_4711',
        'abc123',
        'tok1',
        'bWU6c2VjcmV0',
        'sk-abc',
        'KEY=secret',
        'pass!',
        'pass%21',
      ]
    ) {
      assert.ok(!shown.includes(secret), `${file} shows ${secret}`)
    }
  }
})

test('arguments of a local process are shown without what looks secret', () => {
  const shown = (args: string[]) => one(JSON.stringify({ command: 'x', args })).stdio!.args
  const r = '[redacted]'
  assert.deepEqual(shown(['--api-key', 'abc', '--port', '1']), ['--api-key', r, '--port', '1'])
  assert.deepEqual(shown(['--token=abc', 'PASSWORD=abc', 'sk-abcdef']), [`--token=${r}`, `PASSWORD=${r}`, r])
  assert.deepEqual(shown(['postgres://u:p@db/x', 'https://a.example.com/?key=abc&x=1']), [
    `postgres://${r}@db/x`,
    `https://a.example.com/?key=${r}&x=1`,
  ])
  assert.deepEqual(shown(['-H', 'Authorization: Bearer abc']), ['-H', r])
})

test('a wrapper is seen through a shell', () => {
  for (
    const args of [['-c', 'npx -y mcp-remote https://a.example.com/mcp --header "X-Key: a b"'], [
      '-lc',
      "npx mcp-remote@0.1 'https://a.example.com/mcp' --header='X-Key: a b' --port 3000",
    ]]
  ) {
    assert.deepEqual(one(JSON.stringify({ command: 'sh', args })).config, {
      url: 'https://a.example.com/mcp',
      headers: { 'X-Key': 'a b' },
    })
  }
})

test('inputs are filled in, and empty ones never make an empty header', () => {
  const entry = one(source('vscode.json').replace(/"db":.*$/m, ''))
  assert.deepEqual(missing(entry, {}).map((i) => i.id), ['forge-token'])
  assert.deepEqual(fill(entry, { 'forge-token': '${input:region} $& x' }), {
    url: 'https://eu.forge.example.com/mcp/',
    headers: { Authorization: 'Bearer ${input:region} $& x', 'X-Toolsets': 'repos' },
  })
  assert.deepEqual(fill(entry, { region: 'us/../x' }).url, 'https://us%2F..%2Fx.forge.example.com/mcp/')
  assert.deepEqual(fill(entry).headers, { 'X-Toolsets': 'repos' })
})

test('names are printable, short and unique', () => {
  const names = [
    'a',
    'a ',
    'a\u202e',
    'x'.repeat(100),
    'x'.repeat(101),
    '',
    '__proto__',
    'constructor',
    '😀'.repeat(80),
  ]
  const text = `[${names.map((n) => JSON.stringify({ name: n, url: 'https://shop.example.com/mcp' })).join()}]`
  const found = readConfig(text).entries.map((e) => e.name)
  assert.equal(new Set(found).size, names.length)
  for (const n of found) assert.ok([...n].length <= 64 && !/[\u0000-\u001f\u202e]/.test(n), n)
  assert.deepEqual(found.slice(0, 3), ['a', 'a-2', 'a-3'])
})

test('what is too much is bounded', () => {
  assert.equal(readConfig(' '.repeat((1 << 20) + 1)).problem?.code, 'too_large')
  const many = readConfig(
    JSON.stringify({
      mcpServers: Object.fromEntries(
        Array.from({ length: 600 }, (_, i) => ['s' + i, { url: 'https://a.example.com/mcp' }]),
      ),
    }),
  )
  assert.equal(many.entries.length, 500)
  assert.equal(many.problem?.code, 'too_many')
  assert.equal(readConfig('['.repeat(1000)).problem?.code, 'json_depth')
  assert.ok(
    !('polluted' in {}),
    String(
      readConfig(
        '{"mcpServers":{"__proto__":{"url":"https://a.example.com/mcp","headers":{"__proto__":"x","polluted":"1"}}}}',
      ).entries.length,
    ),
  )
})

const faults: [text: string, code: string, line: number, column: number][] = [
  ['{"a" 1}', 'json_unexpected', 1, 6],
  ['{\n "a": tru }', 'json_unexpected', 2, 7],
  ['{"a": "b', 'json_unclosed', 1, 7],
  ['{"a": "\\q"}', 'json_string', 1, 7],
  ["{'a': 1}", 'json_quotes', 1, 2],
  ['{"a": [1, 2}', 'json_unexpected', 1, 12],
  ['{"a": 1} x', 'json_rest', 1, 10],
  ['\n\n  {"a": 1', 'json_unclosed', 3, 3],
  ['{"a":1 "b":2}', 'json_unexpected', 1, 8],
  ['\r\n{\r\n  "a": ,\r\n  "b": 1\r\n}\r\n', 'json_unexpected', 3, 8],
  ['\ufeff{"a": ,}', 'json_unexpected', 1, 7],
]
test('the first fault in JSON has its place', () => {
  for (const [text, code, line, column] of faults)
    assert.deepEqual(readConfig(text).problem, { code, line, column }, text)
})

test('no text makes it throw, or slow', () => {
  const corpus = files.map(source)
  const bits = [
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '\\',
    '${',
    '}',
    '{{',
    "$'",
    '://',
    '\u202e',
    '\u0000',
    '\ud800',
    '__proto__',
    '--header',
    '\n',
    '=',
    ':',
    '%',
    '#',
    '/*',
    ',',
    '<',
    '```\n',
  ]
  let seed = 20261121
  const below = (n: number) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % n
  const begun = performance.now()
  for (let i = 0; i < 20_000; i++) {
    let s = corpus[below(corpus.length)]!
    for (let n = 1 + below(5); n > 0; n--) {
      const at = below(s.length + 1)
      s = below(3) ? s.slice(0, at) + bits[below(bits.length)]! + s.slice(at) : s.slice(0, at) + s.slice(at + below(20))
    }
    const reading: Reading = readConfig(s, { page: 'https://ide.example.com' })
    for (const e of reading.entries) if (e.config) fill(e, Object.fromEntries(e.inputs.map((x) => [x.id, 'v'])))
  }
  assert.ok(performance.now() - begun < 60_000)
  const big = 1 << 20
  for (
    const bit of [
      '{"a":',
      '[',
      '"',
      '${',
      '{{',
      'a.',
      'a=',
      '<',
      '-',
      ' \\\n',
      'curl -H ',
      '\t\n',
      '//',
      '/*',
      'your_',
      '\u{e0041}',
      'https://a/\n',
      'claude mcp add a -H ',
      '[x',
      'x',
    ]
  ) {
    for (
      const head of [
        '',
        '{"url":"',
        'curl ',
        'claude mcp add x ',
        'https://',
        '{"url":"https://a/mcp","headers":{"a":"',
      ]
    ) {
      const begun = process.cpuUsage()
      readConfig((head + bit.repeat(big / bit.length)).slice(0, big))
      const ms = process.cpuUsage(begun).user / 1000
      assert.ok(ms < 3000, `${head} ${JSON.stringify(bit)} takes ${Math.round(ms)} ms`)
    }
  }
})

test('what is no text, and unknown options, are refused', () => {
  assert.throws(() => readConfig({ mcpServers: {} } as never), { name: 'TypeError', message: /JSON\.stringify/ })
  assert.throws(() => readConfig('', { pages: 'x' } as never), { name: 'TypeError', message: /"pages".*mean page\?/ })
  assert.throws(() => readConfig('', 'x' as never), { name: 'TypeError', message: /not an object.*page/ })
})

test('docker run is a program that a page cannot start', () => {
  const { stdio } = readConfig('docker run -i --rm -e FILES_TOKEN=s3cr3t mcp/files').entries[0]!
  assert.deepEqual(stdio, {
    command: 'docker',
    args: ['run', '-i', '--rm', '-e', 'FILES_TOKEN=[redacted]', 'mcp/files'],
    env: [],
  })
})

test('options behind a program belong to it, also without --', () => {
  const rows: [line: string, want: object][] = [
    ['gemini mcp add -s user -e A=b files npx -y files-mcp --root /tmp -e C=d', {
      args: ['-y', 'files-mcp', '--root', '/tmp', '-e', 'C=d'],
      env: ['A'],
    }],
    ['gemini mcp add files node server.js -- --port 1', { args: ['server.js', '--port', '1'], env: [] }],
    ['claude mcp add files -- npx -- files-mcp', { args: ['--', 'files-mcp'], env: [] }],
  ]
  for (const [line, want] of rows) {
    const [entry] = readConfig(line).entries
    const { args, env } = entry!.stdio!
    assert.deepEqual([entry!.name, { args, env }, entry!.lints], ['files', want, []], line)
  }
  const { config, lints } = readConfig('gemini mcp add sea https://sea.example/mcp --trust -H "A: b"').entries[0]!
  assert.deepEqual(config, { url: 'https://sea.example/mcp', headers: { A: 'b' } })
  assert.deepEqual(lints.map((l) => l.values), [{ field: '--trust' }])
})
