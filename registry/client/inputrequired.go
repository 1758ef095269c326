package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// The bounds of one request that takes several rounds (2026-07-28, input_required).
const (
	maxRounds = 10 // requests in all
	maxBusy   = 3  // of those, answered with "not now" and no question
	busyPause = time.Second
	maxInputs = maxQuestions * maxRounds // questions in all
)

var errKeepsAsking = registry.Because(registry.ErrProtocol, "the server keeps asking for input")

// inputs are the questions that the server asks in results (inputRequests) until one call is over.
type inputs struct {
	s        *Session
	r        *rpc
	left     int             // questions that it may still ask
	answered map[string]bool // by name, if later results repeat them
}

// answer asks what was not asked before. It returns the member with the answers, nil if there is none.
func (q *inputs) answer(ctx context.Context, questions []byte) (member []byte, err error) {
	if questions == nil {
		return nil, nil
	}
	if rawjson.Kind(questions) != 'o' {
		return nil, registry.Because(registry.ErrProtocol, "inputRequests is no object")
	}
	var answers []byte
	err = rawjson.Members(questions, func(key string, question []byte) error {
		if q.answered[key] {
			return nil
		}
		if q.left--; q.left < 0 {
			return errKeepsAsking
		}
		if rawjson.Text(question, "method") != "elicitation/create" {
			return errNoElicit
		}
		answer, err := q.s.elicit(ctx, rawjson.Get(question, "params"), []*rpc{q.r}, false)
		if err == nil {
			if q.answered != nil {
				q.answered[key] = true
			}
			answers = rawjson.AppendMember(answers, key, answer)
		}
		return err
	})
	if err != nil || answers == nil {
		return nil, err
	}
	return rawjson.AppendMember(nil, "inputResponses", object(answers)), nil
}

// inputRounds counts what one request has been through.
type inputRounds struct {
	inputs
	n, busy int
	visited bool // the addresses of -32042
}

// visit has the user open the addresses that a server's error asks for (-32042,
// 2025-11-25, URLElicitationRequiredError). again reports that the user is done there,
// and that the call is to be sent once more.
func (r *inputRounds) visit(ctx context.Context, err error) (again bool, _ error) {
	refusal, ok := errors.AsType[*registry.RPCError](err)
	if r.visited || r.s.d.c.opts.ElicitURL == nil || !ok || refusal.Code != codeURLElicitation {
		return false, nil
	}
	r.visited = true
	addresses := 0
	wrong := rawjson.Elements(rawjson.Get(refusal.Data, "elicitations"), func(params []byte) error {
		if addresses++; addresses > maxQuestions {
			return errQuestion
		}
		answer, err := r.s.elicit(ctx, params, []*rpc{r.r}, true)
		if err == nil && rawjson.Text(answer, "action") != "accept" {
			err = refusal
		}
		return err
	})
	if addresses == 0 { // the error is another one of that number
		wrong = err
	}
	return true, wrong
}

// next reads a result that is not complete, asks what it asks, and returns the
// members to add to the request's params.
func (r *inputRounds) next(ctx context.Context, result []byte) ([]byte, error) {
	switch kind := rawjson.Text(result, "resultType"); kind {
	case "input_required":
	case "", "complete":
		return nil, registry.Because(registry.ErrProtocol, "the answer to "+r.r.method+" is not a result")
	default:
		return nil, r.s.unknownResult(kind)
	}
	if r.n++; r.n >= maxRounds {
		return nil, errKeepsAsking
	}
	var members []byte
	if state := rawjson.Get(result, "requestState"); state != nil {
		members = rawjson.AppendMember(members, "requestState", state)
	}
	answers, err := r.answer(ctx, rawjson.Get(result, "inputRequests"))
	if err == nil && answers == nil {
		err = r.pause(ctx)
	}
	return joinMembers(members, answers), err
}

// converse sends a request, answers what the server asks meanwhile, and returns the Output
// event, or the answer that has a task. first waits for the answer to the first request.
func (s *Session) converse(ctx context.Context, r *rpc, first func(context.Context) (*Event, error)) (*Event, error) {
	params := r.params
	rounds := inputRounds{inputs: inputs{s: s, r: r, left: maxInputs}}
	for e, err := first(ctx); ; e, err = s.send(ctx, r) {
		if again, asked := rounds.visit(ctx, err); asked != nil {
			return nil, asked
		} else if again {
			continue
		}
		if err != nil {
			return nil, s.doubt(err, OpCall)
		}
		s.settle()
		if e.Kind == Output {
			return e, nil
		}
		result := rawjson.Get([]byte(e.Text), "result")
		if r.method == "tools/call" && (r.op == OpTask || s.modern && rawjson.Text(result, "resultType") == "task") {
			return e, nil
		}
		more, err := rounds.next(ctx, result)
		if err != nil {
			return nil, err
		}
		r.params = joinMembers(slices.Clone(params), more)
	}
}

// pause waits before a busy server is asked again.
func (r *inputRounds) pause(ctx context.Context) error {
	if r.busy++; r.busy >= maxBusy {
		return registry.Because(registry.ErrProtocol, "the server is busy")
	}
	pause(ctx, busyPause)
	return context.Cause(ctx)
}
