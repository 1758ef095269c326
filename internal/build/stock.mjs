/** Builds the usual way to serve with Go in a Worker, for the benchmark of the proxy, in dist/stock. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { build, root } from './modules.mjs'

const out = join(root, 'dist/stock')
const generator = 'github.com/syumai/workers/cmd/workers-assets-gen'
execFileSync('go', ['run', generator, '-mode=go', '-o', out], { cwd: root, stdio: 'inherit' })
build('./bench/proxy/stock', join(out, 'app.wasm'))
