package nethttp

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
)

const acceptEncoding = "gzip, deflate"

var errEncoding = errors.New("the content encoding is neither gzip nor deflate")

// decompress returns the body of res without its content encoding. Callers have to bound
// their reading, because a small body can decompress to a large one.
func decompress(res *http.Response) (io.ReadCloser, error) {
	var open func(*bufio.Reader) (io.Reader, error)
	switch strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return res.Body, nil
	case "gzip", "x-gzip":
		open = func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		open = inflate
	default:
		return res.Body, errEncoding
	}
	return &decompressed{Closer: res.Body, open: open, in: bufio.NewReader(res.Body)}, nil
}

// inflate reads deflate with the header of zlib, as RFC 9110 defines it, and without, as
// some servers send it.
func inflate(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// decompressed opens its decoder at the first Read, because the gzip header of an event
// stream arrives with the first event.
type decompressed struct {
	io.Closer
	open func(*bufio.Reader) (io.Reader, error)
	in   *bufio.Reader
	out  io.Reader
}

// Read implements [io.Reader].
func (d *decompressed) Read(p []byte) (int, error) {
	if d.out == nil {
		var err error
		if d.out, err = d.open(d.in); err != nil {
			return 0, err
		}
	}
	return d.out.Read(p)
}
