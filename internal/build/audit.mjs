/** Prints known vulnerabilities in linked packages. The database is the tool's own, unless GOVULNDB names another. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './modules.mjs'

const tools = join(root, 'dist/tools')
const run = (program, args, env = {}) =>
  execFileSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
const database = process.env.GOVULNDB ? ['-db', process.env.GOVULNDB] : []
run('go', ['install', 'golang.org/x/vuln/cmd/govulncheck@v1.8.0'], { GOBIN: tools })
const check = (packages, env) => run(join(tools, 'govulncheck'), [...database, ...packages], env)
check(['./...'])
check(['./wasm/...', './proxy-worker', './extension/module'], { GOOS: 'js', GOARCH: 'wasm' })
