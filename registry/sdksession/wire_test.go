package sdksession

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

func TestEncodeHeader(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", ""},
		{"us-west1", "us-west1"},
		{"a b", "a b"},
		{" a", "=?base64?IGE=?="},
		{"a\t", "=?base64?YQk=?="},
		{"a\tb", "=?base64?YQli?="},
		{"a\nb", "=?base64?YQpi?="},
		{"é", "=?base64?w6k=?="},
		{"\x7f", "=?base64?fw==?="},
		{"=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="},
		{"=?base64?x", "=?base64?x"},
	} {
		if got := encodeHeader(row.text); got != row.want {
			t.Errorf("encodeHeader(%q) = %q, want %q", row.text, got, row.want)
		}
	}
}

func TestSameOrigin(t *testing.T) {
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"https://a/x", "https://a:443/y", true},
		{"http://a", "http://a:80", true},
		{"http://a", "https://a", false},
		{"http://a", "http://a:8080", false},
		{"http://a", "http://b", false},
		{"http://[::1]:1/", "http://[::1]:1/x", true},
	} {
		a, errA := url.Parse(row.a)
		b, errB := url.Parse(row.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if sameOrigin(a, b) != row.same {
			t.Errorf("%s and %s: same origin %v", row.a, row.b, !row.same)
		}
	}
}

func TestRate(t *testing.T) {
	dropped := 0
	r := newRate(registry.Limits{EventsPerSecond: 5, PingsPerSecond: 2, ResponseBytes: 100}, func(n int) { dropped += n })
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	admitted := 0
	for i := range 10 {
		if r.admit(now, i < 4) {
			admitted++
		}
	}
	if admitted != 3 { // two requests and, of the other six, one
		t.Errorf("%d admitted in one second, want 3", admitted)
	}
	if dropped != 1 {
		t.Errorf("%d told at once, want 1", dropped)
	}
	if r.report(true); dropped != 7 {
		t.Errorf("%d told in the end, want 7", dropped)
	}
	if d := r.rest(now.Add(time.Second/4), 100); d != 0 {
		t.Errorf("rest of %v for what is allowed", d)
	}
	if d := r.rest(now.Add(time.Second/4), 1); d != 3*time.Second/4 {
		t.Errorf("rest of %v, want the remainder of the second", d)
	}
	if later := now.Add(time.Second); !r.admit(later, true) || r.rest(later, 1) != 0 {
		t.Error("none admitted a second later")
	}
}

// A URL may hold a key, and so may what a server writes; neither is for errors.
func TestErrorsKeepSecrets(t *testing.T) {
	err := (*wire)(nil).clean(&url.Error{Op: "Post", URL: "https://a.example/?key=s3cr3t", Err: errors.New("refused")})
	if !errors.Is(err, registry.ErrNetwork) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%v", err)
	}
	w := &wire{limits: registry.Limits{}.WithDefaults(), headers: map[string]string{"Authorization": "Bearer s3cr3t", "X": "a"}}
	if got := w.redact("no: Bearer s3cr3t, s3cr3t"); strings.Contains(got, "s3cr3t") {
		t.Error(got)
	}
	if got := w.shown("a\x1b[2J\nb\xff" + strings.Repeat("x", 10000)); strings.ContainsAny(got, "\x1b\n") || len(got) > 2<<10 {
		t.Errorf("%.100q, %d bytes", got, len(got))
	}
}

// What the network says is named once, as the network's.
func TestNetworkErrorsAreNamedOnce(t *testing.T) {
	w := &wire{done: t.Context()}
	for _, row := range []struct {
		err  error
		kind error
		text string
	}{
		{errors.New("Failed to fetch"), registry.ErrNetwork, "no answer from the server: Failed to fetch"},
		{&url.Error{Op: "Get", URL: "https://a.example/?s3cr3t", Err: errors.New("refused")}, registry.ErrNetwork, "no answer from the server: refused"},
		{registry.Because(registry.ErrInvalidConfig, "the proxy"), registry.ErrInvalidConfig, "invalid server configuration: the proxy"},
	} {
		rt := w.bindToContexts(roundTrip(func(*http.Request) (*http.Response, error) { return nil, row.err }))
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://a.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rt.RoundTrip(req); !errors.Is(err, row.kind) || err.Error() != row.text {
			t.Errorf("%v, want %s", err, row.text)
		}
	}
}

func TestClampRetry(t *testing.T) {
	for ms, want := range map[int]time.Duration{-1: 500 * time.Millisecond, 0: 500 * time.Millisecond, 700: 700 * time.Millisecond, 1 << 40: 30 * time.Second} {
		if got := clampRetry(ms); got != want {
			t.Errorf("clampRetry(%d) = %v, want %v", ms, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, row := range []struct{ text, want string }{{"", ""}, {"abc", "abc"}, {"abcd", "abc"}, {"abé", "ab"}, {"日本", "日"}} {
		if got := cut(row.text, 3); got != row.want {
			t.Errorf("cut(%q, 3) = %q, want %q", row.text, got, row.want)
		}
	}
}

func TestStreamBudget(t *testing.T) {
	var b streamBudget
	a, c := &url.URL{Scheme: "https", Host: "a"}, &url.URL{Scheme: "https", Host: "c"}
	for i, want := range []bool{true, true, false} {
		if got := b.take(a); got != want {
			t.Errorf("stream %d to an origin: %v, want %v", i+1, got, want)
		}
	}
	if !b.take(c) {
		t.Error("origins share a budget")
	}
	b.give(a)
	if !b.take(a) {
		t.Error("a stream that was given back is lost")
	}
}

// A body ends with its request and with its session.
func TestBodiesEndWithTheirContexts(t *testing.T) {
	for _, which := range []string{"request", "session"} {
		request, cancelRequest := context.WithCancel(t.Context())
		session, cancelSession := context.WithCancel(t.Context())
		closed := make(chan struct{})
		w := &wire{done: session}
		rt := w.bindToContexts(roundTrip(func(req *http.Request) (*http.Response, error) {
			res := answer(req, 200, "")
			res.Body = &closeNotifier{closed: closed}
			return res, nil
		}))
		req, err := http.NewRequestWithContext(request, "GET", "https://a.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rt.RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		if which == "request" {
			cancelRequest()
		} else {
			cancelSession()
		}
		<-closed
		cancelRequest()
		cancelSession()
	}
}

type closeNotifier struct{ closed chan struct{} }

func (*closeNotifier) Read([]byte) (int, error) { select {} }
func (c *closeNotifier) Close() error           { close(c.closed); return nil }
