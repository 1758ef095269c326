//go:build !js

package proxy

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readURLs runs a WHATWG parser. It prints [hostname, port, pathname, search, href] of each URL, or null.
const readURLs = `
let text = '';
process.stdin.on('data', d => text += d).on('end', () => console.log(JSON.stringify(JSON.parse(text).map(u => {
	try { const {hostname, port, pathname, search, href} = new URL(u); return [hostname, port, pathname, search, href]; }
	catch { return null; }
}))));`

// node returns the path of PORTOLAN_NODE, of the repository's Node, or of any other.
func node(t *testing.T) string {
	t.Helper()
	name, asked := os.LookupEnv("PORTOLAN_NODE")
	if !asked {
		name = "../../node_modules/.bin/node"
		if _, err := os.Stat(name); err != nil {
			name = "node"
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal("the test reads URLs with Node too: put node into PATH, or its path into PORTOLAN_NODE: ", err)
	}
	return path
}

// whatwg parses URLs with Node.
func whatwg(t *testing.T, urls []string) (parts [][]string) {
	t.Helper()
	in, err := json.Marshal(urls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node(t), "-e", readURLs)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &parts)
	}
	if err != nil || len(parts) != len(urls) {
		t.Fatalf("node: %v, %d answers for %d", err, len(parts), len(urls))
	}
	return parts
}

// mutants returns the valid URLs of the table, and n variants with a few changes.
func mutants(t *testing.T, n int) (urls []string) {
	for _, row := range readAttacks(t).URLs {
		if _, refused := parseTarget(row.URL); refused == nil {
			urls = append(urls, row.URL)
		}
	}
	pieces := strings.Split(`/|//|:|::|.|..|@|?|#|[|]|%|%2e|%2F|-|_|0|1|127|0x7f|255|443|:80|:8443|a|Z|xn--|localhost|`+
		`'|"|<|>|{|}|^|~|;|&|=|*|!|$|,|\|é`, "|")
	pieces = append(pieces, "|", "\t", "\x7f", "\u3002", "\uff11", "\u00ad")
	r := rand.New(rand.NewPCG(1, 2))
	rows := len(urls)
	for range n {
		u := urls[r.IntN(rows)]
		for range 1 + r.IntN(3) {
			from := r.IntN(len(u) + 1)
			to := min(len(u), from+r.IntN(3))
			u = u[:from] + pieces[r.IntN(len(pieces))] + u[to:]
		}
		urls = append(urls, u)
	}
	return urls
}

func TestWHATWGReadsTheSame(t *testing.T) {
	var raw, canonical []string
	var targets []target
	for _, u := range mutants(t, 20_000) {
		if to, refused := parseTarget(u); refused == nil {
			raw, canonical, targets = append(raw, u), append(canonical, to.url), append(targets, to)
		}
	}
	asSent, asGiven := whatwg(t, canonical), whatwg(t, raw)
	for i, to := range targets {
		host, port, search := to.host, "", ""
		if to.ip.Is6() {
			host = "[" + host + "]"
		}
		if to.scheme == "https" && to.port != 443 || to.scheme == "http" && to.port != 80 {
			port = strconv.Itoa(to.port)
		}
		if to.query != "" {
			search = "?" + to.query
		}
		want := []string{host, port, to.path, search, to.url}
		invalid := strings.Contains(host, "xn--") // Punycode that is none is a name that does not resolve
		if got := asSent[i]; !(got == nil && invalid) && !slices.Equal(got, want) {
			t.Errorf("%q: is %q, and %q to WHATWG", raw[i], want, got)
		}
		// The given URL means the same, except that WHATWG leaves these two in paths.
		got := asGiven[i]
		if got != nil {
			got[2] = strings.NewReplacer("|", "%7C", "^", "%5E").Replace(got[2])
			got[4] = to.url
		}
		if !(got == nil && invalid) && !slices.Equal(got, want) {
			t.Errorf("%q: was %q, and %q to WHATWG", raw[i], want, got)
		}
	}
	t.Logf("%d URLs", len(targets))
}
