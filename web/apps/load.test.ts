import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Registry, ResourceContents } from '../../wasm/js/shared/types.ts'
import { load, mimeType } from './load.ts'

const { signal } = new AbortController()
const loaded = (contents: Omit<ResourceContents, 'uri' | 'mimeType'>) => {
  const readResource = () => Promise.resolve({ contents: [{ uri: 'ui://a', mimeType, ...contents }] })
  return load({ readResource, resources: async () => [] } as unknown as Registry, 'a', 'ui://a', signal)
}

test('an app is html as a text or as base64', async () => {
  assert.equal((await loaded({ text: '<p>é' })).html, '<p>é')
  assert.equal((await loaded({ blob: btoa('<p>\xc3\xa9').replace(/..../g, '$&\n') })).html, '<p>é')
})

test('an app that is too long is not decoded', async () => {
  await assert.rejects(loaded({ text: 'x'.repeat((8 << 20) + 1) }), { name: 'Error', message: 'too_large' })
  await assert.rejects(loaded({ blob: 'AAAA'.repeat((8 << 20) / 3 + 1) }), { name: 'Error', message: 'too_large' })
  await assert.rejects(
    loaded({ blob: '*'.repeat(16 << 20) }),
    { name: 'Error', message: 'too_large' },
    'no base64, which nothing reads',
  )
})
