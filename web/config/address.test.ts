import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isPlainName, nameOf, plainName } from './address.ts'

test('suggested names make tool names without a hash', () => {
  for (
    const [given, plain] of [
      ['github.com', 'github-com'],
      ['a__b', 'a_b'],
      ['1password', 'mcp-1password'],
      ['192.168.1.7', 'mcp-192-168-1-7'],
      ['My Server (beta)', 'My-Server-beta'],
      ['Café', 'Cafe'],
      ['-x_', 'x'],
      ['github', 'github'],
      ['x'.repeat(80), 'x'.repeat(60)],
      ['1'.repeat(80), `mcp-${'1'.repeat(60)}`],
      ['服务', ''],
      ['__proto__', '_proto'],
    ] as const
  ) {
    assert.equal(plainName(given), plain)
    assert.equal(isPlainName(plain), plain !== '', plain)
  }
  for (
    const [url, name] of [
      ['https://mcp.github.com/mcp', 'github'],
      ['https://1password.com/mcp', 'mcp-1password'],
      ['http://127.0.0.1:3000/mcp', 'localhost-3000'],
      ['http://[::1]:3000/mcp', 'localhost-3000'],
      ['http://[fd00::1]/mcp', 'fd00-1'],
    ] as const
  ) assert.equal(nameOf(url), name)
})

test('a name is plain exactly if the registry makes plain names of it', () => {
  const rows = JSON.parse(readFileSync(new URL('../../testdata/names/names.json', import.meta.url), 'utf8')) as {
    server: string
    tool: string
    name: string
  }[]
  for (const { server, tool, name } of rows) {
    if (!/^[\w-]+$/.test(tool) || server.length + tool.length > 62) continue
    assert.equal(isPlainName(server), name === `${server}__${tool}`, server)
  }
})
