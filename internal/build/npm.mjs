/**
 * Builds the npm package in dist/npm, all but the modules: `node internal/build/npm.mjs`.
 *
 * Two bundlers make it. Rollup builds index.js with the parts of page/parts.ts, because it
 * keeps the code that they share in index.js: a page starts with one request for script.
 * esbuild builds the files that contain all they need, and minifies. terser then saves another 2 %.
 */
import { globSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { build, transform } from 'esbuild'
import { rollup } from 'rollup'
import { minify } from 'terser'
import { entries } from './entries.mjs'
import { notices, packageLibraries } from './libraries.mjs'
import { shortStyles } from './styles.ts'

const out = 'dist/npm'
const js = 'wasm/js'

/** The entry points for libraries of model providers: each a file of web/adapters. */
const adapters = ['ai-sdk', 'openai', 'anthropic', 'gemini', 'openai-agents', 'langchain']

const minified = { format: 'esm', target: 'es2022', minify: true, legalComments: 'none', logLevel: 'warning' }
const bundled = { ...minified, plugins: [shortStyles], bundle: true }

/** Source files that are other files of the package for most of its entries. */
const published = {
  [`${js}/page/index.ts`]: './index.js',
  [`${js}/shared/registry-error.ts`]: './index.js',
  [`${js}/shared/types.ts`]: './index.js',
  [`${js}/page/models/codemode.ts`]: './codemode.js',
  [`${js}/host/worker.ts`]: './worker.js',
  [`${js}/page/publish.ts`]: './publish.js',
  [`${js}/shared/scan.ts`]: './scan.js',
  [`${js}/shared/search.ts`]: './search.js',
  [`${js}/fetch/demo.ts`]: './demo.js',
  'web/panel/index.ts': './panel.js',
  'web/panel/types.ts': './panel.js',
  'web/panel/questions/element.ts': './elicitation.js',
  'web/prompts/types.ts': './prompts.js',
  'web/apps/types.ts': './apps.js',
  'web/loop/types.ts': './loop.js',
  'web/run/types.ts': './run.js',
  'web/run/element/types.ts': './run-element.js',
  'web/run/endpoint/types.ts': './run-endpoint.js',
  'web/run/index.ts': './run.js',
}

/** An esbuild plugin: imports of these source files stay imports, of the files that the package has for them. */
const external = (...sources) => ({
  name: 'files of the package',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const source = sources.find((s) => resolve(resolveDir, path) === resolve(s))
      return source && { path: published[source], external: true }
    })
  },
})

/** The options of an entry that has index.js beside it. */
const besideIndex = { plugins: [external(`${js}/page/index.ts`, `${js}/shared/registry-error.ts`)] }

const bundle = (source, file, options = {}) =>
  build({ ...bundled, entryPoints: [source], outfile: `${out}/${file}`, ...options })

const tables = resolve(js, 'shared/wire.gen.ts')

/**
 * A Rollup plugin: each table of wire.gen.ts is a module of its own, so that a part has only its own tables. Rollup
 * would put the whole file into index.js.
 */
const separateTables = {
  name: 'tables',
  resolveId: (source) => source.startsWith(`${tables}?`) ? source : null,
  async load(id) {
    const [file, name] = id.split('?')
    if (file !== tables) return null
    const declarations = (await readFile(tables, 'utf8')).split(/\n(?=\/\*\*)/).slice(1)
    const nameOf = (text) => /export const (\w+)/.exec(text)[1]
    if (name) return declarations.find((text) => nameOf(text) === name)
    return declarations.map((text) => `export { ${nameOf(text)} } from ${JSON.stringify(`${tables}?${nameOf(text)}`)}`)
      .join('\n')
  },
}

/** The parts that have source files which other parts need too. */
const chunkOf = {
  definitions: 'definitions',
  vault: 'definitions',
  database: 'definitions',
  results: 'results',
  text: 'results',
  plaintext: 'results',
  offered: 'results',
  base64: 'results',
  ...Object.fromEntries(
    [
      'models',
      'modeltools',
      'view',
      'local',
      'finder',
      'searchdocument',
      'yield',
      'suggest',
      'toolfilter',
      'tokens',
      'offertools',
    ]
      .concat(['dialects', 'formats', 'convert', 'gemini', 'schemarefs', 'schemashape', 'schemaview'])
      .map((source) => [source, 'models']),
  ),
}

/** index.js and its parts, each named as its source file. */
async function buildPage() {
  // Built by themselves: no worker imports the script that starts it.
  const apart = ['host/worker.ts', 'shared/scan.ts', 'shared/search.ts'].map((source) => join(js, source))
  const bundler = await rollup({
    input: `${js}/page/index.ts`,
    preserveEntrySignatures: 'allow-extension',
    plugins: [separateTables, {
      name: 'TypeScript',
      resolveId(source, importer = '.') {
        if (source === 'js-yaml') return resolve('node_modules/js-yaml/dist/js-yaml.mjs')
        const id = resolve(importer, '..', source)
        const other = apart.find((path) => resolve(path) === id)
        if (other) return { id: published[other], external: true }
        return importer === '.' ? resolve(source) : id
      },
      async transform(source, id) {
        const loader = id.endsWith('.json') ? 'json' : 'ts'
        const { code } = await transform(source, { loader, format: 'esm', target: 'es2022' })
        return { code, map: null }
      },
    }],
  })
  const { output } = await bundler.generate({
    chunkFileNames: ({ name }) => `${name.replace('wire.gen', 'tables')}.js`,
    // One request for the lists of the last visit, and one for results.
    onlyExplicitManualChunks: true,
    // Bundlers of apps warn of imports that only load a file earlier.
    hoistTransitiveImports: false,
    manualChunks: (id) => chunkOf[/(\w+)\.ts$/.exec(id)?.[1]],
  })
  await bundler.close()
  await Promise.all(output.map(async ({ fileName, code }) => {
    await writeFile(`${out}/${fileName}`, (await transform(code, minified)).code)
  }))
}

/**
 * The settings panel and the other elements. What they share, and what they load at first use, is in panel/, under
 * names that change with the content.
 */
async function buildPanel() {
  await build({
    ...bundled,
    splitting: true,
    entryPoints: {
      panel: 'web/panel/index.ts',
      prompts: 'web/prompts/index.ts',
      'run-element': 'web/run/element/index.ts',
      elicitation: 'web/panel/questions/element.ts',
    },
    outdir: out,
    chunkNames: 'panel/[name]-[hash]',
    inject: ['web/nodom.ts'],
    define: { globalThis: 'panelScope' },
  })
  const locales = globSync('web/panel/locales/*.ts')
  await Promise.all(locales.map((file) => bundle(file, `locales/${basename(file, '.ts')}.js`)))
}

/** Copies a file of declarations. Its imports become those of the package. */
async function declare(source, file) {
  const text = (await readFile(source, 'utf8')).replaceAll(/from '(\.[^']*)'/g, (_, path) => {
    const name = published[join(source, '..', path)]
    if (!name) throw new Error(`${source}: the package has no file for ${path}`)
    return `from '${name}'`
  })
  await writeFile(`${out}/${file}`, text)
}

/**
 * The page that people come back to after signing in contains its script. Its policy allows the script by a
 * nonce, because bundlers change a script and so its digest. The nonce may be known: the page shows nothing foreign.
 */
async function buildCallback() {
  await bundle(`${js}/page/callback.ts`, 'callback.js')
  const page = (await readFile(`${js}/page/callback.html`, 'utf8')).trim()
  const script = (await readFile(`${out}/callback.js`, 'utf8')).trim()
  if (/<\/script/i.test(script)) throw new Error('the script would end its element')
  const made = page
    .replace("script-src 'self'", "$& 'nonce-portolan'")
    .replace('<script', () => `<script type="module" nonce="portolan">${script}</script>\n<script`)
  if (!made.includes("'nonce-portolan'") || !made.includes(script)) throw new Error('the page lacks its script')
  await writeFile(`${out}/callback.html`, `${made}\n`)
}

/** The page between a host and an app is one file: a host copies it to another origin. */
async function buildSandbox() {
  const page = (await readFile('web/apps/sandbox.html', 'utf8')).trim()
  const options = { ...minified, format: 'iife', bundle: true, entryPoints: ['web/apps/sandbox.ts'], write: false }
  const script = (await build(options)).outputFiles[0].text.trim()
  if (/<\/script/i.test(script)) throw new Error('the script would end its element')
  const made = page.replace('</body>', () => `<script>${script}</script>\n</body>`)
  if (!made.includes(script)) throw new Error('the page lacks its script')
  await writeFile(`${out}/apps-sandbox.html`, `${made}\n`)
}

/** Copies the README. Links to files of the repository become absolute, because the package lacks those files. */
async function copyReadme() {
  const { repository } = JSON.parse(await readFile(`${js}/package.json`, 'utf8'))
  const base = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`
  const text = await readFile('README.md', 'utf8')
  await writeFile(`${out}/README.md`, text.replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, (_, path) => `](${base}${path})`))
}

await mkdir(out, { recursive: true })
await Promise.all(globSync(`${out}/{*.js,*.ts,panel,locales}`).map((old) => rm(old, { recursive: true })))
await Promise.all([
  buildPage(),
  buildPanel(),
  buildCallback(),
  bundle(`${js}/host/worker.ts`, 'worker.js', {
    plugins: [external(`${js}/shared/scan.ts`, `${js}/shared/search.ts`, `${js}/fetch/demo.ts`)],
  }),
  bundle(`${js}/fetch/demo.ts`, 'demo.js'),
  bundle(`${js}/shared/scan.ts`, 'scan.js'),
  bundle(`${js}/shared/search.ts`, 'search.js'),
  // Without splitting, an import() becomes a part of the file.
  // A service worker has no document: neither code of models nor published tools are there.
  bundle(`${js}/host/service.ts`, 'service.js', {
    plugins: [external(`${js}/shared/registry-error.ts`, `${js}/page/models/codemode.ts`, `${js}/page/publish.ts`)],
  }),
  bundle(`${js}/cassette/index.ts`, 'cassette.js', besideIndex),
  bundle('web/config/index.ts', 'config.js', { plugins: [external(`${js}/shared/registry-error.ts`)] }),
  bundle('web/apps/index.ts', 'apps.js', { inject: ['web/nodom.ts'] }),
  buildSandbox(),
  bundle('web/loop/index.ts', 'loop.js', besideIndex),
  bundle('web/run/index.ts', 'run.js', besideIndex),
  bundle('web/run/endpoint/index.ts', 'run-endpoint.js', { plugins: [external('web/run/index.ts')] }),
  ...adapters.map((name) => bundle(`web/adapters/${name}.ts`, `${name}.js`, { external: ['@langchain/core/*'] })),
  bundle('web/react/index.ts', 'react.js', {
    external: ['react'],
    plugins: [external(`${js}/page/index.ts`, 'web/panel/index.ts', 'web/panel/questions/element.ts')],
  }),
  ...Object.entries(entries).map(([name, file]) => declare(file, `${name.split('/')[1] ?? 'index'}.d.ts`)),
  declare('web/panel/locale-types.ts', 'locale.d.ts'),
  cp(`${js}/package.json`, `${out}/package.json`),
  cp('LICENSE', `${out}/LICENSE`),
  packageLibraries().then((libraries) => writeFile(`${out}/THIRD-PARTY-NOTICES.txt`, notices(libraries))),
  copyReadme(),
])
const scripts = globSync(`${out}/{*,panel/*,locales/*}.js`)
await Promise.all(scripts.map(async (file) => {
  const { code } = await minify(await readFile(file, 'utf8'), {
    module: true,
    ecma: 2022,
    compress: { passes: 2 },
    format: { comments: false },
  })
  await writeFile(file, `${code}\n`)
}))
