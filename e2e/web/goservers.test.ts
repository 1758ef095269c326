import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { createRegistry } from '../../dist/npm/index.js'
import type {
  ElicitationRequest,
  ElicitationUrlRequest,
  LogEntry,
  Registry,
  SamplingRequest,
} from '../../wasm/js/shared/types.ts'
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

// Servers of the two large Go libraries, each with every feature that it shows. Their libraries' makers wrote them.

const run = promisify(execFile)
const node = join(root, 'node_modules/.bin/node')
let dir: string
let urls: Record<'official' | 'community' | 'sampling' | 'roots', string>
let running: Running[] = []
let proxy: Awaited<ReturnType<typeof startProxy>>
let site: Listening
let browser: Browser

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-go-'))
  const env = { ...process.env, GOBIN: dir, GOFLAGS: '' }
  const example = 'github.com/modelcontextprotocol/go-sdk/examples/server/everything'
  await run('go', ['build', '-o', join(dir, 'official'), example], { cwd: root, env })
  for (const example of ['everything', 'sampling_server', 'roots_server'])
    await run('go', ['install', `github.com/mark3labs/mcp-go/examples/${example}@v1.2.1`], { cwd: dir, env })
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  // mcp-go's own HTTP servers listen on every interface.
  const community = (command: string, port: number) =>
    launch(node, stdio(command, port), {
      NODE_OPTIONS: `--import=${new URL('../rig/loopback.mjs', import.meta.url)}`,
    })
  const older = (example: string) => `${node} ${join(root, 'e2e/web/servers/olderera.mjs')} ${join(dir, example)}`
  running = [
    launch(join(dir, 'official'), ['-http', `127.0.0.1:${ports[0]}`]),
    community(join(dir, 'everything'), ports[1]!),
    // These ask by requests of their own, which 2026-07-28 has not. mcp-go refuses to send them in that version.
    community(older('sampling_server'), ports[2]!),
    community(older('roots_server'), ports[3]!),
  ]
  const [official, everything, sampling, roots] = ports.map((port) => `http://127.0.0.1:${port}/mcp`)
  urls = { official: official!, community: everything!, sampling: sampling!, roots: roots! }
  await Promise.all(Object.values(urls).map((url, i) => answering(url, running[i]!)))
  site = await servePackage()
  proxy = await startProxy(site.url)
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await site?.close()
  await proxy?.stop()
  await Promise.all(running.map((r) => r.stop()))
  await rm(dir, { recursive: true, force: true })
})

/** Uses what go-sdk's everything server offers. It runs in Node, and as text in a page. */
async function useOfficial(createRegistry: (o: object) => Promise<Registry>, options: object) {
  const registry = await createRegistry({
    storage: 'memory',
    roots: [{ uri: 'file:///home/a', name: 'first' }],
    onSampling: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }),
    onElicitation: ({ message }: ElicitationRequest) => ({
      action: 'accept',
      content: { random: message.slice(0, 7) },
    }),
    onElicitationUrl: ({ url }: ElicitationUrlRequest) => (url.includes('6062') ? 'accept' : 'decline'),
    ...options,
  })
  await registry.discover()
  const names = new Map(registry.getSnapshot().tools.map((t) => [t.tool, t.name]))
  const text = async (tool: string, args = {}) => (await registry.call(names.get(tool)!, args)).text
  const logged = new Promise<LogEntry>((resolve) => {
    registry.observe(({ log }) => log && resolve(log), { logs: true })
  })
  const [resource] = await registry.resources()
  const [template] = await registry.resourceTemplates()
  const prompts = await registry.prompts()
  const found = {
    tools: names.size,
    instructions: registry.getHealth()['s']!.instructions,
    greet: await text('greet', { name: 'Ada' }),
    structured: (await registry.call(names.get('greet (structured)')!, { name: 'Ada' })).structuredContent,
    link: await text('greet (content with ResourceLink)', { name: 'Ada' }),
    ping: await text('ping'),
    sample: await text('sample'),
    form: await text('elicit (form)'),
    url: await text('elicit (url)'),
    roots: await text('roots'),
    resource: [resource!.uri, resource!.icons?.length ?? 0, (await registry.readResource('s', resource!.uri)).text],
    template: template!.uriTemplate,
    prompts: prompts.map((p) => [p.prompt, p.icons?.length ?? 0]),
    prompt: (await registry.getPrompt(prompts[0]!.name, { name: 'Ada' })).messages,
    completion: await registry.complete({ server: 's', prompt: 'greet', argument: 'name', value: 'A' }),
    log: [] as unknown[],
  }
  await text('log')
  const { level, text: words } = await Promise.race([
    logged,
    new Promise<LogEntry>((resolve) =>
      setTimeout(() => resolve({ level: 'debug', text: 'nothing', server: '', at: 0 } as LogEntry), 10_000)
    ),
  ])
  found.log = [level, words]
  await registry.close()
  return found
}

function checkOfficial(found: Awaited<ReturnType<typeof useOfficial>>): void {
  const { resource: [uri, , read], prompts, ...rest } = found
  assert.equal(uri, 'embedded:info')
  assert.equal(read, 'This is the hello example server.')
  assert.deepEqual(prompts.map(([name]) => name).sort(), ['greet', 'greet (with Icons)'])
  assert.deepEqual(rest, {
    tools: 10,
    instructions: 'Use this server!',
    greet: 'Hi Ada',
    structured: { message: 'Hi Ada' },
    link: '[resource: greeting <data:text/plain,Hi%20Ada>]',
    ping: '(no output)',
    sample: 'sampled',
    form: 'provide',
    url: '(elicitation pending)',
    roots: 'first:file:///home/a',
    template: 'http://example.com/~{resource_name}/',
    prompt: [{ role: 'user', content: { type: 'text', text: 'Say hi to Ada' } }],
    completion: { values: ['Ax'], total: 1 },
    log: ['error', 'something happened!'],
  })
}

test("go-sdk's everything server, from Node", async () => {
  checkOfficial(
    await useOfficial(createRegistry as never, { servers: { s: { url: urls.official, logLevel: 'debug' } } }),
  )
})

for (const mode of ['worker', 'main']) {
  test(`go-sdk's everything server, in Chromium, mode ${mode}`, async () => {
    const page = await openPage(browser, site.url)
    const server = { url: urls.official, proxy: true, logLevel: 'debug' }
    const found = await page.evaluate(
      `(async () => (${useOfficial})((await import('/index.js')).createRegistry, ${
        JSON.stringify({ mode, proxy: proxy.template, servers: { s: server } })
      }))()`,
    )
    checkOfficial(found as Awaited<ReturnType<typeof useOfficial>>)
    await page.close()
  })
}

/** Uses what mcp-go's everything server offers. */
async function useCommunity(createRegistry: (o: object) => Promise<Registry>, options: object) {
  const registry = await createRegistry({ storage: 'memory', ...options })
  await registry.discover()
  const resources = await registry.resources()
  const [template] = await registry.resourceTemplates()
  const prompts = await registry.prompts()
  const style = { server: 's', prompt: 'complex_prompt', argument: 'style', value: '' }
  const found = {
    echo: await registry.dispatch('s__echo', { message: 'ahoy' }),
    sum: await registry.dispatch('s__add', { a: 2, b: 3 }),
    icons: registry.getSnapshot().tools.find((t) => t.tool === 'echo')!.definition['icons'],
    resources: resources.length > 50,
    read: (await registry.readResource('s', 'test://static/resource')).contents.length,
    template: template!.uriTemplate,
    prompts: prompts.map((p) => p.prompt).sort(),
    missing: await registry.getPrompt('s__complex_prompt', {}).catch((e) => e.code),
    messages: (await registry.getPrompt('s__complex_prompt', { temperature: '1', style: 'terse' })).messages.length > 0,
    completes: Array.isArray((await registry.complete(style)).values),
  }
  await registry.close()
  return found
}

function checkCommunity(found: Awaited<ReturnType<typeof useCommunity>>): void {
  assert.deepEqual(found, {
    echo: 'Echo: ahoy',
    sum: 'The sum of 2.000000 and 3.000000 is 5.000000.',
    icons: [{ src: 'https://example.com/tool.png', sizes: ['32x32'] }],
    resources: true,
    read: 1,
    template: 'test://dynamic/resource/{id}',
    prompts: ['complex_prompt', 'simple_prompt'],
    missing: 'invalid_arguments',
    messages: true,
    completes: true,
  })
}

test("mcp-go's everything server, from Node and in Chromium", async () => {
  checkCommunity(await useCommunity(createRegistry as never, { servers: { s: { url: urls.community } } }))
  const page = await openPage(browser, site.url)
  const options = { proxy: proxy.template, servers: { s: { url: urls.community, proxy: true } } }
  const found = await page.evaluate(
    `(async () => (${useCommunity})((await import('/index.js')).createRegistry, ${JSON.stringify(options)}))()`,
  )
  checkCommunity(found as Awaited<ReturnType<typeof useCommunity>>)
  await page.close()
})

/** Makes mcp-go's servers ask the client for a message and for its roots. */
async function useAskers(createRegistry: (o: object) => Promise<Registry>, options: object) {
  const requests: unknown[] = []
  const registry = await createRegistry({
    storage: 'memory',
    roots: [{ uri: 'file:///home/a', name: 'first' }],
    onSampling: ({ server, systemPrompt, messages }: SamplingRequest) => {
      requests.push([server, systemPrompt, messages])
      return { role: 'assistant', model: 'm', content: { type: 'text', text: 'Forty-two.' } }
    },
    ...options,
  })
  await registry.discover()
  const health = Object.entries(registry.getHealth())
  const down = health.filter(([, { status }]) => status !== 'connected')
  if (down.length) throw new Error(JSON.stringify(down))
  const roots = async () => (await registry.call('roots__roots', {})).structuredContent
  const found = {
    answer: await registry.dispatch('sampling__ask_llm', { question: 'How many?', system_prompt: 'Be short.' }),
    requests,
    before: await roots(),
    after: {} as unknown,
  }
  await registry.setRoots([{ uri: 'file:///home/b' }])
  found.after = await roots()
  await registry.close()
  return found
}

function checkAskers(found: Awaited<ReturnType<typeof useAskers>>): void {
  assert.deepEqual(found, {
    answer: 'LLM Response (model: m): Forty-two.',
    requests: [['sampling', 'Be short.', [{ role: 'user', content: { type: 'text', text: 'How many?' } }]]],
    before: { roots: [{ uri: 'file:///home/a', name: 'first' }] },
    after: { roots: [{ uri: 'file:///home/b' }] },
  })
}

test("mcp-go's sampling and roots servers, from Node and in Chromium", async () => {
  const servers = (proxied: boolean) => ({
    sampling: { url: urls.sampling, proxy: proxied },
    roots: { url: urls.roots, proxy: proxied },
  })
  checkAskers(await useAskers(createRegistry as never, { servers: servers(false) }))
  for (const mode of ['worker', 'main']) {
    const page = await openPage(browser, site.url)
    const options = { mode, proxy: proxy.template, servers: servers(true) }
    const found = await page.evaluate(
      `(async () => (${useAskers})((await import('/index.js')).createRegistry, ${JSON.stringify(options)}))()`,
    )
    checkAskers(found as Awaited<ReturnType<typeof useAskers>>)
    await page.close()
  }
})

test('the command line lists, reads and makes what they offer', async () => {
  const portolan = async (...args: string[]) =>
    JSON.parse((await run(join(root, 'dist/bin/portolan'), [...args, '--json'])).stdout) as never
  const resources = JSON.stringify(await portolan('resources', urls.official))
  assert.match(resources, /embedded:info/)
  assert.match(JSON.stringify(await portolan('read', urls.official, 'embedded:info')), /hello example server/)
  assert.match(JSON.stringify(await portolan('prompts', urls.community)), /complex_prompt/)
  assert.match(
    JSON.stringify(await portolan('prompt', urls.official, 'greet', 'name=Ada')),
    /Say hi to Ada/,
  )
  const withRoot = async (url: string) =>
    (await run(join(root, 'dist/bin/portolan'), ['call', url, 'roots', '--root', dir])).stdout.trim()
  assert.equal(await withRoot(urls.official), `${basename(dir)}:file://${dir}`)
  assert.match(await withRoot(urls.roots), new RegExp(`^Root list: .*file://${dir}`))
})
