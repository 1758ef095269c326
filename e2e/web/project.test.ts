import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { openProject, writeConfig } from '../../dist/npm/config.js'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import type { PortLike, Registry, StorageAdapter } from '../../wasm/js/shared/types.ts'
import { launchChromium, openPage, servePackage } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// W6: servers of the user and of a project, over real MCP servers.

type Server = Awaited<ReturnType<typeof sdkServer>>
let server: Server, other: Server
before(async () => {
  server = await sdkServer()
  other = await sdkServer([{ name: 'only', inputSchema: { type: 'object' } }])
})
after(() => Promise.all([server?.close(), other?.close()]))

const memory = () => {
  const kept = new Map<string, string>()
  const storage: StorageAdapter = {
    get: (k) => kept.get(k),
    set: (k, v) => void kept.set(k, v),
    remove: (k) => void kept.delete(k),
  }
  return { kept, storage }
}
const open = (storage: StorageAdapter, project?: string) =>
  createRegistry({ storage, definitionsCache: false, ...(project && { project }) })
const scopes = (r: Registry) =>
  Object.fromEntries(Object.entries(r.getSnapshot().servers).map(([name, s]) => [name, s.scope]))
const urls = (r: Registry) =>
  Object.fromEntries(Object.entries(r.getSnapshot().servers).map(([name, s]) => [name, s.config.url]))
const code = (code: string) => (e: unknown) => (e as { code?: string }).code === code

test('W6: a project has its own servers beside the user’s, and wins a name', async () => {
  const { storage } = memory()
  const mine = await open(storage)
  await mine.addServer('shared', { url: server.url })
  await mine.addServer('tides', { url: server.url })
  assert.deepEqual(scopes(mine), { shared: undefined, tides: undefined })
  await assert.rejects(mine.addServer('x', { url: server.url }, { scope: 'project' }), code('invalid_config'))
  await mine.close()

  const charts = await open(storage, 'charts')
  assert.equal(charts.project, 'charts')
  await charts.addServer('tides', { url: other.url }, { scope: 'project' })
  await charts.addServer('log', { url: other.url }, { scope: 'project' })
  await charts.addServer('everywhere', { url: other.url })
  await charts.discover()
  assert.deepEqual(scopes(charts), { shared: 'user', tides: 'project', log: 'project', everywhere: 'user' })
  assert.ok(charts.has('tides__only') && charts.has('shared__raw'))
  await charts.close()

  const again = await open(storage, 'charts')
  assert.deepEqual(scopes(again), { shared: 'user', tides: 'project', log: 'project', everywhere: 'user' })
  assert.equal(urls(again).tides, other.url)
  await again.renameServer('log', 'book')
  await again.removeServer('tides')
  assert.deepEqual(scopes(again), { shared: 'user', tides: 'user', book: 'project', everywhere: 'user' })
  assert.equal(urls(again).tides, server.url, 'the user’s server is there again')
  await again.close()

  const elsewhere = await open(storage, 'ships')
  assert.deepEqual(urls(elsewhere), { shared: server.url, tides: server.url, everywhere: other.url })
  await elsewhere.close()
  const third = await open(storage, 'charts')
  assert.deepEqual(scopes(third), { shared: 'user', tides: 'user', book: 'project', everywhere: 'user' })
  await third.close()
})

test('W6, W16: enabled and tools of the user’s servers may differ in a project', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  await charts.addServer('s', { url: server.url, timeoutMs: 9000 })
  await charts.setEnabled('s', false, { scope: 'project' })
  await charts.updateServer('s', { tools: { allow: ['raw'] } }, { scope: 'project' })
  await charts.updateServer('s', { timeoutMs: 8000 })
  assert.deepEqual(scopes(charts), { s: 'override' })
  await assert.rejects(charts.updateServer('s', { url: other.url }, { scope: 'project' }), code('invalid_config'))
  await charts.close()

  const plain = await open(storage)
  const { config } = plain.getSnapshot().servers.s!
  assert.deepEqual([config.enabled ?? true, config.tools, config.timeoutMs], [true, undefined, 8000])
  await plain.close()

  const again = await open(storage, 'charts')
  assert.equal(again.getSnapshot().servers.s!.status, 'disabled')
  assert.deepEqual(again.getSnapshot().servers.s!.config.tools, { allow: ['raw'] })
  await again.setEnabled('s', true)
  await again.discover()
  assert.deepEqual(again.getSnapshot().tools.map((t) => t.name), ['s__raw'])
  await again.updateServer('s', { tools: undefined }, { scope: 'user' })
  assert.deepEqual(scopes(again), { s: 'user' })
  await again.close()
  const last = await open(storage, 'charts')
  assert.deepEqual([scopes(last).s, last.getSnapshot().servers.s!.config.tools], ['user', undefined])
  await last.close()
})

test('W6: a renamed server keeps what differs in the project, and what holds in others', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  await charts.addServer('s', { url: server.url, tools: { deny: ['wait'] } })
  await charts.setEnabled('s', false, { scope: 'project' })
  await charts.updateServer('s', { tools: { allow: ['raw'] } }, { scope: 'project' })
  await charts.renameServer('s', 't')
  const state = (r: Registry) =>
    Object.entries(r.getSnapshot().servers).map(([name, { scope, config }]) => [
      name,
      scope,
      config.enabled ?? true,
      config.tools,
    ])
  const inCharts = [['t', 'override', false, { allow: ['raw'] }]]
  assert.deepEqual(state(charts), inCharts)
  await charts.close()
  for (
    const [project, expected] of [['ships', [['t', 'user', true, { deny: ['wait'] }]]], ['charts', inCharts]] as const
  ) {
    const r = await open(storage, project)
    assert.deepEqual(state(r), expected)
    await r.close()
  }
})

test('W6: a server that is renamed in one project keeps what differs in another one', async () => {
  const { storage } = memory()
  const ships = await open(storage, 'ships')
  await ships.addServer('s', { url: server.url })
  await ships.addServer('twin', { url: server.url })
  await ships.setEnabled('s', false, { scope: 'project' })
  await ships.updateServer('twin', { tools: { allow: ['raw'] } }, { scope: 'project' })
  await ships.close()
  const charts = await open(storage, 'charts')
  await charts.renameServer('s', 't')
  await charts.close()
  for (let visit = 0; visit < 2; visit++) {
    const again = await open(storage, 'ships')
    assert.deepEqual(scopes(again), { twin: 'override', t: 'override' })
    const { twin, t } = again.getSnapshot().servers
    assert.deepEqual([t!.status, t!.config.tools, twin!.config.tools], ['disabled', undefined, { allow: ['raw'] }])
    await again.updateServer('twin', { timeoutMs: 8000 }) // stores all
    await again.close()
  }
})

test('W6: another realm sees the scopes, and adds to the project', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(charts, portChannel(port1 as PortLike))
  const panel = await connectRegistry(portChannel(port2 as PortLike))
  assert.equal(panel.project, 'charts')
  await panel.addServer('s', { url: server.url }, { scope: 'project' })
  await panel.addServer('u', { url: server.url })
  await panel.setEnabled('u', false, { scope: 'project' })
  assert.deepEqual(scopes(panel), { s: 'project', u: 'override' })
  await assert.rejects(
    panel.updateServer('u', { url: other.url }, { scope: 'project' }),
    code('invalid_config'),
  )
  await panel.close()
  stop()
  await charts.close()
})

test('W6: the servers of a project’s file are off until the user switches them on', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  await charts.addServer('mine', { url: server.url })
  const file = JSON.stringify({
    mcpServers: {
      tides: { type: 'http', url: server.url, headers: { Authorization: 'Bearer ${TOKEN}' } },
      local: { command: 'npx', args: ['-y', 'server'] },
      depth: { url: other.url },
    },
  })
  const found = await openProject(charts, file)
  assert.deepEqual([found.added, found.changed, found.missing, found.skipped], [
    [{ name: 'tides', host: new URL(server.url).host }, { name: 'depth', host: new URL(other.url).host }],
    [],
    [],
    ['local'],
  ])
  const before = other.methods.length
  await charts.discover()
  assert.equal(other.methods.length, before, 'nothing was sent to a server of the file')
  assert.equal(charts.getSnapshot().servers.depth!.status, 'disabled')
  await charts.setEnabled('depth', true)
  await charts.discover()
  assert.ok(charts.has('depth__only'))

  await charts.updateServer('depth', { trust: 'trust' })
  const moved = await openProject(charts, file.replace(other.url, `${other.url}?other`))
  assert.deepEqual([moved.added, moved.changed.map((s) => s.name), moved.missing], [[], ['depth'], []])
  assert.equal(charts.getSnapshot().servers.depth!.config.trust, 'ask-on-change', 'another address was trusted')
  assert.equal(charts.getSnapshot().servers.depth!.status, 'disabled', 'another address is asked about again')
  const less = await openProject(charts, JSON.stringify({ mcpServers: { tides: { url: server.url } } }))
  assert.deepEqual([less.added, less.changed, less.missing], [[], [], ['depth']])

  const keyed = `{"mcpServers": {"tides": {"url": "${server.url}"}, "keyed": {"url": "${server.url}?k",
    "headers": {"Authorization": "Bearer \${TOKEN}", "X-Kind": "chart"}}}}`
  const asking = await openProject(charts, keyed)
  assert.deepEqual({ ...asking.headers }, { keyed: ['Authorization'] })
  assert.deepEqual(Object.keys(charts.getSnapshot().servers.keyed!.config.headers ?? {}), ['X-Kind'])
  for (const file of [asking, await openProject(charts, keyed)])
    assert.match(await file.save(), /"Authorization": "Bearer \$\{TOKEN\}"/, 'the file still asks for its value')
  await charts.removeServer('keyed')

  await charts.updateServer('tides', { headers: { Authorization: 'Bearer secret-value' } })
  const text = await less.save()
  assert.ok(!text.includes('secret-value') && !text.includes('"mine"') && text.includes('"depth"'), text)
  assert.ok(!text.includes('"disabled"'), 'whether a server is on is the person’s, not the project’s')
  await charts.close()
})

test('W6: what is saved keeps the file’s programs, its other members and its comments', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const before = `{
  // of the harbour
  "mcpServers": {
    // runs here
    "local": { "command": "npx", "args": ["-y", "server"] },
    "left": { "url": "${server.url}?left" },
    "Deep Sea": { "url": "${other.url}" },
    "refused": { "url": "ftp://files.example/" }
  },
  "theme": "dark"
}
`
  const found = await openProject(charts, before)
  assert.deepEqual(found.skipped, ['local', 'refused'])
  await charts.removeServer('left')
  await charts.addServer('tides', { url: server.url }, { scope: 'project' })
  const text = await found.save()
  const { mcpServers, theme } = JSON.parse(text.replace(/^ *\/\/.*$/gm, ''))
  assert.equal(theme, 'dark')
  assert.match(text, /\/\/ of the harbour[^]*\/\/ runs here/)
  const { local, refused, ...urls } = mcpServers as Record<string, { url: string }>
  assert.deepEqual([local, refused], [{ command: 'npx', args: ['-y', 'server'] }, { url: 'ftp://files.example/' }])
  assert.deepEqual(Object.entries(urls).map(([name, { url }]) => [name, url]), [
    ['Deep Sea', other.url],
    ['tides', server.url],
  ])
  assert.deepEqual((await openProject(charts, text)).added, [])
  await charts.close()
})

test('W6: VS Code’s file keeps its form, its inputs, and what another program wrote meanwhile', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const input = { type: 'promptString', id: 'key', description: 'Key' }
  const local = { command: 'npx', env: { KEY: '${input:key}' } }
  let text = JSON.stringify({ servers: { tides: { url: server.url }, local }, inputs: [input] })
  const file = {
    kind: 'file' as const,
    getFile: async () => ({ size: text.length, text: async () => text }),
    createWritable: async () => ({
      write: async (now: string) => {
        text = now
      },
      close: async () => {},
    }),
  }
  const found = await openProject(charts, file)
  await charts.updateServer('tides', { headers: { Authorization: 'Bearer secret-value' } })
  const meanwhile = JSON.parse(text) as { servers: Record<string, object> }
  meanwhile.servers['later'] = { url: other.url }
  text = JSON.stringify(meanwhile)
  for (const visit of [1, 2]) {
    assert.equal(await found.save(), text)
    const saved = JSON.parse(text) as {
      servers: Record<string, { headers?: Record<string, string> }>
      inputs: { id: string }[]
    }
    assert.deepEqual(Object.keys(saved.servers), ['tides', 'local', 'later'], `visit ${visit}`)
    assert.deepEqual(saved.servers['local'], local)
    assert.deepEqual(saved.inputs.map((i) => i.id), ['key', 'tides-authorization'])
    assert.equal(saved.servers['tides']!.headers!['Authorization'], '${input:tides-authorization}')
  }
  text = '{ "servers": '
  await assert.rejects(found.save(), code('invalid_config'))
  assert.equal(text, '{ "servers": ', 'a file that cannot be read is not replaced')
  await charts.close()
})

test('W6: a server that has not changed is saved as the file has it', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const before = `{
  "inputs": [{ "type": "promptString", "id": "depth", "password": true }],
  "mcpServers": {
    // for the whole crew
    "tides": {
      "type": "http",
      "url": "\${TIDES:-${server.url}}",
      "headers": { "X-Ship": "\${SHIP}", "Authorization": "Bearer \${TIDE_TOKEN}" },
      "oauth": { "clientId": "harbour" },
      "disabled": true
    },
    "depth": { "url": "${other.url}", "headers": { "X-Key": "\${input:depth}" }, "alwaysAllow": ["only"],
      "description": "How deep it is." },
    "open": { "url": "${server.url}", "headers": { "X-Key": "a secret" } }
  }
}
`
  const found = await openProject(charts, before)
  assert.equal(charts.getSnapshot().servers['tides']!.config.url, server.url)
  await charts.updateServer('tides', { headers: { Authorization: 'Bearer secret-value', 'X-Ship': 'Nina' } })
  await charts.setEnabled('tides', true)
  await charts.updateServer('depth', { tools: { deny: ['only'] }, headers: { 'x-key': '7', 'X-Unit': 'fathom' } })
  const text = await found.save()
  const unchanged = before.slice(before.indexOf('    // for'), before.indexOf('    "depth"'))
  assert.ok(text.includes(unchanged), text)
  const { mcpServers, servers, inputs } = JSON.parse(text.replace(/^ *\/\/.*$/gm, ''))
  assert.deepEqual([Object.keys(mcpServers), servers], [['tides', 'depth', 'open'], undefined])
  assert.deepEqual(mcpServers.depth, {
    alwaysAllow: ['only'],
    description: 'How deep it is.',
    type: 'http',
    url: other.url,
    headers: { 'x-key': '${input:depth}', 'X-Unit': '${input:depth-x-unit}' },
    excludeTools: ['only'],
  })
  assert.equal(mcpServers.open.headers['X-Key'], '${input:open-x-key}', 'a value in the file is not kept')
  assert.deepEqual(inputs.map((i: { id: string }) => i.id), ['depth', 'depth-x-unit', 'open-x-key'])
  await charts.close()
})

test('W6: what another person has changed in the file is not taken back by a save', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const tides = { type: 'http', url: server.url }
  const file = (more: object) => JSON.stringify({ mcpServers: { tides: { ...tides, ...more } } })
  const first = await openProject(charts, file({}))
  await charts.updateServer('tides', { tools: { deny: ['wait'] } })
  const saved = await first.save()
  assert.deepEqual(JSON.parse(saved).mcpServers.tides.excludeTools, ['wait'])

  const theirs = file({ type: 'sse', excludeTools: ['wait', 'raw'], headers: { 'X-Ship': '${SHIP}' } })
  const found = await openProject(charts, theirs)
  await charts.addServer('depth', { url: other.url }, { scope: 'project' })
  const { mcpServers } = JSON.parse(await found.save())
  assert.deepEqual(mcpServers.tides, JSON.parse(theirs).mcpServers.tides)
  assert.equal(mcpServers.depth.url, other.url)

  // A change of this registry is written, and so is its return.
  for (const deny of [['steps'], ['wait']]) {
    await charts.updateServer('tides', { tools: { deny } })
    assert.deepEqual(JSON.parse(await first.save()).mcpServers.tides.excludeTools, deny)
  }
  await charts.close()
})

test('W6: a server whose URL lacks a value is skipped, and stays in the file', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const url = 'https://tides.example/${PORT_OF}/mcp'
  const found = await openProject(charts, JSON.stringify({ mcpServers: { tides: { url } } }))
  assert.deepEqual([found.added, found.skipped, charts.getSnapshot().servers], [[], ['tides'], {}])
  assert.equal(JSON.parse(await found.save()).mcpServers.tides.url, url)
  await charts.close()
})

test('W6: hostile and damaged files and storages end in clear errors', async () => {
  const { storage, kept } = memory()
  const plain = await open(storage)
  await assert.rejects(openProject(plain, '{}'), code('invalid_config'))
  await plain.addServer('mine', { url: server.url })
  await plain.close()
  const charts = await open(storage, 'charts')
  for (const text of ['', '{"mcpServers": ', 'x'.repeat(2 << 20), '[1,2]'])
    await assert.rejects(openProject(charts, text), code('invalid_config'), text.slice(0, 40))
  const { added } = await openProject(
    charts,
    '{"mcpServers": {"__proto__": {"url": "https://a.example/mcp"}, "ok": {"url": "https://b.example/mcp"}}}',
  )
  assert.ok(added.length >= 1 && Object.getPrototypeOf(charts.getSnapshot().servers) === Object.prototype)
  await charts.close()

  kept.set(
    'portolan.project.charts',
    '{"version":1,"servers":{"bad":5,"ok":{"url":"https://b.example/mcp","scope":"project"}}}',
  )
  const mended = await open(storage, 'charts')
  assert.deepEqual(scopes(mended), { mine: 'user', ok: 'project' })
  assert.ok(mended.getSnapshot().warnings?.some((w) => w.includes('portolan.project.charts') && w.includes('"bad"')))
  await mended.close()
  kept.set('portolan.servers', '{{{')
  const rest = await open(storage, 'charts')
  assert.deepEqual(scopes(rest), { ok: 'project' }, 'damage of the one loses nothing of the other')
  await rest.close()
  assert.equal(kept.get('portolan.servers.damaged'), '{{{')
})

test('W6: a project’s server has secrets of its own', async () => {
  const site = await servePackage()
  const browser = await launchChromium()
  try {
    const page = await openPage(browser, site.url)
    const headers = await page.evaluate(async ([mine, theirs]) => {
      const { createRegistry } = await import('/index.js' as string) as typeof import('../../dist/npm/index.js')
      const open = (project?: string) => createRegistry({ rememberSecrets: true, ...(project && { project }) })
      const user = await open()
      await user.addServer('s', { url: mine, headers: { Authorization: 'Bearer mine' } })
      await user.close()
      const charts = await open('charts')
      await charts.addServer('s', { url: theirs, headers: { Authorization: 'Bearer theirs' } }, { scope: 'project' })
      await charts.close()
      for (const project of [undefined, 'charts']) {
        const r = await open(project)
        await r.discover()
        await r.close()
      }
      return Object.keys(localStorage).map((key) => localStorage.getItem(key)).join()
    }, [server.url, other.url] as const)
    assert.ok(!headers.includes('Bearer'), 'localStorage has no values')
    assert.ok(server.headers.at(-1)?.authorization === 'Bearer mine', JSON.stringify(server.headers.at(-1)))
    assert.ok(other.headers.at(-1)?.authorization === 'Bearer theirs', JSON.stringify(other.headers.at(-1)))
  } finally {
    await browser.close()
    await site.close()
  }
})

test('W6: a folder’s file is read, and written without secrets', async () => {
  const site = await servePackage()
  const browser = await launchChromium()
  try {
    const page = await openPage(browser, site.url)
    const text = await page.evaluate(async (url) => {
      const { createRegistry } = await import('/index.js' as string) as typeof import('../../dist/npm/index.js')
      const { openProject } = await import('/config.js' as string) as typeof import('../../dist/npm/config.js')
      const folder = await navigator.storage.getDirectory()
      const inner = await folder.getDirectoryHandle('.wiggum', { create: true })
      const file = await inner.getFileHandle('mcp.json', { create: true })
      const writable = await file.createWritable()
      await writable.write(JSON.stringify({ mcpServers: { tides: { url } } }))
      await writable.close()
      const registry = await createRegistry({ storage: 'memory', project: 'charts' })
      const found = await openProject(registry, folder)
      await registry.updateServer('tides', { headers: { Authorization: 'Bearer secret-value' } })
      await found.save()
      await registry.close()
      return (await file.getFile()).text()
    }, server.url)
    assert.ok(text.includes('"Authorization": "${') && !text.includes('secret-value'), text)
  } finally {
    await browser.close()
    await site.close()
  }
})

test('a file that is written can be read again', async () => {
  const { storage } = memory()
  const charts = await open(storage, 'charts')
  const text = writeConfig({ depth: { url: other.url } })
  assert.deepEqual((await openProject(charts, text)).added.map((s) => s.name), ['depth'])
  await charts.close()
})
