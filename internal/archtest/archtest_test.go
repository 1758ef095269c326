// Package archtest tests DESIGN.md's table of rooms and imports.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/portolan-mcp/portolan/"

// A rule names the packages that a room may import directly, beside the standard library
// and its own packages.
type rule struct {
	room   string   // path below the module; the longest that matches counts
	may    []string // rooms and modules
	noStd  []string // standard packages that are off limits
	js     bool     // may import syscall/js
	reason string
}

var lean = []string{"fmt", "encoding/json", "net/url", "log", "regexp", "reflect", "text/template", "crypto/*", "net",
	"net/http", "os/exec"}

var rules = []rule{
	{
		room: "registry",
		may: []string{
			"registry/approvals", "registry/convert", "registry/endpoint", "registry/names", "registry/rawjson",
			"registry/resulttext", "registry/text", "registry/validate", "registry/wire",
		},
		noStd:  []string{"net/http", "fmt", "encoding/json", "net/url", "regexp", "reflect"},
		reason: "the pipeline is linked into the page's module",
	},
	{
		room: "registry/approvals", may: []string{"registry/names", "registry/rawjson", "registry/text"}, noStd: lean,
		reason: "one idea, pure, linked into the page's module",
	},
	{
		room: "registry/convert", may: []string{"registry/rawjson", "registry/text", "registry/wire"}, noStd: lean,
		reason: "one idea, pure, linked into the page's module",
	},
	{
		room: "registry/endpoint", may: []string{"registry/rawjson", "registry/text"}, noStd: lean,
		reason: "one idea, pure, linked into the page's module",
	},
	{room: "registry/names", noStd: lean, reason: "one idea, pure, linked into the page's module"},
	{room: "registry/rawjson", noStd: lean, reason: "linked into the page's module"},
	{
		room: "registry/resulttext", may: []string{"registry/rawjson", "registry/text"}, noStd: lean,
		reason: "one idea, pure, linked into the page's module",
	},
	{
		room: "registry/text", may: []string{"registry/rawjson", "registry/wire"}, noStd: lean,
		reason: "one idea, pure, linked into the page's module",
	},
	{
		room: "registry/validate", may: []string{"registry/rawjson", "registry/text", "registry/wire"}, noStd: lean,
		reason: "one idea, pure; its sentinel is linked into the page's module",
	},
	{room: "registry/wire", noStd: lean, reason: "data that both languages use"},
	{room: "registry/wire/generate", may: []string{"registry/wire"}, reason: "writes the data as TypeScript"},
	{
		room: "registry/pin", may: []string{"registry/rawjson"},
		noStd:  []string{"fmt", "encoding/json", "net/http", "regexp", "reflect"},
		reason: "SHA-256, which the page leaves to its platform",
	},
	{
		room: "registry/scan", may: []string{"registry/rawjson", "registry/text"},
		noStd:  []string{"fmt", "net/http", "reflect"},
		reason: "rules by regexp, which the page's module does not link",
	},
	{
		room: "registry/oauth", may: []string{"registry", "registry/endpoint", "registry/rawjson", "registry/text"}, noStd: lean,
		reason: "linked into the page's module",
	},
	{
		room: "registry/client",
		may: []string{
			"registry", "registry/client/corsproxy", "registry/endpoint", "registry/oauth", "registry/rawjson",
			"registry/text",
		},
		noStd: lean, reason: "linked into the page's module",
	},
	{
		room: "registry/client/corsproxy", may: []string{"registry", "registry/rawjson", "registry/text"}, noStd: lean,
		reason: "linked into the page's module",
	},
	{
		room: "registry/client/browser", js: true,
		may: []string{"registry", "registry/client", "registry/client/browser/membuf"}, noStd: lean,
		reason: "linked into the page's module",
	},
	{room: "registry/client/browser/membuf", noStd: lean, reason: "linked into the page's module"},
	{
		room: "registry/client/nethttp",
		may: []string{
			"registry", "registry/client", "registry/oauth", "registry/pin", "registry/rawjson", "registry/scan", "registry/text", "registry/wire",
			"golang.org/x/time",
		},
		reason: "the native platform",
	},
	{
		room: "registry/registrytest",
		may: []string{
			"registry", "registry/oauth", "registry/pin", "registry/rawjson", "registry/client",
			"registry/client/nethttp", "github.com/modelcontextprotocol/go-sdk", "github.com/google/go-cmp",
		},
		reason: "real servers for tests",
	},
	{
		room:   "registry/registrytest/reference",
		may:    []string{"registry/convert", "registry/text", "registry/validate"},
		reason: "what Go answers, for the differential tests of TypeScript",
	},
	{
		room:   "registry/registrytest/farm",
		may:    []string{"registry", "registry/client", "registry/client/nethttp", "registry/convert", "registry/text", "registry/validate"},
		reason: "servers that misbehave, on real sockets",
	},
	{
		room: "wasm", js: true,
		may: []string{
			"registry", "registry/client", "registry/client/browser", "registry/oauth", "registry/rawjson", "registry/text",
			"wasm/internal/api", "wasm/internal/bridge",
		},
		noStd: lean, reason: "the page's module",
	},
	{
		room: "wasm/internal/api", may: []string{"registry", "registry/endpoint", "registry/rawjson", "registry/text", "registry/wire"},
		noStd: lean, reason: "linked into the page's module",
	},
	{
		room: "wasm/internal/bridge", js: true,
		may: []string{
			"registry", "registry/oauth", "registry/rawjson", "wasm/internal/api", "registry/client/browser/membuf",
		},
		noStd: lean, reason: "linked into the page's module",
	},
	{
		room: "proxy-worker", js: true, may: []string{"proxy-worker/proxy", "github.com/syumai/workers"},
		noStd: []string{"fmt"}, reason: "the Worker",
	},
	{
		room:  "proxy-worker/proxy",
		noStd: []string{"fmt", "regexp", "reflect", "os", "log"}, reason: "the policy, linked into the Worker",
	},
	{room: "proxy-worker/blackbox", may: []string{"proxy-worker/proxy"}, reason: "tests over HTTP"},
	{room: "bench", js: true, may: []string{"github.com/syumai/workers"}, reason: "what the proxy is measured against"},
	{
		room: "bridge",
		may: []string{
			"bridge/handshake", "bridge/loopback", "bridge/socket", "bridge/rawmsg", "github.com/modelcontextprotocol/go-sdk",
			"github.com/coder/websocket", "golang.org/x/time",
		},
		reason: "desktop clients ⇄ extension",
	},
	{
		room: "bridge/loopback", may: []string{"github.com/coder/websocket"},
		reason: "what servers on loopback addresses have in common",
	},
	{
		room: "bridge/gateway",
		may: []string{
			"bridge/handshake", "bridge/loopback", "bridge/socket", "github.com/modelcontextprotocol/go-sdk",
			"github.com/coder/websocket", "golang.org/x/time", "github.com/BurntSushi/toml",
		},
		reason: "stdio programs ⇄ pages",
	},
	{room: "bridge/handshake", noStd: []string{"net", "net/http", "os"}, reason: "the extension's module may use it"},
	{
		room:  "bridge/socket",
		may:   []string{"github.com/modelcontextprotocol/go-sdk", "github.com/coder/websocket", "golang.org/x/time"},
		noStd: []string{"net", "net/http", "os"}, reason: "the extension's module may use it",
	},
	{
		room: "bridge/rawmsg", may: []string{"github.com/modelcontextprotocol/go-sdk"},
		noStd: []string{"net", "net/http", "os"}, reason: "the extension's module may use it",
	},
	{
		room: "extension/module",
		may: []string{
			"bridge/socket", "extension/module/toolserver", "github.com/coder/websocket", "github.com/hack-pad/safejs",
		},
		reason: "the extension's module",
	},
	{
		room: "extension/module/toolserver",
		may: []string{
			"bridge/rawmsg", "github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go",
			"github.com/google/go-cmp",
		},
		noStd: []string{"net", "net/http", "os"}, reason: "the extension's MCP server",
	},
	{
		room: "cmd/portolan",
		may: []string{
			"bridge", "bridge/gateway", "bridge/loopback", "registry", "registry/client", "registry/client/nethttp",
			"registry/convert", "registry/oauth", "registry/rawjson", "registry/resulttext", "registry/text", "registry/validate", "proxy-worker/proxy", "github.com/modelcontextprotocol/go-sdk",
		},
		reason: "the one local binary",
	},
	{
		room: "e2e",
		may: []string{
			"registry", "registry/client", "registry/client/nethttp", "registry/oauth",
			"github.com/modelcontextprotocol/go-sdk",
		},
		reason: "drivers of foreign test suites",
	},
	{
		room: "e2e/conformance/bridge",
		may: []string{
			"bridge", "bridge/handshake", "bridge/rawmsg", "bridge/socket", "github.com/modelcontextprotocol/go-sdk",
			"github.com/coder/websocket",
		},
		reason: "a bridge whose extension is a stdio program",
	},
	{room: "internal/archtest", reason: "this test"},
	{room: "internal/build", reason: "steps of the build"},
}

type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// list runs go list for one target and returns the module's packages.
func list(t *testing.T, goos, goarch string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Standard,Imports,Deps"}, args...)...)
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "GOARCH="+goarch)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func within(path, room string) bool { return path == room || strings.HasPrefix(path, room+"/") }

func ruleFor(path string) *rule {
	var best *rule
	for i := range rules {
		if r := &rules[i]; within(path, r.room) && (best == nil || len(r.room) > len(best.room)) {
			best = r
		}
	}
	return best
}

func forbids(patterns []string, imp string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "/*")
		return imp == p || wild && within(imp, prefix)
	})
}

func TestDirectImports(t *testing.T) {
	for _, target := range [][2]string{{"linux", "amd64"}, {"js", "wasm"}} {
		seen := 0
		for _, p := range list(t, target[0], target[1], "./...") {
			path := strings.TrimPrefix(p.ImportPath, module)
			r := ruleFor(path)
			if r == nil {
				t.Errorf("%s: no rule for this room; add it to DESIGN.md and here", path)
				continue
			}
			seen++
			for _, imp := range p.Imports {
				if problem := check(r, path, imp); problem != "" {
					t.Errorf("%s/%s: %s imports %s: %s (%s)", target[0], target[1], path, imp, problem, r.reason)
				}
			}
		}
		if seen < 5 {
			t.Errorf("%s: only %d packages were checked", target[0], seen)
		}
	}
}

func check(r *rule, path, imp string) string {
	own, ours := strings.CutPrefix(imp, module)
	switch {
	case ours && within(own, r.room) && ruleFor(own) == r:
		return ""
	case ours && slices.Contains(r.may, own):
		return ""
	case ours:
		return "another room"
	case imp == "syscall/js":
		if !r.js {
			return "only js rooms touch syscall/js"
		}
		return ""
	case strings.Contains(strings.Split(imp, "/")[0], "."):
		if !slices.ContainsFunc(r.may, func(m string) bool { return within(imp, m) }) {
			return "a module that the room does not use"
		}
		return ""
	case forbids(r.noStd, imp):
		return "too heavy or off limits here"
	}
	return ""
}

// TestDefaultModuleStaysLean checks all packages that the page's module links.
func TestDefaultModuleStaysLean(t *testing.T) {
	pkgs := list(t, "js", "wasm", "./wasm")
	if len(pkgs) != 1 {
		t.Fatalf("%d packages", len(pkgs))
	}
	for _, dep := range pkgs[0].Deps {
		// log/slog is imported for the type in registry.Options. The linker drops it, because
		// no method of it is used. The size budget shows that.
		if dep == "net/http" || strings.HasPrefix(dep, "github.com/modelcontextprotocol/") ||
			strings.HasPrefix(dep, "github.com/hack-pad/") {
			t.Errorf("the default module links %s", dep)
		}
		if dep == "regexp" || dep == "crypto/sha256" || strings.HasPrefix(dep, module+"registry/pin") ||
			strings.HasPrefix(dep, module+"registry/scan") {
			t.Errorf("the default module links %s: the platform does that", dep)
		}
	}
}
