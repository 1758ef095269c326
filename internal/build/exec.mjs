/** Runs a js/wasm program of `go test -exec`: its data is laid out as in a module, and the platform is there. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const wasmdata = fileURLToPath(new URL('../../dist/bin/wasmdata', import.meta.url))
execFileSync(wasmdata, [process.argv[2]], { stdio: 'inherit' })
await import('../../registry/client/testdata/exec.mjs')
