import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { build, transform, type Loader } from 'esbuild'
import type { Browser } from 'playwright-core'
import { launchChromium, listen, openPage, root, start, type Listening, type Running } from '../rig/harness.ts'
import { standIn, type Seen, type Turn } from '../providers/standin.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { blocksOf, digestOf, documents, nameOf, said, textOf, type Block } from '../rig/snippets.ts'

// Every block of the documentation runs as it stands. A block is a program of its
// own, unless a word behind its language says what it has been given; one with a
// file's name is a file beside the section's programs. What a program is said to
// print stands behind an arrow.

/** Blocks that are not run, by the document and their first line, and why. */
const exceptions: Record<string, string> = {}

const run = promisify(execFile)
const node = `${root}node_modules/.bin/node`
const path = `${dirname(node)}:${process.env.PATH}`
const blocks = documents.flatMap(blocksOf)

/** The results of the search of the documentation. */
const found = { total: 12, results: [{ title: 'Carrier v Harbour Trust', url: 'https://law.example/cases/1' }] }

/** The stand-ins for the addresses in the documentation. */
const addresses: Record<string, string> = {}
const real = (text: string) =>
  Object.entries(addresses).reduce((t, [from, to]) => t.replaceAll(from, to), text)
    .replaceAll(/sha384-…([\w.]+)/g, (_, file: string) => digestOf(readFileSync(`${root}dist/npm/${file}`)))

let dir: string
let browser: Browser
let server: Awaited<ReturnType<typeof sdkServer>>
let model: Listening
let site: Listening
/** The servers of the documentation, and a proxy that a block has started. */
let up: (Running & { ready: RegExpMatchArray }) | undefined, proxy: Running | undefined
/** The files of the site beside the package. */
let files: Record<string, string> = {}

before(async () => {
  ;[browser, server, model] = await Promise.all([
    launchChromium(),
    sdkServer([
      { name: 'ask', inputSchema: { type: 'object', properties: {} } },
      { name: 'search', inputSchema: { type: 'object', properties: { query: { type: 'string' } } } },
    ], { results: { search: { content: [], structuredContent: found } } }),
    standIn(adds),
  ])
  dir = await mkdtemp(join(tmpdir(), 'portolan-docs-'))
  await writeFile(join(dir, 'package.json'), '{"type":"module","private":true}')
  // As npm installs it.
  await run('npm', [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    '--offline',
    '--omit=peer',
    '--install-links',
    join(root, 'dist/npm'),
  ], { cwd: dir })
  for (const name of ['react', 'react-dom', '@types'])
    await symlink(join(root, 'node_modules', name), join(dir, 'node_modules', name))
  for (const name of ['ai', 'openai', '@ai-sdk', '@anthropic-ai', '@google', '@langchain', '@openai'])
    await symlink(join(root, 'e2e/providers/node_modules', name), join(dir, 'node_modules', name))
  await bundleReact(join(dir, 'react'))
  const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' }
  site = await listen(async (req, res) => {
    const name = new URL(req.url!, 'http://x').pathname.slice(1) || 'index.html'
    const text = files[name] ??
      (/^(node_modules\/portolan|react)\/[\w./-]+$/.test(name) && !name.includes('..')
        ? await readFile(join(dir, name)).catch(() => undefined)
        : undefined)
    if (text === undefined) return void res.writeHead(404).end()
    res.writeHead(200, { 'content-type': types[name.split('.').at(-1)!] ?? 'text/plain' }).end(text)
  })
  Object.assign(addresses, { 'https://mcp.example.com/mcp': server.url, 'https://model.example': model.url })
  up = await start(
    `${root}dist/bin/portolan`,
    ['up', '--listen', '127.0.0.1:0', '--origin', site.url, '--root', `${root}dist/demo`],
    /Portolan is at (http:\S+)\/\n[^]*CORS is at (http:\S+)\/mcp, and the proxy for it at (http:\S+)\/\n/,
  )
  for (const [i, address] of [8640, 8641, 8642].entries())
    addresses[`http://127.0.0.1:${address}`] = up.ready[i + 1]!
})
after(async () => {
  await Promise.all([
    browser.close(),
    server.close(),
    model.close(),
    site.close(),
    proxy?.stop(),
    up?.stop(),
  ])
  await rm(dir, { recursive: true, force: true })
})

/** The values that a block may name as given. */
const given: Record<string, { code: string; types: string }> = {
  registry: {
    code:
      "import { createRegistry as makeOne } from 'portolan'\nconst registry = await makeOne({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })\nawait registry.discover()\n",
    types: "declare const registry: import('portolan').Registry\n",
  },
  panel: {
    code:
      "import 'portolan/panel'\nconst panel = document.body.appendChild(document.createElement('portolan-panel'))\npanel.registry = registry\nawait panel.updateComplete\n",
    types: "declare const panel: import('portolan/panel').PortolanPanel & { updateComplete: Promise<unknown> }\n",
  },
}

const imports: Record<string, string> = {
  portolan: '/node_modules/portolan/index.js',
  ...Object.fromEntries(
    [
      'panel',
      'prompts',
      'react',
      'apps',
      'loop',
      'run',
      'run-endpoint',
      'run-element',
      'cassette',
      'config',
      'worker',
      'locales/ar',
    ].map((part) => [`portolan/${part}`, `/node_modules/portolan/${part === 'worker' ? 'service' : part}.js`]),
  ),
  react: '/react/react.js',
  'react-dom/client': '/react/client.js',
  'react/jsx-runtime': '/react/jsx.js',
}

/** Notes what is printed and what goes wrong. */
const notebook = `<script>
  window.lines = []
  window.wrong = []
  const show = (v) => typeof v === 'string' ? v : JSON.stringify(v)
  console.log = (...values) => lines.push(values.map(show).join(' '))
  addEventListener('error', (e) => wrong.push(String(e.error?.stack ?? e.message)))
  addEventListener('unhandledrejection', (e) => wrong.push(e.reason?.code + ' ' + (e.reason?.stack ?? e.reason)))
</script>`

const icon = '<link rel="icon" href="data:,">'

/** A block's JavaScript, after what it has been given. */
async function program(b: Block): Promise<string> {
  const { code } = await transform(real(b.text), {
    loader: b.lang as Loader,
    jsx: 'automatic',
    format: 'esm',
    target: 'es2022',
  })
  return b.words.map((w) => given[w]?.code ?? '').join('') + code
}

/** Loads the site's page and returns what it prints. */
async function printed(b: Block, html: string, beside: Block[]): Promise<string[]> {
  files = { 'index.html': html }
  for (const other of beside) {
    const name = nameOf(other)!
    files[name] = (await program(other)).replaceAll(
      /(?<=from )"([^"]+)"/g,
      (whole, bare: string) => imports[bare] ? `"${imports[bare]}"` : whole,
    ) // as bundled
    files[name.replace('.js', '.html')] =
      `<!doctype html><html lang="en"><title>docs</title>${icon}<script type="module" src="${name}"></script>`
  }
  const wanted = said(b.text).length
  const page = await openPage(browser, site.url, /status of 40[05]|favicon/)
  try {
    await page.waitForFunction(
      `wrong.length || document.readyState === 'complete' && lines.length >= ${wanted} && document.documentElement.dataset.done !== 'not yet'`,
      undefined,
      { timeout: 20_000 },
    )
      .catch(async () => {
        throw new Error(`it printed only ${JSON.stringify(await page.evaluate('lines'))}; ${page.faults.join('; ')}`)
      })
    const shown = b.text.match(/\{\/\* → (.*) \*\/\}/)?.[1]
    if (shown) {
      await page.locator('#root button').first().click()
      await page.locator('#root output').getByText(shown, { exact: true }).waitFor()
    }
    const { lines, wrong } = await page.evaluate('({ lines, wrong })') as { lines: string[]; wrong: string[] }
    assert.deepEqual([...wrong, ...page.faults], [])
    return lines
  } finally {
    await page.close()
  }
}

const inPage = async (b: Block, beside: Block[]) =>
  printed(
    b,
    `<!doctype html><html lang="en" data-done="not yet"><title>docs</title>${icon}${notebook}
  <script type="importmap">${JSON.stringify({ imports })}</script><body><div id="root"></div>
  <script type="module">${(await program(b)).replaceAll('</script', '<\\/script')}
    document.documentElement.dataset.done = 'yes'</script>`,
    beside,
  )

async function inNode(b: Block): Promise<string[]> {
  const name = `block-${b.at.replaceAll(/\W/g, '-')}.mjs`
  await writeFile(join(dir, name), await program(b))
  const { stdout } = await run(node, [name], { cwd: dir, timeout: 60_000 })
  return stdout.trim().split('\n')
}

/** A shell's block, line by line: our commands run, with the addresses of this test. */
async function inShell(b: Block): Promise<string[]> {
  const lines: string[] = []
  for (const raw of b.text.split('\n')) {
    const line = real(raw.replace(/\s+# .*$/, '').trim())
    if (!line || line.startsWith('#')) continue
    const [command, ...args] = line.split(/\s+/) as [string, ...string[]]
    if (command === './build.sh') {
      const { stderr } = await run('sh', ['./build.sh'], { cwd: root }).catch((e: { stderr: string }) => e)
      const usage = stderr.split('\n').find((l) => l.startsWith(`  ${args[0]} `))
      assert.ok(
        usage && args.slice(1).every((a) => usage.includes(a)),
        `${b.at}: ${line} is not in the usage of build.sh`,
      )
    } else if (/^npm install --install-links \.\/dist\/npm\b/.test(line)) {
      assert.ok(existsSync(join(dir, 'node_modules/portolan/index.js'))) // which is how this test began
    } else if (/^dist\/bin\/portolan proxy --listen/.test(line)) {
      await proxy?.stop()
      const { ready, ...running } = await start('sh', [
        '-c',
        `exec ${line.replace(/--listen \S+/, '--listen 127.0.0.1:0')} --insecure-allow-private --host 127.0.0.1`,
      ], /proxy is at (http:\S+)/)
      proxy = running
      addresses['http://127.0.0.1:8788/'] = ready[1]!
    } else if (/^dist\/bin\/portolan gateway/.test(line)) {
      const { ready, stop } = await start(
        'sh',
        ['-c', `exec ${line.replace('gateway', `gateway --listen 127.0.0.1:0 --dir ${dir}`)}`],
        /(\/s\/\S+\/mcp)[^]*Find a running gateway/,
      )
      lines.push(ready[1]!)
      await stop()
    } else {
      assert.ok(['dist/bin/portolan', 'go', 'openssl'].includes(command), `${b.at}: nobody knows how to try ${command}`)
      const { stdout } = await run('sh', ['-c', line], {
        cwd: line.includes('node_modules/') ? dir : root,
        env: { ...process.env, PATH: path },
        timeout: 60_000,
      })
      assert.ok(stdout.trim(), `${b.at}: ${line} prints nothing`)
      lines.push(...stdout.trim().split('\n'))
    }
  }
  return lines
}

for (const b of blocks) {
  const first = `${b.file}: ${b.text.split('\n')[0]}`
  if (exceptions[first] !== undefined || b.lang === 'text' || b.lang === 'http' && b.file === 'docs/csp.md') continue // csp.test.ts serves what is http
  const beside = blocks.filter((o) => o.file === b.file && o.section === b.section && nameOf(o) && o !== b)
  if (nameOf(b)) continue
  test(`${b.at} ${b.section}: ${b.lang}`, async () => {
    for (const word of b.words)
      assert.ok(given[word] || word === 'node', `${b.at}: "${word}" is nothing that a block can be given`)
    const wanted = said(b.text)
    switch (b.lang) {
      case 'js':
      case 'ts':
      case 'tsx': {
        assert.ok(b.text.includes(' → '), `${b.at} does not say what it prints`)
        const got = b.words.includes('node') ? await inNode(b) : await inPage(b, beside)
        return assert.deepEqual(got, wanted)
      }
      case 'html': {
        const html = real(b.text)
        assert.deepEqual(await printed(b, html.replace(/<script/, `${notebook}${icon}<script`), beside), wanted)
        return
      }
      case 'sh': {
        const got = await inShell(b)
        for (const line of wanted)
          assert.ok(got.some((l) => l.includes(line)), `${b.at}: ${line} is not in\n${got.join('\n')}`)
        return
      }
      case 'json':
        return void JSON.parse(b.text)
      case 'css':
        return looks(b)
      default:
        assert.fail(`${b.at}: a block of ${b.lang || 'no language'}; if it is no code, call it text`)
    }
  })
}

/** Every rule of a style sheet is one that the panel knows. */
async function looks(b: Block): Promise<void> {
  const known = await panelWords()
  for (const [, name] of b.text.matchAll(/(--portolan-[\w-]+)|::part\(([\w-]+)\)/g))
    assert.ok(!name || known.properties.includes(name), name)
  for (const [, name] of b.text.matchAll(/::part\(([\w-]+)\)/g)) assert.ok(known.parts.includes(name!), name)
  const page = await openPage(browser, 'about:blank')
  const rules = await page.evaluate((text) => {
    const s = new CSSStyleSheet()
    s.replaceSync(text)
    return s.cssRules.length
  }, b.text)
  assert.equal(rules, b.text.match(/\{/g)!.length)
  await page.close()
}

async function panelWords(): Promise<{ properties: string[]; parts: string[] }> {
  const { outputFiles } = await build({
    entryPoints: [`${root}web/panel/index.ts`],
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'error',
  })
  const code = outputFiles[0]!.text
  const all = (pattern: RegExp) => [...new Set([...code.matchAll(pattern)].map(([, name]) => name!))].sort()
  return { properties: all(/(--portolan-[\w-]+)/g), parts: all(/\bpart=\\?"([\w-]+)/g) }
}

test('docs/panel.md and the types of the panel name the custom properties, parts and views that there are', async () => {
  const text = textOf('docs/panel.md')
  const named = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))].sort()
  const { properties, parts } = await panelWords()
  assert.deepEqual(named(/^\| `(--portolan-[\w-]+)`/gm), properties)
  const types = textOf('web/panel/types.ts')
  for (const list of [/^The parts are ([\s\S]+?)\.$/m.exec(text), /CSS parts ([\s\S]+?)\.$/m.exec(types)])
    assert.deepEqual([...list![1]!.matchAll(/`([\w-]+)`/g)].map(([, name]) => name).sort(), parts)
  const row = /^\| `view` .*$/m.exec(text)![0]
  for (const [, view] of /^export type PanelView = (.*)$/m.exec(types)![1]!.matchAll(/'(\w+)'/g))
    assert.ok(row.includes(`\`${view}\``), `${view}: ${row}`)
})

test('docs/recipes.md names the codes that errors have', () => {
  const sources = [
    'registry/wire/errors.go',
    ...readdirSync(`${root}wasm/js`, { recursive: true, encoding: 'utf8' })
      .filter((f) => f.endsWith('.ts') && !f.includes('.test.')).map((f) => `wasm/js/${f}`),
  ].map(textOf).join('\n')
  const codes = [
    ...sources.matchAll(
      /RegistryError\(\s*'(\w+)'|code: '([a-z_]+)'|= Error\{"(\w+)"/g,
    ),
  ].map((m) => m.slice(1).find(Boolean)!)
  const table = textOf('docs/recipes.md').match(/^\| codes +\|[\s\S]*?\n\n/m)![0]
  assert.deepEqual(
    [...table.matchAll(/`([a-z_]+)`(?=[^|]*\|[^|]*\|$)/gm)].map(([, code]) => code!).filter((c) => c !== 'status')
      .sort(),
    [...new Set(codes)].sort(),
  )
})

test('the blocks agree with the published declarations', async () => {
  const at = join(dir, 'types')
  await mkdir(at)
  for (const b of blocks) {
    if (!['js', 'ts', 'tsx'].includes(b.lang)) continue
    const name = nameOf(b)
      ? `${b.at.replaceAll(/\W/g, '-')}-${nameOf(b)!.replace(/\.\w+$/, '')}`
      : b.at.replaceAll(/\W/g, '-')
    const types = b.words.map((w) => given[w]?.types ?? '').join('')
    await writeFile(join(at, `${name}.${b.lang}`), b.lang === 'js' ? b.text : `${types}${b.text}\nexport {}\n`)
  }
  const options = {
    target: 'ES2023',
    module: 'ESNext',
    moduleResolution: 'bundler',
    jsx: 'react-jsx',
    lib: ['ES2023', 'DOM', 'DOM.Iterable', 'ESNext.Disposable'],
    strict: true,
    noEmit: true,
    types: ['node'],
    skipLibCheck: true, // package.test.ts checks ours; providers' own declarations lack some of theirs
  }
  await writeFile(
    join(dir, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['types/*.ts', 'types/*.tsx'] }),
  )
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', dir], { env: { ...process.env, PATH: path } }).catch((
    e: { stdout: string },
  ) => assert.fail(e.stdout))
})

test('what the documents link to is there', () => {
  for (const file of documents) {
    const text = textOf(file).replaceAll(/^```[\s\S]*?^```/gm, '')
    for (const [, target] of text.matchAll(/(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)/g)) {
      if (/^https?:/.test(target!)) continue
      const [to, anchor] = target!.split('#') as [string, string?]
      const at = to ? join(dirname(file), to) : file
      assert.ok(existsSync(join(root, at)), `${file} links to ${at}, which is not there`)
      if (anchor) {
        const slugs = [...textOf(at).matchAll(/^#+ (.*)$/gm)].map(([, h]) =>
          h!.toLowerCase().replaceAll(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-')
        )
        assert.ok(slugs.includes(anchor), `${file} links to ${target}, of which there is no heading`)
      }
    }
  }
})

test('no exception is left over', () => {
  for (const first of Object.keys(exceptions))
    assert.ok(blocks.some((b) => `${b.file}: ${b.text.split('\n')[0]}` === first), first)
})

/** It asks for demo__add once, and then says what came. */
function adds({ texts: [sum], tools }: Seen): Turn {
  if (sum !== undefined) return { text: `It is ${sum}.` }
  return { calls: [[tools.find((name) => name.endsWith('__add'))!, { a: 40, b: 2 }]] }
}

/** React as modules that share one copy of it. */
async function bundleReact(out: string): Promise<void> {
  const names: Record<string, string> = { react: 'react', client: 'react-dom/client', jsx: 'react/jsx-runtime' }
  const src = join(out, 'src')
  await mkdir(src, { recursive: true })
  for (const [name, from] of Object.entries(names)) {
    const exported = Object.keys((await import(from)) as object).filter((k) =>
      /^[a-zA-Z]\w*$/.test(k) && k !== 'default'
    )
    await writeFile(
      join(src, `${name}.js`),
      `import all from '${from}'\nexport default all\nexport const { ${exported.join(', ')} } = all\n`,
    )
  }
  await build({
    entryPoints: Object.keys(names).map((name) => join(src, `${name}.js`)),
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: out,
    define: { 'process.env.NODE_ENV': '"production"' },
    nodePaths: [join(root, 'node_modules')],
    logLevel: 'error',
  })
}
