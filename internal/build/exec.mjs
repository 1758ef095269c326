/**
 * Runs a js/wasm test program: `go test -exec 'node internal/build/exec.mjs RUNNER'`.
 * It lays out the program's data as in a module, and has RUNNER run it.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const wasmdata = fileURLToPath(new URL('../../dist/bin/wasmdata', import.meta.url))
const [runner] = process.argv.splice(2, 1)
execFileSync(wasmdata, [process.argv[2]], { stdio: 'inherit' })
await import(runner)
