//go:build !js

package blackbox

import (
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStockGlue serves the policy with syumai's own glue instead of worker.mjs. The glue
// passes requests to the http.Handler, which answers requests that need no server.
func TestStockGlue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "build")
	if out, err := exec.Command("go", "run", "github.com/syumai/workers/cmd/workers-assets-gen", "-mode=go", "-o",
		dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	modules := []string{}
	for _, name := range []string{"worker.mjs", "runtime.mjs", "wasm_exec.js"} {
		modules = append(modules, module(t, name, filepath.Join(dir, name)))
	}
	r := workerdOf(t, nil, append(modules, module(t, "app.wasm", built(t, "../dist/worker/proxy.wasm"))))
	u := newUpstream(t)
	for _, row := range []struct {
		name   string
		call   call
		status int
		code   string
		want   string
	}{
		{"page", call{bare: true, method: "GET"}, 200, "", `"hosts":["127.0.0.1"]`},
		{"page, closed", call{bare: true, method: "GET", config: "closed"}, 200, "", `"open":false`},
		{"healthz", call{bare: true, method: "GET", path: "/healthz"}, 200, "", `{"ok":true}`},
		{"not configured", call{config: "closed"}, 403, "not_configured", ""},
		{"another page", call{header: map[string]string{"Origin": "https://evil.example"}}, 403, "origin_refused", ""},
		{"target missing", call{}, 400, "target_missing", ""},
		{"never sent", call{path: "/?url=" + url.QueryEscape(u.URL+"/echo")}, 403, "not_mcp", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			res, err := row.call.do(t.Context(), r, row.name)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != row.status || res.Header.Get("X-Proxy-Error") != row.code ||
				!strings.Contains(string(body), row.want) {
				t.Fatalf("%s %v: %s", res.Status, res.Header, body)
			}
			if row.code != "" {
				refusal(t, res, string(body), row.code, row.call)
			}
			if u.saw(row.name) != nil {
				t.Error("it was sent")
			}
		})
	}
}
