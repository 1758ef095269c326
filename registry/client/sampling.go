package client

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// The bounds of sampling: requests of one server in a minute, and bytes of a request.
const (
	maxSamples = 5
	maxSample  = 256 << 10
)

// errRejected answers a sampling request that the user did not allow (2025-11-25,
// client/sampling, error handling).
func errRejected(why string) error { return &registry.RPCError{Code: -1, Message: why} }

var errManySamples = errRejected("other questions of this server wait for the user")

// sample has the host's model answer sampling/createMessage, and returns a
// CreateMessageResult. The clocks of the calls that it may belong to stand still meanwhile.
func (s *Session) sample(ctx context.Context, params []byte, calls []*rpc) ([]byte, error) {
	shown, err := s.sampled(params)
	if err != nil {
		return nil, err
	}
	if !s.d.c.maySample(s.d.name, time.Now()) {
		return nil, errRejected("a server may ask for 5 messages a minute")
	}
	result, err := s.whileAsked(ctx, calls, func(ctx context.Context) ([]byte, error) {
		return s.d.c.opts.Sample(ctx, s.d.name, shown)
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, errTooMany):
		return nil, errManySamples
	case err != nil:
		return nil, errRejected("the user did not allow the message")
	}
	if rawjson.Valid(result, s.d.c.opts.Limits.Depth) != nil || !isMessage(result) {
		return nil, &registry.RPCError{Code: codeInternal, Message: "the host's answer is not a CreateMessageResult"}
	}
	return result, nil
}

// sampled makes the params of sampling/createMessage fit to be shown, with mode "sampling".
// In a browser the host takes hidden characters out.
func (s *Session) sampled(params []byte) ([]byte, error) {
	invalid := func(why string) error { return &registry.RPCError{Code: codeInvalidParams, Message: why} }
	messages := rawjson.Kind(rawjson.Get(params, "messages"))
	if len(params) > maxSample || messages != 'a' && messages != '0' || rawjson.Valid(params, s.d.c.opts.Limits.Depth) != nil {
		return nil, invalid("the params are not those of a message, or too long")
	}
	if (rawjson.Get(params, "tools") != nil || rawjson.Get(params, "toolChoice") != nil) && !s.d.c.opts.SampleTools {
		return nil, invalid("the client has not announced sampling.tools")
	}
	if s.d.redact(string(params)) != string(params) {
		return nil, invalid("the params have a secret of the user")
	}
	if runtime.GOOS != "js" {
		var err error
		if params, _, err = text.CleanDefinition(params); err != nil {
			return nil, invalid("a name in the params has hidden characters")
		}
	}
	shown := []byte(`"mode":"sampling"`)
	_ = rawjson.Members(params, func(key string, value []byte) error {
		if key == "messages" && messages == '0' {
			value = []byte("[]") // go-sdk writes an empty list as null
		}
		shown = rawjson.AppendMember(shown, key, value)
		return nil
	})
	return object(shown), nil
}

// isMessage reports whether a result has what CreateMessageResult needs.
func isMessage(result []byte) bool {
	values, _ := rawjson.Pick(result, "role", "model", "content")
	kind := rawjson.Kind(values[2])
	return rawjson.Kind(values[0]) == 's' && rawjson.Kind(values[1]) == 's' && (kind == 'o' || kind == 'a')
}

// maySample counts a sampling request of the server, or reports that there were too many.
func (c *Client) maySample(server string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	recent := c.samples[server]
	for len(recent) > 0 && now.Sub(recent[0]) >= time.Minute {
		recent = recent[1:]
	}
	if len(recent) >= maxSamples {
		return false
	}
	c.samples[server] = append(recent, now)
	return true
}

// The bounds of roots: how many, and bytes of a URI or a name.
const (
	maxRoots    = 100
	maxRootText = 4 << 10
)

// SetRoots replaces the roots and tells the servers of the versions until 2025-11-25. The
// error is [registry.ErrUnsupported] if [Options.Roots] was nil, because the capability was
// not announced then.
func (c *Client) SetRoots(roots []registry.Root) error {
	list, err := rootList(roots)
	if err != nil {
		return err
	}
	var sessions []*Session
	c.mu.Lock()
	if c.roots == nil {
		c.mu.Unlock()
		return registry.Because(registry.ErrUnsupported, "no roots were given at first, so that servers do not ask for them; an empty list will do")
	}
	c.roots = list
	for s := range c.live {
		sessions = append(sessions, s)
	}
	c.mu.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		knows := !s.modern && s.info.ProtocolVersion != ""
		s.mu.Unlock()
		if knows {
			s.post(notificationMessage("notifications/roots/list_changed", nil, nil))
		}
	}
	return nil
}

// rootList returns the roots as the spec writes them.
func rootList(roots []registry.Root) ([]byte, error) {
	invalid := func(why string) ([]byte, error) { return nil, registry.Because(registry.ErrInvalidConfig, why) }
	if len(roots) > maxRoots {
		return invalid("there are more than 100 roots")
	}
	list := []byte{'['}
	for i, root := range roots {
		if !strings.HasPrefix(root.URI, "file://") || max(len(root.URI), len(root.Name)) > maxRootText || !safeHeader(root.URI) {
			return invalid("a root is not a file: URL, or too long")
		}
		if i > 0 {
			list = append(list, ',')
		}
		members := member(nil, "uri", root.URI)
		if root.Name != "" {
			members = member(members, "name", root.Name)
		}
		list = append(list, object(members)...)
	}
	return append(list, ']'), nil
}

// rootsNow returns the list of roots, or nil if the capability is not announced.
func (c *Client) rootsNow() []byte {
	c.mu.Lock()
	roots := c.roots
	c.mu.Unlock()
	return roots
}
