import { after, before } from 'node:test'
import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { quickChromium } from '../rig/flags.ts'
import { startPages, type Pages } from './serve.ts'

/** Pages, and a browser that finds them at the sites' addresses, for the tests of one file. */
export class Chats {
  pages!: Pages
  context!: BrowserContext
  #browser: Browser | undefined

  constructor() {
    before(async () => {
      this.pages = await startPages()
      this.#browser = await chromium.launch({
        executablePath: quickChromium,
        args: ['--no-sandbox', ...this.pages.flags],
      })
      this.context = await this.newContext()
    })
    after(async () => {
      await this.#browser?.close()
      await this.pages?.close()
    })
  }

  /** A context of its own, for a test that needs one. */
  newContext(): Promise<BrowserContext> {
    return this.#browser!.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
  }
}
