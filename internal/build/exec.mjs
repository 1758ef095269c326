/**
 * Runs a js/wasm test program: `go test -exec 'node internal/build/exec.mjs RUNNER'`.
 * It rewrites the program as a module, and has RUNNER run it.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const postlink = fileURLToPath(new URL('../../dist/bin/postlink', import.meta.url))
const [runner] = process.argv.splice(2, 1)
execFileSync(postlink, [process.argv[2]], { stdio: 'inherit' })
await import(runner)
