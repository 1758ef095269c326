import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TestBridge } from './bridge.ts'
import { Chromium, extensionId, loading } from './chromium.ts'
import { extensionFolder, greedyCopy } from './profiles.ts'
import { Rig } from './rig.ts'

// Makes the templates of profiles.ts: node e2e/extension/prepare.ts FOLDER

/** No bridge listens there. A paired extension finds its bridge once a test sets the address. */
const nowhere = '127.0.0.1:9'

/** Makes all templates in a folder. */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const granted = join(folder, 'granted')
  await mkdir(granted)
  const greedy = await greedyCopy()
  const browser = new Chromium(granted, loading(greedy))
  await browser.start()
  await browser.worker()
  await browser.stop()
  await rm(greedy, { recursive: true })
  // Each copy becomes its own installation. Only the permissions stay. A worker that the preferences know, and whose
  // registration is gone, might not start.
  for (const kept of ['Local Extension Settings', 'IndexedDB', 'Service Worker'])
    await rm(join(granted, 'Default', kept), { recursive: true, force: true })
  const preferences = join(granted, 'Default/Preferences')
  const stored = JSON.parse(await readFile(preferences, 'utf8'))
  const installed = stored.extensions.settings[extensionId]
  for (const key of ['has_started_service_worker', 'service_worker_registration_info', 'serviceworkerevents'])
    delete installed[key]
  stored.extensions.ui = { ...stored.extensions.ui, developer_mode: true } // else one that is reloaded is switched off
  await writeFile(preferences, JSON.stringify(stored))

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

await prepare(process.argv[2]!)
process.exit()
