package socket

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// between returns the two ends of a socket; the first has the limits.
func between(t *testing.T, limits Limits) (limited *Conn, peer *websocket.Conn) {
	t.Helper()
	accepted := make(chan *Conn, 1)
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ws, err := websocket.Accept(w, req, nil)
		if err != nil {
			t.Error(err)
			return
		}
		accepted <- New(ws, nil, limits)
		<-done
		ws.CloseNow()
	}))
	t.Cleanup(func() { close(done); server.Close() })
	peer, _, err := websocket.Dial(t.Context(), server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.CloseNow() })
	peer.SetReadLimit(-1)
	return <-accepted, peer
}

func TestLimits(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, row := range []struct {
		name   string
		kind   websocket.MessageType
		frames []string
		want   error
		code   websocket.StatusCode
	}{
		{"as large as may be", websocket.MessageText, []string{ping + strings.Repeat(" ", 1000-len(ping))}, nil, 0},
		{"larger", websocket.MessageText, []string{ping + strings.Repeat(" ", 1001-len(ping))}, ErrTooLarge,
			websocket.StatusMessageTooBig},
		{"as deep as may be", websocket.MessageText, []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":[[[]]]}`}, nil,
			0},
		{"deeper", websocket.MessageText, []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":[[[[]]]]}`}, ErrTooDeep,
			websocket.StatusPolicyViolation},
		{"brackets in strings", websocket.MessageText,
			[]string{`{"jsonrpc":"2.0","id":1,"method":"m","params":["[[[[\"[[[["]}`}, nil, 0},
		{"binary", websocket.MessageBinary, []string{ping}, ErrNotText, websocket.StatusUnsupportedData},
		{"not JSON-RPC", websocket.MessageText, []string{`{"hello":1}`}, ErrNotText, websocket.StatusInvalidFramePayloadData},
		{"not JSON", websocket.MessageText, []string{`hello`}, ErrNotText, websocket.StatusInvalidFramePayloadData},
		{"too many", websocket.MessageText, []string{ping, ping, ping, ping, ping, ping, ping, ping}, ErrTooFast,
			websocket.StatusPolicyViolation},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, peer := between(t, Limits{Frame: 1000, Depth: 4, PerSecond: 2})
			if row.want != ErrTooFast {
				c.rate = newLimiter(1000)
			}
			go func() {
				for _, f := range row.frames {
					_ = peer.Write(context.Background(), row.kind, []byte(f))
				}
			}()
			closed := make(chan error, 1)
			if row.want != nil {
				go func() { _, _, err := peer.Read(context.Background()); closed <- err }()
			}
			var err error
			for range row.frames {
				if _, err = c.Read(t.Context()); err != nil {
					break
				}
			}
			if !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
			if row.want == nil {
				return
			}
			if got := websocket.CloseStatus(<-closed); got != row.code {
				t.Errorf("the peer hears %v, want %v", got, row.code)
			}
			if !errors.Is(c.Why(), row.want) {
				t.Errorf("why: %v", c.Why())
			}
		})
	}
}

func TestNothingTooLargeIsSent(t *testing.T) {
	c, peer := between(t, Limits{Frame: 100})
	if err := c.Send(t.Context(), make([]byte, 101)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	id, _ := jsonrpc.MakeID("a")
	if err := c.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "ping"}); err != nil {
		t.Fatal(err)
	}
	if _, text, err := peer.Read(t.Context()); err != nil || string(text) != `{"jsonrpc":"2.0","id":"a","method":"ping"}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newLimiter(10)
		passed := func() (n int) {
			for r.Allow() {
				n++
			}
			return n
		}
		if got := passed(); got != 20 {
			t.Errorf("at once: %d", got)
		}
		time.Sleep(time.Second)
		if got := passed(); got != 10 {
			t.Errorf("a second later: %d", got)
		}
	})
}

// FuzzFrame reads any frame, as the bridge does after the proof.
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`))
	f.Add([]byte(`{"a":"\"[[[["}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if TooDeep(text, 64) {
			return
		}
		if m, err := jsonrpc.DecodeMessage(text); err == nil {
			if _, err := jsonrpc.EncodeMessage(m); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
