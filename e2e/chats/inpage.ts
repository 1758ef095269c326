// For tests: a module in a real page of a real Chromium.
import { build } from 'esbuild'
import { after, before } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { launchChromium } from '../rig/harness.ts'

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

/** A page for the tests of a file, with modules of extension/chats/driver as globals: the file of each name. */
export function inPage(modules: Record<string, string>): { page: Page } {
  const held = {} as { page: Page }
  let end: (() => Promise<void>) | undefined
  before(async () => {
    const browser = await launchChromium()
    end = () => browser.close()
    held.page = await browser.newPage()
    for (const [name, file] of Object.entries(modules))
      await held.page.evaluate(await script(`../../extension/chats/driver/${file}`, name))
  })
  after(() => end?.())
  return held
}
