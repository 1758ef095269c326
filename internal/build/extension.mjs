/**
 * Builds the browser extension in dist/extension and dist/extension.zip: `node internal/build/extension.mjs`.
 * With --trusted-input it has the permission to type as a keyboard does. With firefox it builds dist/firefox and
 * dist/firefox.zip as well. It takes dist/npm's module.
 */
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'
import { extensionLibraries, notices } from './libraries.mjs'
import { build as buildModule, modules, run } from './modules.mjs'
import { shortStyles } from './styles.ts'

const trusted = process.argv.includes('--trusted-input')
const out = 'dist/extension.new'
const minified = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
}

/**
 * The parts of a registry that the background never uses: it starts no worker, shares its storage with no tab, and
 * leaves lists and messages for models, and checks of calls, to the side panel. An import() of one fails, as any
 * in a service worker.
 */
const unused =
  /\/(shared|worker-fallbacks|storage-lock|definitions|validate|models|search|leaks|tomessage|project|integrity|publish|worker)\.ts$/
const withoutUnused = {
  name: 'parts that the background never uses',
  setup(build) {
    build.onResolve(
      { filter: unused },
      ({ path, kind }) => kind === 'dynamic-import' ? { path: path.replace(/.*\//, './'), external: true } : undefined,
    )
  },
}

const script = (source, name, format) =>
  build({ ...minified, format, entryPoints: [source], outfile: `${out}/${name}` })

await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
await Promise.all([
  // A service worker has no import(). Without splitting, an import() becomes a part of the file.
  build({
    ...minified,
    entryPoints: ['extension/background.ts'],
    outfile: `${out}/background.js`,
    plugins: [withoutUnused],
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } }, // a field without a value needs no code
  }),
  script('extension/chats/driver/index.ts', 'driver.js', 'iife'),
  script('extension/chats/shim.ts', 'shim.js', 'iife'),
  script('extension/webmcp/page.ts', 'webmcp.js', 'iife'),
  build({
    ...minified,
    plugins: [shortStyles],
    splitting: true,
    entryPoints: { panel: 'extension/panel/index.ts' },
    outdir: out,
    chunkNames: 'panel/[name]-[hash]',
  }),
  ...['options.html', 'sidepanel.html', 'page.css'].map((name) => cp(`extension/panel/${name}`, `${out}/${name}`)),
  cp('extension/icons', `${out}/icons`, {
    recursive: true,
    filter: (file) => !/\.\w+$/.test(file) || file.endsWith('.png'),
  }),
  cp('LICENSE', `${out}/LICENSE`),
  extensionLibraries().then((libraries) => writeFile(`${out}/THIRD-PARTY-NOTICES.txt`, notices(libraries))),
  cp('wasm/js/page/callback.html', `${out}/callback.html`),
  cp('dist/npm/callback.js', `${out}/callback.js`),
  cp('dist/npm/portolan.wasm', `${out}/portolan.wasm`),
])
const { source, inlining } = modules['tools.wasm']
buildModule(source, `${out}/tools.wasm`, inlining)
const permissions = trusted ? ['debugger'] : []
run(process.execPath, ['extension/pack.ts', out, 'dist/extension.zip', ...permissions], { stdio: 'inherit' })
await rm('dist/extension', { recursive: true, force: true })
await rename(out, 'dist/extension')
if (process.argv.includes('firefox')) {
  await rm('dist/firefox', { recursive: true, force: true })
  await cp('dist/extension', 'dist/firefox', { recursive: true })
  run(process.execPath, ['extension/pack.ts', 'dist/firefox', 'dist/firefox.zip', 'firefox'], { stdio: 'inherit' })
}
