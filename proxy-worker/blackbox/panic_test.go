//go:build !js

package blackbox

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

// TestPanic panics in Go at each stage of a request. The page gets a readable error, the
// exchange with the server ends, and the next request works.
func TestPanic(t *testing.T) {
	u := newUpstream(t)
	fine := call{target: u.URL + "/echo"}
	t.Run("workerd", func(t *testing.T) {
		r := workerdWith(t, map[string]string{"proxy.wasm": panicking(t)})
		broken(t, r, "decide", call{method: "GET"})
		works(t, r, fine)
		broken(t, r, "respond", call{method: "GET", target: u.URL + "/idle"})
		<-u.gone("respond")
		works(t, r, fine)
	})
	t.Run("native", func(t *testing.T) {
		cfg, _ := proxy.Env(func(name string) string { return configs["open"][name] })
		policy, err := proxy.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var none *proxy.Policy
		broken(t, serving(t, none.Handler(nil)), "decide", fine)
		r := serving(t, policy.Handler(roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/idle" {
				panic("in the transport")
			}
			return http.DefaultTransport.RoundTrip(r)
		})))
		broken(t, r, "respond", call{method: "GET", target: u.URL + "/idle"})
		works(t, r, fine)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func serving(t *testing.T, h http.Handler) running {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return running{url: map[string]string{"open": server.URL}}
}

func broken(t *testing.T, r running, stage string, c call) {
	t.Helper()
	res, err := c.do(t.Context(), r, stage)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 500 {
		t.Fatalf("%s: %s %s", stage, res.Status, body)
	}
	refusal(t, res, string(body), "internal", c)
	if res.Header.Get("Access-Control-Expose-Headers") != "X-Proxy-Error, Retry-After" {
		t.Errorf("%s: Go has ended, and the answer is another's: %v", stage, res.Header)
	}
}

func works(t *testing.T, r running, c call) {
	t.Helper()
	res, err := c.do(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); string(body) != `{"bytes":40}` {
		t.Errorf("after a panic: %s %s", res.Status, body)
	}
}

// panicking builds the Worker with files of testdata/panic in place of the policy's files.
// Flags and cache are those of internal/build.
func panicking(t *testing.T) string {
	t.Helper()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	files, err := filepath.Glob("testdata/panic/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		to, _ := filepath.Abs(file)
		overlay.Replace[filepath.Dir(built(t, "proxy/"+name))+"/"+name] = to
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "proxy.wasm")
	cmd := exec.Command("go", "build", "-overlay="+written(t, string(text)), "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", out, "..")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOEXPERIMENT=nogreenteagc")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}
