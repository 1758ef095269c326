// For tests: a module in a real page of a real Chromium.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/** Returns a script for `page.evaluate` that sets the global `name` to the module's exports. */
export async function script(module: string, name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(module, import.meta.url))],
    bundle: true,
    format: 'iife',
    globalName: name,
    target: 'es2022',
    write: false,
    logLevel: 'warning',
  })
  return `${outputFiles[0]!.text}\nglobalThis.${name} = ${name}`
}
