package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

// questions are those of one call whose client answers them with later requests (2026-07-28).
type questions struct {
	came chan struct{} // holds one value when there are questions that the client has not got

	mu   sync.Mutex
	can  *mcp.ElicitationCapabilities // of the client
	open map[string]*question
	last int // number of the last one; no id is used twice
}

type question struct {
	params *mcp.ElicitParams
	answer chan questionAnswer // receives once
}

type questionAnswer struct {
	result json.RawMessage
	err    error
}

func newQuestions(can *mcp.ElicitationCapabilities) *questions {
	return &questions{came: make(chan struct{}, 1), can: can, open: make(map[string]*question)}
}

// requests returns the open questions for the client.
func (qs *questions) requests() mcp.InputRequestMap {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	requests := make(mcp.InputRequestMap)
	for id, q := range qs.open {
		requests[id] = q.params
	}
	return requests
}

// give takes the client's answers. Those to no open question are ignored, and questions that the client leaves out are
// asked again.
func (qs *questions) give(can *mcp.ElicitationCapabilities, answers mcp.InputResponseMap) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.can = can
	select {
	case <-qs.came:
	default:
	}
	for id, q := range qs.open {
		if a, ok := answers[id].(*mcp.ElicitResult); ok {
			delete(qs.open, id)
			text, err := json.Marshal(a)
			q.answer <- questionAnswer{text, err}
		}
	}
	if len(qs.open) > 0 {
		qs.came <- struct{}{}
	}
}

// refuse ends all open questions with an error.
func (qs *questions) refuse(err error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for id, q := range qs.open {
		delete(qs.open, id)
		q.answer <- questionAnswer{err: err}
	}
}

// ask waits until the client has answered a question.
func (qs *questions) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	id, q, err := qs.put(method, params)
	if err != nil {
		return nil, unanswered(err)
	}
	select {
	case a := <-q.answer:
		if a.err != nil {
			return nil, unanswered(a.err)
		}
		return a.result, nil
	case <-ctx.Done():
		qs.mu.Lock()
		defer qs.mu.Unlock()
		delete(qs.open, id)
		return nil, ctx.Err()
	}
}

// put opens a question, if the client can answer it.
func (qs *questions) put(method string, params json.RawMessage) (string, *question, error) {
	if method != "elicitation/create" {
		return "", nil, errors.New("clients of " + modern + " are not asked by " + method)
	}
	p, err := rawmsg.Question(params)
	if err != nil {
		return "", nil, err
	}
	p.Meta = nil // it is the bridge's own
	qs.mu.Lock()
	defer qs.mu.Unlock()
	url := p.Mode == "url" || p.Mode == "" && (p.URL != "" || p.ElicitationID != "")
	switch {
	case qs.can == nil, url && qs.can.URL == nil, !url && qs.can.Form == nil && qs.can.URL != nil:
		return "", nil, errors.New("the client does not support such questions")
	}
	qs.last++
	id, q := "question-"+strconv.Itoa(qs.last), &question{p, make(chan questionAnswer, 1)}
	qs.open[id] = q
	offer(qs.came, struct{}{})
	return id, q, nil
}
