import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readConfig } from '../../web/config/read.ts'
import { clientConfigs } from './client-configs.ts'

const args = ['bridge', '--stdio']

test('each configuration starts the bridge', () => {
  for (const [client, text] of Object.entries(clientConfigs)) {
    if (client === 'Codex') continue
    const { entries } = readConfig(text)
    assert.deepEqual(
      entries.map((e) => [e.name, e.stdio]),
      [['portolan', { command: 'portolan', args, env: [] }]],
      client,
    )
  }
  assert.match(
    clientConfigs['Codex']!,
    /^\[mcp_servers\.portolan\]\ncommand = "portolan"\nargs = \["bridge", "--stdio"\]\n$/,
  )
})

test('the manual has the same configurations', () => {
  const plain = (text: string) => text.replace(/\s+/g, '')
  const manual = plain(readFileSync(new URL('../../docs/bridge.md', import.meta.url), 'utf8'))
  for (const [client, text] of Object.entries(clientConfigs)) assert.ok(manual.includes(plain(text)), client)
})
