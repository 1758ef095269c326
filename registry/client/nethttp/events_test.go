package nethttp

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
)

// scan reads all events of a stream, with at most max bytes for each event.
func scan(r io.Reader, max int) (all []seen, err error) {
	s := newScanner(r, max)
	for {
		e, err := s.next()
		if err != nil {
			return all, err
		}
		all = append(all, seen{e.name, string(e.data), s.lastID, s.retry})
	}
}

// seen is an event with the state of the stream behind it.
type seen struct {
	name, data, lastID string
	retry              time.Duration
}

func TestEvents(t *testing.T) {
	type ev = seen
	data := func(s string) seen { return seen{data: s, retry: -1} }
	for _, row := range []struct {
		name, text string
		want       []seen
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []ev{data("a")}},
		{"cut off", "data: a\n", nil},
		{"cut off after whole JSON", "data: {}\n", []ev{data("{}")}},
		{"cut off within a line", "data: {\"a\":", nil},
		{"cut off behind whole JSON", "data: {}", []ev{data("{}")}},
		{"cut off within an id", "data: {}\nid: 1", []ev{data("{}")}},
		{"cut off before its last line end", "data: a\n\ndata: b\n", []ev{data("a")}},
		{"lines", "data: a\ndata:\ndata:b\n\n", []ev{data("a\n\nb")}},
		{"one space goes", "data:  a \n\n", []ev{data(" a ")}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\n", []ev{data("a\nb")}},
		{"CR", "data: a\rdata: b\r\r", []ev{data("a\nb")}},
		{"mixed ends", "data: a\r\ndata: b\rdata: c\n\r\n", []ev{data("a\nb\nc")}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []ev{data("a")}},
		{"mark elsewhere", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []ev{data("a")}},
		{"comment", ": data: a\n\n:\n\n", nil},
		{"fields", "event: x\nid: 1\nretry: 5\ndata: a\n\n", []ev{{"x", "a", "1", 5 * time.Millisecond}}},
		{"fields do not carry over", "event: x\nid: 1\ndata: a\n\ndata: b\n\n",
			[]ev{{"x", "a", "1", -1}, {"", "b", "1", -1}}},
		{"no colon", "data\nevent\n\n", []ev{data("")}},
		{"unknown", "x: y\n\ndatax: z\n\n", nil},
		{"id only", "id: 7\n\n", []ev{{"", "", "7", -1}}},
		{"id with NUL", "id: \x00\ndata: a\n\n", []ev{data("a")}},
		{"empty lines between", "\n\n\ndata: a\n\n\n\n", []ev{data("a")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":      strings.NewReader(row.text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(row.text)),
				"with error":   iotest.DataErrReader(strings.NewReader(row.text)),
			} {
				got, err := scan(r, 100)
				if err != io.EOF {
					t.Errorf("%s: %v, want io.EOF", how, err)
				}
				if d := cmp.Diff(row.want, got, cmp.AllowUnexported(seen{})); d != "" {
					t.Errorf("%s (-want +got):\n%s", how, d)
				}
			}
		})
	}
}

func TestEventsAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"line":     "data: " + strings.Repeat("x", 200) + "\n\n",
		"no end":   strings.Repeat("x", 1<<20),
		"lines":    strings.Repeat("data: x\n", 100) + "\n",
		"comments": "data: a\n" + strings.Repeat(": x\n", 100) + "\n",
	} {
		if _, err := scan(strings.NewReader(text), 100); !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v, want errTooLarge", name, err)
		}
	}
	if all, err := scan(strings.NewReader(strings.Repeat("data: x\n\n: y\n\n", 1000)), 100); err != io.EOF ||
		len(all) != 1000 {
		t.Errorf("%d small events, %v", len(all), err)
	}
}

// lastEvent keeps the last event of an exchange.
type lastEvent struct{ client.Event }

func (l *lastEvent) Deliver(_ uint32, e *client.Event) bool {
	l.Event = *e
	return true
}

// Comments are no events. They count in the bounds of bytes all the same.
func TestCommentsAreBounded(t *testing.T) {
	const most = 1 << 20
	for name, row := range map[string]struct {
		exchange client.Exchange
		why      client.Reason
		least    time.Duration
	}{
		"a stream with an answer": {client.Exchange{Awaits: 1}, client.TooLarge, 0},
		"a session's stream":      {client.Exchange{}, client.EOF, 2 * time.Second},
		"an optional stream":      {client.Exchange{Head: true}, client.EOF, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, sink := reading(registry.Limits{ResponseBytes: most}), new(lastEvent)
				x.Exchange, x.ctx, x.p.sink = &row.exchange, t.Context(), sink
				body := strings.NewReader(strings.Repeat(":\n\n", 4*most/3))
				began := time.Now()
				x.readEvents(body)
				if sink.Why != row.why {
					t.Errorf("ended with %v (%s), want %v", sink.Why, sink.Text, row.why)
				}
				if took := time.Since(began); took < row.least {
					t.Errorf("read in %v, want %v", took, row.least)
				}
				if row.least == 0 && body.Len() == 0 {
					t.Error("the whole stream was read")
				}
			})
		})
	}
}

// An endless has the same bytes over and over, and counts those that were read.
type endless struct {
	text []byte
	read int
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.read > 1<<28 {
		return 0, io.EOF
	}
	for n < len(p) {
		n += copy(p[n:], e.text[(e.read+n)%len(e.text):])
	}
	e.read += n
	return n, nil
}

func (*endless) Close() error { return nil }

// A compressed body may be without end and hold nothing: a decoder reads on until there is something.
func TestCompressedNothingIsBounded(t *testing.T) {
	var nothing bytes.Buffer
	_ = gzip.NewWriter(&nothing).Close()
	for name, row := range map[string]struct {
		contentType string
		exchange    client.Exchange
		why         client.Reason
	}{
		"JSON":                    {"application/json", client.Exchange{Method: "POST", Awaits: 1}, client.TooLarge},
		"a stream with an answer": {"text/event-stream", client.Exchange{Method: "POST", Awaits: 1}, client.TooLarge},
		"an optional stream":      {"text/event-stream", client.Exchange{Method: "GET", Head: true}, client.Network},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, sink := reading(registry.Limits{ResponseBytes: 1 << 20}), new(lastEvent)
				body := &endless{text: nothing.Bytes()}
				row.exchange.URL = "https://server.example/"
				x.Exchange, x.ctx, x.p.sink = &row.exchange, t.Context(), sink
				x.p.rt = round(func(*http.Request) (*http.Response, error) {
					header := http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {row.contentType}}
					return &http.Response{StatusCode: 200, Header: header, Body: body}, nil
				})
				x.run()
				if sink.Why != row.why || !sink.Last || body.read > 4<<20 {
					t.Errorf("%d bytes were read, and it ended with %v (%s), want %v", body.read, sink.Why, sink.Text, row.why)
				}
			})
		})
	}
}

// round is an [http.RoundTripper].
type round func(*http.Request) (*http.Response, error)

func (r round) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// A batch with many answers to one request needs little memory.
func TestAnswersOfABatch(t *testing.T) {
	const many = 200_000
	x, sink := reading(registry.Limits{}), new(lastEvent)
	x.Exchange, x.ctx, x.p.sink = &client.Exchange{Awaits: 4}, t.Context(), sink
	batch := []byte("[" + strings.Repeat(`{"id":4,"result":{"n":1}},`, many) + `{"id":4,"result":{"n":2}}]`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := x.messages(batch); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / many; each > 400 {
		t.Errorf("%d bytes for each answer", each)
	}
	if sink.Text != `{"id":4,"result":{"n":1}}` || !sink.Last {
		t.Errorf("the answer is %q", sink.Text)
	}
}

// FuzzEvents checks that the sizes of reads do not change the events.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "\xef\xbb\xbfid: 1\r\ndata: {}\r\n\r\n", "data\rdata\r\r",
		"event: x\nretry: 1\n\n: c\n", "data: a\r\n\ndata: b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := scan(bytes.NewReader(text), 64)
		pieces, pieceErr := scan(iotest.OneByteReader(bytes.NewReader(text)), 64)
		if (err == io.EOF) != (pieceErr == io.EOF) || len(whole) != len(pieces) {
			t.Fatalf("%q: %d events and %v at once, %d and %v byte by byte", text, len(whole), err, len(pieces), pieceErr)
		}
		for i, e := range whole {
			if e != pieces[i] {
				t.Fatalf("%q: event %d differs: %+v, %+v", text, i, e, pieces[i])
			}
			if len(e.data) > 64 || strings.ContainsRune(e.data, '\r') {
				t.Fatalf("%q: data %q", text, e.data)
			}
		}
	})
}

func TestSendable(t *testing.T) {
	long := strings.Repeat("x", longestID)
	for id, want := range map[string]string{"7": "7", "": "", "a\x01": "", "é": "", long: long, long + "y": ""} {
		if got := sendable(id); got != want {
			t.Errorf("an id of %d bytes becomes one of %d", len(id), len(got))
		}
	}
}
