/**
 * The version of the package, the extension, the module and the command, which is one.
 *
 *   node internal/build/version.mjs          checks it
 *   node internal/build/version.mjs 0.2.0    raises it
 *
 * It is that of wasm/js/package.json. The other files that say it must agree; the extension's manifest gets it when it
 * is built. Once git has the tag of a version (v0.2.0), no file that ships may change before the version is raised.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The files that say the version, and the text around it. */
const carriers = {
  'wasm/js/package.json': /("version": ")([^"]*)/,
  'wasm/js/shared/version.ts': /(version = ')([^']*)/,
  'wasm/internal/api/api.go': /(const Version = ")([^"]*)/,
  'cmd/portolan/main.go': /(const version = ")([^"]*)/,
  ...Object.fromEntries(
    globSync('web/examples/*/package.json', { cwd: root }).map((file) => [file, /("portolan": "\^)([^"]*)/]),
  ),
}

/** The files that ship in the package, the extension and the command. */
const shipped = ['wasm', 'web', 'extension', 'registry', 'bridge', 'cmd', 'go.mod', 'go.sum', 'package-lock.json']
const unshipped = [
  '**/*_test.go',
  '**/*.test.ts',
  '**/testdata/**',
  '**/*.md',
  'registry/registrytest',
  'web/demo',
  'web/examples',
]

const read = (file) => readFileSync(join(root, file), 'utf8')
const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')
    .filter(Boolean)

const versionIn = (file) => carriers[file].exec(read(file))?.[2]
const version = versionIn('wasm/js/package.json')

/** Files that ship and are not those of the version's tag. undefined: git has no such tag, or there is no git. */
function changed() {
  const tag = `refs/tags/v${version}`
  try {
    git('rev-parse', '--quiet', '--verify', tag)
  } catch {
    return undefined
  }
  const paths = ['--', ...shipped, ...unshipped.map((path) => `:(exclude,glob)${path}`)]
  return [...git('diff', '--name-only', tag, ...paths), ...git('ls-files', '--others', '--exclude-standard', ...paths)]
}

function check() {
  const faults = Object.keys(carriers).filter((file) => versionIn(file) !== version)
    .map((file) => `${file} says ${versionIn(file)}, and wasm/js/package.json says ${version}`)
  const files = changed()
  if (files?.length) {
    faults.push(`version ${version} is released, and these files have changed since: ${files.slice(0, 5).join(', ')}`)
    faults.push('raise the version: node internal/build/version.mjs VERSION')
  }
  console.log(`version ${version}, ${files ? 'released' : `not released: there is no tag v${version}`}`)
  for (const fault of faults) console.error(fault)
  return faults.length ? 1 : 0
}

function raise(next) {
  const order = (v) => v.split('.').map((n) => n.padStart(9, '0')).join('.')
  if (!/^\d{1,5}\.\d{1,5}\.\d{1,5}$/.test(next) || order(next) <= order(version)) {
    console.error(`want a version after ${version}, as three numbers: the extension's manifest takes no other`)
    return 2
  }
  for (const [file, pattern] of Object.entries(carriers))
    writeFileSync(join(root, file), read(file).replace(pattern, `$1${next}`))
  return 0
}

process.exitCode = process.argv[2] ? raise(process.argv[2]) : check()
