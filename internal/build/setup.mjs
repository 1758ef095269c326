/**
 * Installs the tools of a verb, once: `node internal/build/setup.mjs PART...`. Prints the shell's
 * `export` lines for the browsers. It runs on Node 20, before any package is installed.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Folders with a lock file. */
const folders = {
  tools: '.',
  servers: 'e2e/servers',
  providers: 'e2e/providers',
  worker: 'proxy-worker',
  bundlers: 'e2e/bundlers',
  conformance: 'e2e/conformance',
  oldest: 'e2e/oldest',
  docs: 'docs/tools',
}

/**
 * Browsers: the variable that names one, the programs that are one, and Debian's package. Tests share the headless
 * shell of Chromium, or the Chromium that is set.
 */
const browsers = {
  chromium: ['CHROMIUM', ['chromium', 'chromium-browser'], 'chromium'],
  shell: ['CHROMIUM_SHELL', ['chromium-headless-shell'], 'chromium-headless-shell'],
  firefox: ['FIREFOX', ['firefox-esr', 'firefox'], 'firefox-esr'],
  webkit: ['WEBKIT', ['WebKitWebDriver'], 'webkit2gtk-driver'],
  screen: ['XVFB', ['Xvfb'], 'xvfb'],
}

function fail(message) {
  console.error(`build.sh: ${message}`)
  process.exit(1)
}

const say = (what) => console.error(`\n== installs ${what}`)

function executable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const which = (name) => (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name)).find(executable)

/** Explains a Go that is missing, or one that cannot load the version that go.mod pins. */
function go() {
  const { error, status, stderr } = spawnSync('go', ['version'], { cwd: root, encoding: 'utf8' })
  if (error) fail('Go is needed: https://go.dev/doc/install')
  const pinned = /^toolchain (\S+)$/m.exec(readFileSync(join(root, 'go.mod'), 'utf8'))[1]
  if (status !== 0) {
    fail(`go.mod pins ${pinned}, and this Go cannot load it: ${stderr.trim()}
Install that version, or set GOTOOLCHAIN=local to build with yours: sizes are then not compared with budgets.`)
  }
}

/** Installs the packages of a lock file, once per version of that file. */
function packages(folder) {
  const dir = join(root, folder)
  const stamp = join(dir, 'node_modules/.portolan-stamp')
  const want = readFileSync(join(dir, 'package-lock.json'), 'utf8')
  const whole = folder !== '.' || executable(join(root, 'node_modules/.bin/node'))
  if (whole && existsSync(stamp) && readFileSync(stamp, 'utf8') === want) return
  if (!which('npm')) fail('npm is needed (Debian: apt-get install npm)')
  say(`the packages of ${folder}`)
  // An install script of the servers compiles SQLite for minutes, and no test needs it.
  const scripts = folder === folders.servers ? ['--ignore-scripts'] : []
  const { status } = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund', ...scripts], {
    cwd: dir,
    env: { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' },
    stdio: ['ignore', 'ignore', 2],
  })
  if (status !== 0) fail(`npm ci failed in ${folder}: npm says why above`)
  writeFileSync(stamp, want)
}

/**
 * Installs one of Debian's packages. It waits for another apt, and first repairs
 * the state of an interrupted one, because apt installs nothing before that.
 */
function debian(name) {
  say(name)
  const sudo = process.getuid() === 0 ? [] : ['sudo']
  const run = (...args) => {
    const [program, ...rest] = [...sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', ...args]
    return spawnSync(program, rest, { stdio: ['ignore', 'ignore', 2] }).status === 0
  }
  const apt = (...args) => run('apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=300', ...args)
  if (execFileSync('dpkg', ['--audit'], { encoding: 'utf8' })) {
    run('dpkg', '--configure', '-a')
    if (!apt('install', '-y', '--fix-broken')) fail('apt-get cannot repair its packages')
  }
  if (!apt('update') || !apt('install', '-y', name)) fail(`apt-get cannot install ${name}`)
}

function browser([variable, programs, name]) {
  const found = () => programs.map(which).find(Boolean)
  let path = process.env[variable]
  if (!path || !executable(path)) {
    path = found()
    if (!path) {
      debian(name)
      path = found() ?? fail(`${name} has no program ${programs[0]}`)
    }
  }
  console.log(`export ${variable}='${path}'`)
}

/** Unpacks the program of the package with the oldest Chromium. It needs the libraries of Debian's one. */
function unpack() {
  const modules = join(root, folders.oldest, 'node_modules')
  const program = join(modules, 'chromium')
  if (!existsSync(program)) {
    const packed = readFileSync(join(modules, '@sparticuz/chromium/bin/chromium.br'))
    writeFileSync(`${program}.part`, brotliDecompressSync(packed), { mode: 0o755 })
    renameSync(`${program}.part`, program)
  }
  console.log(`export CHROMIUM_OLDEST='${program}'`)
}

go()
for (const part of process.argv.slice(2)) {
  if (folders[part]) {
    packages(folders[part])
    if (part === 'oldest') unpack()
  } else if (part === 'shell' && process.env.CHROMIUM) continue
  else if (browsers[part]) browser(browsers[part])
  else fail(`setup has no part ${part}`)
}
