package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// connect finds out which transport and era the server speaks, unless a hint or
// the configuration knows. The order is: 2026-07-28, initialize, HTTP+SSE.
func (d *dial) connect(ctx context.Context) (*Session, error) {
	hint := d.c.hints.get(d.href)
	if d.cfg.Transport == "sse" {
		return d.openSSE(ctx)
	}
	if d.cfg.Transport == "streamable-http" && hint.Transport == "sse" {
		hint = Hint{}
	}
	switch {
	case hint.Transport == "sse":
		probe, cancel := context.WithTimeout(ctx, probeTime(ctx))
		s, err := d.openSSE(probe)
		silent := probe.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !silent && !isRefusal(err) && !errors.Is(err, registry.ErrProtocol) {
			return s, err
		}
		d.forget()
	case hint.Version == modern:
		s := d.session(registry.SessionInfo{Transport: "streamable-http", ProtocolVersion: modern, ListChanged: hint.ListChanged})
		s.assumed = true
		s.watchIfUseful()
		return s, nil
	case isLegacy(hint.Version):
		s, err := d.initialize(ctx)
		if err == nil || !isRefusal(err) {
			return s, err
		}
		d.forget()
	}
	if s, err := d.discover(ctx); s != nil || err != nil {
		return s, err
	}
	s, err := d.initialize(ctx)
	if d.silent && isRefusal(err) {
		return d.connect(ctx) // the server may have been about to start when it was asked
	}
	if isMissing(err) && d.cfg.Transport != "streamable-http" {
		// The first POST that a server of any era understands was refused: it may be HTTP+SSE.
		if s, sseErr := d.openSSE(ctx); sseErr == nil {
			return s, nil
		} else if ctx.Err() != nil {
			return nil, sseErr
		}
	}
	return s, err
}

// discover tries server/discover (2026-07-28). It returns neither session nor
// error if the server is not of that era. Such a server answers with an error, a
// page of HTML, silence, or, in a browser, a refused preflight.
func (d *dial) discover(ctx context.Context) (*Session, error) {
	probe, cancel := context.WithTimeout(ctx, probeTime(ctx))
	defer cancel()
	s := d.session(registry.SessionInfo{ProtocolVersion: modern})
	for range 2 {
		e, err := s.send(probe, &rpc{method: "server/discover", quiet: true})
		if err == nil {
			err = s.discovered(e)
		}
		if err == nil {
			s.remember()
			s.watchIfUseful()
			return s, nil
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		status, _ := errors.AsType[*registry.StatusError](err)
		wrong, _ := errors.AsType[*registry.RPCError](err)
		// Only a server of that era says the last two.
		if ctx.Err() != nil || status != nil && status.Code == 401 ||
			errors.Is(err, registry.ErrSignInNeeded) || errors.Is(err, registry.ErrSignIn) || errors.Is(err, registry.ErrUnsupported) ||
			wrong != nil && (wrong.Code == registry.CodeHeaderMismatch || wrong.Code == codeMissingCapability) {
			s.shut()
			return nil, err
		}
		if wrong == nil || wrong.Code != codeUnsupportedVersion || !listsModern(rawjson.Get(wrong.Data, "supported")) {
			break
		}
	}
	s.shut()
	d.silent = !d.silent && probe.Err() != nil // once
	return nil, nil
}

// discovered takes a DiscoverResult. The error is [registry.ErrProtocol] if the server does not speak 2026-07-28.
func (s *Session) discovered(e *Event) error {
	result := rawjson.Get([]byte(e.Text), "result")
	if kind := rawjson.Text(result, "resultType"); kind != "" && kind != "complete" {
		return s.unknownResult(kind)
	}
	if !listsModern(rawjson.Get(result, "supportedVersions")) {
		return registry.Because(registry.ErrProtocol, "the server does not speak "+modern)
	}
	s.negotiated(modern, result, rawjson.Get(rawjson.Get(result, "_meta"), "io.modelcontextprotocol/serverInfo"))
	return nil
}

// probeTime leaves an old server that never answers what it does not know half
// of the deadline for initialize.
func probeTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 10 * time.Second
	}
	return time.Until(deadline) / 2
}

func listsModern(versions []byte) bool { return slices.Contains(rawjson.Strings(versions), modern) }

// initialize opens a session of the versions up to 2025-11-25 over streamable HTTP.
func (d *dial) initialize(ctx context.Context) (*Session, error) {
	s := d.session(registry.SessionInfo{})
	if err := s.initialize(ctx); err != nil {
		s.shut()
		return nil, err
	}
	s.remember()
	s.watchIfUseful()
	return s, nil
}

// initialize does the handshake on whichever transport s has. The notification
// that ends it is sent, but its answer is not waited for.
func (s *Session) initialize(ctx context.Context) error {
	params := member(nil, "protocolVersion", legacy)
	params = rawjson.AppendMember(params, "capabilities", s.d.c.capabilities)
	params = rawjson.AppendMember(params, "clientInfo", s.d.c.impl)
	e, err := s.send(ctx, &rpc{method: "initialize", params: params, quiet: true, head: func(header string) {
		id := headerOf(header, "mcp-session-id")
		s.d.sessionID.Store(&id)
		s.mu.Lock()
		s.sessionID = id
		s.mu.Unlock()
	}})
	if err != nil {
		return err
	}
	if s.sessionID != "" && !safeHeader(s.sessionID) {
		return registry.Because(registry.ErrProtocol, "the session id holds characters that the spec does not allow")
	}
	result := rawjson.Get([]byte(e.Text), "result")
	version := rawjson.Text(result, "protocolVersion")
	if !isLegacy(version) {
		return registry.Because(registry.ErrProtocol, "the server wants protocol version "+s.d.shown(version))
	}
	s.negotiated(version, result, rawjson.Get(result, "serverInfo"))
	s.initialized = s.post(notificationMessage("notifications/initialized", nil, nil))
	return nil
}
