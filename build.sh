#!/bin/sh
# Builds, tests and runs Portolan. Each verb sets up what it needs; see usage.
set -eu
cd "$(dirname "$0")"
root=$PWD
export GOFLAGS=-buildvcs=false
dist=$root/dist
node=$root/node_modules/.bin/node

usage() {
	cat <<'EOT'
usage: ./build.sh VERB
  up [--check] [--listen ADDR]  build all and serve the demo page; --check drives it once in a browser
  test         all tests: Go native and js/wasm, TypeScript, Chromium end to end
  wasm         the npm package, to dist/npm
  web          the demo page, to dist/demo
  worker       the CORS proxy's Cloudflare Worker, to proxy-worker/dist
  extension [--trusted-input]  the browser extension, to dist/extension (load it unpacked) and
               dist/extension.zip; with the permission to type as a keyboard does
  bundlers [NAME]  the package in every bundler, in Chromium; prints a table and fails when a row does
  bench        benchmarks against peers, in Chromium; prints tables
  bench proxy  the proxy against Workers of the same function, in workerd; --leak: memory over 32,000 requests
  bench bridge  a call's way through bridge and extension, starts and idle cost, in Chromium
  farm [cases|neighbours|floor|memory|deadlines] [--match REGEXP] [--in REALM] [--runs N]
               misbehaving servers, native, in Node and in Chromium; prints tables and fails when a case does
  conformance [MODE]  two releases of the official suite: native, js/wasm, in Chromium through the proxy
  size         sizes against their budgets; fails when one is exceeded
  check        gofmt, vet, staticcheck, tsc
  docs         the API reference, to dist/docs; fails when an export has no words
  audit        known vulnerabilities in what is linked, for both GOOS (GOVULNDB: another database)
  reproduce    the modules, built twice in different folders from empty caches: their digests; fails when they differ
  modules DIR  the four modules alone
  clean        remove what was built
EOT
}

# say names what comes next, and how many seconds have gone by.
begun=$(date +%s)
say() { printf '\n== %s (at %s s)\n' "$*" $(($(date +%s) - begun)) >&2; }

# npm_packages DIR WHAT installs what DIR's lock file says, once per version of it.
npm_packages() {
	stamp=$1/node_modules/.portolan-stamp
	want=$(cksum "$1/package-lock.json")
	[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && return 0
	command -v npm >/dev/null || { echo 'build.sh: npm is needed (Debian: apt-get install npm)' >&2; exit 1; }
	say "$2"
	(cd "$1" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --silent --no-audit --no-fund)
	printf '%s' "$want" >"$stamp"
}

# The tools of the repository, MCP servers of others for the end-to-end tests, wrangler
# and workerd, the bundlers with what the examples need, typedoc with the TypeScript it knows.
setup_node() {
	[ -x "$node" ] || rm -f node_modules/.portolan-stamp
	npm_packages . 'npm packages'
}
setup_servers() { setup_node; npm_packages e2e/servers 'MCP servers for the tests'; }
setup_worker() { setup_node; npm_packages proxy-worker wrangler; }
setup_bundlers() { setup_node; npm_packages e2e/bundlers bundlers; }
setup_conformance() { setup_node; npm_packages e2e/conformance 'an older conformance suite'; }
setup_docs() { setup_node; npm_packages docs/tools typedoc; }

# apt_browser PACKAGE installs one of Debian's browsers. It waits for another apt, and
# first ends what an interrupted one has left: apt installs nothing before that.
apt_browser() {
	say "$1"
	sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
	apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
	if [ -n "$(dpkg --audit)" ]; then
		$sudo env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >/dev/null || true
		$apt install -y --fix-broken >/dev/null
	fi
	$apt update
	$apt install -y "$1" >/dev/null
}

# setup_chromium and setup_firefox install them where there are none.
setup_chromium() {
	[ -n "${CHROMIUM:-}" ] && [ -x "$CHROMIUM" ] && { export CHROMIUM; return 0; }
	CHROMIUM=$(command -v chromium || command -v chromium-browser || true)
	[ -n "$CHROMIUM" ] || { apt_browser chromium; CHROMIUM=$(command -v chromium); }
	export CHROMIUM
}

setup_firefox() {
	[ -n "${FIREFOX:-}" ] && [ -x "$FIREFOX" ] && { export FIREFOX; return 0; }
	FIREFOX=$(command -v firefox-esr || command -v firefox || true)
	[ -n "$FIREFOX" ] || { apt_browser firefox-esr; FIREFOX=$(command -v firefox-esr); }
	export FIREFOX
}

# shortened FILE FUNCTION BODY gives a function of the standard library another body, in
# a copy of its file, and writes the line of an overlay about it. Go looks for no packages in _overlay.
shortened() {
	mkdir -p "$dist/_overlay/$(dirname "$1")"
	sed "/^$2 {\$/,/^}\$/c\\$2 { $3 }" "$std/$1" >"$dist/_overlay/$1"
	grep -qxF "$2 { $3 }" "$dist/_overlay/$1" || { echo "build.sh: $1 has no $2" >&2; exit 1; }
	printf ',"%s":"%s"' "$std/$1" "$dist/_overlay/$1"
}

# go_wasm PACKAGE OUT NOT-INLINED builds one module, byte for byte the same in any folder.
# The older collector is 13 KB gzip smaller, and on one thread as fast; code of our
# own is not inlined (20 KB), the runtime's is (a quarter of a call's time in Go).
# The overlay, checked against Go 1.26, is wasm/overlay in place of internal/godebug (39 KB),
# and five functions: nobody can start the execution tracer in a module (37 KB), nor the scheduler's
# or the check of finalizers (6 KB), there are no plugins whose types could be the same (5 KB), and a time
# that something prints, as whatever prints any value may, says no more than that it is one (20 KB).
# Slim lays out the data anew (70 KB) and takes lines and files out of stack traces (86 KB).
go_wasm() {
	overlay=
	slim=true
	case $(go env GOVERSION) in
	go1.26*)
		mkdir -p "$dist"
		std=$(go env GOROOT)/src
		{
			printf '{"Replace":{"%s":"%s"' "$std/internal/godebug/godebug.go" "$root/wasm/overlay/godebug/godebug.go"
			shortened runtime/traceruntime.go 'func traceEnabled() bool' 'return false'
			shortened time/format.go 'func (t Time) String() string' 'return "time.Time"'
			shortened runtime/proc.go 'func schedtrace(detailed bool)' return
			shortened runtime/mcheckmark.go 'func checkFinalizersAndCleanups()' return
			shortened runtime/type.go 'func typelinksinit()' return
			printf '}}\n'
		} >"$dist/overlay.json"
		overlay=-overlay=$dist/overlay.json
		slim='go run ./internal/slim'
		;;
	*) echo "build.sh: overlay and slim are for Go 1.26 and not used with $(go env GOVERSION): the modules grow" >&2 ;;
	esac
	GOEXPERIMENT=nogreenteagc GOOS=js GOARCH=wasm go build $overlay -trimpath -buildvcs=false \
		-gcflags="$3=-l" -ldflags='-s -w -buildid=' -o "$2" "$1"
	$slim "$2"
}

# wasm_exec wraps the toolchain's own loader so that it lives in a scope it is given.
wasm_exec() {
	mkdir -p wasm/js/gen
	exec_js=$(go env GOROOT)/lib/wasm/wasm_exec.js
	{
		echo '// Made by build.sh from the Go toolchain; not kept in the repository.'
		echo 'export function loadGo(globalThis) {'
		# Its one bare use of fs means the scope's, too.
		sed 's/\([^.]\)fs\.writeSync(/\1globalThis.fs.writeSync(/' "$exec_js"
		echo 'return globalThis.Go'
		echo '}'
	} >wasm/js/gen/wasm_exec.js.new
	cmp -s wasm/js/gen/wasm_exec.js.new wasm/js/gen/wasm_exec.js 2>/dev/null &&
		rm wasm/js/gen/wasm_exec.js.new || mv wasm/js/gen/wasm_exec.js.new wasm/js/gen/wasm_exec.js
}

# The modules: file, package, what is not inlined.
modules='portolan.wasm ./wasm github.com/portolan-mcp/portolan/...
portolan-sdk.wasm ./wasm/sdk all
tools.wasm ./extension/module all
proxy.wasm ./proxy-worker none'

# module NAME FOLDER builds one of them.
module() {
	set -- "$2" $(printf '%s\n' "$modules" | grep "^$1 ")
	go_wasm "$3" "$1/$2" "$4"
}

build_modules() {
	for name in $(printf '%s\n' "$modules" | cut -d' ' -f1); do module "$name" "$1"; done
}

build_wasm() {
	setup_node
	say 'npm package'
	wasm_exec
	mkdir -p "$dist/npm"
	module portolan.wasm "$dist/npm"
	module portolan-sdk.wasm "$dist/npm"
	"$node" internal/build/npm.mjs
}

build_web() {
	[ -f "$dist/npm/index.js" ] || build_wasm
	say 'demo page'
	rm -rf "$dist/demo" && mkdir -p "$dist/demo"
	cp -R web/demo/page/. "$dist/demo/"
	cp -R "$dist/npm" "$dist/demo/portolan"
}

# build_extension [PERMISSION...] builds it, with permissions beside those of its manifest.
build_extension() {
	[ -f "$dist/npm/portolan.wasm" ] || build_wasm
	say 'extension'
	out=$dist/extension.new
	rm -rf "$out" && mkdir -p "$out"
	"$node" internal/build/extension.mjs "$out"
	cp "$dist/npm/portolan.wasm" "$out/"
	module tools.wasm "$out"
	"$node" extension/pack.ts "$out" "$dist/extension.zip" "$@"
	rm -rf "$dist/extension" && mv "$out" "$dist/extension"
}

# Here nothing of ours is worth keeping from being inlined.
build_worker() {
	say 'Worker'
	mkdir -p proxy-worker/dist
	cp "$(go env GOROOT)/lib/wasm/wasm_exec.js" proxy-worker/dist/
	module proxy.wasm proxy-worker/dist
}

# The stock way to serve with Go in a Worker, for the benchmark.
build_stock() {
	go run github.com/syumai/workers/cmd/workers-assets-gen -mode=go -o "$dist/stock"
	go_wasm ./bench/proxy/stock "$dist/stock/app.wasm" none
}

build_bin() {
	mkdir -p "$dist/bin"
	go build -trimpath -o "$dist/bin/portolan" ./cmd/portolan
	go build -trimpath -o "$dist/bin/farm" ./registry/registrytest/farm/serve
	go build -trimpath -o "$dist/bin/farm-visit" ./registry/registrytest/farm/visit
}

verb_up() {
	build_wasm && build_web && build_bin
	case " $* " in *' --check '*) setup_chromium ;; esac
	exec "$dist/bin/portolan" up --root "$dist/demo" "$@"
}

# browser_tests FILES runs tests that drive browsers, one file after the other. A file may
# take 15 minutes, and what a failed test has left open ends with it. Files in which something
# failed run once more, and the run says so: each failure is looked into, and two are the end.
browser_tests() {
	failed=$dist/failed-files
	form=tap
	[ -t 1 ] && form=spec
	flags='--test --test-concurrency=1 --test-force-exit --test-timeout=900000'
	"$node" $flags --test-reporter=$form --test-reporter-destination=stdout \
		--test-reporter="$root/e2e/web/failed.mjs" --test-reporter-destination="$failed" "$@" && return
	[ -s "$failed" ] || return 1
	say "failed, and once more: $(tr '\n' ' ' <"$failed")"
	xargs -d '\n' "$node" $flags <"$failed"
}

verb_test() {
	setup_servers
	setup_worker
	setup_bundlers
	setup_chromium
	setup_firefox
	build_wasm && build_web && build_bin && build_worker && build_extension
	verb_check
	say 'Go, native'
	PORTOLAN_NODE=$node go test -race ./...
	go test ./registry/registrytest/farm # whole, at its own speed
	say 'Go, js/wasm'
	PATH="$root/node_modules/.bin:$PATH" GOOS=js GOARCH=wasm go test \
		-exec "$node --stack-size=8192 $root/registry/client/testdata/exec.mjs" ./registry/ ./registry/rawjson/ ./wasm/...
	say 'TypeScript'
	"$node" --test --test-force-exit --test-timeout=900000 'wasm/js/**/*.test.ts' 'web/panel/!(e2e)/**/*.test.ts' 'web/panel/*.test.ts'
	say 'End to end'
	browser_tests 'e2e/web/*.test.ts' 'e2e/panel/*.test.ts'
	say 'Extension'
	browser_tests 'e2e/sites/*.test.ts' 'extension/**/*.test.ts'
	say 'Examples'
	browser_tests 'e2e/examples/*.test.ts'
	say 'Bundlers'
	"$node" e2e/bundlers/run.ts
	verb_docs
	verb_size
}

verb_check() {
	setup_node
	wasm_exec
	say 'gofmt, vet, staticcheck, tsc'
	unformatted=$(gofmt -l $(git ls-files '*.go'))
	[ -z "$unformatted" ] || { echo "not formatted: $unformatted" >&2; exit 1; }
	go vet ./...
	GOOS=js GOARCH=wasm go vet ./wasm/... ./registry/... ./proxy-worker ./extension/module ./bench/...
	go tool staticcheck ./...
	# A program for this machine that reads the packages as js/wasm builds them; it
	# takes what only JavaScript calls (go:wasmexport) for unused.
	GOOS=js GOARCH=wasm "$(go tool -n staticcheck)" -checks inherit,-U1000 ./wasm/... ./registry/... ./proxy-worker ./extension/module ./bench/...
	node_modules/.bin/tsc -p .
}

# Of the declarations as they are published.
verb_docs() {
	setup_docs
	[ -f "$dist/npm/index.d.ts" ] || build_wasm
	say 'API reference'
	"$node" docs/tools/node_modules/typedoc/bin/typedoc --options docs/tools/typedoc.json --logLevel Warn
}

# The database is the tool's own unless GOVULNDB names another, which may be a folder: file:///…
verb_audit() {
	say 'known vulnerabilities'
	GOBIN=$dist/tools go install golang.org/x/vuln/cmd/govulncheck@v1.8.0
	set -- "$dist/tools/govulncheck" ${GOVULNDB:+-db "$GOVULNDB"}
	"$@" ./...
	GOOS=js GOARCH=wasm "$@" ./wasm/... ./proxy-worker ./extension/module
}

# What is committed or changed here, once in this folder and once in a copy of it.
verb_reproduce() {
	setup_node
	say 'the modules, twice'
	work=$(mktemp -d)
	trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT INT TERM
	mkdir "$work/here" "$work/there" "$work/copy"
	git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$work/copy"
	build_modules "$work/here"
	(cd "$work/copy" && GOCACHE=$work/cache ./build.sh modules "$work/there")
	differ=0
	for file in "$work"/here/*.wasm; do
		name=$(basename "$file")
		digest='process.argv[2] + "-" + require("crypto").createHash(process.argv[2]).update(require("fs").readFileSync(process.argv[1])).digest(process.argv[3])'
		printf '%-18s %s\n%-18s %s\n' "$name" "$("$node" -p "$digest" "$file" sha256 hex)" '' "$("$node" -p "$digest" "$file" sha384 base64)"
		cmp "$file" "$work/there/$name" || differ=1
	done
	[ $differ = 0 ] && echo 'the same bytes in both folders'
	return $differ
}

gz() { gzip -9 -c "$1" | wc -c | tr -d ' '; }

# budget NAME FILE LIMIT prints one line and remembers an excess.
budget() {
	n=$(gz "$2")
	printf '%-24s %9d bytes raw %9d gzip %9d budget\n' "$1" "$(wc -c <"$2")" "$n" "$3"
	[ "$n" -le "$3" ] || { echo "over budget: $1" >&2; over=1; }
}

verb_size() {
	[ -f "$dist/npm/portolan.wasm" ] || build_wasm
	say 'sizes'
	over=0
	budget portolan.wasm "$dist/npm/portolan.wasm" 780000
	if [ -f "$dist/npm/portolan-sdk.wasm" ]; then budget portolan-sdk.wasm "$dist/npm/portolan-sdk.wasm" 3200000; fi
	[ -f proxy-worker/dist/proxy.wasm ] || build_worker
	budget proxy.wasm proxy-worker/dist/proxy.wasm 1350000
	budget index.js "$dist/npm/index.js" 15100
	budget worker.js "$dist/npm/worker.js" 26000
	budget service.js "$dist/npm/service.js" 42000
	budget results.js "$dist/npm/results.js" 4000
	budget trust.js "$dist/npm/trust.js" 2400
	budget storage-lock.js "$dist/npm/storage-lock.js" 1500
	budget scan.js "$dist/npm/scan.js" 9500
	budget activity.js "$dist/npm/activity.js" 2000
	budget validate.js "$dist/npm/validate.js" 4000
	budget secrets.js "$dist/npm/secrets.js" 1200
	budget integrity.js "$dist/npm/integrity.js" 1000
	budget unloaded.js "$dist/npm/unloaded.js" 3000
	budget cassette.js "$dist/npm/cassette.js" 6000
	budget react.js "$dist/npm/react.js" 2500
	budget shared.js "$dist/npm/shared.js" 2500
	budget worker-fallbacks.js "$dist/npm/worker-fallbacks.js" 1000
	budget signin.js "$dist/npm/signin.js" 3000
	budget serve.js "$dist/npm/serve.js" 2000
	budget callback.js "$dist/npm/callback.js" 2500
	[ -f "$dist/extension/tools.wasm" ] || build_extension
	budget 'extension: tools.wasm' "$dist/extension/tools.wasm" 2750000
	budget 'extension: background.js' "$dist/extension/background.js" 60000
	budget 'extension: driver.js' "$dist/extension/driver.js" 20000
	# What shows the servers and their tools, and what is loaded when one is added, edited or tried.
	cat "$dist/npm/panel.js" "$dist"/npm/panel/chunk-*.js >"$dist/panel-start.js"
	budget 'panel, to begin with' "$dist/panel-start.js" 35000
	cat "$dist"/npm/panel/parts-*.js >"$dist/panel-parts.js"
	budget 'panel, at first use' "$dist/panel-parts.js" 35000
	return $over
}

verb=${1:-}
[ $# -gt 0 ] && shift
case "$verb" in
up) verb_up "$@" ;;
test) verb_test ;;
wasm) build_wasm ;;
web) build_web ;;
extension)
	setup_node; build_wasm
	case "${1:-}" in
	--trusted-input) build_extension debugger ;;
	'') build_extension ;;
	*) usage >&2; exit 2 ;;
	esac
	build_bin ;;
worker) build_worker; over=0; budget proxy.wasm proxy-worker/dist/proxy.wasm 1350000; exit $over ;;
bundlers) setup_bundlers; setup_chromium; setup_firefox; build_wasm; exec "$node" e2e/bundlers/run.ts "$@" ;;
bench)
	case "${1:-}" in
	panel) setup_node; setup_chromium; build_wasm; shift; exec "$node" bench/panel.ts "$@" ;;
	bridge) setup_node; setup_chromium; build_wasm; build_extension; build_bin; shift; exec "$node" bench/bridge.ts "$@" ;;
	proxy) setup_worker; build_worker; build_stock; build_bin; shift; exec "$node" bench/proxy.ts "$@" ;;
	*) setup_node; setup_chromium; build_wasm; build_bin; exec "$node" bench/run.ts "$@" ;;
	esac ;;
farm) setup_node; setup_chromium; build_wasm; build_bin; exec "$node" bench/farm.ts "$@" ;;
screenshots) setup_node; setup_chromium; build_wasm; exec "$node" e2e/panel/screenshots.ts ;;
conformance) setup_conformance; setup_chromium; build_wasm; build_bin; exec sh e2e/conformance/run.sh "$@" ;;
size) verb_size ;;
check) verb_check ;;
docs) verb_docs ;;
audit) verb_audit ;;
reproduce) verb_reproduce ;;
modules) build_modules "$1" ;;
clean) rm -rf "$dist" wasm/js/gen proxy-worker/dist e2e/bundlers/build ;;
*) usage >&2; exit 2 ;;
esac
