package proxy

import (
	"encoding/json"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
)

// attacks is a table of URLs and origins with their codes, for every test of a proxy. A
// code of "" means that the URL or the origin is allowed. The policy of the table names no
// ports and allows neither http nor private addresses.
type attacks struct {
	Self           string
	AllowedOrigins []string
	URLs           []struct{ URL, Code string }
	Origins        []struct{ Origin, Code string }
}

func readAttacks(t testing.TB) (a attacks) {
	t.Helper()
	text, err := os.ReadFile("testdata/attacks.json")
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func codeOf(r *refusal) string {
	if r == nil {
		return ""
	}
	return r.code
}

func TestAttackURLs(t *testing.T) {
	table := readAttacks(t)
	var p Policy
	for _, row := range table.URLs {
		to, refused := parseTarget(row.URL)
		if refused == nil {
			refused = p.checkTarget(to, table.Self)
		}
		if got := codeOf(refused); got != row.Code {
			t.Errorf("%q: %q, want %q", row.URL, got, row.Code)
		}
	}
	if len(table.URLs) < 90 {
		t.Errorf("the table has only %d URLs", len(table.URLs))
	}
}

func TestAddressClassesAreAllInTheTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range readAttacks(t).URLs {
		seen[row.Code] = true
	}
	for _, c := range addressClasses {
		if !seen[c.code] {
			t.Errorf("no URL for %s", c.code)
		}
	}
}

func TestTargetIsCanonical(t *testing.T) {
	for raw, want := range map[string]string{
		"HTTPS://MCP.Example.COM":              "https://mcp.example.com/",
		"https://a.example:443?q#f":            "https://a.example/?q",
		"https://a.example/?":                  "https://a.example/",
		"http://a.example:80/":                 "http://a.example/",
		"http://a.example:443/":                "http://a.example:443/",
		"https://a.example:80/":                "https://a.example:80/",
		"https://a.example/%7e'|^{\"<>}`":      "https://a.example/%7e'%7C%5E%7B%22%3C%3E%7D%60",
		"https://a.example/?%7e'|^{\"<>%":      "https://a.example/?%7e%27|^{%22%3C%3E%",
		"https://[2001:DB8:0:0:1:0:0:1]:8443/": "https://[2001:db8::1:0:0:1]:8443/",
		"https://[::FFFF:127.0.0.1]/":          "https://[::ffff:7f00:1]/",
		"https://[1:2:3:4:5:6:7::]/":           "https://[1:2:3:4:5:6:7:0]/",
	} {
		if to, refused := parseTarget(raw); refused != nil || to.url != want {
			t.Errorf("%s: %s (%s), want %s", raw, to.url, codeOf(refused), want)
		}
	}
}

func TestTargetLength(t *testing.T) {
	fits := "https://a.example/" + strings.Repeat("a", maxURL-len("https://a.example/"))
	for raw, want := range map[string]string{
		fits:                           "",
		fits + "#a":                    "target_invalid",
		fits + "a":                     "target_invalid",
		fits[:len(fits)-2] + "?\"":     "target_invalid", // grows when escaped
		fits[:len(fits)-100] + "?\"":   "",
		"https://" + domain(253) + "/": "",
		"https://" + domain(254) + "/": "host_odd",
	} {
		if _, refused := parseTarget(raw); codeOf(refused) != want {
			t.Errorf("%.40s… of %d bytes: %q, want %q", raw, len(raw), codeOf(refused), want)
		}
	}
}

// domain returns a name of n bytes.
func domain(n int) string { return strings.Repeat("a.", n)[:n-1] + "a" }

func TestPolicyWidens(t *testing.T) {
	const self = "http://localhost:8787/?url=x"
	local := Config{HTTP: true, Private: true}
	for _, row := range []struct {
		cfg       Config
		url, code string
	}{
		{Config{HTTP: true}, "http://a.example/", ""},
		{Config{HTTP: true}, "https://a.example:80/", ""},
		{Config{HTTP: true}, "http://a.example:8080/", "port_refused"},
		{Config{HTTP: true}, "http://127.0.0.1/", "address_loopback"},
		{Config{HTTP: true, Ports: []int{0}}, "http://localhost:8787/mcp", "self_loop"},
		{Config{HTTP: true, Ports: []int{0}}, "http://localhost:8788/mcp", "host_local"},
		{Config{Private: true}, "http://127.0.0.1/", "scheme_refused"},
		{Config{Private: true}, "https://127.0.0.1:3000/", ""},
		{Config{Ports: []int{9443}}, "https://a.example/", "port_refused"},
		{Config{Ports: []int{9443}}, "https://a.example:9443/", ""},
		{Config{Ports: []int{9443, 0}}, "https://a.example:1/", ""},
		{Config{Private: true, Ports: []int{443}}, "https://127.0.0.1:3000/", "port_refused"},
		{local, "http://localhost:8788/mcp", ""},
		{local, "http://LOCALHOST:8787/mcp", "self_loop"},
		{local, "http://[::1]:3000/mcp", ""},
		{local, "http://10.0.0.1/", ""},
		{local, "http://2130706433/", "host_odd"},
	} {
		p := &Policy{cfg: row.cfg}
		to, refused := parseTarget(row.url)
		if refused == nil {
			refused = p.checkTarget(to, self)
		}
		if codeOf(refused) != row.code {
			t.Errorf("%s under %+v: %q, want %q", row.url, row.cfg, codeOf(refused), row.code)
		}
	}
}

func TestPortsOfTheEnvironment(t *testing.T) {
	for text, good := range map[string]bool{"443, 9443": true, "*": true, "0": false, "443,0": false, "65536": false, "x": false} {
		cfg, err := Env(func(name string) string { return map[string]string{"ALLOWED_PORTS": text}[name] })
		if (err == nil) != good {
			t.Errorf("%s: %v, %v", text, cfg.Ports, err)
		}
	}
}

// TestPagePorts compares the page with what the policy allows.
func TestPagePorts(t *testing.T) {
	for _, row := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, `"ports":["443","8443"]`},
		{Config{HTTP: true}, `"ports":["443","8443","80"]`},
		{Config{Private: true}, `"ports":["*"]`},
		{Config{Ports: []int{0}}, `"ports":["*"]`},
		{Config{Private: true, Ports: []int{9443}}, `"ports":["9443"]`},
	} {
		if body := string(policy(t, row.cfg).page("").Body); !strings.Contains(body, row.want) {
			t.Errorf("%+v: %s, want %s", row.cfg, body, row.want)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, row := range readAttacks(f).URLs {
		f.Add(row.URL)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		to, refused := parseTarget(raw)
		if refused != nil {
			if to != (target{}) {
				t.Errorf("%q is refused and yet %+v", raw, to)
			}
			return
		}
		if again, refused := parseTarget(to.url); refused != nil || again != to {
			t.Errorf("%q: %+v becomes %+v (%s)", raw, to, again, codeOf(refused))
		}
		u, err := url.Parse(to.url)
		if err != nil {
			t.Fatalf("%q: net/url: %v", raw, err)
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		if u.String() != to.url || u.Scheme != to.scheme || u.Hostname() != to.host || port != strconv.Itoa(to.port) ||
			u.EscapedPath() != to.path || u.RawQuery != to.query || u.User != nil || u.Fragment != "" {
			t.Errorf("%q: net/url reads %#v in %+v", raw, u, to)
		}
		// A host that the C library's inet_aton reads as an address is an address here, or refused.
		last := to.host[strings.LastIndexByte(to.host, '.')+1:]
		if _, err := strconv.ParseUint(last, 0, 32); err == nil && !to.ip.IsValid() && !strings.ContainsAny(last, "_bo") {
			t.Errorf("%q: %s may be read as an address", raw, to.host)
		}
	})
}

// TestParsed checks that remembered targets are those of parseTarget, and that their memory is bounded.
func TestParsed(t *testing.T) {
	var p parsed
	for i := range 3 * maxParsed {
		raw := "https://" + strconv.Itoa(i) + ".example/mcp"
		for range 2 {
			got, refused := p.target(raw)
			if want, _ := parseTarget(raw); refused != nil || got != want {
				t.Fatalf("%s is %+v, want %+v (%s)", raw, got, want, codeOf(refused))
			}
		}
		if len(p.byText) == 0 || len(p.byText) > maxParsed {
			t.Fatalf("%d targets", len(p.byText))
		}
	}
	before := len(p.byText)
	for _, raw := range []string{"https://user@mcp.example", "https://mcp.example/" + strings.Repeat("a", maxParsedText)} {
		got, refused := p.target(raw)
		if want, wanted := parseTarget(raw); refused != wanted || got != want {
			t.Errorf("%s is %+v, want %+v (%s)", raw, got, want, codeOf(refused))
		}
	}
	if len(p.byText) != before {
		t.Error("a refused or long target is kept")
	}
}
