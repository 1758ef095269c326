import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { createRegistry } from '../../dist/npm/index.js'
import { frameDigest, frameDocument } from '../../wasm/js/page/codeframe.ts'
import type { Activity, DispatchOptions, OpenAITool, Registry, ToolResult } from '../../wasm/js/shared/types.ts'
import { launchChromium, listen, openPage, root, servePackage, type Listening } from './harness.ts'
import { sdkServer } from './sdkserver.ts'

// Code of a model, in Chromium, over a real MCP server.

declare global {
  interface Window {
    r: Registry
    seen: unknown[]
    run(code: string, options?: DispatchOptions, on?: Pick<Registry, 'dispatch'>): Promise<Ran>
  }
}

interface Ran {
  isError?: boolean
  text?: string
  code?: string
  message?: string
  hint?: string
  /** The frames of the page afterwards. */
  frames: number
}

const object = { type: 'object', properties: {} }
const served = [
  { name: 'ask', description: 'Asks a question.', inputSchema: object },
  {
    name: 'depth',
    description: 'The depth of the water, in metres.',
    inputSchema: { type: 'object', required: ['place'], properties: { place: { type: 'string' } } },
    outputSchema: { type: 'object', required: ['metres'], properties: { metres: { type: 'number' } } },
  },
  { name: 'broken', description: 'Fails.', inputSchema: object },
  { name: 'say-hello', description: 'Greets.', inputSchema: object },
]
const results = {
  depth: { content: [{ type: 'text', text: '{"metres":4.5}' }], structuredContent: { metres: 4.5 } },
  broken: { content: [{ type: 'text', text: 'no wind' }], isError: true },
  'say-hello': { content: [{ type: 'text', text: 'hello' }] },
}

let browser: Browser
let site: Listening
let ship: Awaited<ReturnType<typeof sdkServer>>

before(async () => {
  ship = await sdkServer(served, { results })
  ;[browser, site] = await Promise.all([launchChromium(), servePackage()])
})
after(async () => {
  await browser?.close()
  await Promise.all([ship, site].map((s) => s?.close()))
})

/** A page with a registry of the server and the demo. */
async function open(options = '', url = site.url, page?: Page): Promise<Page> {
  page ??= await openPage(browser, url, /status of 400|Content Security Policy|Trusted/)
  await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.seen = []
    window.r = await createRegistry({
      storage: 'memory',
      servers: { demo: { url: 'builtin:demo' }, ship: { url: '${ship.url}' } },
      ${options}
    })
    window.run = async (code, options, on = r) => {
      const ran = await on.call('portolan_run_code', { code }, options).then(
        ({ isError, text }) => ({ isError, text }),
        ({ code, message, hint }) => ({ code, message, hint }),
      )
      return { ...ran, frames: document.querySelectorAll('iframe').length }
    }
    await r.discover()
  })()`)
  return page
}

const run = (page: Page, code: string): Promise<Ran> => page.evaluate((code) => window.run(code), code)
const ok = (text: string) => ({ isError: false, text, frames: 0 })

/** Waits until the page has no worker but its host's. */
async function noCodeLeft(page: Page): Promise<void> {
  const others = () => page.workers().filter((w) => w.url().startsWith('blob:null'))
  for (let i = 0; others().length; i++) {
    assert.ok(i < 100, 'a worker of code is left')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const names = (tools: OpenAITool[]) => tools.map((t) => t.function.name)
const own = ['portolan_search_api', 'portolan_run_code']

test('P47: two tools stand in for those of servers, in every format', async () => {
  const page = await open()
  assert.deepEqual(await page.evaluate(() => window.r.getTools({ codeMode: true }).map((t) => t.function.name)), own)
  const got = await page.evaluate((own) => {
    const { r } = window
    const fault = (options: object) => {
      try {
        r.getTools({ codeMode: true, ...options })
      } catch (e) {
        return (e as { code: string }).code
      }
    }
    return {
      anthropic: r.getTools({ codeMode: true, format: 'anthropic' }).map((t) => t.name),
      responses: r.getTools({ codeMode: true, format: 'openai-responses' }).map((t) => t.name),
      gemini: r.getTools({ codeMode: true, format: 'gemini' }).length,
      sdk: Object.keys(r.toolsFor('ai-sdk', { codeMode: true })),
      more: r.getTools({ codeMode: true, resources: true, readResult: true }).length,
      has: own.map((name) => r.has(name)),
      faults: [{ servers: ['ship'] }, { include: ['x'] }, { exclude: ['x'] }, { deferred: true }].map(fault),
    }
  }, own)
  assert.deepEqual(got, {
    anthropic: own,
    responses: own,
    gemini: 2,
    sdk: own,
    more: 5,
    has: [true, true],
    faults: Array(4).fill('invalid_option'),
  })
  await page.close()
})

test('P47: what a search declares compiles with a program, and the program runs', async () => {
  const page = await open()
  const search = (query: object) => page.evaluate((q) => window.r.dispatch('portolan_search_api', q), query)
  const declared = await search({ query: 'how deep is the water' })
  assert.match(declared, /^ {2}ship: \{\n {4}\/\*\* The depth of the water, in metres\. \*\/\n {4}depth\(args: /m)
  assert.doesNotMatch(await search({ query: 'depth add numbers', server: 'demo' }), /ship/)
  assert.match(await search({ query: 'zzzzqq' }), /^No tool fits/)
  assert.match(await search({ query: 7 }), /Say what you look for/)
  const program = `const depths = await Promise.all(['bay', 'pier'].map((place) => tools.ship.depth({ place })))
let deepest = 0
for (const { metres } of depths) deepest = Math.max(deepest, metres)
`
  const dir = mkdtempSync(join(tmpdir(), 'portolan-codemode-'))
  try {
    writeFileSync(join(dir, 'good.ts'), `${declared}${program}export {}\n`)
    writeFileSync(join(dir, 'bad.ts'), `${declared}await tools.ship.depth({ plaice: 'bay' })\nexport {}\n`)
    const compile = (file: string) => {
      const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext', '--types', '']
      execFileSync(`${root}node_modules/.bin/tsc`, [...options, file], { cwd: dir, encoding: 'utf8', timeout: 60_000 })
    }
    compile('good.ts')
    assert.throws(() => compile('bad.ts'), { stdout: /plaice/ })
  } finally {
    rmSync(dir, { recursive: true })
  }
  assert.deepEqual(await run(page, `${program}return { deepest }`), ok('{"deepest":4.5}'))
  assert.deepEqual(page.faults, [])
  await page.close()
})
