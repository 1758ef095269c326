import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { root } from './harness.ts'

test('the quick start of the README runs as it stands', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const snippet = readme.match(/```js\n([\s\S]+?)```/)?.[1]
  assert.ok(snippet)
  const dir = await mkdtemp(join(tmpdir(), 'portolan-readme-'))
  try {
    const run = promisify(execFile)
    await writeFile(join(dir, 'package.json'), '{"type":"module","private":true}')
    await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--offline', join(root, 'dist/npm')], { cwd: dir })
    await writeFile(join(dir, 'quickstart.js'), snippet)
    const { stdout } = await run(process.execPath, ['quickstart.js'], { cwd: dir })
    assert.match(stdout, /'demo__echo'/)
    assert.match(stdout, /^42$/m)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
