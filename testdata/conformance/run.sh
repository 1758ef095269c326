#!/bin/sh
# Runs the official conformance suite's client scenarios (all but auth and
# extensions), each for every protocol version that it names, and prints a table.
#
#	testdata/conformance/run.sh                          all of the following
#	testdata/conformance/run.sh native [COMMAND]         driver/main.go
#	testdata/conformance/run.sh wasm [COMMAND]           driver.mjs with dist/npm/portolan.wasm
#	testdata/conformance/run.sh wasm-sdk                 the same with dist/npm/portolan-sdk.wasm
#
# COMMAND is the client under test; the suite appends the server's URL to it.
# ONLY=name runs one scenario.
# Exits with 1 if a scenario fails.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
suite="$root/node_modules/@modelcontextprotocol/conformance/dist/index.js"
node="$root/node_modules/.bin/node"
[ -x "$node" ] || node=node
if [ $# -eq 0 ]; then
	status=0
	for mode in native wasm wasm-sdk; do "$0" $mode || status=1; done
	exit $status
fi
mode=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

case $mode in
native)
	command=${2:-$work/driver}
	[ $# -ge 2 ] || (cd "$root" && go build -o "$work/driver" ./testdata/conformance/driver)
	;;
wasm)
	command=${2:-$node $root/testdata/conformance/driver.mjs}
	;;
wasm-sdk)
	export WASM=portolan-sdk.wasm
	command="$node $root/testdata/conformance/driver.mjs"
	;;
*)
	echo "usage: run.sh [native|wasm|wasm-sdk [COMMAND]]" >&2
	exit 2
	;;
esac

# The suite lists its scenarios as "  - name [version,version]".
"$node" "$suite" list | sed -n '/^Client scenarios/,/^Authorization/s/^  - \([^ ]*\) \[\(.*\)\]$/\1 \2/p' |
	grep -v -e '^auth/' -e ' extension$' >"$work/scenarios"
[ -z "${ONLY:-}" ] || sed -i "/^$ONLY /!d" "$work/scenarios"

failed=0
total=0
printf '%-40s %-12s %-8s %s\n' scenario version result checks
while read -r scenario versions; do
	for version in $(echo "$versions" | tr , ' '); do
		total=$((total + 1))
		log="$work/log"
		result=pass
		(cd "$work" && "$node" "$suite" client --command "$command" --scenario "$scenario" --spec-version "$version" -o "$work/out" >"$log" 2>&1 </dev/null) || result=FAIL
		checks=$(sed -n 's/^Passed: \([^,]*\).*/\1/p' "$log" | tail -1)
		printf '%-40s %-12s %-8s %s\n' "$scenario" "$version" "$result" "$checks"
		if [ $result = FAIL ]; then
			failed=$((failed + 1))
			sed 's/^/    /' "$log" | tail -40
		fi
	done
done <"$work/scenarios"
echo "$((total - failed)) of $total passed ($mode)"
[ $failed -eq 0 ]
