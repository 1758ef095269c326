package client

import (
	"maps"
	"sync"
)

// A Hint is what is remembered of an endpoint so that the next connect saves
// round trips. It is advice: a session finds out when it is wrong, forgets it
// and negotiates again.
type Hint struct {
	// Transport is "streamable-http" or "sse".
	Transport string
	// Version is the protocol version that was negotiated.
	Version string
	// ListChanged says that the server announced it.
	ListChanged bool
	// Proxied says that the proxy was needed; of servers with ProxyAuto.
	Proxied bool
}

// Hints remembers by endpoint URL. It is safe for concurrent use; the zero
// value remembers nothing yet.
type Hints struct {
	mu       sync.Mutex
	byURL    map[string]Hint
	onChange func(endpoint string, h Hint)
}

// NewHints returns hints that begin with known and call onChange, if not nil,
// after each change; a zero Hint means that the endpoint was forgotten.
func NewHints(known map[string]Hint, onChange func(endpoint string, h Hint)) *Hints {
	return &Hints{byURL: maps.Clone(known), onChange: onChange}
}

func (h *Hints) get(url string) Hint {
	h.mu.Lock()
	hint := h.byURL[url]
	h.mu.Unlock()
	return hint
}

// set remembers, or with a zero hint forgets.
func (h *Hints) set(url string, hint Hint) {
	h.mu.Lock()
	changed := h.byURL[url] != hint
	if hint == (Hint{}) {
		delete(h.byURL, url)
	} else {
		if h.byURL == nil {
			h.byURL = map[string]Hint{}
		}
		h.byURL[url] = hint
	}
	h.mu.Unlock()
	if changed && h.onChange != nil {
		h.onChange(url, hint)
	}
}
