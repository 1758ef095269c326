import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { sites, type Site } from '../../extension/chats/drivermessages.ts'

/** The sites with a page of their own. The others share one. */
const own = ['chatgpt', 'gemini', 'aistudio']

/** Each site's page code, bundled in memory. */
export async function bundlePages(): Promise<Record<Site, string>> {
  const result = await build({
    entryPoints: Object.fromEntries(
      [...own, 'others'].map((page) => [page, fileURLToPath(new URL(`page/${page}/index.ts`, import.meta.url))]),
    ),
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    outdir: '/',
    logLevel: 'warning',
  })
  const pages = new Map(result.outputFiles.map((file) => [file.path.replace(/^.*[/\\]|\.js$/g, ''), file.text]))
  return Object.fromEntries(sites.map((site) => [site, pages.get(site) ?? pages.get('others')!])) as Record<
    Site,
    string
  >
}
