/**
 * Builds the modules twice: here, and with an empty cache in a copy of all committed or changed files.
 * Prints their digests, and fails where the bytes differ.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modules, root } from './modules.mjs'

const work = mkdtempSync(join(tmpdir(), 'portolan-twice-'))
const [copy, here, there] = ['copy', 'here', 'there'].map((name) => join(work, name))
const run = (program, args, options = {}) =>
  execFileSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28, ...options })
const build = (cwd, folder, env = {}) =>
  run(process.execPath, [join(cwd, 'internal/build/modules.mjs'), folder], { cwd, env: { ...process.env, ...env } })

try {
  const listed = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const name of String(listed).split('\0')) {
    if (name && existsSync(join(root, name))) cpSync(join(root, name), join(copy, name))
  }
  build(root, here)
  build(copy, there, { GOCACHE: join(work, 'cache') })
  const differ = Object.keys(modules).filter((name) => {
    const bytes = readFileSync(join(here, name))
    const digest = (kind, form) => `${kind}-${createHash(kind).update(bytes).digest(form)}`
    console.log(`${name.padEnd(18)} ${digest('sha256', 'hex')}\n${''.padEnd(18)} ${digest('sha384', 'base64')}`)
    return !bytes.equals(readFileSync(join(there, name)))
  })
  if (differ.length) throw new Error(`other bytes in another folder: ${differ.join(', ')}`)
  console.log('the same bytes in both folders')
} finally {
  run('chmod', ['-R', 'u+w', work])
  run('rm', ['-rf', work])
}
