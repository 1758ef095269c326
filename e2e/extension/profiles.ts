import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TestBridge } from './bridge.ts'
import { Chromium, extensionFolder, loading } from './chromium.ts'
import { Rig } from './rig.ts'

// Browser profiles that rigs copy: to make one takes two starts of Chromium and a pairing.

/** `granted`: as after a person said yes to all that is optional. `paired`: with a bridge too, whose folder is `bridge`. */
export type Template = 'granted' | 'paired' | 'bridge'

/** Nobody listens there: a paired extension finds its bridge once a test names the address. */
export const nowhere = '127.0.0.1:9'

let own: Promise<string> | undefined

/** The folder of a template: one that the run has prepared, or one of this process. */
export async function template(name: Template): Promise<string> {
  const folder = process.env.PORTOLAN_PROFILES ?? await (own ??= prepareOwn())
  return join(folder, name)
}

async function prepareOwn(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-profiles-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  await prepare(folder)
  return folder
}

/** Makes all templates in a folder. */
export async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const granted = join(folder, 'granted')
  await mkdir(granted)
  const greedy = await greedyCopy()
  const browser = new Chromium(granted, loading(greedy))
  await browser.start()
  await browser.worker()
  await browser.stop()
  await rm(greedy, { recursive: true })
  // Each copy shall be an installation of its own: only the permissions stay.
  for (const kept of ['Local Extension Settings', 'IndexedDB', 'Service Worker'])
    await rm(join(granted, 'Default', kept), { recursive: true, force: true })

  const paired = join(folder, 'paired')
  await cp(granted, paired, { recursive: true })
  const bridge = await TestBridge.create()
  const rig = new Rig(bridge, new Chromium(paired, loading(extensionFolder)))
  try {
    await rig.browser.start()
    await rig.openPanel()
    await bridge.start()
    await rig.pair()
    await rig.moveBridge(nowhere)
    await rig.browser.stop()
    await bridge.stop()
    await cp(bridge.folder, join(folder, 'bridge'), { recursive: true })
  } finally {
    await rig.browser.stop(true).catch(() => {})
    await bridge.close()
  }
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await prepare(process.argv[2]!)
  process.exit()
}
