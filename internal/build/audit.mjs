/** Prints known vulnerabilities in linked packages. The database is the tool's own, unless GOVULNDB names another. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root, run } from './modules.mjs'

const tools = join(root, 'dist/tools')
const database = process.env.GOVULNDB ? ['-db', process.env.GOVULNDB] : []
run('go', ['install', 'golang.org/x/vuln/cmd/govulncheck@v1.8.0'], { env: { ...process.env, GOBIN: tools } })
const check = (packages, env) =>
  spawnSync(join(tools, 'govulncheck'), [...database, ...packages], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  }).status === 0
const passed = [
  check(['./...']),
  check(['./wasm/...', './proxy-worker', './extension/module'], { GOOS: 'js', GOARCH: 'wasm' }),
]
if (passed.includes(false)) process.exit(1)
