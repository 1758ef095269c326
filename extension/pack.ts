/**
 * Completes the extension folder with its manifest and packs it: `node extension/pack.ts FOLDER ZIP [firefox]
 * [PERMISSION...]`. Named permissions are added. The same files give the same bytes.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zipSync, type Zippable } from 'fflate'
import { version } from '../wasm/js/shared/version.ts'

interface Manifest {
  permissions: string[]
  background: { service_worker: string; type: string }
  side_panel?: { default_path: string }
  icons: Record<string, string>
  [field: string]: unknown
}

const [folder, zip, ...rest] = process.argv.slice(2) as [string, string, ...string[]]
const firefox = rest[0] === 'firefox'
const more = rest.slice(firefox ? 1 : 0)
const manifest = JSON.parse(await readFile(new URL('manifest.json', import.meta.url), 'utf8')) as Manifest
const full = { ...manifest, version, permissions: [...manifest.permissions, ...more] }
await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(firefox ? forFirefox(full) : full, null, 2)}\n`)

const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((f) => f.isFile()).map((f) => join(f.parentPath, f.name)).sort()
const files: Zippable = {}
for (const name of names) files[name.slice(folder.length + 1)] = [await readFile(name), { mtime: new Date(1980, 0, 1) }]
await writeFile(zip, zipSync(files, { level: 9 }))

/** Firefox has an event page in place of the service worker, a sidebar, and its own kind of id. */
function forFirefox(chromium: Manifest): object {
  const { key: _, minimum_chrome_version: __, side_panel, background, permissions, ...same } = chromium
  return {
    ...same,
    permissions: permissions.filter((name) => name !== 'sidePanel'),
    background: { scripts: [background.service_worker], type: background.type },
    sidebar_action: {
      default_title: chromium['name'],
      default_panel: side_panel!.default_path,
      default_icon: chromium.icons,
      open_at_install: false,
    },
    browser_specific_settings: {
      gecko: {
        id: 'portolan@portolan-mcp.github.io',
        strict_min_version: '140.0',
        data_collection_permissions: { required: ['none'] },
      },
    },
  }
}
