// The client that the official conformance suite tests under js/wasm: the built
// npm package in Node, on the main thread. The scenarios are those of driver/main.go.
//
// 	node driver.mjs URL
import { readFile } from 'node:fs/promises'
import { createRegistry } from '../../dist/npm/index.js'
import { drive } from './drive.mjs'

const wasm = await readFile(new URL('../../dist/npm/portolan.wasm', import.meta.url))

/** Signs in: the suite's pages send everybody back at once. */
async function onAuthorize({ url }) {
  const location = (await fetch(url, { redirect: 'manual' })).headers.get('location')
  if (!location) throw new Error('the page sends nobody back')
  return location
}

const failures = await drive({
  createRegistry,
  url: process.argv.at(-1),
  scenario: process.env.MCP_CONFORMANCE_SCENARIO,
  context: process.env.MCP_CONFORMANCE_CONTEXT,
  options: {
    mode: 'main',
    wasm,
    signIn: {
      redirectUrl: 'http://localhost:3000/callback',
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
      clientName: 'portolan',
      onAuthorize,
    },
  },
})
for (const f of failures.told) console.error(`driver: ${f}`)
process.exitCode = failures.failed ? 1 : 0
