/** Runs test files of Node, each in a process of its own that ends within a limit. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './modules.mjs'

const reporter = fileURLToPath(new URL('testreport.mjs', import.meta.url))
let last = 0

/** Ends the processes that a file has started and left: they have its mark in their environment. */
function sweep(mark) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark)) process.kill(Number(pid), 'SIGKILL')
    } catch { /* it has ended, or is another user's */ }
  }
}

/**
 * Runs a file, or `only` its tests of a pattern. Resolves with its counts, the names of failed tests, and its output.
 * A file that is not done within `limit` seconds is ended, and has failed. A test has half of this time.
 */
export async function runFile(file, { environment = {}, limit = 300, only } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-test-'))
  const report = join(dir, 'report.json')
  const mark = `PORTOLAN_TEST_RUN=${process.pid}-${++last}`
  const began = performance.now()
  const child = spawn(process.execPath, [
    '--test',
    '--experimental-test-isolation=none', // a limit for tests counts in this process then
    `--test-timeout=${limit * 500}`,
    '--test-force-exit',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${report}`,
    ...(only ? [`--test-name-pattern=${only}`] : []),
    file,
  ], {
    cwd: root,
    env: { ...process.env, ...environment, PORTOLAN_TEST_RUN: mark.split('=')[1], FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), 2000).unref()
  }, limit * 1000)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearTimeout(timer)
  sweep(mark)
  let counts = { tests: 0, pass: 0, fail: 0, skipped: 0, failed: [] }
  try {
    counts = JSON.parse(readFileSync(report, 'utf8'))
  } catch { /* it ended before its report */ }
  rmSync(dir, { recursive: true, force: true })
  if (late) counts.failed.push(`not done within ${limit} s`)
  else if (code !== 0 && !counts.failed.length) counts.failed.push(`ended with ${code}`)
  else if (!counts.tests) counts.failed.push('no test ran')
  return { ...counts, output, seconds: Math.round((performance.now() - began) / 1000) }
}
