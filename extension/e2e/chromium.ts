import { spawn, type ChildProcess } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../web/demo/e2e/harness.ts'
import { Cdp, CdpPage } from './cdp.ts'

export const extensionFolder = `${root}dist/extension`
/** From the manifest's key. */
export const extensionId = 'hlimmonnfinmkmhhpjbgabdjlpkcaffk'

const flags = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--remote-debugging-port=0', '--window-size=1400,1000',
  '--enable-features=ExtensionsManifestV3Only', '--disable-features=DisableLoadExtensionCommandLineSwitch',
]

/**
 * A real Chromium with the extension, without DevTools on its worker. The
 * profile stays until `remove`, so that the browser can be started again.
 */
export class Chromium {
  cdp!: Cdp
  readonly profile: string
  private child!: ChildProcess
  private readonly args: string[]
  private extension = extensionFolder

  private constructor(profile: string, args: string[]) {
    this.profile = profile
    this.args = args
  }

  /**
   * `granted`: as after a person said
   * yes to all that is optional; the browser's own question cannot be answered
   * without a screen, but what an extension was once granted stays so.
   * `debugger`: the build for trusted input.
   */
  static async create({ granted = false, debugger: trusted = false, args = [] }: { granted?: boolean; debugger?: boolean; args?: string[] } = {}): Promise<Chromium> {
    const profile = await mkdtemp(join(tmpdir(), 'portolan-chromium-'))
    const browser = new Chromium(profile, args)
    if (granted || trusted) {
      const greedy = browser.extension = await greedyCopy(trusted)
      await browser.start()
      await browser.worker()
      if (trusted) return browser
      await browser.stop()
      await rm(greedy, { recursive: true })
      browser.extension = extensionFolder
    }
    await browser.start()
    return browser
  }

  /** Resolves when the extension's worker runs. */
  async worker(): Promise<void> {
    for (let i = 0; !(await this.targets()).some((t) => t.type === 'service_worker' && t.url.includes(extensionId)); i++) {
      if (i > 200) throw new Error('the extension does not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async start(): Promise<void> {
    await rm(join(this.profile, 'DevToolsActivePort'), { force: true })
    this.child = spawn(process.env.CHROMIUM!, [...flags, `--user-data-dir=${this.profile}`, `--load-extension=${this.extension}`, ...this.args, 'about:blank'], { stdio: process.env.CHROMIUM_LOG ? 'inherit' : 'ignore', detached: true })
    for (let i = 0; ; i++) {
      const text = await readFile(join(this.profile, 'DevToolsActivePort'), 'utf8').catch(() => '')
      const [port, path] = text.split('\n')
      if (port && path) {
        this.cdp = await Cdp.connect(`ws://127.0.0.1:${port}${path}`)
        return
      }
      if (i > 400 || this.child.exitCode !== null) throw new Error('Chromium does not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async open(url: string, options: { background?: boolean; newWindow?: boolean } = {}): Promise<CdpPage> {
    const { targetId } = await this.cdp.send<{ targetId: string }>('Target.createTarget', { url, ...options })
    return CdpPage.attach(this.cdp, targetId)
  }

  async targets(): Promise<{ targetId: string; type: string; url: string; title: string }[]> {
    return (await this.cdp.send<{ targetInfos: never[] }>('Target.getTargets')).targetInfos
  }

  /** Ends the extension's worker, as the browser may at any time. */
  async killWorker(): Promise<void> {
    const worker = (await this.targets()).find((t) => t.type === 'service_worker' && t.url.includes(extensionId))
    if (worker) await this.cdp.send('Target.closeTarget', { targetId: worker.targetId })
  }

  /** Ends the browser; `hard`: as a crash does. */
  async stop(hard = false): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve))
    if (this.child.exitCode !== null) return
    if (hard) process.kill(-this.child.pid!, 'SIGKILL')
    else await this.cdp.send('Browser.close').catch(() => {})
    await ended
  }

  async remove(): Promise<void> {
    await this.stop(true).catch(() => {})
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 })
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
