import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../rig/harness.ts'

const here = fileURLToPath(new URL('./', import.meta.url))
const programs = `${here}node_modules/.bin`

let installed: Promise<string> | undefined

/** Installs the package with the command of README.md, and returns the folder with what is in it. */
async function install(): Promise<string> {
  // Two processes may install at a time.
  const dir = await mkdtemp(join(tmpdir(), 'portolan-installed-'))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'package.json'), '{ "private": true }\n')
  const [command] = /^npm install .*$/m.exec(await readFile(`${root}README.md`, 'utf8'))!
  await runIn(dir, `${command.replace('./dist/npm', `${root}dist/npm`)} --offline --no-audit --no-fund`)
  return join(dir, 'node_modules/portolan')
}

/** Makes an app of the given folders' files, with the package of its own; all others are those of `e2e/bundlers`. */
export async function makeApp(name: string, ...folders: string[]): Promise<string> {
  const dir = join(here, 'build', name)
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir, { recursive: true })
  await writeFile(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n')
  for (const folder of folders)
    await cp(join(root, folder), dir, {
      recursive: true,
      filter: (path) => !/node_modules|\.next$/.test(path),
    })
  await cp(await (installed ??= install()), join(dir, 'node_modules/portolan'), { recursive: true })
  return dir
}

/** The environment of an app's commands: they find the programs that are installed, and tell nobody. */
export const environment = {
  PATH: [programs, `${root}node_modules/.bin`, process.env.PATH].join(delimiter),
  NEXT_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
  CI: '1',
}

/** Runs a command in an app's folder and returns what it prints. */
export async function runIn(dir: string, command: string): Promise<string> {
  const child = spawn('sh', ['-ec', command], {
    cwd: dir,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 240_000,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const code = await new Promise((resolve) => child.on('close', resolve))
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`)
  return output
}

export async function versionOf(name: string): Promise<string> {
  return (JSON.parse(await readFile(join(here, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version
}

/** Bytes of all files below a folder. */
export async function bytesIn(dir: string): Promise<number> {
  const files = await readdir(dir, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    files.filter((f) => f.isFile()).map(async (f) => (await stat(join(f.parentPath, f.name))).size),
  )
  return sizes.reduce((a, b) => a + b, 0)
}
