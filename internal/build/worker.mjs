/** Builds the CORS proxy's Worker in dist/worker: its scripts, Go's loader and the module. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, loaderFolder, modules, root } from './modules.mjs'

const out = join(root, 'dist/worker')
mkdirSync(out, { recursive: true })
for (const script of ['worker.mjs', 'policy.mjs']) cpSync(join(root, 'proxy-worker', script), join(out, script))
cpSync(join(loaderFolder(), 'wasm_exec.js'), join(out, 'wasm_exec.js'))
build(modules['proxy.wasm'].source, join(out, 'proxy.wasm'))
