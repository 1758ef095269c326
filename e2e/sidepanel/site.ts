import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { listen, root, type Listening } from '../rig/harness.ts'

/** Stricter than an extension's own: no style either but from its files, and Trusted Types. */
const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src *; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  wasm: 'application/wasm',
}
const here = `${root}extension/panel/`

/** The pages, bundled as for the extension, but with the stand-in for the browser. */
export async function panelSite(): Promise<Listening> {
  const { outputFiles } = await build({
    entryPoints: { panel: `${here}index.ts` },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    outdir: '/out',
    chunkNames: 'panel/[name]-[hash]',
    logLevel: 'warning',
    plugins: [{
      name: 'standin',
      setup: (b) => b.onResolve({ filter: /^\.\.\/browser\.ts$/ }, () => ({ path: `${root}e2e/sidepanel/browser.ts` })),
    }],
  })
  const bundle = new Map(outputFiles.map((f) => [f.path.slice('/out'.length), f.contents]))
  return listen(async (req, res) => {
    const path = new URL(req.url!, 'http://x').pathname
    const file = bundle.get(path) ??
      (/^\/(sidepanel|options)\.html$|^\/page\.css$/.test(path) ? await readFile(here + path.slice(1)) : undefined) ??
      (path.startsWith('/npm/') && !path.includes('..')
        ? await readFile(join(root, 'dist', path)).catch(() => undefined)
        : undefined)
    if (!file) return void res.writeHead(404).end()
    const type = types[path.split('.').at(-1)!] ?? 'text/plain'
    res.writeHead(200, {
      'content-type': type === 'application/wasm' ? type : `${type}; charset=utf-8`,
      'content-security-policy': policy,
    }).end(file)
  })
}

export interface Opened {
  page: Page
  faults: string[]
}

export interface Wish {
  state?: string
  page?: 'sidepanel' | 'options'
  lang?: string
  context?: BrowserContextOptions
}

/** Opens a page in a state. Whatever it complains of is a fault, but for requests that go nowhere. */
export async function openPage(
  browser: Browser,
  site: Listening,
  { state = 'used', page: which = 'sidepanel', lang = 'en', context }: Wish = {},
): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 380, height: 820 }, ...context })
  const faults: string[] = []
  page.on('pageerror', (e) => faults.push(`page error: ${e.stack ?? e.message}`))
  page.on('console', (m) => {
    if (m.type() === 'error' && !/favicon|ERR_|Failed to load resource/.test(m.text()))
      faults.push(`console: ${m.text()}`)
  })
  await page.goto(`${site.url}/${which}.html?${new URLSearchParams({ state, lang })}`)
  await page.locator('portolan-extension footer').waitFor()
  return { page, faults }
}
