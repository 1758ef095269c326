import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { version } from '../../wasm/js/shared/version.ts'
import { root } from '../rig/harness.ts'

const out = join(root, 'dist/release')
const release = () => execFileSync('node', [join(root, 'internal/build/release.mjs')], { encoding: 'utf8' })

test('a release has the same bytes each time, and each file its digest', () => {
  const sums = release()
  assert.equal(release(), sums)
  const files = readdirSync(out)
  assert.deepEqual(files.sort(), ['NOTES.md', 'SHA256SUMS', `portolan-${version}.cdx.json`, `portolan-${version}.tgz`])
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })
  assert.match(
    readFileSync(join(out, 'NOTES.md'), 'utf8'),
    new RegExp(`^# portolan ${version.replaceAll('.', '\\.')}\n\n.*\n\n### Added\n`),
  )
})

test('the SBOM is valid, and names what is linked and bundled', async () => {
  const text = readFileSync(join(out, `portolan-${version}.cdx.json`), 'utf8')
  assert.equal(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text), null)
  const { components } = JSON.parse(text) as { components: { name: string }[] }
  assert.deepEqual(
    components.map(({ name }) => name),
    [
      'std',
      '@lit/reactive-element',
      'js-yaml',
      'jsonc-parser',
      'lit-element',
      'lit-html',
      'lit',
      'smol-toml',
      'url-template',
    ],
  )
})

test('the package and the extension contain the licenses of their libraries', () => {
  const packed = execFileSync('tar', ['xOf', join(out, `portolan-${version}.tgz`), 'package/THIRD-PARTY-NOTICES.txt'], {
    encoding: 'utf8',
  })
  const { components } = JSON.parse(readFileSync(join(out, `portolan-${version}.cdx.json`), 'utf8')) as {
    components: { name: string; version: string }[]
  }
  const installed = readFileSync(join(root, 'dist/extension/THIRD-PARTY-NOTICES.txt'), 'utf8')
  for (const { name, version } of components) {
    assert.ok(packed.includes(`\n${name} ${version}\n`), name)
    assert.ok(installed.includes(`\n${name} ${version}\n`), name)
  }
  for (const holder of ['The Go Authors', 'Google LLC', 'Vitaly Puzrin', 'Microsoft', 'Bram Stein']) {
    assert.ok(packed.includes(holder), holder)
  }
  assert.match(installed, /\ngithub\.com\/modelcontextprotocol\/go-sdk v/)
})

test('no link of the packed README leads into the repository', () => {
  const readme = execFileSync('tar', ['xOf', join(out, `portolan-${version}.tgz`), 'package/README.md'], {
    encoding: 'utf8',
  })
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map((m) => m[1]!)
  assert.ok(links.length > 5)
  for (const link of links) assert.match(link, /^(https:\/\/|#)/)
})
