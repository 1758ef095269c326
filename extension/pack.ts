/**
 * Completes the extension folder with its manifest and packs it: `node extension/pack.ts FOLDER ZIP [PERMISSION...]`.
 * Named permissions are added. The same files give the same bytes.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zipSync, type Zippable } from 'fflate'
import { version } from '../wasm/js/shared/version.ts'

const [folder, zip, ...more] = process.argv.slice(2) as [string, string, ...string[]]
const manifest = JSON.parse(await readFile(new URL('manifest.json', import.meta.url), 'utf8')) as {
  permissions: string[]
}
const permissions = [...manifest.permissions, ...more]
await writeFile(join(folder, 'manifest.json'), `${JSON.stringify({ ...manifest, version, permissions }, null, 2)}\n`)

const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((f) => f.isFile()).map((f) => join(f.parentPath, f.name)).sort()
const files: Zippable = {}
for (const name of names) files[name.slice(folder.length + 1)] = [await readFile(name), { mtime: new Date(1980, 0, 1) }]
await writeFile(zip, zipSync(files, { level: 9 }))
