import { close, load, openStreams, usage } from './proxy/load.ts'
import { share, subjects } from './proxy/subjects.ts'
import { median, print, type Table } from './report.ts'

/**
 * The CORS proxy against Workers of the same function, one written by hand in
 * JavaScript and one in Go with workers.Serve, and against no proxy: latency, CPU,
 * throughput, first request, memory of open event streams. Rounds are
 * interleaved; each starts its own processes. Asserts nothing.
 *
 *   ./build.sh bench proxy [--rounds 3]    --leak: only memory over 32,000 requests
 */
const at = process.argv.indexOf('--rounds')
const rounds = at < 0 ? 3 : Number(process.argv[at + 1])
const tables: Record<string, Table> = {}
const note = (what: string, subject: string, value: number) => ((tables[what] ??= {})[subject] ??= []).push(value)

async function measure(name: string): Promise<void> {
  const subject = await subjects[name]!()
  const { pid } = subject
  const part = share(name)
  try {
    note('first request, ms', name, (await load(subject, 1, 1))[0]!)
    await load(subject, 1000 * part, 4)
    note('p50, ms', name, median(await load(subject, 2000 * part, 1)))
    const before = pid && await usage(pid)
    for (const atOnce of [1, 16, 64]) {
      const from = performance.now()
      await load(subject, 3000 * part, atOnce)
      note(`requests/s, ${atOnce} at once`, name, 3e6 * part / (performance.now() - from))
    }
    if (!pid || !before) return
    const after = await usage(pid)
    note('CPU per request, ms', name, (after.cpu - before.cpu) / (9000 * part))
    note('growth per 1,000 requests, MB', name, (after.memory - before.memory) / (9 * part))
    const end = await openStreams(subject, 100)
    note('100 event streams, MB', name, (await usage(pid)).memory - after.memory)
    end()
  } finally {
    await subject.stop?.()
  }
}

/**
 * Notes memory after each 4,000 of 32,000 requests, half of them answered with events. What JavaScript alone lets grow
 * is no leak of Go's.
 */
async function leak(name: string): Promise<void> {
  const subject = await subjects[name]!()
  try {
    for (let n = 4000; n <= 32_000; n += 4000) {
      await load(subject, 2000, 16)
      await load(subject, 2000, 16, '/events')
      note(`after ${n.toLocaleString('en')} requests, MB`, name, (await usage(subject.pid!)).memory)
    }
  } finally {
    await subject.stop?.()
  }
}

try {
  if (process.argv.includes('--leak')) {
    for (const name of ['hand-written', 'portolan', 'native']) await leak(name)
    print(tables, 'hand-written')
  } else {
    for (let round = 0; round < rounds; round++) for (const name of Object.keys(subjects)) await measure(name)
    print(tables, 'hand-written')
    console.log('\nworkers.Serve got a tenth of the requests that the others got.')
  }
} finally {
  close()
}
