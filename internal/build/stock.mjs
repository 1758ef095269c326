/** Builds the usual way to serve with Go in a Worker, for the benchmark of the proxy, in dist/stock. */
import { join } from 'node:path'
import { build, root, run } from './modules.mjs'

const out = join(root, 'dist/stock')
const generator = 'github.com/syumai/workers/cmd/workers-assets-gen'
run('go', ['run', generator, '-mode=go', '-o', out], { stdio: 'inherit' })
build('./bench/proxy/stock', join(out, 'app.wasm'))
