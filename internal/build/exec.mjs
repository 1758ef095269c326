/** What `go test -exec` runs a js/wasm program with: lays out its data as in a module, and runs it with the platform. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const wasmdata = fileURLToPath(new URL('../../dist/bin/wasmdata', import.meta.url))
execFileSync(wasmdata, [process.argv[2]], { stdio: 'inherit' })
await import('../../registry/client/testdata/exec.mjs')
