#!/bin/sh
# Builds, tests and runs Portolan. Each verb sets up what it needs and calls programs of internal/build.
set -eu
cd "$(dirname "$0")"
export GOFLAGS=-buildvcs=false
# Without cgo a first build takes a third of the time. Only the race detector needs it.
export CGO_ENABLED=0
# The repository's Node comes before the system's.
export PATH="$PWD/node_modules/.bin:$PATH"
# Another Go loads the version that go.mod pins, because sizes depend on it. GOTOOLCHAIN=local keeps it.
export GOTOOLCHAIN="${GOTOOLCHAIN:-$(sed -n 's/^toolchain //p' go.mod)}"
build=internal/build

usage() {
	cat <<'EOT'
usage: ./build.sh VERB
  up [--check] [--listen ADDR] [--origin URL]  build all and serve the demo page; --check drives it once in a browser
  test [NAME...]  all suites but the long repetitions, or those whose stage or file has such a name
  soak [NAME...]  the long repetitions, which CI runs after test
  wasm         the npm package, to dist/npm
  web          the demo page, to dist/demo
  extension [--trusted-input | firefox]  the extension, to dist/extension and dist/extension.zip; with the permission to type
  release      the package's tarball, checksums, SBOM and notes, to dist/release
  worker       the CORS proxy's Cloudflare Worker, to dist/worker
  bench [--record] [panel|bridge|gateway|proxy [--leak]|farm|search ...]  benchmarks in Chromium and workerd; prints tables;
               --record writes them into docs/measurements.md, too
  farm [cases|neighbours|floor|memory|deadlines] [--match REGEXP] [--in REALM] [--runs N]
               hostile servers, native, in Node and in Chromium; prints tables and fails when a case does
  bundlers [NAME]  the package in every bundler, in Chromium; prints a table and fails when a row does
  conformance [native|wasm|chromium|server]  two releases of the official suite; server: behind gateway and bridge
  size         sizes beside their budgets; fails where one is over it
  check        gofmt, vet, staticcheck, tsc, dprint, oxlint, the version, plain words
  docs         the API reference, to dist/docs; fails when an export has no description
  audit        known vulnerabilities in what is linked (GOVULNDB: another database)
  reproduce    the modules, built twice in different folders; fails when their bytes differ
  modules DIR  the modules alone
  screenshots  the pictures of the panel, apps, runs and the side panel for the documents
  clean        remove what was built
EOT
}

say() { printf '\n== %s\n' "$*" >&2; }
# setup installs parts, and exports where the browsers are.
setup() { found=$(node $build/setup.mjs "$@"); eval "$found"; }
program() { say "$1"; go build -trimpath -o "dist/bin/$1" "$2"; }
programs() {
	program portolan ./cmd/portolan
	program farm ./registry/registrytest/farm/serve
	program farm-visit ./registry/registrytest/farm/visit
}
package() { setup tools; say "npm package"; rm -rf dist/npm; node $build/modules.mjs dist/npm portolan.wasm; node $build/npm.mjs; }
demo() { say 'demo page'; rm -rf dist/demo; mkdir -p dist/demo; cp -R web/demo/page/. dist/demo/; cp -R dist/npm dist/demo/portolan; }
extension() { say extension; node $build/extension.mjs "$@"; }
worker() { say Worker; node $build/worker.mjs; }
everything() { package; demo; programs; worker; extension; }

verb=${1:-}
[ $# -eq 0 ] || shift
case "$verb" in
up)
	setup; program portolan ./cmd/portolan & compiling=$! # while packages are downloaded
	package; wait "$compiling"; demo; case " $* " in *' --check '*) setup chromium ;; esac
	exec dist/bin/portolan up --root dist/demo "$@" ;;
test | soak)
	case "$verb" in test) more=shell ;; soak) more='conformance docs firefox oldest webkit screen' ;; esac
	setup tools servers providers worker bundlers chromium $more
	everything
	exec node $build/tests.mjs "$verb" "$@" ;;
wasm) package ;;
web) package; demo ;;
release) package; exec node $build/release.mjs ;;
extension)
	case "${1:-}" in '' | --trusted-input | firefox) ;; *) usage >&2; exit 2 ;; esac
	package; programs; extension "$@" ;;
worker) worker; exec node $build/sizes.mjs proxy.wasm ;;
bench)
	setup tools worker chromium; package; programs; run=node
	case "${1:-}" in --record) shift; run='node bench/record.ts' ;; esac
	case "${1:-}" in
	panel | farm | search) name=$1; shift; exec $run "bench/$name.ts" "$@" ;;
	gateway) shift; setup servers; exec $run bench/gateway.ts "$@" ;;
	bridge) shift; extension; exec $run bench/bridge.ts "$@" ;;
	proxy) shift; worker; node $build/stock.mjs; exec $run bench/proxy.ts "$@" ;;
	'' | -*) exec $run bench/run.ts "$@" ;;
	*) usage >&2; exit 2 ;;
	esac ;;
farm) exec "$0" bench farm "$@" ;;
bundlers) setup bundlers chromium firefox webkit screen; package; exec node e2e/bundlers/run.ts "$@" ;;
conformance) setup conformance chromium; package; programs; exec sh e2e/conformance/run.sh "$@" ;;
size) package; worker; extension; exec node $build/sizes.mjs ;;
check) setup tools providers; exec node $build/check.mjs ;;
docs) setup docs; package; exec node docs/tools/node_modules/typedoc/bin/typedoc --options docs/tools/typedoc.json --logLevel Warn ;;
audit) exec node $build/audit.mjs ;;
reproduce) setup tools; exec node $build/reproduce.mjs ;;
modules) setup tools; exec node $build/modules.mjs "$@" ;;
screenshots) setup chromium; package; programs; extension
	for room in panel web extension; do node e2e/$room/screenshots.ts; done ;;
clean) rm -rf dist wasm/js/gen e2e/bundlers/build ;;
*) usage >&2; exit 2 ;;
esac
