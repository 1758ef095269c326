package nethttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// An exchange is one HTTP request with its response. One goroutine runs it.
type exchange struct {
	*client.Exchange
	p    *Platform
	ctx  context.Context // ends with Cancel
	raw  counter         // the body as it comes, perhaps compressed
	over bool            // the last event was emitted
}

func (x *exchange) emit(e *client.Event) {
	if x.over {
		if e.Table != 0 {
			x.p.Free(e.Table)
		}
		return
	}
	if e.Last {
		x.over = true
		x.p.mu.Lock()
		delete(x.p.live, x.ID)
		x.p.mu.Unlock()
	}
	x.p.sink.Deliver(x.ID, e)
}

func (x *exchange) end(why client.Reason, text string) {
	x.emit(&client.Event{Kind: client.End, Last: true, Why: why, Text: text, Retry: -1})
}

func (x *exchange) run() {
	defer func() {
		if recover() != nil {
			x.end(client.NotMCP, "a message could not be handled")
		}
	}()
	req, err := http.NewRequestWithContext(x.ctx, x.Method, x.URL, bytes.NewReader(x.Body))
	if err != nil {
		x.end(client.Network, "the URL cannot be used")
		return
	}
	for i := 0; i+1 < len(x.Header); i += 2 {
		req.Header.Set(x.Header[i], x.Header[i+1])
	}
	req.Header.Set("Accept-Encoding", acceptEncoding)
	res, err := x.p.rt.RoundTrip(req)
	if err != nil {
		x.end(client.Network, networkError(err))
		return
	}
	x.p.noteProtocol(req.URL, res.ProtoMajor)
	body := res.Body
	defer func() { _ = body.Close() }()
	x.raw.r = body
	x.raw.before = func() error {
		if x.raw.n > 2*x.p.limits.ResponseBytes { // there are compressed bodies without end that hold nothing
			return errTooLarge
		}
		return nil
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{&x.raw, body}
	if res.Body, err = decompress(res); err != nil {
		x.end(client.NotMCP, err.Error())
		return
	}
	x.read(res)
	if x.over {
		drain(x.ctx, body)
	}
}

// networkError returns the words for a request without response, without its URL.
func networkError(err error) string {
	if errors.Is(err, context.Canceled) {
		return ""
	}
	// The URL may contain a key.
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	return err.Error()
}

const (
	drainBytes = 64 << 10
	drainTime  = time.Second
)

// drain reads the short rest of a body behind the response that was awaited. HTTP/1.1
// cannot reuse a connection whose body is closed before its end.
func drain(ctx context.Context, body io.ReadCloser) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = body.Close() })
	defer stop()
	_, _ = io.CopyN(io.Discard, body, drainBytes)
}

// maxWhole bounds the body of an exchange with Whole, in bytes.
const maxWhole = 256 << 10

func (x *exchange) read(res *http.Response) {
	limits := &x.p.limits
	switch success := res.StatusCode >= 200 && res.StatusCode <= 299; {
	case x.Whole:
		text, err := readBounded(res.Body, maxWhole)
		if err != nil {
			x.broken(err)
			return
		}
		x.emit(refusal(res, text))
		return
	case !success:
		text, _ := io.ReadAll(io.LimitReader(res.Body, int64(limits.ErrorBytes)))
		x.emit(refusal(res, text))
		return
	}
	if x.Head {
		x.emit(&client.Event{Kind: client.Head, Status: res.StatusCode, Header: headerLines(res.Header)})
	}
	noBody := res.StatusCode == http.StatusAccepted || res.StatusCode == http.StatusNoContent
	switch {
	case x.Awaits == 0 && (noBody || x.Method != http.MethodGet):
		x.end(client.EOF, "")
		return
	case noBody:
		x.end(client.NotMCP, "status "+res.Status+" to a request")
		return
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		x.readEvents(res.Body)
	case x.Awaits == 0 || kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		x.end(client.NotMCP, "content type is "+contentType(kind))
	default:
		x.readJSON(res.Body)
	}
}

func contentType(kind string) string {
	if kind == "" {
		return "missing"
	}
	return string(rawjson.AppendString(nil, kind[:min(len(kind), 100)]))
}

func (x *exchange) readJSON(body io.Reader) {
	text, err := readBounded(body, x.p.limits.ResponseBytes)
	if err == nil {
		err = x.messages(text)
	}
	if err != nil {
		x.broken(err)
		return
	}
	x.end(client.NotMCP, "the response has no answer")
}

var (
	errTooLarge = errors.New("response is over its limit")
	errNotJSON  = errors.New("the response is not JSON")
)

// readBounded reads all of r. More than most bytes are errTooLarge.
func readBounded(r io.Reader, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		err = errTooLarge
	}
	return text, err
}

// broken ends the exchange after an error while its body was read.
func (x *exchange) broken(err error) {
	switch {
	case errors.Is(err, errTooLarge):
		x.end(client.TooLarge, err.Error())
	case errors.Is(err, errNotJSON):
		x.end(client.NotMCP, err.Error())
	default:
		x.end(client.Network, "the response broke off")
	}
}

// refusal returns the event for a response that is not a success.
func refusal(res *http.Response, text []byte) *client.Event {
	return &client.Event{
		Kind: client.Refused, Last: true, Status: res.StatusCode, Header: headerLines(res.Header),
		Text: strings.ToValidUTF8(string(text), "\ufffd"),
	}
}

// readable are the response headers that the client reads.
var readable = []string{
	"mcp-session-id", "content-type", "retry-after", "www-authenticate", "dpop-nonce", "location", "x-proxy-error",
	"x-portolan-binding",
}

// maxHeader bounds the value of a header field, in bytes.
const maxHeader = 8 << 10

func headerLines(h http.Header) string {
	var lines []string
	for _, name := range readable {
		value := strings.Join(h.Values(name), ", ")
		if at, err := http.ParseTime(value); err == nil && name == "retry-after" {
			value = strconv.Itoa(int(max(0, time.Until(at).Seconds()+1)))
		}
		if value != "" {
			lines = append(lines, name, value[:min(len(value), maxHeader)])
		}
	}
	return strings.Join(lines, "\n")
}
