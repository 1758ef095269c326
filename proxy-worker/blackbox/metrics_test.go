//go:build !js

package blackbox

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"strings"
	"testing"
	"time"
)

// counted is the answer of GET /metrics.
type counted struct {
	Since       time.Time
	Requests    int
	Refused     map[string]int
	FirstByteMs map[string]int
}

// metrics checks what is counted (O12), by the difference of two answers.
func metrics(t *testing.T, r running, u *upstream) {
	send := func(c call, want int) string {
		t.Helper()
		res, err := c.do(t.Context(), r, "metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Errorf("%+v: status %d, %s, %v", c, res.StatusCode, body, err)
		}
		return string(body)
	}
	asked := call{bare: true, config: "tight", method: "GET", path: "/metrics"}
	with := func(authorization string) call {
		c := asked
		c.header = map[string]string{"Authorization": authorization}
		return c
	}
	read := func() (c counted) {
		t.Helper()
		text := send(with("Bearer "+metricsKey), 200)
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"127.0.0.1", "localhost", "ide.example", "http", "key"} {
			if strings.Contains(text, secret) {
				t.Errorf("the metrics contain %q: %s", secret, text)
			}
		}
		return c
	}
	before := read()
	tight := func(target string, header map[string]string) call {
		return call{config: "tight", target: target, header: header}
	}
	send(tight(u.URL+"/echo", nil), 200)
	send(call{config: "tight", method: "GET", target: u.URL + "/events"}, 200)
	send(tight("http://10.0.0.1/mcp", nil), 403)
	send(tight(u.URL+"/echo", map[string]string{"Origin": "https://other.example"}), 403)
	send(tight(u.URL+"/echo", map[string]string{"X-Portolan-Key": "no key of this proxy at all"}), 403)
	send(tight(closedPort(t), nil), 502)
	send(asked, 403)
	send(with("Bearer "+callerKey), 403)
	send(call{bare: true, method: "GET", path: "/metrics"}, 403) // "open" has no metrics
	after := read()

	passed := 0
	for bucket, n := range after.FirstByteMs {
		passed += n - before.FirstByteMs[bucket]
	}
	refused := maps.Clone(after.Refused)
	maps.DeleteFunc(refused, func(code string, n int) bool { return n == before.Refused[code] })
	for code := range refused {
		refused[code] -= before.Refused[code]
	}
	want := map[string]int{"host_refused": 1, "origin_refused": 1, "caller_refused": 3, "upstream_unreachable": 1}
	if passed != 2 || !maps.Equal(refused, want) || after.Requests-before.Requests != 8 {
		t.Errorf("%d passed, %v refused, of %d requests", passed, refused, after.Requests-before.Requests)
	}
	if age := time.Since(after.Since); age < -time.Second || age > time.Hour {
		t.Errorf("counted since %v", after.Since)
	}
}

// TestLogOfRefusals reads the console of a Worker with LOG_REFUSALS (O12).
func TestLogOfRefusals(t *testing.T) {
	out, in := io.Pipe()
	r := workerdOf(t, in, modulesWith(t, nil))
	c := call{config: "tight", target: "http://10.0.0.1/secret-path?secret-query", header: map[string]string{
		"Cf-Connecting-Ip": "192.0.2.7", "Authorization": "Bearer secret-token",
	}}
	res, err := c.do(t.Context(), r, "log")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	const want = `portolan: refused code=host_refused origin="http://localhost:5173" host="10.0.0.1" client="192.0.2.7"`
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != want {
		t.Errorf("%q, %v", lines.Text(), lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // until the process has ended
}
