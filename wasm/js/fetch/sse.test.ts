import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SseScanner } from './sse.ts'

interface Scan {
  events: [string, string][]
  lastId: string
  retry: number
  ok: boolean
}

function scan(chunks: Uint8Array[], max = 1 << 20): Scan {
  const events: [string, string][] = []
  const scanner = new SseScanner(max, (event, data) => events.push([event, data]))
  const ok = chunks.every((chunk) => scanner.push(chunk.slice()))
  if (ok) scanner.end()
  return { events, lastId: scanner.lastId, retry: scanner.retry, ok }
}

const bytes = (s: string) => new TextEncoder().encode(s)

function cut(b: Uint8Array, at: number[]): Uint8Array[] {
  const edges = [0, ...at, b.length]
  return edges.slice(1).map((to, i) => b.slice(edges[i], to))
}

const rows: { name: string; text: string; events: [string, string][]; lastId?: string; retry?: number }[] = [
  { name: 'one event', text: 'data: a\n\n', events: [['', 'a']] },
  { name: 'a name', text: 'event: message\ndata: a\n\n', events: [['message', 'a']] },
  { name: 'several lines of data', text: 'data: a\ndata:b\ndata:  c\n\n', events: [['', 'a\nb\n c']] },
  { name: 'CR', text: 'data: a\r\rdata: b\r\r', events: [['', 'a'], ['', 'b']] },
  { name: 'CRLF', text: 'data: a\r\n\r\ndata: b\r\n\r\n', events: [['', 'a'], ['', 'b']] },
  { name: 'mixed ends', text: 'data: a\r\n\rdata: b\n\r\ndata: c\r\n\n', events: [['', 'a'], ['', 'b'], ['', 'c']] },
  { name: 'byte order mark', text: '\ufeffdata: a\n\n', events: [['', 'a']] },
  { name: 'a mark later is data', text: 'data: \ufeffa\n\n', events: [['', '\ufeffa']] },
  { name: 'comments', text: ': hi\n:\n\ndata: a\n: in\n\n', events: [['', 'a']] },
  { name: 'no colon', text: 'data\ndata\n\nid\ndata: a\n\n', events: [['', '\n'], ['', 'a']] },
  { name: 'no data', text: 'event: x\n\nid: 1\n\ndata:\n\n', events: [], lastId: '1' },
  { name: 'other names', text: 'event: ping\ndata: a\n\ndata: b\n\n', events: [['', 'b']] },
  { name: 'unknown fields', text: 'datax: a\nfoo: b\ndat: c\ndata: d\n\n', events: [['', 'd']] },
  { name: 'ids', text: 'id: 1\ndata: a\n\ndata: b\n\nid: x\0y\n\n', events: [['', 'a'], ['', 'b']], lastId: '1' },
  { name: 'an empty id resets', text: 'id: 1\ndata: a\n\nid\ndata: b\n\n', events: [['', 'a'], ['', 'b']], lastId: '' },
  { name: 'retry', text: 'retry: 1500\n\nretry: 2s\n\n', events: [], retry: 1500 },
  { name: 'cut off', text: 'id: 1\ndata: a\n\nid: 2\ndata: b', events: [['', 'a'], ['', 'b']], lastId: '1' },
  { name: 'wide characters', text: 'data: grüße 𝄞 漢\n\n', events: [['', 'grüße 𝄞 漢']] },
]

for (const row of rows) {
  test(`scans ${row.name}, however it is cut`, () => {
    const b = bytes(row.text)
    const cuts = [[], [...b.keys()].slice(1)]
    for (let i = 1; i < b.length; i++) cuts.push([i])
    for (let i = 1; i < b.length; i += 3) cuts.push([i, Math.min(i + 2, b.length)])
    for (const at of cuts) {
      const got = scan(cut(b, at))
      assert.deepEqual(got.events, row.events, `cut at ${at}`)
      assert.equal(got.lastId, row.lastId ?? '', `cut at ${at}`)
      assert.equal(got.retry, row.retry ?? -1, `cut at ${at}`)
    }
  })
}

test('an event over the limit ends the scan', () => {
  for (const text of ['data: 0123456789\n\n', 'data: 01234\ndata: 56789\n\n', ':0123456789', 'data\n'.repeat(20)]) {
    const got = scan(cut(bytes(text), [3]), 8)
    assert.equal(got.ok, false, text)
    assert.deepEqual(got.events, [])
  }
})

test('an id that is too long is not cut: its stream cannot be resumed', () => {
  const id = 'x'.repeat(4096)
  assert.equal(scan([bytes(`id: 1\ndata: a\n\nid: ${id}\ndata: b\n\n`)]).lastId, id)
  assert.equal(scan([bytes(`id: 1\ndata: a\n\nid: ${id}y\ndata: b\n\n`)]).lastId, '')
})

test('comments and small events never add up to the limit', () => {
  const got = scan([bytes(': keep alive\n'.repeat(100) + 'data: a\n\n'.repeat(100))], 16)
  assert.equal(got.ok, true)
  assert.equal(got.events.length, 100)
})

test('a stopped scanner is silent', () => {
  const events: string[] = []
  const scanner = new SseScanner(100, (_, data) => {
    events.push(data)
    scanner.stopped = true
  })
  scanner.push(bytes('data: a\n\ndata: b\n\n'))
  scanner.push(bytes('data: c\n\n'))
  scanner.end()
  assert.deepEqual(events, ['a'])
})

// The reference splits a whole text by the standard's words; random texts and
// random cuts must give the same events.
test('agrees with a plain reading of the standard', () => {
  const words = [
    'data',
    'data:',
    'data: x',
    'id: 1',
    'id',
    'event: message',
    'event: y',
    'retry: 5',
    ':',
    'é',
    ' ',
    '\ufeff',
    '\n',
    '\n',
    '\r',
    '\r\n',
    '\r\n',
  ]
  let seed = 1
  const random = (n: number) => (seed = (seed * 48271) % 0x7fffffff) % n
  for (let round = 0; round < 3000; round++) {
    let text = ''
    for (let i = random(30); i >= 0; i--) text += words[random(words.length)]
    text += '\n\n\n'
    const b = bytes(text)
    const at = Array.from({ length: random(6) }, () => random(b.length)).sort((x, y) => x - y)
    assert.deepEqual(scan(cut(b, at)).events, reference(text), JSON.stringify({ text, at }))
  }
})

function reference(text: string): [string, string][] {
  const events: [string, string][] = []
  let data: string[] = [], event = ''
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    if (line === '') {
      const joined = data.join('\n')
      if (joined !== '' && (event === '' || event === 'message')) events.push([event, joined])
      data = []
      event = ''
      continue
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    if (field === 'event') event = value
  }
  return events
}

test('an unfinished event takes about as much memory as it is long', () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const grown = (chunk: string, chunks: number) => {
    const scanner = new SseScanner(8 << 20, () => {}), b = bytes(chunk)
    gc()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < chunks; i++) assert.ok(scanner.push(b))
    gc()
    const after = process.memoryUsage().heapUsed
    scanner.end() // it lives until here
    return after - before
  }
  assert.ok(grown(`: ${'x'.repeat(256 << 10)}\ndata: 0123456789abcdef\n`, 500) < 20e6)
  assert.ok(grown('x', 2 << 20) < 20e6)
})
