#!/usr/bin/env node
// Runs the package's tests under js/wasm on the platform of wasm/js/fetch:
//   GOOS=js GOARCH=wasm go test -exec "node --stack-size=8192 $PWD/testdata/exec.mjs" .
// Node 22 or newer, for it strips the types.
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Abi } from '../../../wasm/js/host/abi.ts'
import { CryptoStore } from '../../../wasm/js/host/crypto.ts'
import { Platform } from '../../../wasm/js/fetch/platform.ts'

const abi = new Abi()
globalThis.newPlatform = (options) => new Platform({ ...options, abi })
globalThis.newCryptoStore = () => new CryptoStore()
const { instantiate } = WebAssembly
WebAssembly.instantiate = async (bytes, imports) => {
  if (!imports?.gojs) return instantiate(bytes, imports) // Node's own
  const result = await instantiate(bytes, { ...imports, portolan: abi.imports })
  abi.enter(result.instance.exports, () => result.instance.exports.resume())
  return result
}
const goroot = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
createRequire(import.meta.url)(join(goroot, 'lib/wasm/wasm_exec_node.js'))
