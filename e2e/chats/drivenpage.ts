// For tests: the background's end of a driver, in a plain page without the extension.
import type { BrowserContext, Page } from 'playwright-core'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import type { Answer, Failure, FromDriver, Order, Phase, Site, ToDriver } from '../../extension/chats/drivermessages.ts'
import type { Times } from '../../extension/chats/driver/times.ts'

declare global {
  /** In the page. */
  var driverPort: {
    post(m: unknown): void
    onmessage: ((m: unknown) => void) | null
    onclose: (() => void) | null
    close(): void
  }
  var driver: { serve(port: typeof driverPort, window: Window, times: Partial<Times>): void }
  var told: (message: string) => void
  var ticking: ReturnType<typeof setInterval>
}

export interface Outcome {
  answer: Answer | undefined
  failure: Failure | undefined
  messages: FromDriver[]
}

/** Reuses tabs, because a new one costs half a second of a processor. */
export class Tabs {
  readonly told = new Map<Page, (message: FromDriver) => void>()
  readonly #context: BrowserContext
  readonly #idle: Page[] = []
  /** Resolves once each new page has `told`. */
  #exposed: Promise<unknown> | undefined

  constructor(context: BrowserContext) {
    this.#context = context
  }

  async take(): Promise<Page> {
    const idle = this.#idle.pop()
    if (idle) return idle
    await (this.#exposed ??= this.#context.exposeBinding(
      'told',
      ({ page }, message: string) => this.told.get(page)?.(JSON.parse(message)),
    ))
    return this.#context.newPage()
  }

  give(page: Page): void {
    this.told.delete(page)
    this.#idle.push(page)
  }
}

/** A driver in a page, and the background's end of its port. */
export class Driven {
  readonly page: Page
  readonly site: Site
  messages: FromDriver[] = []
  #waiting: (() => void)[] = []

  /** Gives the tab back for other tests. */
  readonly close: () => void

  private constructor(page: Page, site: Site, close: () => void) {
    this.page = page
    this.site = site
    this.close = close
  }

  /** `slow`: the driver's own timers are those of a hidden page. Ticks come anyway. */
  static async in(
    tabs: Tabs,
    site: Site,
    url: string,
    script: string,
    o: { times?: Partial<Times>; slow?: boolean } = {},
  ): Promise<Driven> {
    const page = await tabs.take()
    const driven = new Driven(page, site, () => tabs.give(page))
    tabs.told.set(page, (message) => {
      driven.messages.push(message)
      for (const wake of driven.#waiting.splice(0)) wake()
    })
    await page.goto(url, { waitUntil: 'commit' })
    const hidden =
      'const setTimeout = (f, ms) => globalThis.setTimeout(f, Math.ceil(ms / 1000) * 1000 + 1000), requestAnimationFrame = () => 0;'
    await page.evaluate(o.slow ? `{ ${hidden}\n${script} }` : script)
    await page.evaluate(([times]) => {
      const port: typeof driverPort = globalThis.driverPort = {
        post: (m: unknown) => told(JSON.stringify(m)),
        onmessage: null,
        onclose: null,
        close() {},
      }
      driver.serve(port, window, times!)
      globalThis.ticking = setInterval(() => port.onmessage?.({ type: 'tick' }), 250)
    }, [o.times ?? {}] as const)
    return driven
  }

  tell(message: ToDriver): Promise<void> {
    return this.page.evaluate((m) => driverPort.onmessage?.(m), message)
  }

  /** Closes the port's other end. */
  hangUp(): Promise<void> {
    return this.page.evaluate(() => {
      clearInterval(ticking)
      driverPort.onclose?.()
    })
  }

  async start(prompt: string, order: Partial<Order> = {}): Promise<void> {
    this.messages = []
    await this.tell({
      type: 'start',
      spec: siteSpecs[this.site],
      order: {
        prompt,
        mode: 'auto',
        deadline: Date.now() + 60_000,
        continues: false,
        trustedInput: false,
        ...order,
      },
    })
  }

  /** Returns the first wanted message, past messages included. */
  async message<T extends FromDriver>(wanted: (m: FromDriver) => m is T, ms = 60_000): Promise<T> {
    const end = Date.now() + ms
    for (;;) {
      const found = this.messages.find(wanted)
      if (found) return found
      const left = end - Date.now()
      if (left <= 0) {
        const messages = JSON.stringify(this.messages).slice(0, 2000)
        throw new Error(
          `not reported in ${ms} ms at ${this.page.url()} (${await this.#state()}); messages: ${messages}`,
        )
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** The work of a page that says nothing. */
  #state(): Promise<string> {
    const state = this.page.evaluate(() => `${document.readyState}, ${typeof globalThis.driverPort?.onmessage}`)
    return Promise.race([state.catch(String), new Promise<string>((resolve) => setTimeout(resolve, 3000, 'no reply'))])
  }

  phase(phase: Phase): Promise<unknown> {
    return this.message((m): m is Extract<FromDriver, { type: 'phase' }> => m.type === 'phase' && m.phase === phase)
  }

  async outcome(ms?: number): Promise<Outcome> {
    const end = await this.message(
      (m): m is Extract<FromDriver, { type: 'done' | 'failed' }> => m.type === 'done' || m.type === 'failed',
      ms,
    )
    return {
      answer: end.type === 'done' ? end.answer : undefined,
      failure: end.type === 'failed' ? end.failure : undefined,
      messages: this.messages,
    }
  }

  async ask(prompt: string, order: Partial<Order> = {}): Promise<Outcome> {
    await this.start(prompt, order)
    return this.outcome()
  }
}
