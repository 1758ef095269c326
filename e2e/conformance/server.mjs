/**
 * Runs the server scenarios of the official conformance suite, and prints a table. They meet go-sdk's stdio server
 * behind the gateway or the bridge, with every protocol version that they name. A scenario that fails is run against
 * the same server alone, too: over go-sdk's own streamable HTTP. Exits with 1 if one fails behind the relay only. The
 * bridge's own tasks are tried with the long tools of bridge/tasks.go.
 *
 *     node e2e/conformance/server.mjs gateway|bridge [SCENARIO…]
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const [behind, ...wanted] = process.argv.slice(2)
const root = fileURLToPath(new URL('../../', import.meta.url))
const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const run = promisify(execFile)
const work = mkdtempSync(join(tmpdir(), 'portolan-conformance-'))
const program = join(work, 'everything-server')
execFileSync('go', ['build', '-o', program, 'github.com/modelcontextprotocol/go-sdk/conformance/everything-server'], {
  cwd: root,
  stdio: 'inherit',
})

/** Starts a program, and resolves when its output matches. */
function start(command, args, pattern) {
  const child = spawn(command, args, { cwd: work })
  let output = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
        const found = pattern.exec(output)
        if (found) resolve({ child, found })
      })
    }
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${output}`)))
  })
}

writeFileSync(join(work, 'mcp.json'), JSON.stringify({ mcpServers: { everything: { command: program } } }))
/** The suite has no option for a token. This server adds it, and leaves all else as it is, foreign hosts included. */
const front = createServer((req, res) => {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`].includes(req.headers.host)
  const headers = { ...req.headers, authorization: `Bearer ${token}`, host: own ? address : req.headers.host }
  const [host, at] = address.split(':')
  const forward = request({ host, port: at, method: req.method, path, headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers)
    answer.pipe(res)
  })
  forward.on('error', () => res.destroy())
  res.on('close', () => forward.destroy())
  req.pipe(forward)
})
await new Promise((resolve) => front.listen(0, '127.0.0.1', resolve))
const { port } = front.address()

/**
 * Scenarios of 2026-07-28 that are left out for the bridge. The program behind it speaks 2025-11-25, as the extension
 * does: the bridge names the questions, clients are not asked for samples, and go-sdk asks once there.
 */
const leftOut = new Map([
  ['input-required-result-capability-check', 'wants a sample; clients of 2026-07-28 are not asked for any'],
  ['input-required-result-basic-elicitation', 'wants the name that the program gave its question'],
  ['input-required-result-multi-round', 'go-sdk asks a client of 2025-11-25 once; TestRounds has two rounds'],
  ['input-required-result-basic-sampling', 'clients of 2026-07-28 are not asked for samples'],
  ['input-required-result-basic-list-roots', 'nor for roots'],
  ['input-required-result-multiple-input-requests', 'nor for both with a question'],
  ['tasks-mrtr-composition', 'the bridge begins a task before its tool can ask'],
])

/** Whether a scenario is about tasks. The bridge adds these; the gateway passes on those of its program. */
const ownTasks = (name) => behind === 'bridge' && name.startsWith('tasks-')

/** Whether a scenario applies. Skills are no feature of either. */
const applies = (name, version) =>
  !name.startsWith('sep-2640-') && (behind !== 'bridge' || version < '2026-07-28' || !leftOut.has(name))

/** The command of each server with the program, its first output, and its path. */
const starts = {
  gateway: () => [join(root, 'dist/bin/portolan'), [
    'gateway',
    '--config',
    join(work, 'mcp.json'),
    '--dir',
    work,
    '--listen',
    '127.0.0.1:0',
    '--allow',
    `http://localhost:${port}`,
  ], /http:\/\/(127\.0\.0\.1:\d+)(\/s\S+)[^]* for this run: (\S+)[^]*Find a running/],
  bridge: (server = program, ...flags) => {
    const driver = join(work, 'bridge')
    execFileSync('go', ['build', '-o', driver, './e2e/conformance/bridge'], { cwd: root, stdio: 'inherit' })
    return [
      driver,
      [server, '127.0.0.1:0', `http://localhost:${port}`, ...flags],
      /http:\/\/(127\.0\.0\.1:\d+)(\/mcp) (\S+)\n/,
    ]
  },
}
const relays = { first: await start(...starts[behind]()) }
if (behind === 'bridge') {
  relays.modern = await start(...starts.bridge(program, 'no-samples'))
  relays.tasks = await start(...starts.bridge('-'))
}
const relayFor = (name, version) =>
  ownTasks(name) ? relays.tasks : version >= '2026-07-28' && relays.modern || relays.first
let address, path, token

const url = `http://localhost:${port}/mcp`

/** The same server over HTTP: sessions for versions up to 2025-11-25, none after. */
const alone = {}
async function direct(version) {
  const stateless = version >= '2026-07-28' || version === 'extension'
  if (!alone[stateless]) {
    const port = 20000 + Math.floor(Math.random() * 20000)
    const at = `127.0.0.1:${port}`
    alone[stateless] = { ...await start(program, ['-http', at, `-stateless=${stateless}`], /listening at/), at }
  }
  return `http://${alone[stateless].at}/mcp`
}

const list =
  (await run(process.execPath, [suite, 'list'])).stdout.split(/^Server scenarios.*$/m)[1].split(/^Client/m)[0]
const scenarios = [...list.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name, versions]) => ({
  name,
  versions: versions.split(','),
})).filter(({ name }) => !wanted.length || wanted.includes(name))

async function passes(url, name, version) {
  const option = version === 'extension' ? [] : ['--spec-version', version]
  const args = [suite, 'server', '--url', url, '--scenario', name, ...option, '-o', join(work, 'out')]
  try {
    const { stdout } = await run(process.execPath, args, { cwd: work, timeout: 90_000 })
    return { ok: true, output: stdout }
  } catch (e) {
    return { ok: false, output: `${e.stdout}${e.stderr}` }
  }
}

let passed = 0
let total = 0
let worse = 0
console.log(`${'scenario'.padEnd(46)} ${'version'.padEnd(11)} result`)
for (const { name, versions } of scenarios) {
  for (const version of versions) {
    if (!applies(name, version)) continue
    total++
    ;[, address, path, token] = relayFor(name, version).found
    const { ok, output } = await passes(url, name, version)
    if (ok) passed++
    const without = ok || (ownTasks(name) ? { ok: true } : await passes(await direct(version), name, version))
    if (!ok && without.ok) worse++
    const result = ok ? 'pass' : without.ok ? `FAIL behind the ${behind} only` : 'fails alone, too'
    console.log(`${name.padEnd(46)} ${version.padEnd(11)} ${result}`)
    if (!ok && without.ok)
      console.log(output.split('\n').filter((l) => /^ {2}- |Error:/.test(l)).map((l) => `    ${l}`).join('\n'))
  }
}
if (behind === 'bridge') {
  for (const [name, why] of leftOut) console.log(`${name.padEnd(46)} ${'2026-07-28'.padEnd(11)} left out: ${why}`)
}
console.log(`${passed} of ${total} passed behind the ${behind}; ${worse} fail behind it only`)
for (const { child } of [...Object.values(relays), ...Object.values(alone)]) {
  child.removeAllListeners('exit')
  child.kill('SIGTERM')
}
front.close()
front.closeAllConnections()
rmSync(work, { recursive: true, force: true })
process.exit(worse || !total ? 1 : 0)
