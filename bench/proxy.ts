import { close, load, openStreams, usage } from './proxy/load.ts'
import { share, subjects, type Subject } from './proxy/subjects.ts'
import { median, print, type Table } from './report.ts'

/**
 * The CORS proxy against other Workers and no proxy: latency, CPU, throughput, first
 * request, memory of open event streams. `forward` is written by hand in JavaScript and
 * checks origin and target only. `hand-written` has most of the policy, `workers.Serve`
 * is Go. Rounds are interleaved; each starts its own processes. Asserts nothing.
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
    note('growth per 1,000 requests, MB', name, (after.memory - before.memory) / (9 * part))
    const end = await openStreams(subject, 100)
    note('100 event streams, MB', name, (await usage(pid)).memory - after.memory)
    end()
  } finally {
    await subject.stop?.()
  }
}

/**
 * Notes CPU. The subjects run at the same time and get short turns, so that each sees the same load of the machine.
 */
async function cpu(names: string[]): Promise<void> {
  const running: [string, Subject][] = []
  try {
    for (const name of names) {
      const subject = await subjects[name]!()
      running.push([name, subject])
      await load(subject, 4000, 8)
    }
    for (let turn = 0; turn < 10 * rounds; turn++) {
      for (const [name, subject] of running) {
        const before = await usage(subject.pid!)
        await load(subject, 500, 8)
        note('CPU per request, ms', name, ((await usage(subject.pid!)).cpu - before.cpu) / 500)
      }
    }
  } finally {
    for (const [, subject] of running) await subject.stop?.()
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
    await cpu(['forward', 'hand-written', 'portolan', 'native'])
    for (let round = 0; round < rounds; round++) for (const name of Object.keys(subjects)) await measure(name)
    print(tables, 'forward')
    console.log('\nworkers.Serve got a tenth of the requests that the others got.')
  }
} finally {
  close()
}
