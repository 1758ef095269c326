import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { root } from '../rig/harness.ts'

const read = (path: string) => readFile(root + path, 'utf8')
const bundlers = JSON.parse(await read('e2e/bundlers/package.json')) as { devDependencies: Record<string, string> }

test('docs/bundlers.md shows files that run', async () => {
  const blocks = [...(await read('docs/bundlers.md')).matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)]
  assert.ok(blocks.length > 4)
  for (const [, path, text] of blocks) assert.equal(text, await read(path!), path)
})

test('docs/bundlers.md names the versions that are tried', async () => {
  const text = await read('docs/bundlers.md')
  for (
    const [row, name] of Object.entries({
      Vite: 'vite',
      webpack: 'webpack',
      Rsbuild: '@rsbuild/core',
      Next: 'next',
      Rollup: 'rollup',
      esbuild: 'esbuild',
    })
  ) {
    const version = bundlers.devDependencies[name]!
    assert.match(text, new RegExp(`^\\| ${row}.*\\| ${version.replaceAll('.', '\\.')} +\\|`, 'm'))
  }
})

test('examples ask for what is installed to try them', async () => {
  for (const name of ['vite-react', 'next', 'webpack']) {
    const { dependencies, devDependencies } = JSON.parse(await read(`web/examples/${name}/package.json`)) as Record<
      string,
      Record<string, string>
    >
    for (const [wanted, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      if (wanted !== 'portolan') assert.equal(version, bundlers.devDependencies[wanted], `${name}: ${wanted}`)
    }
  }
})
