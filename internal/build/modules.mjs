/**
 * Builds modules with Go: `node internal/build/modules.mjs FOLDER NAME...`, or all of them
 * without names. The same sources give the same bytes in any folder. `--symbols` before the
 * folder keeps the names of functions, for profiles.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Each module with its package and how it is inlined. Inlining costs portolan.wasm 55 KB gzip and tools.wasm
 * 410 KB. It saves at most 20 µs of a call, which takes 3 ms.
 */
export const modules = {
  'portolan.wasm': { source: './wasm', inlining: ['all=-l'] },
  'tools.wasm': { source: './extension/module', inlining: ['all=-l'] },
  'proxy.wasm': { source: './proxy-worker', inlining: [] },
}

/**
 * The flags of a build, which the js/wasm tests use too. Symbol tables and DWARF go; stack traces keep files and
 * lines.
 */
export const flags = (inlining, symbols = false) => [
  '-trimpath',
  '-buildvcs=false',
  ...inlining.map((flag) => `-gcflags=${flag}`),
  `-ldflags=${symbols ? '' : '-s '}-w -buildid=`,
]

/** The older collector is 14 KB gzip smaller, and as fast on one thread. */
export const environment = { ...process.env, GOOS: 'js', GOARCH: 'wasm', GOEXPERIMENT: 'nogreenteagc' }

/** Runs a program and returns its output. If it fails, this process ends after the program's own message. */
export function run(program, args, options = {}) {
  const ended = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    ...options,
  })
  if (ended.status === 0) return ended.stdout
  const command = [program, ...args].join(' ')
  console.error(ended.error?.message ?? `ended with ${ended.status ?? ended.signal}: ${command}`)
  process.exit(1)
}

/** Builds postlink, which makes modules smaller and faster. */
function buildPostlink() {
  const program = join(root, 'dist/bin/postlink')
  run('go', ['build', '-o', program, './internal/build/postlink'])
  return program
}

export function build(source, file, inlining = [], symbols = false) {
  run('go', ['build', ...flags(inlining, symbols), '-o', file, source], { env: environment })
  run(buildPostlink(), [file], { stdio: 'inherit' })
}

/** The folder of wasm_exec.js, which is the toolchain's own loader. */
export const loaderFolder = () => join(run('go', ['env', 'GOROOT']).trim(), 'lib/wasm')

/** Wraps the toolchain's loader in a function of the scope and the timers that it uses, for wasm/js/host/loader.ts. */
export function writeLoader() {
  // Its one use of `fs` without globalThis means the scope's, too.
  const script = readFileSync(join(loaderFolder(), 'wasm_exec.js'), 'utf8')
    .replaceAll(/([^.])fs\.writeSync\(/g, '$1globalThis.fs.writeSync(')
  const text = `// Made by internal/build/modules.mjs from the Go toolchain; not kept in the repository.
export function loadGo(globalThis, setTimeout, clearTimeout) {
${script}
return globalThis.Go
}
`
  const file = join(root, 'wasm/js/gen/wasm_exec.js')
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(join(root, 'wasm/js/gen'), { recursive: true })
  writeFileSync(file, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values: { symbols }, positionals: [folder, ...names] } = parseArgs({
    options: { symbols: { type: 'boolean' } },
    allowPositionals: true,
  })
  mkdirSync(folder, { recursive: true })
  writeLoader()
  for (const name of names.length ? names : Object.keys(modules)) {
    const { source, inlining } = modules[name]
    build(source, join(folder, name), inlining, symbols)
  }
}
