import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createRegistry } from '../dist/npm/index.js'
import {
  latest,
  startFarm,
  taskOf,
  visit,
  visitAll,
  type Farm,
  type FarmCase,
  type Outcome,
  type Task,
} from '../e2e/rig/farm.ts'
import { root, serveFolder, type Listening } from '../e2e/rig/harness.ts'
import { RawChromium } from '../e2e/rig/rawchromium.ts'
import type { Registry, RegistryOptions } from '../wasm/js/shared/types.ts'
import { floor, type CrowdOutcome } from './farmfloor.ts'

/**
 * The farm of misbehaving servers, in tables: what becomes of each natively, in Node and
 * in Chromium; the effect on a good server beside it, with and without a registry; the cost in memory;
 * how long after their deadlines calls of the API return.
 *
 * ./build.sh farm [cases|neighbours|floor|memory|deadlines] [--match REGEXP] [--in native|Node|Chromium] [--runs
 * 1000]
 *
 * Fails where a case fails; the rest is printed.
 */
const args = process.argv.slice(2)
const option = (name: string, fallback: string) => (args.includes(name) ? args[args.indexOf(name) + 1]! : fallback)
const parts = ['cases', 'neighbours', 'floor', 'memory', 'deadlines']
const part = args[0]?.startsWith('--') ? undefined : args[0]
const wanted = new RegExp(option('--match', ''))
const within = option('--in', '')
const runs = Number(option('--runs', '1000'))

type Late = Record<string, number[]>

/** Somewhere a registry runs. */
interface Realm {
  name: string
  /** Of the processes that it runs in. */
  pids(): Promise<number[]>
  visit(task: Task): Promise<Outcome>
  crowd(tasks: Task[], good: string, calls: number): Promise<CrowdOutcome>
  deadlines(tasks: Task[], timeoutMs: number): Promise<Late>
  /** The same without a registry. */
  floor?(tasks: Task[], good: string, calls: number): Promise<CrowdOutcome>
  close(): Promise<unknown>
}

/** Crowd of the Go package, for a page. It refers to nothing outside. */
async function crowd(
  createRegistry: (o: RegistryOptions) => Promise<Registry>,
  wasm: RegistryOptions['wasm'],
  tasks: Task[],
  good: string,
  calls: number,
): Promise<CrowdOutcome> {
  const o = { goodMs: [] as number[], errors: 0, error: '' }
  const fail = (e: unknown) => {
    o.errors++
    o.error = String(e)
  }
  const r = await createRegistry({ storage: 'memory', ...(wasm && { wasm }), servers: { good: { url: good } } })
  let over = false, used = 0
  try {
    await r.discover(['good'])
    const users = tasks.map(async (t, i) => {
      const name = `bad${i}`
      await r.addServer(name, { url: t.bad, timeoutMs: t.timeoutMs, ...(t.transport && { transport: t.transport }) })
      for (let round = 0; !over; round++) {
        await r.discover([name]).catch(() => {})
        const tool = r.getSnapshot().tools.find((x) => x.server === name)
        if (tool) await r.call(tool.name, {}, { timeoutMs: t.timeoutMs }).catch(() => {})
        if (!round) used++
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })
    while (used < tasks.length || o.goodMs.length < calls) {
      const began = performance.now()
      await r.dispatch('good__t', {}).catch(fail)
      o.goodMs.push(performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    over = true
    await r.close()
    await Promise.allSettled(users)
  } catch (e) {
    fail(e)
  }
  return o
}

/** Deadlines of the Go package, for a page. It refers to nothing outside. */
async function deadlines(
  createRegistry: (o: RegistryOptions) => Promise<Registry>,
  wasm: RegistryOptions['wasm'],
  tasks: Task[],
  timeoutMs: number,
): Promise<Late> {
  const late: Late = {}, patience = 100
  const timed = async (what: string, deadline: number, work: () => Promise<unknown>) => {
    const began = performance.now()
    await work().catch(() => {})
    ;(late[what] ??= []).push(performance.now() - began - deadline)
  }
  const r = await createRegistry({ storage: 'memory', ...(wasm && { wasm }) })
  const left = tasks.map((t, i) => ({ ...t, name: `bad${i}` }))
  await Promise.all(Array.from({ length: 5 }, async () => {
    for (let t = left.shift(); t; t = left.shift()) {
      const { name } = t
      await r.addServer(name, { url: t.bad, timeoutMs, ...(t.transport && { transport: t.transport }) })
      await timed('discover', 2 * timeoutMs, () => r.discover([name]))
      const tool = r.getSnapshot().tools.find((x) => x.server === name)
      if (tool) {
        await timed('call', timeoutMs, () => r.call(tool.name, {}, { timeoutMs }))
        await timed(
          'call, given up',
          patience,
          () => r.call(tool.name, {}, { timeoutMs: 60_000, signal: AbortSignal.timeout(patience) }),
        )
      }
      await timed('remove', 0, () => r.removeServer(name))
    }
  }))
  await timed('close', 0, () => r.close())
  return late
}

function native(): Realm {
  const child: ChildProcess = spawn(`${root}dist/bin/farm-visit`, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  let last: Promise<unknown> = Promise.resolve()
  // One after the other.
  const ask = <T>(line: object): Promise<T> => {
    const answer = last.then(async () => {
      child.stdin!.write(`${JSON.stringify(line)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('the client has ended')
      return JSON.parse(value) as T
    })
    last = answer.catch(() => {})
    return answer
  }
  return {
    name: 'native',
    pids: async () => [child.pid!],
    visit: (visit) => ask({ visit }),
    crowd: (tasks, good, calls) => ask({ crowd: tasks, good, calls }),
    deadlines: (tasks, timeoutMs) => ask({ deadlines: tasks, timeoutMs }),
    close: async () => child.stdin!.end(),
  }
}

const inNode: Realm = {
  name: 'Node',
  pids: async () => [process.pid],
  visit: (t) => visit(createRegistry as never, undefined, t),
  crowd: (tasks, good, calls) => crowd(createRegistry as never, undefined, tasks, good, calls),
  deadlines: (tasks, timeoutMs) => deadlines(createRegistry as never, undefined, tasks, timeoutMs),
  close: async () => {},
}

/** A browser of its own, raw: DevTools keeps the bodies of what pages fetch, in their process. */
async function chromium(site: Listening): Promise<Realm> {
  const browser = await RawChromium.launch()
  const page = await browser.open(`${site.url}/package.json`)
  await page.evaluate(`(async () => {
    globalThis.registryOf = (await import('/index.js')).createRegistry
    globalThis.compiled = await WebAssembly.compileStreaming(fetch('/portolan.wasm'))
    globalThis.run = [${visit}, ${crowd}, ${deadlines}, (_, __, ...rest) => (${floor})(...rest)]
  })()`)
  const run = <T>(which: number, ...args: unknown[]) =>
    page.evaluate(`run[${which}](registryOf, compiled, ...${JSON.stringify(args)})`) as Promise<T>
  return {
    name: 'Chromium',
    async pids() {
      const { processInfo } = await browser.cdp.send<{ processInfo: { type: string; id: number }[] }>(
        'SystemInfo.getProcessInfo',
      )
      return processInfo.filter((p) => p.type === 'renderer').map((p) => p.id)
    },
    visit: (t) => run(0, t),
    crowd: (tasks, good, calls) => run(1, tasks, good, calls),
    deadlines: (tasks, timeoutMs) => run(2, tasks, timeoutMs),
    floor: (tasks, good, calls) => run(3, tasks, good, calls),
    close: () => browser.remove(),
  }
}

const p = (samples: number[], q: number) =>
  [...samples].sort((a, b) => a - b)[Math.min(Math.floor(samples.length * q), samples.length - 1)]!
const ms = (n: number) => n.toFixed(1).padStart(8)

async function cases(farm: Farm, realms: Realm[], list: FarmCase[]): Promise<boolean> {
  const failed = new Map<string, string[]>()
  const all = new Map<string, number>()
  for (const realm of realms) {
    const verdicts = await visitAll(
      farm,
      list,
      realm.name === 'native' ? 1 : realm.name === 'Node' ? 3 : 6,
      `table-${realm.name}`,
      (c, run) => realm.visit(taskOf(farm, c, run, realm.name)),
    )
    for (const { c, problems } of verdicts) if (problems.length) failed.set(`${realm.name} ${c.name}`, problems)
    const bad = verdicts.filter((v) => v.problems.length)
    all.set(realm.name, bad.length)
    console.log(
      `${realm.name}: ${verdicts.length - bad.length} of ${verdicts.length}; of the severe ones ${
        verdicts.filter((v) => v.c.severe && !v.problems.length).length
      } of ${verdicts.filter((v) => v.c.severe).length}`,
    )
    console.log(`  latest return after a deadline, ms: ${JSON.stringify(latest(verdicts))}`)
    console.log(
      `  exchanges open after close, ms: at most ${Math.max(...verdicts.map((v) => v.openMs))}; over 250: ${
        verdicts.filter((v) => v.openMs > 250).length
      } cases`,
    )
  }
  console.log(`\n${'area'.padEnd(11)} severe ${realms.map((r) => r.name.padEnd(9)).join(' ')} case`)
  for (const c of list) {
    console.log(
      `${c.area.padEnd(11)} ${(c.severe ? 'yes' : '').padEnd(6)} ${
        realms.map((r) => (failed.has(`${r.name} ${c.name}`) ? 'FAILED' : 'ok').padEnd(9)).join(' ')
      } ${c.name}`,
    )
  }
  for (const [what, problems] of failed) console.log(`\n${what}:\n  ${problems.join('\n  ')}`)
  return !failed.size
}

/** Windows of so many calls; so many beside a hostile server, fewer where they take long, between windows alone. */
const windowCalls = 40, pairsAtMost = 5, pairsAtLeast = 3, pairsMs = 8000

interface Window {
  p50: number
  p95: number
}

const percent = (factor: number) => `${Math.round(100 * (factor - 1))} %`.padStart(7)

const median = (values: number[]) => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/**
 * Alternates windows, alone first and last, each with a new registry. Every one beside is compared
 * with the two alone that are next to it, and these with each other: that is the noise, by which a
 * median has to miss its bound to count.
 */
async function neighbours(farm: Farm, realms: Realm[], list: FarmCase[]): Promise<void> {
  for (const realm of realms) {
    console.log(
      `\n${realm.name}: a good server alone, and beside a hostile one, ms\n     p50      p95  beside:      p95  p50 by  (noise)   p95 by  (noise)  errors`,
    )
    let errors = 0, over = 0
    for (const c of list) {
      const task = taskOf(farm, c, `beside-${realm.name}`, realm.name)
      let error = '', failed = 0
      const window = async (tasks: Task[]): Promise<Window> => {
        const o = await realm.crowd(tasks, farm.good, windowCalls)
        failed += o.errors
        error ||= o.error
        return { p50: p(o.goodMs, 0.5), p95: p(o.goodMs, 0.95) }
      }
      const alone = [await window([])], beside: Window[] = []
      const began = performance.now()
      while (beside.length < pairsAtLeast || (beside.length < pairsAtMost && performance.now() - began < pairsMs)) {
        beside.push(await window([task]))
        alone.push(await window([]))
      }
      const around = beside.map((_, i): Window => ({
        p50: (alone[i]!.p50 + alone[i + 1]!.p50) / 2,
        p95: (alone[i]!.p95 + alone[i + 1]!.p95) / 2,
      }))
      const slower = median(beside.map((w, i) => w.p50 / around[i]!.p50))
      const later = median(beside.map((w, i) => w.p95 - around[i]!.p95))
      const noise = median(
        beside.map((_, i) => Math.max(alone[i]!.p50 / alone[i + 1]!.p50, alone[i + 1]!.p50 / alone[i]!.p50)),
      )
      const jitter = median(beside.map((_, i) => Math.abs(alone[i]!.p95 - alone[i + 1]!.p95)))
      const beyond = slower > 1.2 * noise || later > 50 + jitter
      errors += failed
      over += +beyond
      const middle = (windows: Window[]) =>
        `${ms(median(windows.map((w) => w.p50)))} ${ms(median(windows.map((w) => w.p95)))}`
      console.log(
        `${middle(alone)} ${middle(beside)} ${percent(slower)}  ${percent(noise)} ${ms(later)} ${ms(jitter)} ${
          String(failed).padStart(7)
        }  ${c.name}${beyond ? '  (beyond p50 +20 %, p95 +50 ms)' : ''}${error && ` ${error.slice(0, 100)}`}`,
      )
    }
    console.log(
      `${realm.name}: ${errors} errors beside ${list.length} servers; ${over} beyond p50 +20 % or p95 +50 ms, by more than the noise`,
    )
  }
}

const rss = (pids: number[]) =>
  pids.reduce(
    (sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
    0,
  )

/** The most that a realm grows while it works, in MiB. */
async function growth(realm: Realm, work: () => Promise<unknown>): Promise<[most: number, after: number]> {
  const pids = await realm.pids()
  const before = rss(pids)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, rss(pids))
  }, 20)
  await work()
  clearInterval(timer)
  return [most - before, rss(pids) - before]
}

async function memory(farm: Farm, realms: (() => Promise<Realm>)[], list: FarmCase[]): Promise<void> {
  const heavy = list.filter((c) => /MB|KB|,000|million|bomb|for ever|levels/.test(c.name))
  for (const make of realms) {
    const rows: [number, number, string][] = []
    const measure = async (what: string, some: FarmCase[]) => {
      const realm = await make()
      await realm.crowd([], farm.good, 5)
      const tasks = some.map((c) => taskOf(farm, c, `memory-${realm.name}`, realm.name))
      rows.push([...await growth(realm, () => realm.crowd(tasks, farm.good, 5)), what])
      await realm.close()
    }
    await measure('no hostile one: the registry itself', [])
    const [none] = rows.splice(0)
    for (const c of heavy) await measure(c.name, [c])
    const twenty = heavy.filter((c) => /MB|bomb|100,000 tools|million/.test(c.name)).slice(0, 20)
    const one = [...rows].sort((a, b) => b[0] - a[0])
    await measure(`${twenty.length} of them at once`, twenty)
    const all = rows.at(-1)!
    console.log(`\nmemory, ${(await make().then(async (r) => {
      await r.close()
      return r.name
    }))}: MiB more at most, and in the end`)
    for (const [most, after, what] of [none!, ...one, all]) console.log(`${ms(most)} ${ms(after)}  ${what}`)
    console.log(
      `over 64 MiB more than without: ${one.filter(([most]) => most - none![0] > 64).length} of ${one.length}`,
    )
  }
}

async function returns(farm: Farm, realms: Realm[]): Promise<void> {
  const names = [
    'nothing is ever answered',
    'tools/call is never answered',
    'all answers drip',
    'tools/call drips',
    'headers drip',
    'half an answer, and then nothing',
    'headers, and then nothing',
    'every connection is reset',
    'a call is reset',
    'comments for ever, to a call',
    'notifications for ever, to a call',
    'notifications for ever, on GET',
    'DELETE is never answered',
    'subscriptions/listen is never answered',
    'HTTP+SSE: the endpoint never comes',
    'HTTP+SSE: a call is taken, and never answered',
  ]
  const chosen = names.map((name) => farm.cases.find((c) => c.name === name)!)
  for (const realm of realms) {
    const tasks: Task[] = [], used: [FarmCase, string][] = []
    // About three and a half calls of the API a server.
    for (let i = 0; i < runs / 3.4; i++) {
      const c = chosen[i % chosen.length]!
      tasks.push(taskOf(farm, c, `late${i}-${realm.name}`, realm.name))
      used.push([c, `late${i}-${realm.name}`])
    }
    const late = await realm.deadlines(tasks, 250)
    const closed = performance.now()
    let open = 0
    for (const [c, run] of used)
      open +=
        (await (await fetch(`${farm.control}/open/${encodeURIComponent(c.name)}/${run}`)).json() as { open: number })
          .open
    console.log(
      `\n${realm.name}: ${
        Object.values(late).flat().length
      } calls of the API, all returned; ms after the deadline\n     max      p99    calls`,
    )
    for (const [what, samples] of Object.entries(late))
      console.log(`${ms(Math.max(...samples))} ${ms(p(samples, 0.99))} ${String(samples.length).padStart(8)}  ${what}`)
    console.log(`open exchanges: ${open} after ${Math.round(performance.now() - closed)} ms`)
    if (open) process.exitCode = 1
  }
}

const [site, farm] = await Promise.all([serveFolder(`${root}dist/npm`), startFarm()])
const made: [name: string, make: () => Promise<Realm>][] = [['native', async () => native()], [
  'Node',
  async () => inNode,
], ['Chromium', () => chromium(site)]]
const wantedRealms = made.filter(([name]) => !within || name === within)
const outside = wantedRealms.filter(([name]) => name !== 'Node') // where nothing but the registry runs
try {
  const list = farm.cases.filter((c) => wanted.test(c.name))
  if (part && !parts.includes(part)) throw new Error(`no part of the farm is called ${part}: ${parts.join(', ')}`)
  if (!list.length) throw new Error(`no case matches ${wanted}`)
  if (!wantedRealms.length)
    throw new Error(`the cases run in ${made.map(([name]) => name).join(', ')}, not in ${within}`)
  const all = await Promise.all(wantedRealms.map(([, make]) => make()))
  const both = all.filter((r) => r !== inNode)
  if (!part || part === 'cases') process.exitCode = await cases(farm, all, list) ? 0 : 1
  if (!part || part === 'neighbours') await neighbours(farm, both, list)
  const raw = both.flatMap((r) => (r.floor ? [{ ...r, name: `${r.name}, no registry`, crowd: r.floor }] : []))
  if (part === 'floor') await neighbours(farm, raw, list)
  if (!part || part === 'deadlines') await returns(farm, both)
  for (const realm of both) await realm.close()
  if (!part || part === 'memory') await memory(farm, outside.map(([, make]) => make), list)
} finally {
  await site.close()
  farm.close()
}
process.exit()
