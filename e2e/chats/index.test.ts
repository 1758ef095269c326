import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'
import { launchChromium } from '../rig/harness.ts'

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('../../extension/chats/driver/index.ts', import.meta.url))],
  bundle: true,
  format: 'iife',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  write: false,
})
const code = outputFiles[0]!.text

test('the content script is small', () => {
  const size = gzipSync(code, { level: 9 }).length
  console.log(`# driver.js: ${(size / 1024).toFixed(1)} KB gzip`)
  assert.ok(size <= 20 * 1024, `${size} bytes`)
})

test('injected into a tab twice it listens once', async () => {
  const browser = await launchChromium()
  const page = await browser.newPage()
  const listeners = await page.evaluate((code) => {
    let listeners = 0
    Object.assign(globalThis, {
      chrome: {
        runtime: {
          onConnect: {
            addListener: () => {
              listeners++
            },
          },
        },
      },
    })
    for (let n = 0; n < 2; n++) new Function(code)()
    return listeners
  }, code)
  await browser.close()
  assert.equal(listeners, 1)
})
