#!/bin/sh
# Runs the client scenarios of the official conformance suite, of two releases, and
# prints a table: those of the newer one for every protocol version that they name.
#
#	e2e/conformance/run.sh                          all of the following
#	e2e/conformance/run.sh native [COMMAND]         driver/main.go
#	e2e/conformance/run.sh wasm [COMMAND]           driver.mjs with dist/npm/portolan.wasm
#	e2e/conformance/run.sh chromium                 a page, through the CORS proxy
#	e2e/conformance/run.sh server [gateway|bridge [SCENARIO…]]  the server scenarios (server.mjs)
#
# COMMAND is the client under test; the suite appends the server's URL to it.
# ONLY=name runs one scenario, ONLY=auth/ those that begin so.
# Exits with 1 if a scenario fails.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/e2e/conformance
newer="$root/node_modules/@modelcontextprotocol/conformance/dist/index.js"
older="$here/node_modules/conformance-0.1.16/dist/index.js"
node="$root/node_modules/.bin/node"
[ -x "$node" ] || node=node
if [ $# -eq 0 ]; then
	status=0
	for mode in native wasm chromium server; do "$0" $mode || status=1; done
	exit $status
fi
mode=$1
if [ "$mode" = server ]; then
	shift
	[ $# -eq 0 ] || exec "$node" "$here/server.mjs" "$@"
	status=0
	for relay in gateway bridge; do "$node" "$here/server.mjs" $relay || status=1; done
	exit $status
fi
work=$(mktemp -d)
helper=
trap '[ -z "$helper" ] || kill $helper 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The suites' servers are on this machine, at ports of their own.
case $mode in
native)
	command=${2:-$work/driver}
	[ $# -ge 2 ] || (cd "$root" && go build -o "$work/driver" ./e2e/conformance/driver)
	;;
wasm)
	command=${2:-$node $here/driver.mjs}
	;;
chromium)
	"$node" "$here/browser.mjs" "$work/socket" >"$work/browser.log" 2>&1 &
	helper=$!
	for _ in $(seq 100); do [ -S "$work/socket" ] && break; sleep 0.2; done
	[ -S "$work/socket" ] || { cat "$work/browser.log" >&2; exit 1; }
	command="$node $here/inbrowser.mjs $work/socket"
	;;
*)
	echo "usage: run.sh [native|wasm|chromium [COMMAND]|server [gateway|bridge [SCENARIO…]]]" >&2
	exit 2
	;;
esac

# A suite lists its scenarios as "  - name [version,version]". Natively those of SEP-2640 are left out: the page
# verifies the files of skills, and native hosts have no page.
left_out=^$
[ $mode != native ] || left_out='^sep-2640-'
scenarios() {
	"$node" "$1" list | sed -n '/^Client scenarios/,/^Authorization server/s/^  - \([^ ]*\) \[\(.*\)\]$/\1 \2/p' | grep -v "$left_out"
}
{
	scenarios "$newer" | sed 's/^/newer /'
	scenarios "$older" | sed 's/^/older /; s/ [^ ]*$/ -/'
} >"$work/scenarios"
[ -z "${ONLY:-}" ] || grep "^[a-z]* $ONLY" "$work/scenarios" >"$work/only"
[ -z "${ONLY:-}" ] || mv "$work/only" "$work/scenarios"

failed=0
total=0
printf '%-9s %-40s %-12s %-8s %s\n' suite scenario version result checks
while read -r which scenario versions; do
	case $which in
	newer) suite=$newer release=0.2.0-α12 ;;
	older) suite=$older release=0.1.16 ;;
	esac
	for version in $(echo "$versions" | tr , ' '); do
		total=$((total + 1))
		log="$work/log"
		result=pass
		option="--spec-version $version"
		case $version in extension | -) option= ;; esac
		# shellcheck disable=SC2086
		(cd "$work" && "$node" "$suite" client --command "$command" --scenario "$scenario" $option -o "$work/out" >"$log" 2>&1 </dev/null) || result=FAIL
		checks=$(sed -n 's/^Passed: \([^,]*\).*/\1/p' "$log" | tail -1)
		printf '%-9s %-40s %-12s %-8s %s\n' "$release" "$scenario" "$version" "$result" "$checks"
		if [ $result = FAIL ]; then
			failed=$((failed + 1))
			sed 's/^/    /' "$log" | tail -40
		fi
	done
done <"$work/scenarios"
echo "$((total - failed)) of $total passed ($mode)"
[ $failed -eq 0 ] && [ $total -gt 0 ]
