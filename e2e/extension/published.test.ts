import { test } from 'node:test'
import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'
import { root } from '../rig/harness.ts'
import { PublishedRegistry } from '../../extension/tools/registry.ts'

test('a call whose server is removed at that moment says that its tool is gone', async () => {
  const area = { get: async () => ({}), set: async () => {}, remove: async () => {} }
  const getURL = (path: string) => String(pathToFileURL(`${root}dist/npm/${path}`))
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  const request = (result: unknown) => ({
    result,
    set onsuccess(done: () => void) {
      queueMicrotask(done)
    },
  })
  const database = { transaction: () => ({ objectStore: () => ({ get: () => request(key) }) }) }
  Object.assign(globalThis, {
    chrome: { storage: { local: area }, runtime: { getURL } },
    indexedDB: { open: () => request(database) },
  })
  const published = new PublishedRegistry((() => {}) as never, () => {}, () => {}, () => {}, () => {})
  const registry = await published.open()
  try {
    await registry.addServer('demo', { url: 'builtin:demo' })
    await registry.discover()
    const scope = published.tools[0]!.scope!
    assert.equal(await scope({} as never), 'builtin:demo')
    await registry.removeServer('demo')
    await assert.rejects(scope({} as never), {
      code: 'UNKNOWN_TOOL',
      message: /^There is no tool demo__\w+ any more\.$/,
    })
  } finally {
    await registry.close()
  }
})
