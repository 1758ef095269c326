import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { sites, type Site } from '../../extension/chats/drivermessages.ts'

/** Each site's page code, bundled in memory. */
export async function bundlePages(): Promise<Record<Site, string>> {
  const result = await build({
    entryPoints: Object.fromEntries(
      sites.map((site) => [site, fileURLToPath(new URL(`page/${site}/index.ts`, import.meta.url))]),
    ),
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    outdir: '/',
    logLevel: 'warning',
  })
  return Object.fromEntries(
    result.outputFiles.map((file) => [file.path.replace(/^.*[/\\]|\.js$/g, ''), file.text]),
  ) as Record<Site, string>
}
