/** Looks for faults in the sources: Go's tools for both targets, the rules of archtest, TypeScript, style and prose. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { root, writeLoader } from './modules.mjs'

const js = { GOOS: 'js', GOARCH: 'wasm' }
const jsPackages = ['./wasm/...', './registry/...', './proxy-worker/...', './extension/module/...', './bench/...']

const lines = (program, ...args) =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
const files = (...patterns) =>
  lines('git', 'ls-files', '--cached', '--others', '--exclude-standard', ...patterns).filter(existsSync)

/** Runs a tool. It fails where the tool does, or where it prints although it should be `silent`. */
function tool(name, [program, ...args], { env = {}, silent = false } = {}) {
  const began = Date.now()
  const { status, stdout } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', silent ? 'pipe' : 2, 2],
    encoding: 'utf8',
  })
  const failed = status !== 0 || (silent && stdout !== '')
  console.error(`${failed ? 'FAIL' : 'ok  '} ${name} (${Math.round((Date.now() - began) / 1000)} s)`)
  if (silent && stdout) console.error(stdout)
  return failed
}

/**
 * Prose that readers stumble over, in words that no plain sentence needs, and pages of docs/design that are too long.
 * Translations and stand-in sites are not prose of ours.
 */
const markers =
  /\b(lest|whoever|whosoever|anew|heed|betwixt|whence|thence|nobody's news|goodbye|for to|but for the|(is|are|was|were|be|been) (not |never )?told)\b/i
/** The begin of a comment that names its subject by a question, in place of a noun. */
const question = /^\s*(\/\*\*|\/\/|\*) (What|Who|Why|How|Has) (?!returns|reports)/
const prose = ['*.go', '*.ts', '*.tsx', '*.mjs', '*.md', '*.sh']

function plain() {
  const found = []
  for (const file of files(...prose)) {
    if (/testdata|locales|^e2e\/sites|^extension\/chats\/sites\/phrases|internal\/build\/check\.mjs/.test(file))
      continue
    const text = readFileSync(file, 'utf8')
    text.split('\n').forEach((line, i) => {
      if (markers.test(line) || question.test(line)) found.push(`${file}:${i + 1}: ${line.trim()}`)
    })
    const words = text.split(/\s+/).length
    if (file.startsWith('docs/design/') && words > 1001) found.push(`${file}: ${words} words, and 1,000 are enough`)
  }
  console.error(`${found.length ? 'FAIL' : 'ok  '} plain words`)
  for (const line of found) console.error(line)
  return found.length > 0
}

writeLoader()
// Staticcheck is a program for this machine that reads the packages as js/wasm builds them. There it
// takes functions that only JavaScript calls (go:wasmexport) for unused.
const staticcheck = lines('go', 'tool', '-n', 'staticcheck')[0]
const results = [
  tool('gofmt', ['gofmt', '-l', ...files('*.go')], { silent: true }),
  tool('vet', ['go', 'vet', './...']),
  tool('vet, js/wasm', ['go', 'vet', ...jsPackages], { env: js }),
  tool('staticcheck', [staticcheck, './...']),
  tool('staticcheck, js/wasm', [staticcheck, '-checks', 'inherit,-U1000', ...jsPackages], { env: js }),
  tool('archtest', ['go', 'test', './internal/archtest']),
  tool('tsc', ['node_modules/.bin/tsc', '-p', '.']),
  tool('reference', ['node', 'internal/build/reference.mjs', '--check']),
  tool('dprint', ['node_modules/.bin/dprint', 'check']),
  existsSync('.oxlintrc.json') && tool('oxlint', ['node_modules/.bin/oxlint', '--quiet']),
  tool('version', ['node', 'internal/build/version.mjs']),
  plain(),
]
process.exitCode = results.some(Boolean) ? 1 : 0
