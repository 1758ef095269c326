/**
 * Makes a release of the built package in dist/release: the tarball for npm, its SBOM (CycloneDX 1.6), the notes from
 * CHANGELOG.md, and SHA256SUMS. The same sources give the same bytes.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageLibraries } from './libraries.mjs'
import { root, run } from './modules.mjs'

const out = join(root, 'dist/release')
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })

const read = (file) => readFileSync(join(root, file), 'utf8')
const { name, version, license, homepage } = JSON.parse(read('dist/npm/package.json'))

/** The notes of a version are those of its section, or before its release those of "Unreleased". */
function notes() {
  const sections = read('CHANGELOG.md').split(/^(?=## \[)/m)
  const section = sections.find((text) => text.startsWith(`## [${version}]`)) ??
    sections.find((text) => text.startsWith('## [Unreleased]'))
  return `# ${name} ${version}\n\n${section.split('\n').slice(1).join('\n').trim()}\n`
}

function sbom(components) {
  const main = `pkg:npm/${name}@${version}`
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        'type': 'library',
        'bom-ref': main,
        name,
        version,
        'licenses': [{ license: { id: license } }],
        'purl': main,
        'externalReferences': [{ type: 'website', url: homepage }],
      },
    },
    components: components.map(({ name, version, purl, license }) => ({
      'type': 'library',
      'bom-ref': purl,
      name,
      version,
      ...(license && { licenses: [{ license: { id: license } }] }),
      purl,
    })),
    dependencies: [{ ref: main, dependsOn: components.map(({ purl }) => purl) }],
  }
}

run('npm', ['pack', '--silent', '--pack-destination', out, join(root, 'dist/npm')])
writeFileSync(join(out, `${name}-${version}.cdx.json`), `${JSON.stringify(sbom(await packageLibraries()), null, 2)}\n`)
writeFileSync(join(out, 'NOTES.md'), notes())
const sums = readdirSync(out).sort().map((file) =>
  `${createHash('sha256').update(readFileSync(join(out, file))).digest('hex')}  ${file}\n`
)
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))
