package client

import (
	"context"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// maxAsked bounds the questions of one server that wait for its user at once.
const maxAsked = 4

// A question is one that the server has put and the user has not answered.
type question struct {
	cancel context.CancelFunc
	during *mailbox // whose exchange brought it; a call that ends takes its questions along
}

// ask answers elicitation/create (2025-06-18 to 2025-11-25): the user's answer
// is posted back when it is there.
func (s *Session) ask(id, params []byte, during *mailbox) {
	key := string(id)
	s.goroutine(func() {
		ctx, cancel := context.WithCancel(registry.WithCall(s.ctx, during.call))
		defer cancel()
		if !s.asking(key, question{cancel, during}) {
			s.post(replyError(id, codeInvalidParams, "too many questions at once"))
			return
		}
		defer s.unask(key)
		result, err := s.elicit(ctx, params)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.post(replyError(id, codeInvalidParams, "the question could not be asked"))
		default:
			s.post(reply(id, result))
		}
	})
}

// asking notes a question; false if there are too many or it was put already.
func (s *Session) asking(key string, q question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.asked[key]; twice || len(s.asked) >= maxAsked {
		return false
	}
	s.asked[key] = q
	return true
}

// unask withdraws a question, by the raw id of its request.
func (s *Session) unask(key string) {
	s.mu.Lock()
	q, ok := s.asked[key]
	delete(s.asked, key)
	s.mu.Unlock()
	if ok {
		q.cancel()
	}
}

// unaskDuring withdraws the questions that a call brought up.
func (s *Session) unaskDuring(call *mailbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.asked {
		if q.during == call {
			q.cancel()
		}
	}
}

// It has the code of a missing client capability, so that it says nothing of the
// server's health.
var errNoElicit = &registry.RPCError{Code: -32021, Message: "the server asks for input that this host cannot give"}

// elicit asks the host's user and completes the answer with the schema's
// defaults (SEP-1034). The result is an ElicitResult.
func (s *Session) elicit(ctx context.Context, params []byte) ([]byte, error) {
	if s.d.c.opts.Elicit == nil || rawjson.Kind(params) != 'o' {
		return nil, errNoElicit
	}
	if mode := getString(params, "mode"); mode != "" && mode != "form" {
		return nil, errNoElicit
	}
	shown, err := s.d.question(params)
	if err != nil {
		return nil, err
	}
	result, err := s.d.c.opts.Elicit(ctx, s.d.name, shown)
	if err != nil {
		return nil, err
	}
	if err := rawjson.Valid(result, s.d.c.opts.Limits.Depth); err != nil || rawjson.Kind(result) != 'o' {
		return nil, registry.Because(registry.ErrInvalidArguments, "the host's answer is not an ElicitResult")
	}
	if getString(result, "action") != "accept" {
		return result, nil
	}
	return withDefaults(result, get(params, "requestedSchema", "properties")), nil
}

// The bounds of a question, in bytes: the whole, its message, and each other text.
const (
	maxQuestion     = 64 << 10
	maxAskedMessage = 8 << 10
	maxAskedText    = 1 << 10
)

var errQuestion = registry.Because(registry.ErrProtocol, "the question is too long, or a value in it has hidden characters")

// question makes the parameters of elicitation/create fit to be shown: texts are cleaned,
// and too long ones are cut. Values that may be sent back stay as they are. A question with
// hidden characters in such a value is refused, and one that is too long. In a browser the
// host takes hidden characters out of all of it.
func (d *dial) question(params []byte) ([]byte, error) {
	if len(params) > maxQuestion {
		return nil, errQuestion
	}
	var members []byte
	err := rawjson.Members(params, func(key string, value []byte) error {
		if key == "message" {
			words, _ := rawjson.String(value)
			members = member(members, key, d.words(words, maxAskedMessage))
			return nil
		}
		value, err := d.asked(key, value)
		if err == nil && key != "_meta" {
			members = rawMember(members, key, value)
		}
		return err
	})
	return object(members), err
}

// words cleans and redacts a text of a question, and cuts it.
func (d *dial) words(words string, most int) string {
	words = d.redact(text.Visible(words))
	if len(words) > most {
		words = text.Cut(words, most-len("…")) + "…"
	}
	return words
}

// asked returns a member of a question as it is shown.
func (d *dial) asked(key string, value []byte) ([]byte, error) {
	if key != d.words(key, maxAskedText) {
		return nil, errQuestion
	}
	switch rawjson.Kind(value) {
	case 's':
		words, _ := rawjson.String(value)
		shown := d.words(words, maxAskedText)
		if key == "title" || key == "description" || key == "enumNames" {
			return rawjson.AppendString(nil, shown), nil
		}
		if shown != words {
			return nil, errQuestion
		}
	case 'a':
		list := []byte{'['}
		err := rawjson.Elements(value, func(element []byte) error {
			element, err := d.asked(key, element)
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = append(list, element...)
			return err
		})
		return append(list, ']'), err
	case 'o':
		var members []byte
		err := rawjson.Members(value, func(key string, value []byte) error {
			value, err := d.asked(key, value)
			members = rawMember(members, key, value)
			return err
		})
		return object(members), err
	}
	return value, nil
}

// withDefaults adds to content the defaults of the properties that it lacks.
func withDefaults(result, properties []byte) []byte {
	content := get(result, "content")
	var members []byte
	if rawjson.Kind(content) == 'o' {
		_ = rawjson.Members(content, func(key string, value []byte) error {
			members = rawMember(members, key, value)
			return nil
		})
	}
	if rawjson.Kind(properties) != 'o' {
		return result
	}
	added := false
	_ = rawjson.Members(properties, func(key string, property []byte) error {
		fallback := get(property, "default")
		if fallback != nil && get(content, key) == nil {
			members, added = rawMember(members, key, fallback), true
		}
		return nil
	})
	if !added {
		return result
	}
	var out []byte
	_ = rawjson.Members(result, func(key string, value []byte) error {
		if key != "content" {
			out = rawMember(out, key, value)
		}
		return nil
	})
	return object(rawMember(out, "content", object(members)))
}
