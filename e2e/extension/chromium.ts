import { cp } from 'node:fs/promises'
import { withoutFeatures } from '../rig/flags.ts'
import { RawChromium } from '../rig/rawchromium.ts'
import { extensionFolder, greedyCopy, template } from './profiles.ts'

/** From the manifest's key. */
export const extensionId = 'hlimmonnfinmkmhhpjbgabdjlpkcaffk'

/** Flags that load extensions. */
export const loading = (
  ...folders: string[]
) => [withoutFeatures('DisableLoadExtensionCommandLineSwitch'), `--load-extension=${folders.join()}`]

/** A real Chromium with the extension, without DevTools on its worker. */
export class Chromium extends RawChromium {
  /**
   * `granted`: all optional permissions. `paired`: the template's bridge too. `debugger`: the
   * build for trusted input. `beside`: folders of other extensions.
   */
  static async create(
    { granted = false, paired = false, debugger: trusted = false, beside = [], args = [] }: {
      granted?: boolean
      paired?: boolean
      debugger?: boolean
      beside?: string[]
      args?: string[]
    } = {},
  ): Promise<Chromium> {
    const profile = await RawChromium.newProfile()
    if (!trusted && (paired || granted))
      await cp(await template(paired ? 'paired' : 'granted'), profile, { recursive: true })
    const browser = new Chromium(profile, [
      ...loading(trusted ? await greedyCopy(true) : extensionFolder, ...beside),
      // Animations while a chat runs would take a quarter of the processor's time.
      '--force-prefers-reduced-motion',
      ...args,
    ])
    await browser.start()
    if (trusted) await browser.worker()
    return browser
  }

  /** The target of the extension's worker, if it runs. */
  private async runningWorker(): Promise<string | undefined> {
    return (await this.targets()).find((t) => t.type === 'service_worker' && t.url.includes(extensionId))?.targetId
  }

  /** Resolves when a worker of the extension runs that is not `before`. Returns its target. */
  async worker(before?: string): Promise<string> {
    for (let i = 0;; i++) {
      const targetId = await this.runningWorker()
      if (targetId && targetId !== before) return targetId
      if (i > 400) throw new Error('the extension does not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Ends the extension's worker, as the browser does at any time. */
  async killWorker(): Promise<void> {
    const targetId = await this.runningWorker()
    if (targetId) await this.cdp.send('Target.closeTarget', { targetId })
  }
}
