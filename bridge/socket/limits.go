package socket

import (
	"cmp"
	"errors"

	"golang.org/x/time/rate"
)

// Limits are the limits on a peer's messages. A zero field means its default, below.
type Limits struct {
	Frame     int // bytes in a message; 2 MiB
	Depth     int // nested arrays and objects in a message; 64
	PerSecond int // messages on average, with bursts of twice that; 1000
}

// DefaultFrame is the size in bytes of the largest message.
const DefaultFrame = 2 << 20

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.Frame, DefaultFrame), cmp.Or(l.Depth, 64), cmp.Or(l.PerSecond, 1000)}
}

// ErrStopped is the reason of a connection that the peer closed because the person
// stopped everything there.
var ErrStopped = errors.New(stopped)

// stopped is the text of that reason in the closing frame (extension/link/bridgelink.ts).
const stopped = "stopped by the person"

// Errors of messages beyond a limit. The connection is closed.
var (
	ErrTooLarge = errors.New("a message is larger than the limit of 2 MiB")
	ErrTooDeep  = errors.New("a message is nested too deeply")
	ErrTooFast  = errors.New("too many messages in a second")
	ErrNotText  = errors.New("a message is not a JSON-RPC message in a text frame")
)

// TooDeep reports whether JSON nests deeper than limit, without decoding it.
func TooDeep(text []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// newLimiter returns the rate limit of a peer's messages. It allows perSecond
// messages a second on average, and a burst of twice that.
func newLimiter(perSecond int) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), 2*perSecond)
}
