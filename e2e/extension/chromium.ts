import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../web/harness.ts'
import { RawChromium } from '../web/rawchromium.ts'

export const extensionFolder = `${root}dist/extension`
/** From the manifest's key. */
export const extensionId = 'hlimmonnfinmkmhhpjbgabdjlpkcaffk'

const loading = (
  ...folders: string[]
) => ['--disable-features=DisableLoadExtensionCommandLineSwitch', `--load-extension=${folders.join()}`]

/** A real Chromium with the extension, without DevTools on its worker. */
export class Chromium extends RawChromium {
  /**
   * `granted`: as after a person said yes to all that is optional; the browser's
   * own question cannot be answered without a screen, but what an extension was
   * once granted stays so. `debugger`: the build for trusted input. `beside`: folders
   * of other extensions.
   */
  static async create(
    { granted = false, debugger: trusted = false, beside = [], args = [] }: {
      granted?: boolean
      debugger?: boolean
      beside?: string[]
      args?: string[]
    } = {},
  ): Promise<Chromium> {
    const browser = new Chromium(await RawChromium.newProfile(), [])
    if (granted || trusted) {
      const greedy = await greedyCopy(trusted)
      browser.args = [...loading(greedy), ...args]
      await browser.start()
      await browser.worker()
      if (trusted) return browser
      await browser.stop()
      await rm(greedy, { recursive: true })
    }
    browser.args = [...loading(extensionFolder, ...beside), ...args]
    await browser.start()
    return browser
  }

  /** Resolves when the extension's worker runs. */
  async worker(): Promise<void> {
    for (
      let i = 0;
      !(await this.targets()).some((t) => t.type === 'service_worker' && t.url.includes(extensionId));
      i++
    ) {
      if (i > 400) throw new Error('the extension does not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Ends the extension's worker, as the browser may at any time. */
  async killWorker(): Promise<void> {
    const worker = (await this.targets()).find((t) => t.type === 'service_worker' && t.url.includes(extensionId))
    if (worker) await this.cdp.send('Target.closeTarget', { targetId: worker.targetId })
  }
}

/** A copy of the extension whose manifest asks for everything at once. */
async function greedyCopy(trusted: boolean): Promise<string> {
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
