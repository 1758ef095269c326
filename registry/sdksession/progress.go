package sdksession

import (
	"strconv"
	"strings"
	"sync"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

type progressFunc = func(registry.Progress)

// A progressSink is where the progress of one call goes, until the call returns.
type progressSink struct {
	mu sync.Mutex
	fn progressFunc // nil when the call has returned
}

func (t *tap) expectProgress(fn progressFunc) (token int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token++
	t.progress[strconv.FormatInt(t.token, 10)] = &progressSink{fn: fn}
	return t.token
}

// forgetProgress ends the delivery: after it the function is not called.
func (t *tap) forgetProgress(token int64) {
	key := strconv.FormatInt(token, 10)
	t.mu.Lock()
	sink := t.progress[key]
	delete(t.progress, key)
	t.mu.Unlock()
	sink.mu.Lock()
	defer sink.mu.Unlock()
	sink.fn = nil
}

func (t *tap) deliverProgress(params []byte) {
	var p registry.Progress
	var token string
	err := rawjson.Members(params, func(key string, value []byte) error {
		switch key {
		case "progressToken": // some servers send back a number as a string
			token = strings.Trim(string(value), `"`)
		case "progress":
			p.Progress, _ = rawjson.Float(value)
		case "total":
			p.Total, _ = rawjson.Float(value)
		case "message":
			p.Message, _ = rawjson.String(value)
		}
		return nil
	})
	t.mu.Lock()
	sink := t.progress[token]
	t.mu.Unlock()
	if err != nil || sink == nil {
		return
	}
	sink.report(p)
}

// report calls the function, whose panic would end the process from here.
func (s *progressSink) report(p registry.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if recover() != nil {
			s.fn = nil
		}
	}()
	if s.fn != nil {
		s.fn(p)
	}
}
