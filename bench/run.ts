import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { chromium, type BrowserContext, type CDPSession, type Page } from 'playwright-core'
import { chromiumFlags } from '../e2e/rig/flags.ts'
import { watch, type Crossings } from './crossings.ts'
import type { Variant } from './page/variant.ts'
import { fromSource, namedParts, printProfile, startProfile, type Times } from './profile.ts'
import { goals, print, type Table } from './report.ts'

/**
 * Benchmarks against peers, all in one run of one Chromium over the same servers,
 * rounds interleaved, medians. Prints tables and asserts nothing.
 *
 *   ./build.sh bench [--rounds 5] [--only call,list] [--variants client2,portolan] [--profile]
 *
 * With --profile the parts `first`, `delayed` and `call` print the processor time by function, which makes them slower.
 */
declare global {
  var variant: Variant
  /** The time at which the page's script started. */
  var began: number
  var unwatch: () => void
}

const root = fileURLToPath(new URL('../', import.meta.url))
const option = (name: string, fallback: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : process.argv[at + 1]!
}
const rounds = Number(option('rounds', '5'))
const only = option('only', '')
const wanted = (part: string) => only === '' || only.split(',').includes(part)

const all: Record<string, string> = {
  floor: '/floor.html',
  client2: '/client2.html',
  'client2-auto': '/client2-auto.html',
  sdk1: '/sdk1.html',
  portolan: '/portolan.html?mode=worker',
  'portolan-main': '/portolan.html?mode=main',
  // Without what an earlier visit learned of the servers: each is first asked what it speaks.
  'portolan-first': '/portolan.html?mode=worker&storage=memory',
}
const variants = option('variants', Object.keys(all).join(',')).split(',')

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }

/** The module is loaded beside the first script, as docs/bundlers.md advises. */
const preloads: Record<string, string> = {
  '/portolan.html': '<link rel="preload" as="fetch" href="/portolan.wasm" crossorigin>',
}

/** The bytes of 10 ms at 10 Mbit/s. */
const SLOW_BYTES = 12_500

/**
 * Serves the variants' pages and the package beside them as bundlers leave it, cacheable, as a site would. A slow site
 * is 40 ms away at 10 Mbit/s, and compresses with Brotli, as a host of static files does.
 */
async function serveSite(dir: string, slow = false) {
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  let free = 0 // when the line is, in ms of performance.now()
  const packs = new Map<string, Buffer>()
  const server = createServer(async (req, res) => {
    const path = new URL(req.url!, 'http://x').pathname
    const type = types[extname(path)] ?? 'text/plain'
    try {
      const body = path.endsWith('.html')
        ? Buffer.from(
          `<!doctype html><title>bench</title>${preloads[path] ?? ''}<script type="module" src="${
            path.replace('.html', '.js')
          }"></script>`,
        )
        : await readFile(join(/^\/(worker\.js|portolan\.wasm)$/.test(path) ? packageDir : dir, path))
      const head = { 'content-type': type, 'cache-control': 'max-age=3600' }
      if (!slow) return void res.writeHead(200, { ...head, 'content-length': body.length }).end(body)
      const packed = packs.get(path) ?? brotliCompressSync(body)
      packs.set(path, packed)
      await pause(40)
      res.writeHead(200, { ...head, 'content-encoding': 'br', 'content-length': packed.length })
      for (let at = 0; at < packed.length; at += SLOW_BYTES) {
        free = Math.max(free, performance.now() - 50) + 10
        await pause(free - performance.now())
        res.write(packed.subarray(at, at + SLOW_BYTES))
      }
      res.end()
    } catch {
      res.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function sizeOf(v: string, dir: string): Promise<number> {
  const gz = async (file: string) => gzipSync(await readFile(file), { level: 9 }).length
  if (!v.startsWith('portolan')) return gz(join(dir, `${v}.js`))
  const npm = join(root, 'dist/npm')
  return await gz(join(dir, 'portolan.js')) +
    (await Promise.all(['worker.js', 'portolan.wasm'].map((f) => gz(join(npm, f))))).reduce((a, b) => a + b)
}

const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-'))
const profiling = process.argv.includes('--profile')
await build({
  entryPoints: ['floor', 'client2', 'client2-auto', 'sdk1', 'portolan'].map((v) => join(root, `bench/page/${v}.ts`)),
  outdir: dir,
  bundle: true,
  banner: { js: 'globalThis.began = performance.now()' },
  external: ['./worker.js'],
  format: 'esm',
  target: 'es2022',
  minify: !profiling,
  plugins: profiling ? [fromSource] : [],
  logLevel: 'warning',
})
if (profiling) await namedParts(dir)
const packageDir = profiling ? dir : join(root, 'dist/npm')
// The servers are a process of their own, so that their work is not the client's.
const servers = spawn(process.execPath, [join(root, 'bench/server.ts'), '50'], { stdio: ['ignore', 'pipe', 'inherit'] })
process.on('exit', () => servers.kill()) // after a fault, too
const [line] = await once(servers.stdout!, 'data') as [Buffer]
const origins = JSON.parse(line.toString()) as string[]
// Each variant has an origin of its own, and so a storage.
const sites = Object.fromEntries(
  await Promise.all(Object.keys(all).map(async (v) => [v, await serveSite(dir)] as const)),
)
const slowSite = await serveSite(dir, true)
if (wanted('cold')) await fetch(`${slowSite.url}/portolan.wasm`) // it compresses once
const addressOf = (v: string) => sites[v]!.url + all[v]
const profile = await mkdtemp(join(tmpdir(), 'portolan-profile-'))
const context: BrowserContext = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: chromiumFlags,
})
const cdp = await context.browser()!.newBrowserCDPSession()
// Processes of other pages would share the browser's code with the page that is measured.
for (const page of context.pages()) await page.close()

const tables: Record<string, Table> = {}
function note(table: string, v: string, value: number): void {
  ;((tables[table] ??= {})[v] ??= []).push(value)
}

const profiles = new Map<string, Times[]>()

/** Does some work, and keeps its profile if one is wanted. */
async function profiled<T>(page: Page, title: string, work: () => Promise<T>): Promise<T> {
  if (!profiling) return work()
  const stop = await startProfile(page)
  const result = await work()
  profiles.set(title, [...profiles.get(title) ?? [], await stop()])
  return result
}

/** Opens a variant in a fresh page. */
async function open(v: string, of = context, params: Record<string, string> = {}): Promise<Page> {
  const page = await of.newPage()
  const url = new URL(addressOf(v))
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  await page.goto(url.href)
  await page.waitForFunction(() => !!globalThis.variant)
  await page.evaluate(() => globalThis.variant.open())
  return page
}

/** Lists servers that were never seen before: nothing is stored or warm, but the module is preloaded. */
async function first(v: string, what: string, n: number, path: string): Promise<void> {
  const fresh = await context.browser()!.newContext()
  try {
    const page = await open(v, fresh, { storage: 'memory', start: 'preload' })
    await page.waitForTimeout(1500) // a new window of Chromium has work of its own
    await fetch(`${origins[0]}/count`)
    const before = await cpuOf(page)
    const tools = n * Number.parseInt(path, 10)
    let took = 0
    const gap = await longestGap(page, async () => {
      took = await profiled(
        page,
        `${v}, ${what}`,
        () => list(page, origins.slice(0, n).map((o) => `${o}/${path}`), tools),
      )
    }, what.startsWith('gap'))
    if (what.startsWith('gap')) return note(`${what}, ms`, v, gap)
    note(`${what}, ms`, v, took)
    note(`${what}: CPU of the page, ms`, v, await cpuOf(page) - before)
    const counts = await (await fetch(`${origins[0]}/count`)).json() as Record<string, number>
    for (const [kind, count] of Object.entries(counts)) note(`${what}: ${kind} per server`, v, count / n)
    note(`${what}: memory of the page (PSS), MB`, v, await memoryOf(page))
  } finally {
    await fresh.close()
  }
}

/** CPU seconds of the renderers until now: the page, and its workers. */
async function rendererSeconds(session: CDPSession): Promise<number> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  return processInfo.filter((p) => p.type === 'renderer').reduce((sum, p) => sum + p.cpuTime, 0)
}

const list = (page: Page, urls: string[], want: number) =>
  page.evaluate(async ([urls, want]) => {
    const began = performance.now()
    const n = await globalThis.variant.list(urls as string[])
    if (n !== want) throw new Error(`${n} tools, want ${want}`)
    return performance.now() - began
  }, [urls, want] as const)

/**
 * The longest absence of the main thread, by messages that it sends itself: they take a core, and what
 * they watch is not timed.
 */
async function longestGap(page: Page, work: () => Promise<unknown>, watches = true): Promise<number> {
  if (!watches) return work().then(() => 0)
  const watched = page.evaluate(() =>
    new Promise<number>((resolve) => {
      const { port1, port2 } = new MessageChannel()
      let last = performance.now(), longest = 0, over = false
      port1.onmessage = () => {
        const now = performance.now()
        longest = Math.max(longest, now - last)
        last = now
        if (over) resolve(longest)
        else port2.postMessage(0)
      }
      port2.postMessage(0)
      globalThis.unwatch = () => {
        over = true
      }
    })
  )
  await work()
  await page.evaluate(() => globalThis.unwatch())
  return watched
}

/** The process of a page: that of the renderers which used most processor time while the page counts. */
async function processOf(page: Page): Promise<number> {
  const times = async () => {
    const { processInfo } = await cdp.send('SystemInfo.getProcessInfo')
    return new Map(processInfo.filter((p) => p.type === 'renderer').map((p) => [p.id, p.cpuTime]))
  }
  const before = await times()
  await page.evaluate(() => {
    for (const end = performance.now() + 50; performance.now() < end;);
  })
  const used = [...await times()].map(([id, time]) => [time - (before.get(id) ?? time), id] as const)
  return used.sort((a, b) => b[0] - a[0])[0]![1]
}

const processes = new WeakMap<Page, Promise<number>>()
const known = (page: Page) => processes.get(page) ?? processes.set(page, processOf(page)).get(page)!

/** The processor time of a page and its workers, in ms. */
async function cpuOf(page: Page): Promise<number> {
  const id = await known(page)
  const threads = await readdir(`/proc/${id}/task`)
  const times = await Promise.all(
    threads.map((thread) => readFile(`/proc/${id}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
  )
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6
}

/** The memory of a page and its workers without garbage: its share of what its process maps, in MB. */
async function memoryOf(page: Page): Promise<number> {
  const id = await known(page)
  const session = await page.context().newCDPSession(page)
  const workers: string[] = []
  const collected = new Set<string>()
  session.on('Target.attachedToTarget', ({ sessionId }) => workers.push(sessionId))
  session.on('Target.receivedMessageFromTarget', ({ sessionId }) => collected.add(sessionId))
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false })
  await session.send('HeapProfiler.collectGarbage')
  for (const sessionId of workers) {
    const message = JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' })
    await session.send('Target.sendMessageToTarget', { sessionId, message })
  }
  while (collected.size < workers.length) await page.waitForTimeout(10)
  return Number(/^Pss:\s+(\d+)/m.exec(await readFile(`/proc/${id}/smaps_rollup`, 'utf8'))![1]) / 1000
}

const parts: Record<string, (v: string, round: number) => Promise<void>> = {
  // Servers that an earlier visit has stored, with their lists.
  async return(v) {
    for (const n of [3, 10]) {
      const fresh = await context.browser()!.newContext()
      try {
        for (const visit of ['first', 'second']) {
          const page = await fresh.newPage()
          await page.goto(`${addressOf(v)}${all[v]!.includes('?') ? '&' : '?'}start=stored`)
          const { first, all: took } = await page.evaluate(async (urls) => {
            while (!globalThis.variant) await new Promise((resolve) => setTimeout(resolve, 1))
            const { variant } = globalThis
            await variant.open()
            const first = variant.offered?.() === urls.length * 50 ? performance.now() : Infinity
            await variant.list(urls)
            const all = performance.now()
            await variant.close()
            return { first: Math.min(first, all) - globalThis.began, all }
          }, origins.slice(0, n).map((o) => `${o}/50`))
          await page.close()
          if (visit === 'first') continue
          note(`return: page to the lists of ${n} servers, ms`, v, took)
          note(`return: script to the first tools of ${n} x 50, ms`, v, first)
        }
      } finally {
        await fresh.close()
      }
    }
  },
  // Nothing is there yet: page, module and servers, at no distance and 40 ms away at 10 Mbit/s.
  async cold(v) {
    for (const [where, site, path] of [['', sites[v]!, '50'], [', 40 ms away', slowSite, '50-40']] as const) {
      const fresh = await context.browser()!.newContext()
      try {
        const page = await fresh.newPage()
        await page.goto('about:blank')
        await page.waitForTimeout(1500) // a new window of Chromium has work of its own
        const url = new URL(site.url + all[v])
        url.searchParams.set('start', 'cold')
        await page.goto(url.href, { waitUntil: 'commit' })
        note(
          `cold: page to the lists of 3 servers${where}, ms`,
          v,
          await page.evaluate(async (urls) => {
            while (!globalThis.variant) await new Promise((resolve) => setTimeout(resolve, 1))
            await globalThis.variant.open()
            await globalThis.variant.list(urls)
            return performance.now()
          }, origins.slice(0, 3).map((o) => `${o}/${path}`)),
        )
      } finally {
        await fresh.close()
      }
    }
  },
  async start(v) {
    const page = await context.newPage()
    for (const what of ['empty cache', 'again', 'warm cache']) {
      if (what === 'empty cache') await (await context.newCDPSession(page)).send('Network.clearBrowserCache')
      await page.goto(`${addressOf(v)}${all[v]!.includes('?') ? '&' : '?'}start=lazy`)
      const t = await page.evaluate(async (url) => {
        while (!globalThis.variant) await new Promise((resolve) => setTimeout(resolve, 1))
        await globalThis.variant.open()
        await globalThis.variant.list([url])
        return performance.now()
      }, `${origins[0]}/10`)
      note(`start to first list, ${what}, ms`, v, t)
    }
    await page.close()
  },
  async first(v) {
    await first(v, 'first: 1 x 50', 1, '50')
    await first(v, 'first: 10 x 50', 10, '50')
    await first(v, 'first: 50 x 50', 50, '50')
    await first(v, 'first: 10 x 100', 10, '100')
    await first(v, 'first: 10 x 500', 10, '500')
    await first(v, 'first: 1 x 5,000', 1, '5000w')
    await first(v, 'gap: 1 x 5,000', 1, '5000w')
  },
  async delayed(v) {
    await first(v, 'first: 10 x 50, 40 ms away', 10, '50-40')
  },
  async servers(v) {
    for (const n of [1, 10, 50]) {
      const page = await open(v)
      const urls = origins.slice(0, n).map((o) => `${o}/50`)
      note(`${n} servers x 50 tools, ms`, v, await list(page, urls, n * 50))
      await page.close()
    }
  },
  async tools(v) {
    const fresh = async <T>(use: (page: Page) => Promise<T>): Promise<T> => {
      const page = await open(v)
      const made = await use(page)
      await page.close()
      return made
    }
    const all = (page: Page) => list(page, [`${origins[0]}/5000`], 5000)
    note('5,000 tools, ms', v, await fresh(all))
    note(
      'longest main-thread gap while 5,000 tools arrive, ms',
      v,
      await fresh((page) => longestGap(page, () => all(page))),
    )
    note('500 tools with output schemas, ms', v, await fresh((page) => list(page, [`${origins[0]}/500o`], 500)))
  },
  async call(v) {
    const page = await open(v)
    await list(page, [`${origins[0]}/10`], 10)
    const run = (n: number, width: number, size: number) =>
      page.evaluate(async ([n, width, size]) => {
        const times: number[] = []
        const began = performance.now()
        let left = n
        await Promise.all(Array.from({ length: width }, async () => {
          while (left-- > 0) {
            const t = performance.now()
            const text = await globalThis.variant.call(0, { field_0: size })
            if (text.length !== size) throw new Error(`${text.length} characters`)
            times.push(performance.now() - t)
          }
        }))
        times.sort((a, b) => a - b)
        return { p50: times[times.length >> 1]!, all: performance.now() - began }
      }, [n, width, size] as const)
    // The engine compiles what is hot in the first thousand calls, on other threads: that is not a call's cost.
    note('small call p50 of the first 100, ms', v, (await run(100, 1, 2)).p50)
    await run(1500, 1, 2)
    const before = await rendererSeconds(cdp)
    note('small call p50, ms', v, (await profiled(page, `${v}, 800 small calls`, () => run(800, 1, 2))).p50)
    note('CPU per call, ms', v, (await rendererSeconds(cdp) - before) / 800 * 1000)
    note('16-way, ms per call', v, (await run(800, 16, 2)).all / 800)
    note('10 KB result p50, ms', v, (await run(100, 1, 10_000)).p50)
    note('1 MB result p50, ms', v, (await run(30, 1, 1_000_000)).p50)
    await page.close()
  },
}

for (const v of variants) note('download, gzip KB', v, await sizeOf(v, dir) / 1000)
for (let round = 0; round < rounds; round++) {
  for (const [name, part] of Object.entries(parts)) {
    if (!wanted(name)) continue
    // Another order each round, so that no variant always runs first.
    for (let i = 0; i < variants.length; i++) await part(variants[(i + round) % variants.length]!, round)
  }
  process.stderr.write(`round ${round + 1} of ${rounds}\n`)
}
if (wanted('crossings')) await crossings()
if (wanted('memory')) await memory()
print(tables, 'client2')
goals(tables)
for (const [title, times] of profiles) printProfile(title, times)

/**
 * Messages between page and worker, and calls into the module and out of it: for each of 10 new servers, and for a
 * call. The worker's host is that of the main thread, so its module is crossed as often.
 */
async function crossings(): Promise<void> {
  const all = {
    toWorker: 'messages to the worker',
    fromWorker: 'messages from the worker',
    toModule: 'calls into the module',
    fromModule: 'calls out of the module',
  }
  for (const v of ['portolan', 'portolan-main']) {
    const page = await context.newPage()
    await watch(page)
    await page.goto(`${addressOf(v)}&storage=memory&start=preload`)
    await page.waitForFunction(() => !!globalThis.variant)
    await page.evaluate(() => globalThis.variant.open())
    const counted = async (what: string, times: number, work: () => Promise<unknown>) => {
      const before = await page.evaluate(() => ({ ...globalThis.crossings }))
      await work()
      const after = await page.evaluate(() => globalThis.crossings)
      for (const key of Object.keys(all) as (keyof Crossings)[]) {
        const n = (after[key] - before[key]) / times
        if (n > 0) note(`${what}: ${all[key]}`, v, n)
      }
    }
    await counted('each of 10 new servers', 10, () => list(page, origins.slice(0, 10).map((o) => `${o}/50`), 500))
    await page.waitForTimeout(1500) // the pins of the lists are made in idle time
    await counted('a call', 100, () =>
      page.evaluate(async () => {
        for (let i = 0; i < 100; i++) await globalThis.variant.call(0, { field_0: 2 })
      }))
    await page.close()
  }
}

/** Linear memory of the module, on the main thread where a test can see it. */
async function memory(): Promise<void> {
  const v = 'portolan-main'
  for (const [n, tools, title] of [[10, 100, '10 x 100'], [1, 5000, '5,000']] as const) {
    const page = await context.newPage()
    await watch(page)
    await page.goto(addressOf(v))
    await page.waitForFunction(() => !!globalThis.variant)
    await page.evaluate(() => globalThis.variant.open())
    const noteMemory = async (when: string) =>
      note(`wasm memory, MB: ${when}`, v, await page.evaluate(() => globalThis.linear.buffer.byteLength / 1e6))
    if (n > 1) await noteMemory('started')
    await list(page, origins.slice(0, n).map((o) => `${o}/${tools}`), n * tools)
    await noteMemory(`with ${title} tools`)
    let done = 0
    for (const calls of n > 1 ? [1000, 10_000] : [1000, 10_000, 10_000, 10_000]) {
      await page.evaluate(async (calls) => {
        let left = calls
        await Promise.all(Array.from({ length: 8 }, async () => {
          while (left-- > 0) await globalThis.variant.call(0, { field_0: 2 })
        }))
      }, calls)
      done += calls
      await noteMemory(`with ${title} tools, after ${done} calls`)
    }
    await page.close()
  }
}

await context.close()
for (const site of [...Object.values(sites), slowSite]) site.close()
servers.kill()
for (const d of [dir, profile]) if (await stat(d).catch(() => false)) await rm(d, { recursive: true, force: true })
