import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../rig/harness.ts'

// Browser profiles that rigs copy, because a new one needs two starts of Chromium and a pairing.

export const extensionFolder = `${root}dist/extension`

/**
 * `granted`: all optional permissions are granted. `paired`: a bridge is paired too,
 * with the folder `bridge`.
 */
export type Template = 'granted' | 'paired' | 'bridge'

let own: Promise<string> | undefined

/** Returns a template's folder: from this run's preparation, or made by this process. */
export async function template(name: Template): Promise<string> {
  const folder = process.env.PORTOLAN_PROFILES ?? await (own ??= prepareOwn())
  return join(folder, name)
}

async function prepareOwn(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-profiles-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'prepare.ts'), folder])
  return folder
}

/**
 * Copies the extension with a manifest that requires all permissions. The browser's own question cannot be
 * answered without a screen, but an extension keeps granted permissions. `trusted`: with the permission
 * for trusted input.
 */
export async function greedyCopy(trusted = false): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-greedy-'))
  await cp(extensionFolder, folder, { recursive: true })
  const file = join(folder, 'manifest.json')
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, string[]>
  manifest.permissions = [...manifest.permissions!, ...manifest.optional_permissions!, ...(trusted ? ['debugger'] : [])]
  manifest.host_permissions = manifest.optional_host_permissions!
  delete manifest.optional_permissions
  delete manifest.optional_host_permissions
  await writeFile(file, JSON.stringify(manifest))
  return folder
}
