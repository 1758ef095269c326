import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { shortStyles } from '../../internal/build/styles.ts'
import { root } from '../rig/harness.ts'

/**
 * The scripts that the side panel loads to show its first tab, in bytes of gzip, without the hashes in the names of
 * scripts: they change with each script that is loaded later, and by some bytes the size.
 */
const budget = 49_450

test('the first load is within its budget, and has no settings panel in it', async (t) => {
  const { metafile, outputFiles } = await build({
    entryPoints: { panel: `${root}extension/panel/index.ts` },
    bundle: true,
    plugins: [shortStyles],
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    write: false,
    outdir: `${root}out`,
    absWorkingDir: root,
    chunkNames: 'panel/[name]-[hash]',
    metafile: true,
    logLevel: 'warning',
  })
  const first = new Set<string>()
  const take = (path: string) => {
    if (first.has(path)) return
    first.add(path)
    for (const { path: next, kind } of metafile.outputs[path]!.imports) if (kind === 'import-statement') take(next)
  }
  take('out/panel.js')
  const inputs = [...first].flatMap((path) => Object.entries(metafile.outputs[path]!.inputs)).filter((
    [, { bytesInOutput }],
  ) => bytesInOutput > 0).map(([path]) => path)
  assert.deepEqual(
    inputs.filter((path) => /^(wasm\/js\/(?!shared\/)|web\/panel\/(panel|add|tools|server\/card))/.test(path)),
    [],
  )
  const bytes = outputFiles.filter((f) => first.has(f.path.slice(root.length))).reduce(
    (sum, f) => sum + gzipSync(f.text.replace(/-[A-Z0-9]{8}(?=\.js)/g, ''), { level: 9 }).length,
    0,
  )
  t.diagnostic(`side panel, to begin with: ${bytes} bytes (budget ${budget})`)
  assert.ok(bytes > 10_000 && bytes <= budget, `${bytes} bytes`)
})
