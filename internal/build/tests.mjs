/**
 * Runs the suites: `node internal/build/tests.mjs test|soak [NAME...]`. Names choose stages, or
 * files of stages. What fails is run once more, alone. It is flaky where it then passes, and a run
 * with more than one flaky test fails.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './modules.mjs'
import { alone, stages } from './suites.mjs'
import { runFile } from './testfiles.mjs'
import { goTest } from './testgo.mjs'

const [kind, ...names] = process.argv.slice(2)
const soak = kind === 'soak'
const work = mkdtempSync(join(tmpdir(), 'portolan-tests-'))
const environment = {
  PORTOLAN_NODE: process.execPath,
  ...(soak && { PORTOLAN_SOAK: '1' }),
}
Object.assign(process.env, environment)
const limit = soak ? 1200 : 600
/** Tests that failed, and how they run once more. */
const repeats = []
const flaky = []
const failed = []
const times = []

const seconds = (since) => Math.round((performance.now() - since) / 1000)

/** The durations of files in this folder's last runs, in seconds. */
const taken = join(root, 'dist/test-seconds.json')
const lasts = existsSync(taken) ? JSON.parse(readFileSync(taken, 'utf8')) : {}

/** The Chromium that tests share. They connect to it and use contexts of their own. One that has ended is replaced. */
let server
async function startBrowser() {
  const child = spawn('node', ['e2e/rig/browserserver.ts'], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] })
  child.on('exit', () => (server = undefined))
  const [address] = await once(createInterface(child.stdout), 'line')
  return { child, address }
}
const browser = async () => (await (server ??= startBrowser())).address

const profiles = join(work, 'profiles')
let prepared
/** Profiles that the rigs of the extension copy. */
const prepare = () => (prepared ??= command(['node', 'e2e/extension/prepare.ts', profiles]))

function command([program, ...args]) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' })
  return new Promise((resolve) => child.on('exit', (code) => resolve(code === 0)))
}

/** Runs a failed test once more, alone. */
async function again({ name, run, why = '' }) {
  console.log(`\n-- failed, and once more alone: ${name}`)
  if (await run()) flaky.push(`${name}\n${why}`)
  else failed.push(name)
}

/** The longest files begin first. Of a file that never ran, 400 bytes count as a second. */
const secondsOf = (file) => lasts[file] ?? statSync(join(root, file)).size / 400

const filesOf = (stage) =>
  stage.files.flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((f) => !f.includes('node_modules') && !stage.except?.includes(f))
    .sort((a, b) => secondsOf(b) - secondsOf(a) || (a < b ? -1 : 1))

async function runFiles(stage) {
  const files = filesOf(stage)
  const chosen = !names.length || ofStages.includes(stage.name) ? files : files.filter(matches)
  if (chosen.some((f) => f.startsWith('e2e/extension/'))) await prepare()
  const totals = { tests: 0, pass: 0, fail: 0, skipped: 0 }
  const one = async (file, options = {}) => {
    const shared = { PORTOLAN_CHROMIUM: await browser(), PORTOLAN_PROFILES: profiles, ...stage.environment }
    const result = await runFile(file, { limit, only: stage.only, environment: shared, ...options })
    const { tests, pass, fail, skipped } = result
    lasts[file] = result.seconds
    console.log(
      `${result.failed.length ? 'FAIL' : 'ok  '} ${file}: ${pass} of ${tests} passed${
        skipped ? `, ${skipped} skipped` : ''
      } (${result.seconds} s)`,
    )
    if (result.failed.length) console.log(result.output)
    else for (const line of result.output.split('\n'))
        if (/^ℹ (?!tests|suites|pass|fail|cancelled|skipped|todo|duration)/.test(line)) console.log(`     ${line}`)
    for (const key of Object.keys(totals)) totals[key] += result[key]
    return result
  }
  const run = async (file) => {
    const { failed, output } = await one(file)
    // A browser of its own: the shared one may be the cause.
    const onceMore = async () => !(await one(file, { environment: stage.environment })).failed.length
    const why = output.split('✖ failing tests:').at(-1).trim().slice(0, 3000)
    if (failed.length) repeats.push({ name: `${file}: ${failed.join(' · ')}`, run: onceMore, why })
  }
  const left = chosen.filter((f) => !alone.includes(f))
  await Promise.all(
    Array.from({ length: Number(process.env.PORTOLAN_TESTS_AT_ONCE ?? stage.atOnce ?? 2) }, async () => {
      for (let file = left.shift(); file; file = left.shift()) await run(file)
    }),
  )
  for (const file of chosen.filter((f) => alone.includes(f))) await run(file)
  const { tests, pass, fail, skipped } = totals
  console.log(`\n# tests ${tests}\n# pass ${pass}\n# fail ${fail}\n# skipped ${skipped}`)
}

async function runStage(stage) {
  const began = performance.now()
  console.log(`\n== ${stage.name}`)
  if (stage.files) await runFiles(stage)
  else if (stage.packages) {
    for (const { name, args } of await goTest(stage))
      repeats.push({ name, run: async () => !(await goTest(stage, args)).length })
  } else if (!await command(stage.command)) failed.push(stage.name)
  times.push([stage.name, seconds(began)])
  console.log(`== ${stage.name}: ${seconds(began)} s`)
}

/** A name is that of a stage, or a part of the names of files. */
const ofStages = names.filter((name) => stages[kind].flat().some((stage) => stage.name === name))
const ofFiles = names.filter((name) => !ofStages.includes(name))
const withFiles = stages[kind].flat().filter((stage) => stage.files)
const files = withFiles.flatMap(filesOf)
for (const pattern of withFiles.flatMap((stage) => [...stage.files, ...stage.except ?? []]))
  if (!globSync(pattern, { cwd: root }).length) failed.push(`no file of ${kind} fits ${pattern}`)
for (const name of ofFiles)
  if (!files.some((file) => file.includes(name))) failed.push(`no stage and no file of ${kind} is called ${name}`)
const matches = (file) => ofFiles.some((name) => file.includes(name))
const wanted = (stage) =>
  !names.length || ofStages.includes(stage.name) || !!stage.files && filesOf(stage).some(matches)

const began = performance.now()
try {
  for (const group of stages[kind]) {
    await Promise.all([group].flat().filter(wanted).map(runStage))
    for (const each of repeats.splice(0)) await again(each)
  }
} finally {
  const running = await server
  running?.child.stdin.end()
  writeFileSync(taken, JSON.stringify(lasts, null, 1))
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
console.log('\nseconds:')
for (const [name, s] of times) console.log(`  ${String(s).padStart(4)}  ${name}`)
console.log(`  ${String(seconds(began)).padStart(4)}  in all`)
console.log(`flaky: ${flaky.length || 'none'}`)
for (const name of flaky) console.log(`  ${name}`)
if (failed.length) console.log(`failed: ${failed.length}`)
for (const name of failed) console.log(`  ${name}`)
process.exit(failed.length || flaky.length > 1 ? 1 : 0)
