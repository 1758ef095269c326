package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/portolan-mcp/portolan/bridge/socket"
)

// A lineReader reads a client's messages, one a line. Lines that are no messages are
// answered: they would end the session, or that of the bridge behind this one.
type lineReader struct {
	io.Closer
	r    *bufio.Reader
	w    *lineWriter
	rest []byte // of what Read returns
}

func newLineReader(in io.ReadCloser, w *lineWriter) *lineReader {
	return &lineReader{Closer: in, r: bufio.NewReaderSize(in, 64<<10), w: w}
}

// longestLine bounds what is kept of a line, in bytes. A message beyond the limit of its frame is answered up to there.
const longestLine = 32 << 20

// line reads the next line. It keeps the beginning of a longer one, which is no message.
func (l *lineReader) line() (line []byte, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part[:min(len(part), longestLine-len(line))]...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// next returns the messages of the next line: one, or those of a batch (2025-03-26).
func (l *lineReader) next() (messages []json.RawMessage, err error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			large := len(line) > localLimits.Frame || socket.TooDeep(line, localLimits.Depth)
			if messages = messagesIn(line); len(messages) > 0 && !large {
				return messages, nil
			}
			l.w.refuse(line)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Read returns messages, one a line. go-sdk would not answer a batch with a notification, and end a newer session.
func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		messages, err := l.next()
		if err != nil {
			return 0, err
		}
		for _, m := range messages {
			l.rest = append(append(l.rest, m...), '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// messagesIn returns the JSON-RPC messages of a line, or none if it has another content.
func messagesIn(line []byte) (messages []json.RawMessage) {
	if line[0] != '[' {
		messages = []json.RawMessage{line}
	} else if json.Unmarshal(line, &messages) != nil {
		return nil
	}
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return nil
		}
	}
	return messages
}

// A lineWriter writes messages as lines, one at a time.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *lineWriter) line(text []byte) error {
	_, err := w.Write(append(bytes.TrimSpace(text), '\n'))
	return err
}

// Write implements [io.Writer]. The text is whole lines.
func (w *lineWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(text)
}

// refuse answers a line that is not passed on, unless it is a notification or a response.
func (w *lineWriter) refuse(line []byte) {
	id, code, why := json.RawMessage("null"), jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC message"
	if m, err := jsonrpc.DecodeMessage(line); err == nil {
		req, ok := m.(*jsonrpc.Request)
		if !ok || !req.IsCall() {
			return
		}
		id = encoded(req.ID.Raw())
		why = "the message is too large, or nested too deeply"
	} else if !json.Valid(line) {
		code = jsonrpc.CodeParseError
	}
	_ = w.line(encoded(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": jsonrpc.Error{Code: int64(code), Message: why},
	}))
}
