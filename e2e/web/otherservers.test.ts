import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { createRegistry } from '../../dist/npm/index.js'
import type { ElicitationRequest, Registry } from '../../wasm/js/shared/types.ts'
import {
  answering,
  freePort,
  launch,
  launchChromium,
  openPage,
  root,
  servePackage,
  startProxy,
  type Listening,
  type Running,
} from '../rig/harness.ts'
import { stdio } from './servers/servers.ts'
import { startVault, type Vault } from './servers/vault.ts'

// Servers that many people use, each with every feature that it has. Their libraries differ from those of goservers.

type Name = 'context7' | 'git' | 'obsidian'
const run = promisify(execFile)
const node = join(root, 'node_modules/.bin/node')
let dir: string
let urls: Record<Name, string>
/** The server of the vault again, which starts no program for each session. */
let vaultUrl: string
let running: Running[] = []
let vault: Vault
let proxy: Awaited<ReturnType<typeof startProxy>>
let site: Listening
let browser: Browser

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-others-'))
  await run('git', ['init', '-q', '-b', 'harbour', dir])
  const as = ['-c', 'user.name=Ada', '-c', 'user.email=ada@mail.example']
  await run('git', ['-C', dir, ...as, 'commit', '-q', '--allow-empty', '-m', 'the first ship'])
  vault = await startVault({ 'Harbour.md': 'The pilot comes at noon. #pilot' })
  const bin = (name: string) => join(root, 'e2e/servers/node_modules/.bin', name)
  const loopback = { NODE_OPTIONS: `--import=${new URL('../rig/loopback.mjs', import.meta.url)}` }
  const [context7, metrics, git, obsidian, forVault] = await Promise.all(Array.from({ length: 5 }, freePort)) as [
    number,
    number,
    number,
    number,
    number,
  ]
  const http = (port: number) => (
    { ...loopback, MCP_TRANSPORT_TYPE: 'http', MCP_HTTP_HOST: '127.0.0.1', MCP_HTTP_PORT: String(port) }
  )
  const ofVault = { OBSIDIAN_API_KEY: vault.key, OBSIDIAN_BASE_URL: vault.url }
  running = [
    launch(node, [bin('context7-mcp'), '--transport', 'http', '--port', String(context7)], {
      ...loopback,
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metrics),
    }),
    launch(node, [bin('git-mcp-server')], { ...http(git), MCP_SESSION_MODE: 'stateful', GIT_BASE_DIR: dir }),
    // Over HTTP this server forgets what its client can do, and never asks.
    launch(node, stdio(`${node} ${bin('obsidian-mcp-server')}`, obsidian), {
      ...loopback,
      ...ofVault,
      MCP_TRANSPORT_TYPE: 'stdio',
    }),
    launch(node, [bin('obsidian-mcp-server')], { ...http(forVault), ...ofVault }),
  ]
  const at = (port: number) => `http://127.0.0.1:${port}/mcp`
  urls = { context7: at(context7), git: at(git), obsidian: at(obsidian) }
  vaultUrl = at(forVault)
  await Promise.all([...Object.values(urls), vaultUrl].map((url, i) => answering(url, running[i]!)))
  site = await servePackage()
  proxy = await startProxy(site.url)
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await site?.close()
  await proxy?.stop()
  await Promise.all(running.map((r) => r.stop()))
  await vault?.close()
  await rm(dir, { recursive: true, force: true })
})

/** Uses what the three servers offer. It runs in Node, and as text in a page. */
async function useAll(createRegistry: (o: object) => Promise<Registry>, options: object, dir: string) {
  const asked: unknown[] = []
  let confirm = false
  const registry = await createRegistry({
    storage: 'memory',
    onElicitation: ({ server, tool, message, requestedSchema }: ElicitationRequest) => {
      asked.push([server, tool, message, Object.keys(requestedSchema!['properties'] as object)])
      return { action: 'accept', content: { confirm } }
    },
    ...options,
  })
  await registry.discover()
  const tools = (of: string) => registry.getSnapshot().tools.filter(({ server }) => server === of).length
  const { serverInfo, instructions } = registry.getHealth()['context7']!
  const structured = async (name: string, args: Record<string, unknown>) =>
    (await registry.call(name, args)).structuredContent as Record<string, never>
  const read = async (server: string, uri: string) => JSON.parse((await registry.readResource(server, uri)).text)
  const remove = () =>
    registry.dispatch('obsidian__obsidian_delete_note', { target: { type: 'path', path: 'Draft.md' } })

  await registry.call('git__git_set_working_dir', { path: dir })
  await registry.call('obsidian__obsidian_write_note', {
    target: { type: 'path', path: 'Draft.md' },
    content: 'The berth is free. #berth',
    overwrite: true,
  })
  const [template] = await registry.resourceTemplates({ servers: ['obsidian'] })
  const [prompt] = await registry.prompts({ servers: ['git'] })
  const found = {
    versions: ['context7', 'git', 'obsidian'].map((s) => registry.getHealth()[s]!.protocolVersion),
    tools: ['context7', 'git', 'obsidian'].map(tools),
    icons: serverInfo!.icons!.map(({ src }) => src),
    website: serverInfo!.websiteUrl,
    instructions: [instructions!.slice(0, 46), registry.getHealth()['obsidian']!.instructions!.slice(0, 28)],
    forModels: (await registry.instructions({ servers: ['context7'], format: 'text' })).includes(
      instructions!.slice(0, 46),
    ),
    commits: ((await structured('git__git_log', { path: dir }))['commits'] as unknown as { subject: string }[])
      .map(({ subject }) => subject),
    branch: (await structured('git__git_status', {}))['currentBranch'],
    folder: (await read('git', 'git://working-directory')).workingDirectory === dir,
    prompt: [prompt!.prompt, prompt!.arguments!.map(({ name }) => name).sort()],
    message: (await registry.getPrompt(prompt!.name, { createTag: 'false' })).messages[0]!.role,
    resources: (await registry.resources({ servers: ['obsidian'] })).map(({ uri }) => uri).sort(),
    status: (await read('obsidian', 'obsidian://status')).authenticated,
    template: template!.uriTemplate,
    note: (await read('obsidian', 'obsidian://vault/Harbour.md')).content,
    missing: await registry.readResource('obsidian', 'obsidian://vault/None.md').catch((e) => e.name),
    kept: /cancelled/i.test(await remove()),
    removed: '',
    asked,
  }
  confirm = true
  found.removed = await remove()
  await registry.close()
  return found
}

const checkAll = (found: Awaited<ReturnType<typeof useAll>>) => {
  const question = [
    'obsidian',
    'obsidian_delete_note',
    "Permanently delete 'Draft.md' (25 bytes)? This cannot be undone via the API; recovery would require Obsidian's " +
    'local trash.',
    ['confirm'],
  ]
  const { removed, ...rest } = found
  assert.match(removed, /Draft\.md/)
  assert.deepEqual(rest, {
    versions: ['2026-07-28', '2025-11-25', '2025-11-25'],
    tools: [2, 28, 12],
    icons: ['https://context7.com/context7-icon-green.png'],
    website: 'https://context7.com',
    instructions: ['Use this server to fetch current documentation', 'Use the `obsidian_*` tools t'],
    forModels: true,
    commits: ['the first ship'],
    branch: 'harbour',
    folder: true,
    prompt: ['git_wrapup', ['changelogPath', 'createTag']],
    message: 'user',
    resources: ['obsidian://status', 'obsidian://tags'],
    status: true,
    template: 'obsidian://vault/{+path}',
    note: 'The pilot comes at noon. #pilot',
    missing: 'RegistryError',
    kept: true,
    asked: [question, question],
  })
  assert.deepEqual([...vault.notes.keys()], ['Harbour.md'])
}

const configs = (proxied: boolean) =>
  Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { url, proxy: proxied, timeoutMs: 60_000 }]))

test('three servers of others, from Node', async () => {
  checkAll(await useAll(createRegistry as never, { servers: configs(false) }, dir))
})

for (const mode of ['worker', 'main']) {
  test(`three servers of others, in Chromium, mode ${mode}`, async () => {
    const page = await openPage(browser, site.url, /CORS policy|Failed to load resource/)
    const options = { mode, proxy: proxy.template, servers: configs(true) }
    const found = await page.evaluate(
      `(async () => (${useAll})((await import('/index.js')).createRegistry, ${JSON.stringify(options)}, ${
        JSON.stringify(dir)
      }))()`,
    )
    checkAll(found as Awaited<ReturnType<typeof useAll>>)
    await page.close()
  })
}

test('the command line lists, reads, makes and calls what they offer', async () => {
  const portolan = async (...args: string[]) => (await run(join(root, 'dist/bin/portolan'), args)).stdout
  assert.match(await portolan('tools', urls.context7), /resolve-library-id/)
  // Its backend is out of reach here: the error is its own answer.
  assert.match(
    await portolan('call', urls.context7, 'resolve-library-id', '{"query":"hooks","libraryName":"react"}'),
    /Error searching libraries/,
  )
  assert.match(await portolan('call', urls.git, 'git_log', JSON.stringify({ path: dir })), /the first ship/)
  assert.match(await portolan('prompts', urls.git), /git_wrapup/)
  assert.match(await portolan('prompt', urls.git, 'git_wrapup', 'createTag=false'), /git/)
  assert.match(await portolan('resources', vaultUrl), /obsidian:\/\/vault\/\{\+path\}/)
  assert.match(await portolan('read', vaultUrl, 'obsidian://vault/Harbour.md'), /The pilot comes at noon/)
})
