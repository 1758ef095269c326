//go:build !js

package blackbox

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience bounds the waits of tests.
const patience = time.Minute

// live checks that events arrive at once: the server sends the next event only when the
// last one has arrived.
func live(t *testing.T, r running, u *upstream) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := call{target: u.URL + "/live"}.do(ctx, r, "live")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	var worst, sum time.Duration
	const events = 20
	for i := range events {
		u.next <- struct{}{}
		sent := <-u.sent
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == fmt.Sprintf("data: {\"progress\":%d}\n", i) {
				break
			}
		}
		late := time.Since(sent)
		worst, sum = max(worst, late), sum+late
	}
	t.Logf("%d events, each after %v, at most %v", events, sum/events, worst)
}

// lasting checks that a stream outlives the time for its first byte. Another request, which begins later, exceeds
// that time meanwhile.
func lasting(t *testing.T, r running, u *upstream) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stream, err := call{config: "hurried", target: u.URL + "/live"}.do(ctx, r, "lasting")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	late, err := call{config: "hurried", target: u.URL + "/silent"}.do(ctx, r, "late")
	if err != nil {
		t.Fatal(err)
	}
	late.Body.Close()
	if late.StatusCode != 504 {
		t.Fatal(late.Status)
	}
	select {
	case u.next <- struct{}{}:
	case <-ctx.Done():
		t.Fatal("the server's stream has ended")
	}
	<-u.sent
	for lines := bufio.NewScanner(stream.Body); lines.Text() != `data: {"progress":0}`; {
		if !lines.Scan() {
			t.Fatal("the stream has ended: ", lines.Err())
		}
	}
}

// abort ends the request at each stage of an exchange, and waits for the server to notice.
func abort(t *testing.T, r running, u *upstream) {
	for _, row := range []struct {
		path string
		call call
		read int // bytes to read before leaving; -1: leave before the headers
	}{
		{"/silent", call{}, -1},
		{"/idle", call{}, 3},
		{"/idle", call{method: "GET"}, 3},
		{"/drip", call{}, 1},
		{"/drip/chunked", call{}, 1},
	} {
		name := strings.TrimSpace(row.call.method + " " + row.path)
		t.Run(name, func(t *testing.T) {
			row.call.target = u.URL + row.path
			gone := u.gone(name)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if row.read < 0 {
				go func() {
					defer cancel()
					select {
					case <-u.arrived(name):
					case <-ctx.Done():
					}
				}()
			}
			res, err := row.call.do(ctx, r, name)
			if row.read >= 0 {
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if _, err := io.ReadFull(res.Body, make([]byte, row.read)); err != nil {
					t.Fatalf("the body's first bytes were held back: %v", err)
				}
				cancel()
			}
			left := time.Now()
			select {
			case <-gone:
			case <-time.After(patience):
				t.Fatal("the server was not left")
			}
			t.Logf("after %v", time.Since(left))
		})
	}
	t.Run("upload", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		more, first := io.Pipe()
		go func() {
			_, _ = first.Write(make([]byte, 64<<10))
			select {
			case <-u.arrived("upload"):
			case <-ctx.Done():
			}
			cancel()
			first.CloseWithError(io.ErrUnexpectedEOF)
		}()
		_, _ = call{target: u.URL + "/swallow", body: more}.do(ctx, r, "upload")
		select {
		case <-u.gone("upload"):
		case <-time.After(patience):
			t.Fatal("the server was not left")
		}
	})
}

// cutOff checks that a response of unknown length that is too long ends with an error.
func cutOff(t *testing.T, r running, u *upstream) {
	res, err := call{config: "tight", target: u.URL + "/large?chunked=1&bytes=100000"}.do(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil || len(body) > 1000 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

// streams opens as many streams as one caller may have, one more, and one after another ended.
func streams(t *testing.T, r running, u *upstream) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	open := func(ctx context.Context, name string) *http.Response {
		res, err := call{config: "tight", method: "GET", target: u.URL + "/idle"}.do(ctx, r, name)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for range 3 { // streams that have no body count no longer than their exchange
		c := call{config: "tight", method: "DELETE", target: u.URL + "/events/status?code=204",
			header: map[string]string{"Mcp-Session-Id": "s"}}
		res, err := c.do(ctx, r, "no body")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	first, leave := context.WithCancel(ctx)
	defer leave()
	one, two := open(first, "one"), open(ctx, "two")
	defer one.Body.Close()
	defer two.Body.Close()
	three := open(ctx, "three")
	three.Body.Close()
	if one.StatusCode != 200 || two.StatusCode != 200 || three.StatusCode != 429 ||
		three.Header.Get("X-Proxy-Error") != "too_many_streams" || three.Header.Get("Retry-After") == "" {
		t.Fatalf("%d, %d, %d %s", one.StatusCode, two.StatusCode, three.StatusCode, three.Header)
	}
	if r.deaf {
		return
	}
	leave()
	left := time.Now()
	for i := 0; ; i++ {
		again := open(ctx, fmt.Sprint("again", i))
		again.Body.Close()
		if again.StatusCode == 200 {
			t.Logf("a stream was free after %v", time.Since(left))
			break
		}
	}
}

// manyBytes sends 50 MB both ways.
func manyBytes(t *testing.T, r running, u *upstream) {
	const n = 50_000_000
	for _, row := range []struct {
		name string
		call call
		size int64
	}{
		{"up", call{target: u.URL + "/echo", body: bytes.NewReader(make([]byte, n))}, -1},
		{"up, chunked", call{target: u.URL + "/echo", body: io.LimitReader(zeros{}, n)}, -1},
		{"down", call{target: u.URL + "/large?bytes=" + strconv.Itoa(n)}, n},
		{"down, chunked", call{target: u.URL + "/large?chunked=1&bytes=" + strconv.Itoa(n)}, n},
	} {
		t.Run(row.name, func(t *testing.T) {
			peak(t, r.pid)
			before := peak(t, r.pid) // the memory at rest
			begun := time.Now()
			res, err := row.call.do(t.Context(), r, "")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if row.size >= 0 {
				got, err := io.Copy(io.Discard, res.Body)
				if err != nil || got != row.size {
					t.Fatalf("%d bytes, %v", got, err)
				}
				if !strings.Contains(row.name, "chunked") && res.ContentLength != n {
					t.Errorf("the length became %d", res.ContentLength)
				}
			} else if body, err := io.ReadAll(res.Body); err != nil || string(body) != `{"bytes":50000000}` {
				t.Fatalf("%s, %v", body, err)
			}
			if r.pid == 0 {
				return // the server's memory and the client's are in the same process
			}
			grown := peak(t, r.pid) - before
			t.Logf("grew by at most %.1f MB in %v", float64(grown)/1e6, time.Since(begun))
			if grown > 20e6 {
				t.Errorf("memory grew by %d bytes", grown)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// peak returns the largest memory of a process since the last call, in bytes.
func peak(t *testing.T, pid int) int64 {
	if pid == 0 {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}
