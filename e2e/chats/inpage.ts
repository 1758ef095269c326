// For tests: a module of this folder in a real page of a real Chromium.
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

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
