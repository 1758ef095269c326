import { engines } from '../rig/engines.ts'
import {
  answering,
  freePort,
  launch,
  launchChromium,
  serveFolder,
  type Engine,
  type Listening,
} from '../rig/harness.ts'
import { oauthServer } from '../web/servers/oauthserver.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { bytesIn, environment, makeApp, runIn, versionOf } from './apps.ts'
import { inChromium, inEngine, type Seen } from './drive.ts'
import { rows, type Row } from './rows.ts'

interface Tried extends Partial<Seen> {
  row: Row
  version: string
  bytes?: number
  warnings: number
  seconds: number
  ok: boolean
}

async function serve(row: Row, dir: string): Promise<Listening> {
  if (!row.serve) return serveFolder(`${dir}/${row.site ?? ''}`)
  const port = await freePort()
  const running = launch('sh', ['-c', `cd ${dir} && ${row.serve} ${port}`], environment)
  const url = `http://127.0.0.1:${port}`
  await answering(url, running)
  return { url, close: () => running.stop() }
}

/** Lines in which a bundler complains of the code. That a module is large is known. */
const warnings = (output: string) =>
  output.split('\n').filter((line) => /^warning in (?!asset size)|externalized|\(!\)|▲ \[warning\]/i.test(line)).length

const browser = await launchChromium()
const server = await sdkServer()
const guarded = await oauthServer()
const running: Record<string, Engine> = {}

/** Builds, serves and drives one row; its faults say what does not work. */
async function attempt(row: Row): Promise<Tried> {
  const begun = Date.now()
  const tried: Tried = {
    row,
    version: row.package ? await versionOf(row.package) : '',
    warnings: 0,
    seconds: 0,
    ok: false,
  }
  let site: Listening | undefined
  try {
    const dir = await makeApp(
      row.name.toLowerCase().replaceAll(/\W+/g, '-'),
      ...['app', ...row.folder ? [row.folder] : []].map((f) => `e2e/bundlers/${f}`),
    )
    if (row.build) tried.warnings = warnings(await runIn(dir, row.build))
    if (row.output) tried.bytes = await bytesIn(`${dir}/${row.output}`)
    site = await serve(row, dir)
    if (row.engine) running[row.engine] ??= await engines[row.engine]!()
    Object.assign(
      tried,
      row.engine
        ? await inEngine(running[row.engine]!, site.url, server.url)
        : await inChromium(browser, site.url, server.url, guarded.url),
    )
    const { mode, shared, wasm, panel, signIn, faults } = tried
    tried.ok = mode === 'worker' && shared === 'shared' && !!wasm && !!panel && (!!row.engine || !!signIn) &&
      !faults!.length && !tried.warnings
  } catch (e) {
    tried.faults = [(e as Error).message]
  } finally {
    await site?.close()
  }
  tried.seconds = (Date.now() - begun) / 1000
  return tried
}

const wanted = process.argv.slice(2).map((w) => w.toLowerCase())
const unknown = wanted.filter((w) => !rows.some((row) => row.name.toLowerCase().includes(w)))
const all: Tried[] = []
try {
  if (unknown.length) throw new Error(`no bundler is called ${unknown.join(' or ')}`)
  for (const row of rows) {
    if (wanted.length && !wanted.some((w) => row.name.toLowerCase().includes(w))) continue
    const tried = await attempt(row)
    all.push(tried)
    for (const fault of tried.faults ?? []) console.error(`${row.name}: ${fault}`)
  }
} finally {
  await Promise.all([
    browser.close(),
    server.close(),
    guarded.close(),
    ...Object.values(running).map((engine) => engine.close()),
  ])
}

const yes = (b?: boolean) => b === undefined ? '' : b ? 'yes' : 'no'
const head = [
  'bundler',
  'version',
  'mode',
  'shared',
  'wasm',
  'panel',
  'sign-in',
  'bytes',
  'warnings',
  'seconds',
  'result',
]
const table = all.map((t) => [
  t.row.name,
  t.version,
  t.mode ?? 'none',
  t.shared ?? 'none',
  yes(t.wasm),
  yes(t.panel),
  yes(t.signIn),
  t.bytes?.toLocaleString('en') ?? '',
  String(t.warnings),
  t.seconds.toFixed(1),
  t.ok ? 'ok' : 'FAILED',
])
const widths = head.map((h, i) => Math.max(h.length, ...table.map((r) => r[i]!.length)))
for (const line of [head, ...table])
  console.log(
    line.map((cell, i) => i >= 7 && i <= 9 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)).join('  ').trimEnd(),
  )
process.exitCode = all.length && all.every((t) => t.ok) ? 0 : 1
