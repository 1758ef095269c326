package client

import (
	"context"
	"errors"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// maxQuestions bounds the questions of one server that wait for its user at once. Further
// ones are cancelled.
const maxQuestions = 3

// maxAsked bounds the requests elicitation/create that wait for their response.
const maxAsked = 2 * maxQuestions

// A question is one that the server has put and the user has not answered.
type question struct {
	cancel context.CancelFunc
	during *mailbox // whose exchange brought it; a call that ends takes its questions along
}

// ask answers elicitation/create (2025-06-18 to 2025-11-25) or sampling/createMessage: the
// user's answer is posted back when it is there, or full if too many wait.
func (s *Session) ask(id, params []byte, during *mailbox, full error, answer func(context.Context, []byte, []*rpc) ([]byte, error)) {
	key := string(id)
	s.goroutine(func() {
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		result, err := []byte(cancelled), full
		fits, twice := s.asking(key, question{cancel, during})
		if twice {
			return // the server takes the response to the first request for both
		}
		if fits {
			defer s.unask(key)
			result, err = answer(ctx, params, s.askers(during))
		}
		refusal, refuses := errors.AsType[*registry.RPCError](err)
		switch {
		case ctx.Err() != nil:
		case refuses && refusal != errNoElicit:
			s.post(replyError(id, refusal.Code, refusal.Message))
		case err != nil:
			s.post(replyError(id, codeInvalidParams, "the question could not be asked"))
		default:
			s.post(reply(id, result))
		}
	})
}

// askers returns the calls that may have led to a question: the one whose exchange brought
// it, or all calls under way if it came on a stream of its own.
func (s *Session) askers(during *mailbox) (calls []*rpc) {
	if during.rpc != nil {
		return []*rpc{during.rpc}
	}
	for _, mail := range s.d.c.waitingOf(s, during) {
		if mail.rpc != nil && (mail.rpc.method == "tools/call" || mail.rpc.asking != nil) {
			calls = append(calls, mail.rpc)
		}
	}
	return calls
}

// asking notes a question that fits among the others. One with the id of another is put twice.
func (s *Session) asking(key string, q question) (fits, twice bool) {
	s.mu.Lock()
	_, twice = s.asked[key]
	fits = !twice && len(s.asked) < maxAsked
	if fits {
		s.asked[key] = q
	}
	s.mu.Unlock()
	return fits, twice
}

// unask withdraws a question, by the raw id of its request. It is false if there was none.
func (s *Session) unask(key string) bool {
	s.mu.Lock()
	q, ok := s.asked[key]
	delete(s.asked, key)
	s.mu.Unlock()
	if ok {
		q.cancel()
	}
	return ok
}

// unaskDuring withdraws the questions that a call brought up.
func (s *Session) unaskDuring(call *mailbox) {
	s.mu.Lock()
	for _, q := range s.asked {
		if q.during == call {
			q.cancel()
		}
	}
	s.mu.Unlock()
}

// It has the code of a missing client capability, so that it says nothing of the
// server's health.
var errNoElicit = &registry.RPCError{Code: codeMissingCapability, Message: "the server asks for input that this host cannot give"}

// cancelled is the ElicitResult of a question that nobody has answered.
const cancelled = `{"action":"cancel"}`

var errTooMany = errors.New("too many questions wait for the user")

// whileAsked runs work that waits for the host's user, for [Options.ElicitTime] at most.
// The clocks of the calls that it may belong to stand still meanwhile.
func (s *Session) whileAsked(ctx context.Context, calls []*rpc, work func(context.Context) ([]byte, error)) ([]byte, error) {
	defer s.count(-1)
	if !s.count(+1) {
		return nil, errTooMany
	}
	for _, call := range calls {
		if call.asking != nil {
			call.asking(true)
			defer call.asking(false)
		}
	}
	if len(calls) == 1 {
		ctx = registry.WithCall(ctx, calls[0].call)
	}
	ctx, cancel := context.WithTimeout(ctx, s.d.c.opts.ElicitTime)
	defer cancel()
	result, err := work(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return result, err
}

// question answers elicitation/create of a server.
func (s *Session) question(ctx context.Context, params []byte, calls []*rpc) ([]byte, error) {
	return s.elicit(ctx, params, calls, false)
}

// elicit puts a question to the host's user, and returns an ElicitResult. With awaitsEnd,
// the user is to be done at the question's address.
func (s *Session) elicit(ctx context.Context, params []byte, calls []*rpc, awaitsEnd bool) ([]byte, error) {
	put, shown, err := s.put(params)
	if err != nil {
		return nil, err
	}
	if !isFlat(rawjson.Get(params, "requestedSchema")) {
		return []byte(cancelled), nil
	}
	if awaitsEnd {
		shown = rawjson.AppendMember(shown, "awaitsEnd", []byte("true"))
	}
	result, err := s.whileAsked(ctx, calls, func(ctx context.Context) ([]byte, error) {
		if id := rawjson.Text(params, "elicitationId"); id != "" {
			if own := s.visit(ctx, id); own != nil {
				ctx = own
				defer s.visited(id)
			}
		}
		result, err := put(ctx, s.d.name, object(shown))
		if context.Cause(ctx) == errVisited {
			return []byte(`{"action":"accept"}`), nil
		}
		return result, err
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, errTooMany), errors.Is(err, context.DeadlineExceeded):
		return []byte(cancelled), nil
	case err != nil:
		return nil, registry.Because(registry.ErrInvalidArguments, "the host could not answer the server's question: "+err.Error())
	}
	return s.checked(result, rawjson.Get(params, "requestedSchema"))
}

// count adds to the questions that are put to the user. It is false if there are too many.
func (s *Session) count(n int) bool {
	s.mu.Lock()
	s.open += n
	fits := s.open <= maxQuestions
	s.mu.Unlock()
	return fits
}

// put returns the host's function for a question, and the question's members.
func (s *Session) put(params []byte) (registry.Elicit, []byte, error) {
	if rawjson.Kind(params) != 'o' {
		return nil, nil, errNoElicit
	}
	switch mode := rawjson.Text(params, "mode"); {
	case mode == "url" && s.d.c.opts.ElicitURL != nil:
		shown, err := s.address(params)
		return s.d.c.opts.ElicitURL, shown, err
	case (mode == "" || mode == "form") && s.d.c.opts.Elicit != nil:
		shown, err := s.d.askedForm(params)
		return s.d.c.opts.Elicit, shown, err
	}
	return nil, nil, errNoElicit
}

// checked returns an ElicitResult of the host, with the schema's defaults (SEP-1034), if
// its content fits the schema.
func (s *Session) checked(result, schema []byte) ([]byte, error) {
	if err := rawjson.Valid(result, s.d.c.opts.Limits.Depth); err != nil || rawjson.Kind(result) != 'o' {
		return nil, registry.Because(registry.ErrInvalidArguments, "the host's answer is not an ElicitResult")
	}
	if rawjson.Text(result, "action") != "accept" {
		return result, nil
	}
	result = withDefaults(result, rawjson.Get(schema, "properties"))
	if validate := s.d.c.opts.Validate; validate != nil && schema != nil {
		content := rawjson.Get(result, "content")
		if content == nil {
			content = []byte("{}")
		}
		if err := validate(schema, content); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// isFlat reports whether a schema is one of the spec's for forms: an object whose
// properties are texts, numbers, booleans or lists of choices.
func isFlat(schema []byte) bool {
	properties := rawjson.Get(schema, "properties")
	if properties == nil {
		return true
	}
	return rawjson.Members(properties, func(_ string, property []byte) error {
		switch rawjson.Text(property, "type") {
		case "string", "number", "integer", "boolean":
			return nil
		case "array":
			if items := rawjson.Get(property, "items"); rawjson.Get(items, "enum") != nil || rawjson.Get(items, "anyOf") != nil {
				return nil
			}
		}
		return errQuestion
	}) == nil
}

// errVisited ends a question about an address where the user is done.
var errVisited = errors.New("the user is done there")

// visit returns a context that ends when the server says that the user is done at the address of that elicitationId. It
// returns nil if an open question has the same one: that question would end this one.
func (s *Session) visit(ctx context.Context, id string) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visits[id] != nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s.visits[id] = func() { cancel(errVisited) }
	return ctx
}

// visited ends the question about an address.
func (s *Session) visited(id string) {
	s.mu.Lock()
	done := s.visits[id]
	delete(s.visits, id)
	s.mu.Unlock()
	if done != nil {
		done()
	}
}

var errAddress = registry.Because(registry.ErrProtocol, "the question's address is not https, or leads into a private network")

// address returns the members of a question about an address (mode url).
func (s *Session) address(params []byte) ([]byte, error) {
	url := rawjson.Text(params, "url")
	href, _, ok := s.d.c.platform.Resolve(url, "")
	if !ok || !oauth.MayLead(s.d.href, href) || len(params) > maxQuestion || text.Visible(url) != url || s.d.redact(url) != url {
		return nil, errAddress
	}
	members := member(nil, "mode", "url")
	members = member(members, "url", href)
	members = member(members, "elicitationId", s.d.words(rawjson.Text(params, "elicitationId"), maxAskedText))
	return member(members, "message", s.d.words(rawjson.Text(params, "message"), maxAskedMessage)), nil
}

// The bounds of a question, in bytes: the whole, its message, and each other text.
const (
	maxQuestion     = 64 << 10
	maxAskedMessage = 8 << 10
	maxAskedText    = 1 << 10
)

var errQuestion = registry.Because(registry.ErrProtocol, "the question is too long, or a value in it has hidden characters")

// askedForm makes the parameters of elicitation/create fit to be shown: texts are cleaned,
// and too long ones are cut. Values that may be sent back stay as they are. A question with
// hidden characters in such a value is refused, and one that is too long. In a browser the
// host takes hidden characters out of all of it.
func (d *dial) askedForm(params []byte) ([]byte, error) {
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
		if key == "_meta" {
			return nil
		}
		value, err := d.asked(key, value)
		members = rawjson.AppendMember(members, key, value)
		return err
	})
	return members, err
}

// words cleans and redacts a text of a question, and cuts it.
func (d *dial) words(words string, most int) string {
	words = d.cleaned(words)
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
			members = rawjson.AppendMember(members, key, value)
			return err
		})
		return object(members), err
	}
	return value, nil
}

// withDefaults adds to content the defaults of the properties that it lacks.
func withDefaults(result, properties []byte) []byte {
	content := rawjson.Get(result, "content")
	var added []byte
	_ = rawjson.Members(properties, func(key string, property []byte) error {
		if fallback := rawjson.Get(property, "default"); fallback != nil && rawjson.Get(content, key) == nil {
			added = rawjson.AppendMember(added, key, fallback)
		}
		return nil
	})
	if added == nil {
		return result
	}
	others := membersOf(result, func(name string) bool { return name != "content" })
	return object(rawjson.AppendMember(others, "content", object(joinMembers(membersOf(content, nil), added))))
}
