/** The libraries whose code is in the package or in the extension, and their licenses. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { environment, root, run } from './modules.mjs'

const read = (file) => readFileSync(join(root, file), 'utf8')
const purl = (type, name, version) => `pkg:${type}/${name.replace('@', '%40')}@${version}`

/** The Go modules whose packages are linked in a program, and the standard library. */
function linked(program) {
  const format = '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}'
  const list = run('go', ['list', '-deps', '-f', format, program], { env: environment })
  const [version, folder] = run('go', ['env', 'GOVERSION', 'GOROOT']).trim().split('\n')
  // Debian's Go has no license file. This module of the same authors has the same text.
  const licensed = existsSync(join(folder, 'LICENSE'))
    ? folder
    : JSON.parse(run('go', ['mod', 'download', '-json', 'golang.org/x/sys'])).Dir
  return [`std ${version.replace(/^go/, '')} ${licensed}`, ...list.split('\n').filter(Boolean)].map((line) => {
    const [name, version, folder] = line.split(' ')
    return { name, version, folder, purl: purl('golang', name, version), license: name === 'std' ? 'BSD-3-Clause' : '' }
  })
}

/** The npm packages whose code is in scripts. */
async function bundled(entryPoints) {
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: root,
    outdir: 'none',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    splitting: true,
    preserveSymlinks: true,
    external: ['@langchain/core/*', 'react'],
  })
  const folders = Object.keys(metafile.inputs).flatMap((file) =>
    /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []
  )
  return [...new Set(folders)].map((folder) => {
    const { name, version, license } = JSON.parse(read(`${folder}/package.json`))
    return { name, version, folder: join(root, folder), purl: purl('npm', name, version), license }
  })
}

/** The libraries of some Go programs and scripts, in the order of their package URLs. */
async function librariesOf(programs, scripts) {
  const all = [...programs.flatMap(linked), ...await bundled(scripts)]
  const unique = new Map(all.map((library) => [library.purl, library]))
  return [...unique.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1))
}

/** The libraries of the npm package. */
export const packageLibraries = () =>
  librariesOf(['./wasm'], [
    ...['page', 'cassette'].map((folder) => `wasm/js/${folder}/index.ts`),
    'wasm/js/host/service.ts',
    ...globSync('web/{adapters,apps,config,loop,panel,prompts,react,run}/**/*.ts', {
      cwd: root,
      exclude: (file) => /\.(test|d)\.ts$/.test(file),
    }),
  ])

/** The libraries of the extension. */
export const extensionLibraries = () =>
  librariesOf(['./wasm', './extension/module'], [
    'extension/background.ts',
    ...globSync('extension/**/index.ts', { cwd: root }),
  ])

function licenseOf({ name, folder }) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name))
  if (!file) throw new Error(`${name} has no license file`)
  return readFileSync(join(folder, file), 'utf8').trim()
}

/** The text that goes with copies of these libraries: the license of each, and its names of authors. */
export function notices(libraries) {
  const texts = Map.groupBy(libraries, licenseOf)
  const parts = [...texts].map(([text, of]) =>
    `${of.map(({ name, version }) => `${name} ${version}`).join('\n')}\n\n${text}\n`
  )
  return ['Portolan contains these libraries, under their own licenses.\n', ...parts].join(`\n${'-'.repeat(80)}\n\n`)
}
