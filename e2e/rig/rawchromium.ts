import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cdp, CdpPage } from './cdp.ts'
import { chromiumFlags, wholeChromium, withoutFeatures } from './flags.ts'

const flags = [...chromiumFlags, withoutFeatures(), '--remote-debugging-port=0', '--window-size=1400,1000']

/**
 * Chromium without Playwright, which would take every tab for visible and keep
 * workers alive. Its profile stays until `remove`, so that it can be started again.
 */
export class RawChromium {
  cdp!: Cdp
  readonly profile: string
  protected args: string[]
  private child!: ChildProcess

  constructor(profile: string, args: string[]) {
    this.profile = profile
    this.args = args
  }

  static newProfile(): Promise<string> {
    return mkdtemp(join(tmpdir(), 'portolan-chromium-'))
  }

  static async launch(args: string[] = []): Promise<RawChromium> {
    const browser = new RawChromium(await RawChromium.newProfile(), args)
    await browser.start()
    return browser
  }

  async start(): Promise<void> {
    await rm(join(this.profile, 'DevToolsActivePort'), { force: true })
    this.child = spawn(wholeChromium, [
      ...flags,
      `--user-data-dir=${this.profile}`,
      ...this.args,
      'about:blank',
    ], { stdio: process.env.CHROMIUM_LOG ? 'inherit' : 'ignore', detached: true })
    for (let i = 0;; i++) {
      const text = await readFile(join(this.profile, 'DevToolsActivePort'), 'utf8').catch(() => '')
      const [port, path] = text.split('\n')
      if (port && path) {
        this.cdp = await Cdp.connect(`ws://127.0.0.1:${port}${path}`)
        return
      }
      if (i > 600 || this.child.exitCode !== null) throw new Error('Chromium does not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** A tab in front of the others, unless `background`, once it shows the page and not the empty one before. */
  async open(url: string, options: { background?: boolean; newWindow?: boolean } = {}): Promise<CdpPage> {
    const { targetId } = await this.cdp.send<{ targetId: string }>('Target.createTarget', { url, ...options })
    const page = await CdpPage.attach(this.cdp, targetId)
    await page.until(
      (url) => (location.href !== 'about:blank' && document.readyState !== 'loading') || url === 'about:blank',
      [url],
      `${url} is open`,
    )
    return page
  }

  async activate(page: CdpPage): Promise<void> {
    await this.cdp.send('Target.activateTarget', { targetId: page.targetId })
  }

  async targets(): Promise<{ targetId: string; type: string; url: string; title: string }[]> {
    return (await this.cdp.send<{ targetInfos: never[] }>('Target.getTargets')).targetInfos
  }

  /** Ends the browser; `hard`: as a crash does, with its whole process group. */
  async stop(hard = false): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve))
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    if (hard) process.kill(-this.child.pid!, 'SIGKILL')
    else this.cdp.send('Browser.close').catch(() => {}) // a browser that ends may not reply
    await ended
  }

  async remove(): Promise<void> {
    await this.stop(true).catch(() => {})
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
