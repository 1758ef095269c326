//go:build !js

package blackbox

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// diagnosis checks the codes for servers with faults, and that no credentials are sent.
func diagnosis(t *testing.T, r running, _ *upstream) {
	server := func(handle http.HandlerFunc) string {
		s := httptest.NewServer(handle)
		t.Cleanup(s.Close)
		return s.URL + "/mcp"
	}
	open := func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", req.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Headers", "*")
		if req.Header.Get("Authorization") != "" {
			t.Error("credentials travelled")
		}
		if req.Method == "GET" {
			w.WriteHeader(405)
		}
	}
	for _, row := range []struct{ code, server string }{
		{"down", closedPort(t)},
		{"cors", server(func(http.ResponseWriter, *http.Request) {})},
		{"path", server(func(w http.ResponseWriter, req *http.Request) {
			open(w, req)
			if req.Method == "POST" {
				w.WriteHeader(404)
			}
		})},
		{"fine", server(open)},
	} {
		c := call{path: "/diagnose?id=12&url=" + url.QueryEscape(row.server),
			header: map[string]string{"Authorization": "Bearer x"}}
		res, err := c.do(t.Context(), r, row.code)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		var said struct {
			ID     int
			Result struct{ Code, Message, Hint string }
		}
		if err := json.Unmarshal(body, &said); err != nil || said.ID != 12 || said.Result.Code != row.code ||
			said.Result.Message == "" || said.Result.Hint == "" {
			t.Errorf("%s: %d %s", row.code, res.StatusCode, body)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != page {
			t.Errorf("%s: the page cannot read it: %v", row.code, res.Header)
		}
	}
	c := call{path: "/diagnose?url=" + url.QueryEscape("https://evil.example/")}
	res, err := c.do(t.Context(), r, "refused")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.Header.Get("X-Proxy-Error") != "host_refused" || !strings.Contains(string(body), "host_refused") {
		t.Errorf("about a server that may not be gone to: %d %s", res.StatusCode, body)
	}
}
