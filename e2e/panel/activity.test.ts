import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createRegistry } from '../../dist/npm/index.js'
import { replay } from '../../dist/npm/cassette.js'
import { launchChromium, type Listening } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

const canary = 'canary-41c8e0a2'

let browser: Browser, site: Listening, steered: Awaited<ReturnType<typeof sdkServer>>, folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-activity-'))
  browser = await launchChromium()
  site = await panelSite()
  steered = await sdkServer()
})
after(async () => {
  await browser?.close()
  await Promise.all([site, steered].map((s) => s?.close()))
  await rm(folder, { recursive: true, force: true })
})

const saved = async ({ page, panel }: PanelPage, item: string) => {
  await panel.getByRole('button', { name: 'Save as…' }).click()
  const download = page.waitForEvent('download')
  await panel.getByRole('menuitem', { name: item }).click()
  const file = join(folder, 'saved')
  await (await download).saveAs(file)
  return readFile(file, 'utf8')
}

test('a panel without a registry shows none of its views, and shows the chosen one with the registry', async () => {
  const p = await openPanel(browser, site, { servers: { demo: { url: 'builtin:demo' } } })
  const seen = await p.page.evaluate(async () => {
    const until = async (is: () => boolean) => {
      for (let i = 0; i < 1000 && !is(); i++) await new Promise((resolve) => setTimeout(resolve, 20))
      return is()
    }
    const out: Record<string, boolean[]> = {}
    for (const view of ['activity', 'tasks', 'log', 'resources', 'prompts', 'tools', 'servers']) {
      const contentOf = (panel: HTMLElement) =>
        panel.shadowRoot!.querySelector('[role=tabpanel]')?.textContent?.trim() ?? ''
      const make = (properties: object) => {
        const panel = Object.assign(document.createElement('portolan-panel'), properties)
        panel.setAttribute('view', view)
        document.body.append(panel)
        return panel
      }
      const panel = make({}), other = make({ registry: window.registry })
      const content = () => contentOf(panel)
      await until(() => contentOf(other) !== '') // the view is loaded, and was drawn
      other.remove()
      const before = content() === ''
      Object.assign(panel, { registry: window.registry })
      const shown = await until(() => content() !== '')
      Object.assign(panel, { registry: undefined })
      out[view] = [before, shown, await until(() => content() === '' && !panel.shadowRoot!.querySelector('.count'))]
      panel.remove()
    }
    return out
  })
  for (const [view, is] of Object.entries(seen)) assert.deepEqual(is, [true, true, true], view)
  assert.deepEqual(p.faults, [])
})

test('the list of tasks of a closed registry leaves no rejection unhandled', async () => {
  const p = await openPanel(browser, site, { servers: { demo: { url: 'builtin:demo' } } })
  await p.page.evaluate(() => {
    const tasks = () => (Object.assign(window, { asked: true }), Promise.reject(new Error('no tasks')))
    customElements.whenDefined('portolan-tasks').then(() => Object.assign(window.registry, { tasks }))
  })
  await p.page.clock.install()
  await p.panel.getByRole('tab', { name: 'Tasks' }).click()
  await p.page.waitForFunction(() => !!customElements.get('portolan-tasks'))
  await p.page.clock.fastForward(4000)
  await p.page.waitForFunction('window.asked')
  assert.deepEqual(p.faults, [])
})

test('a call has its arguments and its answer, and is made again', async () => {
  const p = await openPanel(browser, site, { query: { view: 'activity' }, servers: { demo: { url: 'builtin:demo' } } })
  await p.page.evaluate(() => window.registry.call('demo__add', { a: 40, b: 2 }))
  await p.panel.getByRole('button', { name: 'demo__add' }).click()
  const details = p.panel.getByRole('region', { name: 'Details' })
  await details.getByText('Arguments').waitFor()
  await details.getByText('Result').first().waitFor()
  await details.getByText('"42"').waitFor()
  await details.getByRole('button', { name: 'Run again' }).click()
  await p.panel.getByRole('button', { name: 'demo__add' }).nth(1).waitFor()
  assert.equal(await p.panel.getByRole('button', { name: 'demo__add', expanded: true }).count(), 1)

  const key = `sk-ant-${'a1'.repeat(20)}` // no configuration has it
  await p.page.evaluate((text) => window.registry.call('demo__echo', { text }), key)
  const tape = await saved(p, 'Calls as a cassette')
  assert.doesNotMatch(tape, /a1a1/)
  assert.match(tape, /"text": "\[redacted\]"/)
  const player = await createRegistry({
    storage: 'memory',
    servers: { demo: { url: 'builtin:demo' } },
    cassette: replay(tape),
  })
  await player.discover()
  assert.equal(await player.dispatch('demo__add', { a: 40, b: 2 }), '42')
  await player.close()

  await p.panel.getByRole('checkbox', { name: 'Keep arguments and answers' }).uncheck()
  await p.page.evaluate(() => window.registry.call('demo__weather', { city: 'unseen' }))
  await p.panel.getByRole('button', { name: 'demo__weather' }).click()
  await details.getByText('demo__weather').waitFor()
  assert.equal(await details.getByText('Arguments').count(), 0)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('the focus stays on "Run again" while the call runs', async () => {
  const p = await openPanel(browser, site, { query: { view: 'activity' }, servers: { other: { url: steered.url } } })
  await p.page.evaluate(() => window.registry.call('other__raw', {}))
  await p.panel.getByRole('button', { name: 'other__raw' }).click()
  let answers = () => {}
  const held = new Promise<void>((resolve) => answers = resolve)
  await p.page.route(`${steered.url}**`, async (route) => {
    await held
    await route.continue()
  })
  const again = p.panel.getByRole('button', { name: 'Run again' })
  await again.press('Enter')
  await p.panel.locator('[data-outcome=running]').waitFor()
  await again.and(p.panel.locator('[aria-disabled=true]')).waitFor()
  const isFocused = () => again.evaluate((b) => (b.getRootNode() as ShadowRoot).activeElement === b)
  assert.ok(await isFocused())
  await again.press('Enter') // starts no third call
  answers()
  await p.panel.locator('[data-outcome=running]').waitFor({ state: 'detached' })
  assert.ok(await isFocused())
  assert.equal(await p.panel.getByRole('button', { name: 'other__raw' }).count(), 2)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('a call is made again with the digits that it had, and not where something is redacted', async () => {
  const p = await openPanel(browser, site, {
    query: { view: 'activity' },
    servers: { demo: { url: 'builtin:demo' }, other: { url: steered.url, headers: { key: canary } } },
  })
  const exact = '{"text": "x", "id": 9007199254740993}'
  await p.page.evaluate(async (exact) => {
    const { registry } = window
    await registry.call('demo__echo', exact).catch(() => {})
    const call = registry.call.bind(registry) as (...of: unknown[]) => Promise<unknown>
    Object.assign(window, { calls: [] as unknown[] })
    Object.assign(registry, {
      call: (...of: unknown[]) => ((window as never as { calls: unknown[] }).calls.push(of[1]), call(...of)),
    })
  }, exact)
  await p.panel.getByRole('button', { name: 'demo__echo' }).click()
  const details = p.panel.getByRole('region', { name: 'Details' })
  await details.getByText('"9007199254740993"').waitFor()
  await details.getByRole('button', { name: 'Run again' }).click()
  await p.page.waitForFunction(([exact]) => (window as never as { calls: string[] }).calls[0] === exact, [exact])
  // The end of a call would bring its row back.
  await p.panel.getByRole('button', { name: 'demo__echo' }).nth(1).waitFor()
  await p.panel.locator('[data-outcome=running]').waitFor({ state: 'detached' })
  await p.panel.getByRole('button', { name: 'Clear' }).click()
  await p.page.evaluate((text) => window.registry.call('demo__echo', { text }), `it is ${canary}`)
  await p.panel.getByRole('button', { name: 'demo__echo' }).click()
  await details.getByText('"it is [redacted]"').first().waitFor()
  assert.equal(await details.getByRole('button', { name: 'Run again' }).count(), 0)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('the timeline of another registry has no rows of the one before', async () => {
  const p = await openPanel(browser, site, { query: { view: 'activity' }, servers: { demo: { url: 'builtin:demo' } } })
  await p.page.evaluate(() => window.registry.call('demo__add', { a: 1, b: 2 }))
  await p.panel.getByRole('button', { name: 'demo__add' }).waitFor()
  await p.page.evaluate(async () => {
    const { createRegistry } = await import('/npm/index.js' as string) as {
      createRegistry(o: object): Promise<Registry>
    }
    const other = await createRegistry({ mode: 'main', storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    await other.discover()
    window.panel.registry = other
    await (window.panel as unknown as { updateComplete: Promise<void> }).updateComplete
    await other.call('demo__echo', { text: 'x' })
  })
  await p.panel.getByRole('button', { name: 'demo__echo' }).waitFor()
  assert.equal(await p.panel.getByRole('button', { name: 'demo__add' }).count(), 0)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('the log is that of the registry that the panel has, also after the panel was moved', async () => {
  const p = await openPanel(browser, site, { query: { view: 'log' } })
  await p.page.evaluate(async () => {
    const { createRegistry } = await import('/npm/index.js' as string) as {
      createRegistry(o: object): Promise<Registry>
    }
    const make = async (text: string) => {
      const registry = await createRegistry({ mode: 'main', storage: 'memory' })
      const listeners = new Set<unknown>()
      return Object.assign(registry, {
        listeners,
        logs: async () => [{ server: 's', at: 1, level: 'info', text }],
        observe: (listener: unknown, { logs }: { logs?: boolean } = {}) => {
          if (logs) listeners.add(listener)
          return () => void listeners.delete(listener)
        },
      })
    }
    Object.assign(window, { first: await make('of the first'), second: await make('of the second') })
    window.panel.registry = (window as never as { first: Registry }).first
  })
  await p.panel.getByText('of the first').waitFor()
  await p.page.evaluate(() => {
    window.panel.registry = (window as never as { second: Registry }).second
  })
  await p.panel.getByText('of the second').waitFor()
  assert.equal(await p.panel.getByText('of the first').count(), 0)
  await p.page.evaluate(() => document.querySelector('main')!.append(window.panel))
  await p.page.waitForFunction(() => {
    const { first, second } = window as never as Record<string, { listeners: Set<unknown> }>
    return first!.listeners.size === 0 && second!.listeners.size === 1
  })
  assert.equal(await p.panel.getByText('of the second').count(), 1)
  assert.deepEqual(p.faults, [])
  await p.page.close()
})

test('requests and responses are shown and saved without secrets', async () => {
  const p = await openPanel(browser, site, {
    query: { view: 'activity' },
    servers: { steered: { url: steered.url, headers: { Authorization: `Bearer ${canary}` } } },
  })
  await p.panel.getByRole('checkbox', { name: 'Keep requests and responses' }).check()
  await p.panel.getByLabel('Show').selectOption('Protocol')
  await p.page.evaluate(() => window.registry.call('steered__steps', { steps: 1, everyMs: 1 }))
  await p.panel.getByRole('button', { name: 'POST tools/call' }).click()
  const request = p.panel.getByRole('region', { name: 'Request' }),
    response = p.panel.getByRole('region', { name: 'Response' })
  await request.getByText(`POST ${steered.url}`).waitFor()
  await request.getByText('[redacted]').first().waitFor()
  await response.getByText('200', { exact: true }).waitFor()
  await response.getByText('Body').waitFor()
  const text = await saved(p, 'Requests as HAR')
  const { log } = JSON.parse(text) as {
    log: {
      version: string
      entries: { request: { url: string; postData?: { text: string } }; response: { status: number } }[]
    }
  }
  assert.equal(log.version, '1.2')
  const call = log.entries.find(({ request }) => request.postData?.text.includes('tools/call'))!
  assert.deepEqual([call.request.url, call.response.status], [steered.url, 200])
  assert.ok(!text.includes(canary))
  assert.ok(!(await p.panel.evaluate((panel) => panel.shadowRoot!.innerHTML)).includes(canary))
  assert.deepEqual(p.faults, [])
  await p.page.close()
})
