// For tests: a module of this folder in a real page of a real Chromium.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/** The module's exports as the global `name`, as text for `page.evaluate`. */
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
