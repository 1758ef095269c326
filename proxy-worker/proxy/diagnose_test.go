//go:build !js

package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDiagnose diagnoses real servers, each with another fault, with a real proxy.
func TestDiagnose(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"*"}, HTTP: true, Private: true})
	proxy := httptest.NewServer(p.Handler(Transport(true)))
	defer proxy.Close()
	allow := func(w http.ResponseWriter, headers string) {
		w.Header().Set("Access-Control-Allow-Origin", page)
		w.Header().Set("Access-Control-Allow-Headers", headers)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	const all = "Content-Type, Mcp-Protocol-Version, Mcp-Session-Id, Authorization"
	for _, row := range []struct {
		code, says string
		handler    http.HandlerFunc // nil: nothing listens
	}{
		{"down", "nothing listens", nil},
		{"cors", "refuses the preflight (status 405)", func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "POST" {
				w.WriteHeader(405)
			}
		}},
		{"cors", "lacks Access-Control-Allow-Origin", func(http.ResponseWriter, *http.Request) {}},
		{"cors", "lacks mcp-protocol-version", func(w http.ResponseWriter, _ *http.Request) { allow(w, "Content-Type") }},
		{"cors", "answers lack", func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "OPTIONS" {
				allow(w, all)
			}
		}},
		{"cors", "the preflight's answer has Access-Control-Allow-Origin twice", func(w http.ResponseWriter, _ *http.Request) {
			allow(w, all)
			w.Header().Add("Access-Control-Allow-Origin", page)
		}},
		{"cors", "the server's answers have Access-Control-Allow-Origin twice", func(w http.ResponseWriter, r *http.Request) {
			allow(w, all)
			if r.Method != "OPTIONS" {
				w.Header().Add("Access-Control-Allow-Origin", "*")
			}
		}},
		{"fine", "lets this page in", func(w http.ResponseWriter, r *http.Request) {
			allow(w, "Content-Type")
			w.Header().Add("Access-Control-Allow-Headers", "Mcp-Protocol-Version, Mcp-Session-Id")
			if r.Method == "GET" {
				w.WriteHeader(405)
			}
		}},
		{"path", "status 404", func(w http.ResponseWriter, r *http.Request) {
			allow(w, all)
			if r.Method != "OPTIONS" {
				w.WriteHeader(404)
			}
		}},
		{"get", "status 200", func(w http.ResponseWriter, _ *http.Request) { allow(w, all) }},
		{"fine", "lets this page in", func(w http.ResponseWriter, r *http.Request) {
			allow(w, "*")
			if r.Header.Get("Authorization") != "" {
				t.Error("credentials travelled")
			}
			if r.Method == "GET" {
				w.WriteHeader(405)
			}
		}},
	} {
		server := "http://" + closed.Addr().String() + "/mcp"
		if row.handler != nil {
			s := httptest.NewServer(row.handler)
			defer s.Close()
			server = s.URL + "/mcp"
		}
		req, err := http.NewRequestWithContext(context.Background(), "POST",
			proxy.URL+"/diagnose?id=7&url="+strings.NewReplacer(":", "%3A", "/", "%2F").Replace(server), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", page)
		req.Header.Set("Authorization", "Bearer secret")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if text := string(body); !strings.HasPrefix(text, `{"jsonrpc":"2.0","id":7,"result":{"code":"`+row.code+`"`) ||
			!strings.Contains(text, row.says) {
			t.Errorf("want %s, %q: %d %s", row.code, row.says, res.StatusCode, text)
		}
	}
	for _, row := range []struct {
		r    *Request
		code string
	}{
		{at("https://proxy.example/diagnose?id=x&url=https%3A%2F%2Fmcp.example.com", message("")), "target_invalid"},
		{at("https://proxy.example/diagnose", message("")), "target_missing"},
		{at("https://proxy.example/diagnose?url=https%3A%2F%2Fmcp.example.com",
			message("", "origin", "https://evil.example")), "origin_refused"},
	} {
		if d := p.Decide(row.r); d.Code != row.code {
			t.Errorf("%q, want %q", d.Code, row.code)
		}
	}
}
