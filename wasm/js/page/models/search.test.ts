import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Finder } from './finder.ts'
import { Searches } from '../../host/searches.ts'
import { SearchIndex } from '../../shared/search.ts'
import { documentOf, type SearchDocument } from '../../shared/searchdocument.ts'
import type { ToolDefinition } from '../../shared/types.ts'
import { split, stem } from '../../shared/words.ts'
import { finish } from '../../shared/yield.ts'
import {
  documents,
  indexOf,
  readQueries,
  readTools,
  recall,
  separation,
  type Search,
} from '../../../../bench/searchquality.ts'

const tools = readTools()
const queries = readQueries()
const docs = documents(tools)

const searchOf = (index: SearchIndex): Search => (query) => {
  const hits = index.search(query, 5)
  return { names: hits.map((h) => h.name), score: hits[0]?.score ?? 0 }
}

test('P46: the set has what it claims', () => {
  const all = new Set([...tools.values()].flat().map((t) => t.name))
  assert.ok(all.size >= 300 && tools.size >= 12 && queries.length >= 240)
  for (const { text, right } of queries) for (const name of right) assert.ok(all.has(name), `${text}: ${name}`)
  assert.equal(new Set(queries.map((q) => q.text)).size, queries.length)
})

/** The least recall at 5 of each half, in percent. */
const floors: Record<string, number> = {
  plain: 96,
  synonym: 53,
  misspelling: 95,
  abbreviation: 80,
  sentence: 68,
  parameter: 94,
  language: 70,
  several: 100,
}

for (const half of ['tuning', 'held-out']) {
  test(`P46: the ${half} half finds as many right tools as it did`, () => {
    const search = searchOf(indexOf(docs))
    const some = queries.filter((q) => q.half === half)
    for (const [kind, least] of Object.entries(floors)) {
      const { five } = recall(some.filter((q) => q.kind === kind), search)
      assert.ok(five >= least, `${kind}: ${five}`)
    }
    const all = recall(some.filter((q) => q.right.length), search)
    assert.ok(all.five >= 85 && all.first >= 72, JSON.stringify(all))
    const apart = separation(some, search)
    assert.ok(apart >= 0.93, `separation ${apart}`)
  })
}

test('P46: the order of servers, and tools that came and went, have no influence', () => {
  const straight = indexOf(docs), changed = new SearchIndex()
  finish(changed.set('gone', docs.get('github')!.map((d) => ({ ...d, name: `gone/${d.name}` }))))
  for (const [server, list] of [...docs].reverse()) finish(changed.set(server, list))
  finish(changed.set('gitlab', docs.get('gitlab')!.slice(0, 30)))
  finish(changed.set('gone', []))
  finish(changed.set('gitlab', docs.get('gitlab')!))
  for (const { text } of queries) assert.deepEqual(changed.search(text, 10), straight.search(text, 10), text)
})

const doc = (name: string, description = ''): SearchDocument => ({ name, texts: [name, '', description, '', ''] })

function indexed(...list: SearchDocument[]): (query: string) => string[] {
  const index = new SearchIndex()
  finish(index.set('s', list))
  return (query) => index.search(query, 50).map((h) => h.name)
}

test('a word of tools that went is no reading of a misspelled word', () => {
  const index = new SearchIndex()
  finish(index.set('stays', [doc('kubernetes')]))
  finish(index.set('gone', [doc('kubernetos')]))
  assert.deepEqual(index.search('kubernetoz', 5).map((h) => h.name), ['kubernetos'])
  finish(index.set('gone', []))
  assert.deepEqual(index.search('kubernetoz', 5).map((h) => h.name), ['kubernetes'])
})

test('P46: words are found in each way of writing them', () => {
  const find = indexed(
    doc('createPullRequest'),
    doc('get_database_config'),
    doc('search-repositories'),
    doc('HTMLToPDF'),
    doc('file_system_watch'),
    doc('kubernetes_apply'),
  )
  for (
    const [query, name] of [
      ['creating pull requests', 'createPullRequest'],
      ['pr', 'createPullRequest'],
      ['pullrequest', 'createPullRequest'],
      ['pull reqeust', 'createPullRequest'],
      ['cfg', 'get_database_config'],
      ['databse', 'get_database_config'],
      ['repo', 'search-repositories'],
      ['html pdf', 'HTMLToPDF'],
      ['filesystem', 'file_system_watch'],
      ['k8s', 'kubernetes_apply'],
    ] as const
  ) assert.equal(find(query)[0], name, query)
})

test('accents, other scripts and half characters', () => {
  const find = indexed(
    doc('a', 'Crée une réservation à Zürich'),
    doc('b', '文件搜索工具'),
    doc('c', 'Отправляет сообщение'),
    doc('d', 'ファイルを削除する'),
    doc('e', 'broken \ud800 text'),
  )
  assert.deepEqual(find('reservation zurich'), ['a'])
  assert.deepEqual(find('搜索'), ['b'])
  assert.deepEqual(find('сообщение'), ['c'])
  assert.deepEqual(find('削除'), ['d'])
  assert.deepEqual(find('broken \udfff'), ['e'])
})

test('names of the prototype are words as others', () => {
  const find = indexed(doc('constructor'), doc('__proto__'), doc('toString'))
  assert.deepEqual(find('constructor'), ['constructor'])
  assert.deepEqual(find('__proto__'), ['__proto__'])
  assert.deepEqual(find('hasOwnProperty valueOf'), [])
})

test('a sentence of most tools says nothing', () => {
  const limit = ' Costs one credit of your plan.'
  const find = indexed(...['alpha', 'beta', 'gamma', 'delta'].map((n) => doc(n, `Handles ${n}.${limit}`)))
  assert.deepEqual(find('credit plan'), [])
  assert.equal(find('handles gamma')[0], 'gamma')
})

test('queries of stop words, signs or nothing', () => {
  const find = indexed(doc('list_all', 'List all'), doc('other'))
  for (const query of ['all of the', '', '   ', '???', '\0', '…']) assert.deepEqual(find(query), [])
  assert.deepEqual(new SearchIndex().search('file', 5), [])
})

test('P46: hostile texts are bounded', () => {
  const letters = Array.from({ length: 100_000 }, (_, i) => `w${i.toString(36)}`).join(' ')
  const index = new SearchIndex()
  const definition: ToolDefinition = {
    name: 'x'.repeat(100_000),
    description: letters,
    inputSchema: {
      properties: Object.fromEntries(
        Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { description: letters.slice(0, 5_000) }]),
      ),
    },
  }
  let deep: ToolDefinition['inputSchema'] = { properties: { bottom: {} } }
  for (let i = 0; i < 10_000; i++) deep = { items: deep, anyOf: [deep] }
  const info = (name: string, definition: ToolDefinition) =>
    documentOf({ name, server: 's', tool: definition.name, definition, pin: '' })
  const large = info('large', definition)
  assert.ok(JSON.stringify(large).length < 20_000, String(JSON.stringify(large).length))
  assert.deepEqual(info('deep', { name: 'deep', inputSchema: deep }), doc('deep'))
  const odd = { name: 'odd', title: 7, description: null, inputSchema: { properties: [1], items: 'x', anyOf: 3 } }
  assert.deepEqual(info('odd', odd as never), doc('odd'))
  const properties = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, { description: `d${i}` }]))
  const { texts } = info('most', { name: 'most', inputSchema: { properties } })
  for (const [text, last] of [[texts[3], 'p99'], [texts[4], 'd99']]) assert.equal(text!.split('\n').at(-1), last)
  finish(index.set('s', [large, doc('a', letters), doc('b'.repeat(300_000), ' . '.repeat(100_000))]))
  assert.equal(index.search(letters, 5)[0]!.name, 'large')
  assert.ok(index.search('a'.repeat(100_000), 5).length <= 5)
  finish(index.set('many', Array.from({ length: 30_000 }, (_, i) => doc(`n${i}`))))
  assert.ok(index.search('n29999', 5)[0]?.name !== 'n29999') // after the last that counts
})

test('P46: the parameters of a tool: nested ones, those of items and of alternatives', () => {
  const { texts: [, , , parameters, details] } = documentOf({
    name: 's__t',
    server: 's',
    tool: 't',
    pin: '',
    definition: {
      name: 't',
      inputSchema: {
        properties: {
          filter: { description: 'What to keep', properties: { since: { enum: ['today', 'yesterday'] } } },
          edits: { items: { properties: { newText: {} } } },
        },
        oneOf: [{ properties: { byName: { description: 'A\nname' } } }],
      },
    },
  })
  assert.deepEqual(parameters.split('\n'), ['filter', 'since', 'edits', 'newText', 'byName'])
  assert.deepEqual(details.split('\n'), ['What to keep', 'today yesterday', 'A name'])
})

test('a tool whose name has only words that say nothing is found by its name', () => {
  const index = new SearchIndex()
  const tool = (name: string, description = '') =>
    documentOf({ name: `s__${name}`, server: 's', tool: name, definition: { name, description, inputSchema: {} } })
  finish(index.set('s', [tool('about'), tool('who_are_you'), tool('list_files', 'Lists all files in a folder.')]))
  const found = (query: string) => index.search(query, 5).map(({ name }) => name)
  assert.deepEqual(found('about'), ['s__about'])
  assert.deepEqual(found('Who are you?'), ['s__who_are_you'])
  assert.deepEqual(found('what are the files about'), ['s__list_files'])
})

test('words and stems', () => {
  assert.deepEqual(split('getHTTPResponseCode2 kebab-case snake_case URLs', 20), [
    'get',
    'http',
    'response',
    'code',
    '2',
    'kebab',
    'case',
    'snake',
    'case',
    'urls',
  ])
  for (
    const [word, others] of Object.entries({
      create: ['creates', 'created', 'creating', 'creation'],
      repository: ['repositories'],
      commit: ['commits', 'committed', 'committing'],
      branch: ['branches'],
      deploy: ['deploys', 'deployed', 'deployment'],
      query: ['queries'],
      list: ['lists', 'listed', 'listing'],
    })
  ) for (const other of others) assert.equal(stem(other), stem(word), other)
  for (const word of ['status', 'access', 'this', 'news', 'red', 'ring']) assert.ok(stem(word).length >= 3, word)
})

test('a search needs nothing that Node 20 lacks', async () => {
  const newer = Object.getOwnPropertyDescriptor(Map, 'groupBy')!
  Reflect.deleteProperty(Map, 'groupBy')
  try {
    const tool = (server: string, tool: string) => ({
      name: `${server}__${tool}`,
      server,
      tool,
      definition: { name: tool, inputSchema: {} },
    })
    const finder = new Finder(
      {
        tools: [tool('a', 'add'), tool('b', 'add'), tool('a', 'subtract')],
        isRemote: true,
        makeIndex: () => Promise.resolve(new SearchIndex()),
      } as never,
    )
    assert.deepEqual((await finder.search('add')).map((hit) => hit.name), ['a__add', 'b__add'])
  } finally {
    Object.defineProperty(Map, 'groupBy', newer)
  }
})

test('P46: the index of a client that leaves while it is made goes with the client', async () => {
  const searches = new Searches()
  const document: SearchDocument = { name: 's__tide', texts: ['tide', '', 'the tide table', '', ''] }
  const begun = searches.perform(1, { id: 1, method: 'index', server: 's', documents: [document], part: 0 })
  const find = () => searches.perform(1, { id: 2, method: 'search', query: 'tide', limit: 5, parts: 1 })
  assert.equal((await find())?.length, 1)
  await begun
  const later = searches.perform(1, { id: 3, method: 'index', server: 's', documents: [document], part: 0 })
  searches.forget(1)
  await later
  assert.equal(await find(), null)
})
