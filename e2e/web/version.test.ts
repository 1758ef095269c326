import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { version } from '../../wasm/js/shared/version.ts'
import { root } from '../rig/harness.ts'

test('B8: one version, which is raised before what ships changes after a release', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'version-'))
  t.after(() => rmSync(copy, { recursive: true }))
  const files = [
    'internal/build/version.mjs',
    'wasm/js/package.json',
    'wasm/js/shared/version.ts',
    'wasm/internal/api/api.go',
    'cmd/portolan/main.go',
    'cmd/portolan/main_test.go',
    'web/examples/next/package.json',
    'extension/background.ts',
  ]
  for (const file of files) cpSync(join(root, file), join(copy, file))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: copy })
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('node', ['internal/build/version.mjs', ...args], {
      cwd: copy,
      encoding: 'utf8',
    })
    return [status, stdout + stderr] as const
  }
  const passes = (text: string) => assert.deepEqual(run(), [0, `version ${text}\n`])
  git('init', '--quiet')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'first')

  passes(`${version}, not released: there is no tag v${version}`)
  appendFileSync(join(copy, 'extension/background.ts'), '// before the release\n')
  passes(`${version}, not released: there is no tag v${version}`)
  git('commit', '--quiet', '-am', 'second')
  git('tag', `v${version}`)
  passes(`${version}, released`)
  appendFileSync(join(copy, 'cmd/portolan/main_test.go'), '// does not ship\n')
  passes(`${version}, released`)

  for (
    const [file, write] of [['extension/background.ts', appendFileSync], ['extension/added.ts', writeFileSync]] as const
  ) {
    write(join(copy, file), '// after the release\n')
    const [status, said] = run()
    assert.equal(status, 1)
    assert.match(said, new RegExp(`is released, and these files have changed since:.* ${file}`))
  }
  for (const wrong of ['0.0.9', version, '1.0', '1.0.0-beta', 'next']) assert.equal(run(wrong)[0], 2, wrong)
  assert.deepEqual(run('12.0.3'), [0, ''])
  passes('12.0.3, not released: there is no tag v12.0.3')
  assert.match(readFileSync(join(copy, 'web/examples/next/package.json'), 'utf8'), /"portolan": "\^12\.0\.3"/)

  const other = join(copy, 'wasm/internal/api/api.go')
  writeFileSync(other, readFileSync(other, 'utf8').replace('"12.0.3"', '"12.0.4"'))
  const [status, said] = run()
  assert.equal(status, 1)
  assert.match(said, /api\.go says 12\.0\.4, and wasm\/js\/package\.json says 12\.0\.3/)
})
