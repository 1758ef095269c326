import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../web/harness.ts'

// Browser profiles that rigs copy: to make one takes two starts of Chromium and a pairing.

export const extensionFolder = `${root}dist/extension`

/**
 * `granted`: as after a person said yes to all that is optional. `paired`: with a bridge too,
 * whose folder is `bridge`.
 */
export type Template = 'granted' | 'paired' | 'bridge'

let own: Promise<string> | undefined

/** The folder of a template: one that the run has prepared, or one of this process. */
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
 * A copy of the extension whose manifest asks for everything at once. The browser's own question cannot be
 * answered without a screen, but an extension keeps what it was once granted. `trusted`: with the permission
 * to type as a keyboard does.
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
