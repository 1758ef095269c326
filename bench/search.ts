import MiniSearch from 'minisearch'
import { listing } from '../e2e/panel/servers.ts'
import { launchChromium, servePackage } from '../e2e/rig/harness.ts'
import {
  documents,
  indexOf,
  readQueries,
  readTools,
  recall,
  separation,
  type Query,
  type Search,
} from './searchquality.ts'

/**
 * The quality of tool search on testdata/search, beside substring, plain BM25 and MiniSearch, and its times with
 * 5,000 tools. Asserts nothing.
 *
 *   ./build.sh bench search
 */
const tools = readTools()
const docs = documents(tools)
const all = [...tools.values()].flat()
const queries = readQueries()

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []
const textOf = (t: typeof all[number]) => `${t.tool} ${t.definition.title ?? ''} ${t.definition.description ?? ''}`

const substring: Search = (query) => {
  const found = all.filter((t) => textOf(t).toLowerCase().includes(query.toLowerCase()))
  return { names: found.slice(0, 5).map((t) => t.name), score: +(found.length > 0) }
}

function bm25(): Search {
  const texts = all.map((t) =>
    wordsOf(`${textOf(t)} ${Object.keys(t.definition.inputSchema.properties ?? {}).join(' ')}`)
  )
  const length = texts.reduce((sum, t) => sum + t.length, 0) / texts.length
  const counts = texts.map((words) => {
    const n = new Map<string, number>()
    for (const w of words) n.set(w, (n.get(w) ?? 0) + 1)
    return n
  })
  const within = new Map<string, number>()
  for (const n of counts) for (const w of n.keys()) within.set(w, (within.get(w) ?? 0) + 1)
  return (query) => {
    const ranked = counts.map((n, i) => {
      let score = 0
      for (const w of new Set(wordsOf(query))) {
        const tf = n.get(w), df = within.get(w) ?? 0
        if (!tf) continue
        score += Math.log(1 + (all.length - df + 0.5) / (df + 0.5)) * tf * 2.2 /
          (tf + 1.2 * (0.25 + 0.75 * texts[i]!.length / length))
      }
      return { name: all[i]!.name, score }
    }).filter((r) => r.score > 0).sort((a, b) => b.score - a.score)
    return { names: ranked.slice(0, 5).map((r) => r.name), score: ranked[0]?.score ?? 0 }
  }
}

function miniSearch(): Search {
  const index = new MiniSearch({ fields: ['name', 'title', 'description', 'parameters'], idField: 'id' })
  index.addAll(all.map((t) => ({
    id: t.name,
    name: t.tool,
    title: t.definition.title ?? '',
    description: t.definition.description ?? '',
    parameters: Object.keys(t.definition.inputSchema.properties ?? {}).join(' '),
  })))
  return (query) => {
    const found = index.search(query, { prefix: true, fuzzy: 0.2, boost: { name: 2 } })
    return { names: found.slice(0, 5).map((r) => r.id as string), score: found[0]?.score ?? 0 }
  }
}

const index = indexOf(docs)
const portolan: Search = (query) => {
  const hits = index.search(query, 5)
  return { names: hits.map((h) => h.name), score: hits[0]?.score ?? 0 }
}
const searches: Record<string, Search> = { substring, 'plain BM25': bm25(), MiniSearch: miniSearch(), portolan }

const kinds = [...new Set(queries.map((q) => q.kind))].filter((k) => k !== 'none')
const cell = (some: Query[], search: Search) => {
  const { first, five } = recall(some, search)
  return `${first.toFixed(0)} / ${five.toFixed(0)}`
}
console.log(`${all.length} tools of ${tools.size} servers, ${queries.length} queries; recall at 1 / at 5, in %`)
for (const half of ['tuning', 'held-out'] as const) {
  const some = queries.filter((q) => q.half === half)
  console.log(`\n| ${half} half | queries | ${Object.keys(searches).join(' | ')} |`)
  console.log(`|---|---|${Object.keys(searches).map(() => '---').join('|')}|`)
  for (const kind of kinds) {
    const these = some.filter((q) => q.kind === kind)
    console.log(`| ${kind} | ${these.length} | ${Object.values(searches).map((s) => cell(these, s)).join(' | ')} |`)
  }
  const answered = some.filter((q) => q.right.length)
  console.log(`| all | ${answered.length} | ${Object.values(searches).map((s) => cell(answered, s)).join(' | ')} |`)
  const apart = Object.values(searches).map((s) => separation(some, s).toFixed(3))
  console.log(`| separation | ${some.length} | ${apart.join(' | ')} |`)
}

/** 5,000 tools: those of the set, again and again, as tools of other servers. */
const many = new Map(
  Array.from(
    { length: Math.ceil(5000 / all.length) },
    (_, i) =>
      [...docs].map(([server, list]) => [`${server}${i}`, list.map((d) => ({ ...d, name: `${d.name}${i}` }))] as const),
  ).flat(),
)
const count = () => [...many.values()].reduce((sum, list) => sum + list.length, 0)
for (const server of [...many.keys()].reverse()) {
  const list = many.get(server)!
  const over = count() - 5000
  if (over > 0) many.set(server, list.slice(0, Math.max(0, list.length - over)))
}
const bytes = [...many.values()].flat().reduce((sum, d) => sum + JSON.stringify(d).length, 0)
const timed = <T>(work: () => T): [T, number] => {
  const began = performance.now()
  return [work(), performance.now() - began]
}
const builds = Array.from({ length: 5 }, () => timed(() => indexOf(many))[1]).sort((a, b) => a - b)
const [large] = timed(() => indexOf(many))
const [, first] = timed(() => large.search('misspeled wrods', 10))
for (const { text } of queries) large.search(text, 10)
const times = queries.flatMap(({ text }) => Array.from({ length: 5 }, () => timed(() => large.search(text, 10))[1]))
  .sort((a, b) => a - b)
const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(2)
console.log(
  `\n5,000 tools of ${(bytes / 5000 / 1024).toFixed(2)} KiB: index ${builds[2]!.toFixed(0)} ms (median of 5), ` +
    `first misspelled query ${first.toFixed(1)} ms, a query ${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${
      at(0.99)
    } ms (p99)`,
)

// The same number of tools in Chromium: the first search builds the index.
const definitions = Array.from({ length: 5000 }, (_, i) => {
  const { definition } = all[i % all.length]!
  return { ...definition, name: `${definition.name.slice(0, 40)}_${i}` }
})
const servers = await Promise.all([0, 1, 2, 3, 4].map((n) => listing(definitions.slice(n * 1000, n * 1000 + 1000))))
const configs = Object.fromEntries(servers.map((s, i) => [`s${i}`, { url: s.url }]))
const [browser, site] = [await launchChromium(), await servePackage()]
/** The measured work in a page: the first search, which makes the index, and later ones. */
const look = (mode: string) =>
  `(async () => {
  const { createRegistry, connectRegistry, portChannel, serveRegistry } = await import('/index.js')
  const options = { storage: 'memory', timeoutMs: 60_000, servers: ${JSON.stringify(configs)} }
  let r = await createRegistry({ ...options, mode: '${mode === 'main' ? 'main' : 'worker'}' })
  await r.discover()
  if (${mode === 'connected'}) {
    const { port1, port2 } = new MessageChannel()
    serveRegistry(r, portChannel(port1))
    r = await connectRegistry(portChannel(port2))
  }
  if (r.getSnapshot().tools.length !== 5000) throw new Error('not all tools are listed')
  const rest = () => new Promise((resolve) => requestIdleCallback(resolve))
  await rest()
  const gapIn = async (work) => {
    let last = performance.now(), gap = 0
    const timer = setInterval(() => {
      gap = Math.max(gap, performance.now() - last)
      last = performance.now()
    }, 4)
    const began = performance.now()
    await work()
    clearInterval(timer)
    return [performance.now() - began, Math.max(gap, performance.now() - last)]
  }
  const [, idle] = await gapIn(() => new Promise((resolve) => setTimeout(resolve, 500)))
  const [first, gap] = await gapIn(() => r.search('read a file'))
  const times = []
  for (const query of ${JSON.stringify(queries.map((q) => q.text))}) {
    const began = performance.now()
    await r.search(query)
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  return [first, gap, idle, times[times.length >> 1], times[Math.floor(times.length * 0.95)]]
})()`

console.log(`
| in Chromium, medians of 5 pages | first search, ms | longest gap of the page in it | longest gap without one | later search (median) | p95 |
|---|---|---|---|---|---|`)
for (const mode of ['worker', 'main', 'connected']) {
  const rows: number[][] = []
  for (let i = 0; i < 5; i++) {
    const page = await browser.newPage()
    await page.goto(site.url)
    rows.push(await page.evaluate(look(mode)) as number[])
    await page.close()
  }
  const medians = rows[0]!.map((_, column) => rows.map((row) => row[column]!).sort((a, b) => a - b)[2]!)
  console.log(`| ${mode} | ${medians.map((v) => v.toFixed(1)).join(' | ')} |`)
}
await Promise.all([browser.close(), site.close(), ...servers.map((s) => s.close())])
