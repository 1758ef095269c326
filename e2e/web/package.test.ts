import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '../rig/harness.ts'

// The package as npm packs and installs it.

const run = promisify(execFile)
let dir: string
let tarball: string
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-package-'))
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', dir, join(root, 'dist/npm')])
  tarball = join(dir, stdout.trim().split('\n').at(-1)!)
  await writeFile(join(dir, 'package.json'), '{"type":"module","private":true}')
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--offline', '--omit=peer', tarball], {
    cwd: dir,
  })
  await symlink(join(root, 'node_modules/react'), join(dir, 'node_modules/react')) // the app's own
  await symlink(join(root, 'node_modules/@types'), join(dir, 'node_modules/@types'))
  await mkdir(join(dir, 'node_modules/@langchain'))
})
after(() => rm(dir, { recursive: true, force: true }))

interface Manifest {
  exports: Record<string, string | { types: string; default: string }>
  sideEffects: string[]
}
const manifest = async () =>
  JSON.parse(await readFile(join(dir, 'node_modules/portolan/package.json'), 'utf8')) as Manifest

/** Its tools need the Node that they were made for. */
const tool = (name: string, ...args: string[]) =>
  run(join(root, 'node_modules/.bin', name), args, {
    env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env.PATH}` },
  })

test('publint has nothing to say', async () => {
  const { stdout } = await tool('publint', 'run', '--strict', tarball)
  assert.match(stdout, /All good!/)
})

test('attw finds every type', async () => {
  // Not looked at: require() of what is ESM only (esm-only), and files that have no types.
  await tool(
    'attw',
    tarball,
    '--profile',
    'esm-only',
    '--exclude-entrypoints',
    'portolan.wasm',
    './locales/*',
    'callback.html',
    'callback.js',
    'apps-sandbox.html',
  )
})

/** The adapters that need no library, neither for their types nor at run time. */
const adapters = ['ai-sdk', 'openai', 'anthropic', 'gemini', 'openai-agents'].map((name) => `portolan/${name}`)

test('without its library, the adapter for LangChain fails alone, and says what is missing', async () => {
  await writeFile(join(dir, 'chain.ts'), `import { structuredTools } from 'portolan/langchain'\nvoid structuredTools\n`)
  const types = compile(['chain.ts'], { lib: ['es2022', 'dom'], types: [] })
  await assert.rejects(types, /^[^]*langchain\.d\.ts.*Cannot find module '@langchain\/core\/tools'/)
  const program = "await import('portolan/langchain')"
  await assert.rejects(
    run(process.execPath, ['--input-type=module', '-e', program], { cwd: dir }),
    /Cannot find package '@langchain\/core'/,
  )
})

test('with its library, the adapter for LangChain compiles', async () => {
  await symlink(
    join(root, 'e2e/providers/node_modules/@langchain/core'),
    join(dir, 'node_modules/@langchain/core'),
  )
  // The library's own declarations do not stand exactOptionalPropertyTypes.
  await compile(['chain.ts'], { lib: ['es2022', 'dom'], types: ['node'], exactOptionalPropertyTypes: false })
})

test('the types compile in an app that checks libraries too', async () => {
  const entries = [
    'portolan',
    'portolan/react',
    'portolan/panel',
    'portolan/prompts',
    'portolan/apps',
    'portolan/loop',
    'portolan/run',
    'portolan/run-endpoint',
    'portolan/run-element',
    ...adapters,
    'portolan/cassette',
    'portolan/config',
    'portolan/worker',
    'portolan/locales/ar',
  ]
  await writeFile(
    join(dir, 'app.ts'),
    `${entries.map((entry, i) => `import * as entry${i} from '${entry}'`).join('\n')}
void [${entries.map((_, i) => `entry${i}`)}]
import { createRegistry, RegistryError, type ErrorCode, type Mode, type LoadProgress } from 'portolan'
await using registry = await createRegistry()
const mode: Mode = registry.mode
const modes: Record<Mode, string> = { worker: '', shared: '', main: '', replay: '', remote: '' }
const phases: Record<LoadProgress['phase'], string> = { download: '', start: '', ready: '' }
const code: ErrorCode = new RegistryError('timeout', '').code
// @ts-expect-error: no such code
new RegistryError('no_such_code', '')
void [mode, modes, phases, code]
`,
  )
  await compile(['app.ts'], { lib: ['es2022', 'dom'], types: [] })
})

test('the types of entries for Node compile without DOM', async () => {
  const entries = ['', '/cassette', '/config', '/worker', '/loop', '/run', '/run-endpoint'].map((part) =>
    `portolan${part}`
  ).concat(adapters)
  await writeFile(
    join(dir, 'node.ts'),
    `${entries.map((entry, i) => `import * as entry${i} from '${entry}'`).join('\n')}
void [${entries.map((_, i) => `entry${i}`)}]
import { readFile } from 'node:fs/promises'
import { createRegistry } from 'portolan'
import { readConfig, type Lint, type Problem } from 'portolan/config'
await createRegistry({ wasm: await readFile('portolan.wasm'), signal: AbortSignal.timeout(1000) })
const [entry] = readConfig('{}').entries
// @ts-expect-error: no such code
if (entry?.lints[0]?.code === 'no_such_code') throw entry
// @ts-expect-error: no such code
const problem: Problem['code'] = 'no_such_code'
const codes: [Lint['code'], Problem['code']] = ['no_url', 'too_large']
void [problem, codes]
`,
  )
  await compile(['node.ts'], { lib: ['es2022'], types: ['node'] })
})

/** Compiles files as an app does that checks its libraries too, with both ways to find modules. */
async function compile(files: string[], options: {
  lib: string[]
  types: string[]
  exactOptionalPropertyTypes?: boolean
}): Promise<void> {
  for (const [moduleResolution, module] of [['bundler', 'esnext'], ['node16', 'node16']]) {
    const compilerOptions = {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      target: 'es2022',
      module,
      moduleResolution,
      ...options,
    }
    await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await tool('tsc', '-p', dir).catch((e: { stdout: string }) => assert.fail(e.stdout))
  }
}

test('every file that the manifest names is there', async () => {
  for (const [entry, target] of Object.entries((await manifest()).exports)) {
    for (const file of typeof target === 'string' ? [target] : Object.values(target)) {
      if (file.includes('*')) continue
      assert.ok(existsSync(join(dir, 'node_modules/portolan', file)), `${entry}: ${file}`)
    }
  }
})

const nodes = [`${root}node_modules/.bin/node`, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync)
for (const node of nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  if (Number(version.slice(1).split('.')[0]) < 20) continue // package.json: engines
  test(`imported in Node ${version}, no entry does anything`, async () => {
    const entries = Object.entries((await manifest()).exports).filter(([, target]) => typeof target === 'object').map((
      [entry],
    ) => entry.replace('*', 'ar').replace(/^\./, 'portolan'))
    for (const entry of entries) {
      // Faults of the library itself are none of the entry.
      const library = entry === 'portolan/langchain' ? "await import('@langchain/core/tools');" : ''
      const program = `${library} const before = Object.getOwnPropertyNames(globalThis)
        const exported = await import('${entry}')
        if (!Object.keys(exported).length) throw new Error('it exports nothing')
        const left = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name))
        if (left.length) throw new Error('globals: ' + left)
        for (let i = 0; i < 100 && process.getActiveResourcesInfo().length; i++) await new Promise((resolve) => setImmediate(resolve)) // files being closed
        const handles = process.getActiveResourcesInfo().filter((name) => name !== 'Immediate')
        if (handles.length) throw new Error('handles: ' + handles)`
      await assert.doesNotReject(
        run(node, ['--input-type=module', '-e', program], { cwd: dir, timeout: 20_000 }),
        entry,
      )
    }
  })
}
