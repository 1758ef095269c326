#!/usr/bin/env node
// Runs the package's tests under js/wasm on the real plane.ts:
//   GOOS=js GOARCH=wasm go test -exec "node --stack-size=8192 $PWD/testdata/exec.mjs" .
// Node 22 or newer, for it strips the types.
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Crossing } from '../../../wasm/js/host/abi.ts'
import { Notary } from '../../../wasm/js/host/crypto.ts'
import { Plane } from '../../../wasm/js/fetch/platform.ts'

const crossing = new Crossing()
globalThis.newPlane = (options) => new Plane({ ...options, crossing })
globalThis.newNotary = () => new Notary()
const { instantiate } = WebAssembly
WebAssembly.instantiate = async (bytes, imports) => {
  if (!imports?.gojs) return instantiate(bytes, imports) // Node's own
  const result = await instantiate(bytes, { ...imports, portolan: crossing.imports })
  crossing.enter(result.instance.exports, () => result.instance.exports.resume())
  return result
}
const goroot = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
createRequire(import.meta.url)(join(goroot, 'lib/wasm/wasm_exec_node.js'))
