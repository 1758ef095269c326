//go:build !js

package blackbox

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// An upstream is a server behind the proxy. Each path behaves in one way. Requests are kept
// under their X-Case header.
type upstream struct {
	*httptest.Server
	// next lets the event stream of /live send one more event, and waits for it.
	next chan struct{}
	sent chan time.Time

	mu    sync.Mutex
	seen  map[string]*http.Request
	moves map[string]chan struct{}
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{next: make(chan struct{}), sent: make(chan time.Time), seen: map[string]*http.Request{},
		moves: map[string]chan struct{}{}}
	u.Server = httptest.NewUnstartedServer(u)
	u.Server.Config.ErrorLog = nil
	u.Start()
	t.Cleanup(func() {
		u.CloseClientConnections()
		u.Close()
	})
	return u
}

// saw returns the request of a case as it arrived, or nil.
func (u *upstream) saw(name string) *http.Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[name]
}

// arrived is closed when the request of a case arrives, gone when the proxy ended it.
func (u *upstream) arrived(name string) chan struct{} { return u.move("arrived " + name) }
func (u *upstream) gone(name string) chan struct{}    { return u.move("gone " + name) }

func (u *upstream) move(name string) chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.moves[name] == nil {
		u.moves[name] = make(chan struct{})
	}
	return u.moves[name]
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Header.Get("X-Case")
	u.mu.Lock()
	u.seen[name] = r
	u.mu.Unlock()
	json := func() { w.Header().Set("Content-Type", "application/json") }
	events := func() {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
	}
	wait := func() {
		close(u.arrived(name))
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices that a client has left once the body is read
		<-r.Context().Done()
		close(u.gone(name))
	}
	switch path := r.URL.Path; path {
	case "/echo":
		n, _ := io.Copy(io.Discard, r.Body)
		json()
		fmt.Fprintf(w, `{"bytes":%d}`, n)
	case "/headers":
		json()
		h := w.Header()
		h.Set("Www-Authenticate",
			`Bearer realm="a, b", resource_metadata="https://a.example/x?y=1,2", error="invalid, token"`)
		h["Set-Cookie"] = []string{"a=b; Path=/", "c=d"}
		h["Mcp-Session-Id"] = []string{"0, 0, 1"}
		h["X-Quoted"] = []string{`"a, b", 'c', "d\"e,f"`}
		h["X-Empty"] = []string{""}
		h["Keep-Alive"] = []string{"timeout=5"}
		h["Proxy-Authenticate"] = []string{"Basic"}
		h["Access-Control-Allow-Origin"] = []string{"https://someone.example"}
		h["Access-Control-Expose-Headers"] = []string{"X-Quoted"}
		h["Strict-Transport-Security"] = []string{"max-age=1"}
		_, _ = io.WriteString(w, "{}")
	case "/status":
		code, _ := strconv.Atoi(r.URL.Query().Get("code"))
		w.WriteHeader(code)
	case "/events/status": // a framework may name a type for each response
		code, _ := strconv.Atoi(r.URL.Query().Get("code"))
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(code)
	case "/.well-known/oauth-authorization-server/cut":
		json()
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "/redirect":
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/gzip":
		json()
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, gzipped)
	case "/gzip/chunked":
		json()
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, gzipped[:9])
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, gzipped[9:])
	case "/large":
		json()
		n, _ := strconv.Atoi(r.URL.Query().Get("bytes"))
		if r.URL.Query().Get("chunked") == "" {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		} else {
			_ = http.NewResponseController(w).Flush()
		}
		for part := strings.Repeat("x", 64<<10); n > 0; n -= len(part) {
			_, _ = io.WriteString(w, part[:min(n, len(part))])
		}
	case "/silent":
		wait()
	case "/idle":
		events()
		wait()
	case "/drip", "/drip/chunked":
		json()
		if path == "/drip" {
			w.Header().Set("Content-Length", "1000")
		}
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		wait()
	case "/swallow":
		close(u.arrived(name))
		_, _ = io.Copy(io.Discard, r.Body)
		close(u.gone(name))
	case "/live":
		events()
		for i := 0; ; i++ {
			select {
			case <-u.next:
			case <-r.Context().Done():
				return
			}
			fmt.Fprintf(w, "id: %d\ndata: {\"progress\":%d}\n\n", i, i)
			_ = http.NewResponseController(w).Flush()
			u.sent <- time.Now()
		}
	case "/events":
		events()
		_, _ = io.WriteString(w, "data: 1\n\n")
	case "/.well-known/oauth-authorization-server":
		json()
		to := io.Writer(w)
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			zipped := gzip.NewWriter(w)
			defer zipped.Close()
			to = zipped
		}
		fmt.Fprintf(to, `{"issuer":%q,"token_endpoint":%q}`, u.URL, u.URL+"/token")
	case "/token":
		_ = r.ParseForm()
		json()
		fmt.Fprintf(w, `{"access_token":%q}`, r.PostForm.Get("code"))
	default:
		http.NotFound(w, r)
	}
}

// gzipped is {} as gzip(1) writes it.
const gzipped = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00"
