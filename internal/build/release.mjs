/**
 * Makes a release of the built package in dist/release: the tarball for npm, its SBOM (CycloneDX 1.6), the notes from
 * CHANGELOG.md, and SHA256SUMS. The same sources give the same bytes.
 */
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { environment, modules, root, run } from './modules.mjs'

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

/** The Go modules whose packages are linked in portolan.wasm, and the standard library. */
function linkedModules() {
  const format = '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}'
  const list = run('go', ['list', '-deps', '-f', format, modules['portolan.wasm'].source], { env: environment })
  const go = run('go', ['env', 'GOVERSION']).trim().replace(/^go/, '')
  return [`std ${go}`, ...list.split('\n').filter(Boolean)].map((line) => {
    const [path, at] = line.split(' ')
    return { name: path, version: at, purl: `pkg:golang/${path}@${at}`, license: path === 'std' ? 'BSD-3-Clause' : '' }
  })
}

/** The npm packages whose code is in the package's scripts. */
async function bundledPackages() {
  const { metafile } = await build({
    entryPoints: [
      'wasm/js/page/index.ts',
      'wasm/js/host/service.ts',
      'wasm/js/cassette/index.ts',
      'web/panel/index.ts',
    ],
    absWorkingDir: root,
    outdir: 'none',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    splitting: true,
  })
  const folders = Object.keys(metafile.inputs).flatMap((file) =>
    /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []
  )
  return [...new Set(folders)].map((folder) => {
    const manifest = JSON.parse(read(`${folder}/package.json`))
    return {
      name: manifest.name,
      version: manifest.version,
      purl: `pkg:npm/${manifest.name.replace('@', '%40')}@${manifest.version}`,
      license: manifest.license,
    }
  })
}

function sbom(components) {
  const main = `pkg:npm/${name}@${version}`
  const sorted = components.sort((a, b) => (a.purl < b.purl ? -1 : 1))
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
    components: sorted.map(({ name, version, purl, license }) => ({
      'type': 'library',
      'bom-ref': purl,
      name,
      version,
      ...(license && { licenses: [{ license: { id: license } }] }),
      purl,
    })),
    dependencies: [{ ref: main, dependsOn: sorted.map(({ purl }) => purl) }],
  }
}

run('npm', ['pack', '--silent', '--pack-destination', out, join(root, 'dist/npm')])
const components = [...linkedModules(), ...await bundledPackages()]
const unique = [...new Map(components.map((component) => [component.purl, component])).values()]
writeFileSync(join(out, `${name}-${version}.cdx.json`), `${JSON.stringify(sbom(unique), null, 2)}\n`)
writeFileSync(join(out, 'NOTES.md'), notes())
const sums = readdirSync(out).sort().map((file) =>
  `${createHash('sha256').update(readFileSync(join(out, file))).digest('hex')}  ${file}\n`
)
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
process.stdout.write(sums.join(''))
