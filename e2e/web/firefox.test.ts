import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { behindProxy } from './behindproxy.ts'
import { launchFirefox, type Firefox } from './firefox.ts'

let firefox: Firefox
let { site, plain, proxy, close } = {} as Awaited<ReturnType<typeof behindProxy>>

before(async () => {
  ;({ site, plain, proxy, close } = await behindProxy())
  firefox = await launchFirefox()
})

after(async () => {
  await firefox?.close()
  await close?.()
})

for (const mode of ['worker', 'main']) {
  test(`the main job in Firefox, in mode ${mode}`, async () => {
    const page = await firefox.open(site.url)
    const seen = await page.evaluate<
      { mode: string; servers: Record<string, string>; text: string; sum: string; progress: number[] }
    >(`(async () => {
      const { createRegistry } = await import('/portolan/index.js')
      const registry = await createRegistry({ mode: '${mode}', storage: 'memory', proxy: ${
      JSON.stringify(proxy.template)
    } })
      await registry.addServer('demo', { url: 'builtin:demo' })
      await registry.addServer('plain', { url: ${JSON.stringify(plain.url)}, proxy: 'auto' })
      const { servers } = await registry.discover()
      const progress = []
      await registry.call('plain__steps', { steps: 3, everyMs: 20 }, { onProgress: (p) => progress.push(p.progress) })
      const seen = {
        mode: registry.mode, servers: Object.fromEntries(Object.entries(servers).map(([n, s]) => [n, s.status])), progress,
        text: await registry.dispatch('plain__raw', { text: 'ahoy' }), sum: await registry.dispatch('demo__add', { a: 40, b: 2 }),
      }
      await registry.close()
      return seen
    })()`)
    assert.equal(seen.mode, mode)
    assert.deepEqual(seen.servers, { demo: 'connected', plain: 'connected' })
    assert.match(seen.text, /"ahoy"/)
    assert.equal(seen.sum, '42')
    assert.deepEqual(seen.progress, [1, 2, 3])
  })
}
