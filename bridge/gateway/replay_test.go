//go:build !windows

package gateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An sse is a response that a test reads, and breaks off.
type sse struct {
	t     *testing.T
	lines *bufio.Scanner
	cut   func()
}

func (s *session) sse(t *testing.T, method, body, lastEvent string) *sse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	req, err := http.NewRequestWithContext(ctx, method, s.url(s.server), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + s.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Session-Id": s.id, "Mcp-Protocol-Version": "2025-11-25", "Last-Event-Id": lastEvent,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	return &sse{t, bufio.NewScanner(res.Body), func() { cancel(); res.Body.Close() }}
}

// next returns the next event's id and data, or empty texts at the end.
func (r *sse) next() (id, data string) {
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ":")
		switch value = strings.TrimSpace(value); {
		case name == "id":
			id = value
		case name == "data":
			data = value
		case r.lines.Text() == "" && id != "":
			return id, data
		}
	}
	return "", ""
}

// rest returns the ids of the events up to the end, and the data of the last one.
func (r *sse) rest() (ids []string, last string) {
	for {
		id, data := r.next()
		if id == "" {
			return ids, last
		}
		_, n, _ := strings.Cut(id, "-")
		ids, last = append(ids, n), data
	}
}

const progressLine = `"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d,\"message\":\"n%s\"}}"`

// A response that breaks off in the middle of a call is resumed, with each message once.
func TestResponsesAreResumed(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	s, other := r.begin("raw"), r.begin("raw")
	call := func(id string) (broken *sse, event, program string) {
		t.Helper()
		broken = s.sse(t, "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"do","params":{"_meta":{"progressToken":"p"},"arguments":{"lines":[`+
			progressLine+`]}}}`, id, "ID", 1, "ID"), "")
		first, data := broken.next()
		if !strings.HasSuffix(first, "-0") || data != "" {
			t.Fatalf("the first event is %s: %s", first, data)
		}
		event, data = broken.next()
		if event != strings.TrimSuffix(first, "0")+"1" || !strings.Contains(data, `"progressToken":"p"`) {
			t.Fatalf("the progress is %s: %s", event, data)
		}
		_, program, _ = strings.Cut(data, `"message":"n`)
		program, _, _ = strings.Cut(program, `"`)
		return broken, event, program
	}
	finish := func(program string) {
		t.Helper()
		s.request(fmt.Sprintf(`{"jsonrpc":"2.0","id":"finish","method":"do","params":{"arguments":{"lines":[`+progressLine+`,`+progressLine+
			`,"{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"whole\":true}}","{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}"]}}}`,
			program, 2, "", program, 3, "", program))
	}
	broken, event, program := call("a")
	broken.cut()
	finish(program)
	for _, row := range [][2]string{{"0", "[1 2 3 4]"}, {"1", "[2 3 4]"}, {"1", "[2 3 4]"}, {"3", "[4]"}, {"4", "[]"}} {
		ids, last := s.sse(t, "GET", "", strings.TrimSuffix(event, "1")+row[0]).rest()
		if fmt.Sprint(ids) != row[1] || row[1] != "[]" && last != `{"jsonrpc":"2.0","id":"a","result":{"whole":true}}` {
			t.Errorf("after %s came %v, last %s", row[0], ids, last)
		}
	}
	// A newer response takes over, while the call is under way.
	older, event, program := call("b")
	newer := s.sse(t, "GET", "", event)
	if ids, _ := older.rest(); ids != nil {
		t.Errorf("the older response goes on with %v", ids)
	}
	finish(program)
	if ids, last := newer.rest(); fmt.Sprint(ids) != "[2 3 4]" || !strings.Contains(last, `"id":"b"`) {
		t.Errorf("the newer response has %v, last %s", ids, last)
	}
	// It stays while many others end.
	older, event, program = call("c")
	newer = s.sse(t, "GET", "", event)
	older.rest()
	for range maxStreams + 1 {
		ended, _, program := call("d")
		finish(program)
		ended.rest()
	}
	finish(program)
	if ids, last := newer.rest(); fmt.Sprint(ids) != "[2 3 4]" || !strings.Contains(last, `"id":"c"`) {
		t.Errorf("the newer response has %v, last %s", ids, last)
	}
	// Nobody else gets it, and what is not kept is an error that says so.
	for _, row := range []struct {
		s     *session
		event string
	}{{other, event}, {s, "unknown-1"}, {s, "1"}, {s, strings.TrimSuffix(event, "1") + "x"}} {
		res, text := row.s.do("GET", "/s/raw/mcp", "", "Mcp-Session-Id", row.s.id, "Last-Event-Id", row.event)
		if res.StatusCode != 400 || !strings.Contains(text, "not kept any more") {
			t.Errorf("%s: %d %s", row.event, res.StatusCode, text)
		}
	}
}

func TestANewerResponseEndsAnOlderOne(t *testing.T) {
	s := newStream(Limits{Queue: 1})
	older, newer := s.enter(-1), s.enter(-1)
	select {
	case <-older:
	default:
		t.Error("the older response waits for a message, which the newer one may take")
	}
	if _, _, ok := s.take(older); ok {
		t.Error("the older response goes on")
	}
	if _, _, ok := s.take(newer); !ok {
		t.Error("the newer response does not write the stream")
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	s := newStream(Limits{Queue: 1000, Message: 1 << 20})
	s.id = "a"
	turn := s.enter(-1)
	s.begin(new(bytes.Buffer))
	for range 3 * maxSentEvents {
		s.put([]byte("x"))
	}
	s.take(turn)
	if len(s.sent) != maxSentEvents || s.sent[len(s.sent)-1].n != 3*maxSentEvents {
		t.Errorf("%d events are kept", len(s.sent))
	}
	large := bytes.Repeat([]byte("x"), maxSentBytes/2+1)
	for range 3 {
		s.put(large)
	}
	s.take(turn)
	if len(s.sent) != 1 {
		t.Errorf("%d large events are kept", len(s.sent))
	}
	s.exit(turn)
	for range 2 * maxSentEvents {
		s.put([]byte("x"))
	}
	if len(s.queue) != maxSentEvents {
		t.Errorf("%d events wait for a client that is away", len(s.queue))
	}

	p, to := &program{}, &peer{}
	for i := range 3 * maxStreams {
		s := newStream(Limits{})
		p.resumable(to, s)
		turn := s.enter(-1)
		s.begin(new(bytes.Buffer))
		if i >= 2*maxStreams {
			s.end(large)
		}
		s.take(turn)
		s.exit(turn)
		p.written(to, s)
		if n := len(to.replay); n > maxStreams {
			t.Fatalf("%d streams are kept", n)
		}
	}
	if n := len(to.replay); n != maxBytes/len(large) {
		t.Errorf("%d large streams are kept", n)
	}
	to.replay[0].over = time.Now().Add(-replayTime - time.Second)
	p.written(to, nil)
	if n := len(to.replay); n != maxBytes/len(large)-1 {
		t.Errorf("%d streams are kept after their time", n)
	}
}

// A cutter passes connections on, until it cuts them.
type cutter struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	work  sync.WaitGroup
}

func newCutter(t *testing.T, to string) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l}
	c.work.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, in, out)
			c.mu.Unlock()
			c.work.Go(func() { _, _ = io.Copy(in, out); in.Close() })
			c.work.Go(func() { _, _ = io.Copy(out, in); out.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); c.cut(); c.work.Wait() })
	return c
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

type throughHost struct {
	withToken
	host string
}

func (h throughHost) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Host = h.host
	return h.withToken.RoundTrip(req)
}

// go-sdk's client loses all connections while the program asks it something, and has the result of its call.
func TestAClientLosesItsConnectionInACall(t *testing.T) {
	t.Parallel()
	r := serve(t, nil, testServer(t, "sdk", "sdk"))
	c := newCutter(t, r.Addr())
	cuts := 0
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			cuts++
			c.cut()
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint:   "http://" + c.Addr().String() + "/s/sdk/mcp",
		HTTPClient: &http.Client{Transport: throughHost{withToken{r.token}, r.Addr()}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ask"})
	if got := textOf(t, result, err); got != "acceptAda" || cuts != 1 {
		t.Errorf("%q after %d cuts", got, cuts)
	}
}
