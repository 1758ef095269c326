/**
 * Which suites `./build.sh test` and `./build.sh soak` run, in this order. A stage runs a `command`, the tests of Go
 * `packages`, or test `files`, but those in `except`: two files at once, or as many as `atOnce` says. `only` is a
 * pattern for the names of tests. `environment` holds variables of the stage. Stages in a list run side by side.
 * PORTOLAN_SOAK=1 says to tests that long repetitions are wanted.
 */
import { flags, modules, root } from './modules.mjs'

/** Goroutines meet in these rooms: their tests use the race detector, which makes the pure ones twenty times slower. */
const race = ['./registry/...', './bridge/...', './proxy-worker/...']
const pure = ['convert', 'endpoint', 'names', 'pin', 'rawjson', 'scan', 'text', 'validate', 'wire']
  .map((name) => `./registry/${name}/...`)
const plain = ['./cmd/...', './extension/...', './internal/...', './wasm/...', './e2e/...', ...pure]

/** A program under js/wasm runs as a module does: the same flags, the same step after the linker. */
const wasm = {
  packages: ['./registry/', './registry/rawjson/', './registry/client/...', './wasm/...'],
  flags: [
    ...flags(modules['portolan.wasm'].inlining),
    '-exec',
    `node --stack-size=8192 ${root}internal/build/exec.mjs ${root}registry/client/testdata/exec.mjs`,
  ],
  environment: { GOOS: 'js', GOARCH: 'wasm', GOEXPERIMENT: 'nogreenteagc' },
}

/** Test files that share the machine with no other one, because they measure time or memory. */
export const alone = ['e2e/web/farm.test.ts', 'e2e/web/recovery.test.ts']

/**
 * Long repetitions: the documents' examples, servers and apps of others, rounds of prompts, hostile servers in
 * Chromium, and browsers beside Chromium. `e2e/rig/engines.ts` leaves these browsers out of other files, too.
 */
const long = [
  'e2e/examples/chat.test.ts',
  'e2e/examples/pages.test.ts',
  'e2e/extension/chat-locales.test.ts',
  'e2e/extension/chat-rounds.test.ts',
  'e2e/extension/firefox.test.ts',
  'e2e/panel/webkit.test.ts',
  'e2e/web/appservers.test.ts',
  'e2e/web/engines.test.ts',
  'e2e/web/farm.test.ts',
  'e2e/web/otherservers.test.ts',
  'e2e/web/readme.test.ts',
  'e2e/web/realservers.test.ts',
]

export const stages = {
  test: [
    [
      { name: 'check', command: ['node', 'internal/build/check.mjs'] },
      // Most of these packages wait more than they compute.
      {
        name: 'Go, race detector',
        packages: race,
        except: pure,
        flags: ['-race', '-short', '-p=4'],
        environment: { CGO_ENABLED: '1' },
      },
      // One program of it takes most of its time, on one thread.
      { name: 'Go, js/wasm', ...wasm },
      { name: 'Go', packages: plain, except: ['./internal/archtest'], flags: ['-short'] }, // `check` runs it
      { name: 'TypeScript', files: ['wasm/js/**/*.test.ts', 'web/**/*.test.ts', 'extension/**/*.test.ts'] },
    ],
    {
      name: 'pages',
      files: ['e2e/web/*.test.ts', 'e2e/panel/*.test.ts', 'e2e/examples/*.test.ts'],
      except: long,
      atOnce: 3,
    },
    // These wait more than they compute: each takes 0.4 cores.
    [
      { name: 'chat pages', files: ['e2e/{sidepanel,chats}/*.test.ts'] },
      { name: 'extension', files: ['e2e/extension/*.test.ts'], except: long, atOnce: 4 },
      { name: 'a bundler', command: ['node', 'e2e/bundlers/run.ts', 'Vite'] },
      { name: 'sizes', command: ['node', 'internal/build/sizes.mjs'] },
    ],
  ],
  soak: [
    { name: 'hostile servers, whole', packages: ['./registry/registrytest/farm'], flags: ['-count=1'] },
    { name: 'wrangler', packages: ['./proxy-worker/blackbox'], flags: ['-count=1'] },
    { name: 'conversion', files: ['wasm/js/page/models/convertdiff.test.ts'] },
    {
      name: 'pages',
      files: [
        'e2e/web/{appservers,csp,engines,farm,otherservers,readme,realservers,runtimes}.test.ts',
        'e2e/examples/{chat,pages}.test.ts',
        'e2e/panel/webkit.test.ts',
      ],
      atOnce: 3,
    },
    {
      name: 'oldest Chromium',
      files: ['e2e/web/{browser,codemode,prompts,run-element}.test.ts', 'e2e/panel/{cards,offers,questions}.test.ts'],
      environment: { CHROMIUM: process.env.CHROMIUM_OLDEST ?? 'CHROMIUM_OLDEST is not set', PORTOLAN_CHROMIUM: '' },
      atOnce: 3,
    },
    { name: 'apps and code', files: ['e2e/web/{apps,codemode}.test.ts'], only: 'Firefox|WebKit' },
    [
      { name: 'stand-in chat pages', files: ['e2e/sites/*.test.ts'] },
      { name: 'extension', files: ['e2e/extension/{firefox,link,chats,chat-*}.test.ts'] },
    ],
    { name: 'chat pages', files: ['e2e/chats/*.test.ts'] },
    { name: 'bundlers', command: ['node', 'e2e/bundlers/run.ts'] },
    { name: 'memory of the Worker', command: ['node', 'bench/proxy.ts', '--leak'] },
    { name: 'conformance', command: ['sh', 'e2e/conformance/run.sh'] },
    {
      name: 'API reference',
      command: [
        'node',
        'docs/tools/node_modules/typedoc/bin/typedoc',
        '--options',
        'docs/tools/typedoc.json',
        '--logLevel',
        'Warn',
      ],
    },
  ],
}
