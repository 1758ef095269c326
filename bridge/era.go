package bridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

//lint:file-ignore SA1019 sampling and log levels belong to the versions that the bridge speaks

// modern is the first protocol version without sessions. Its requests say who the client is.
const modern = "2026-07-28"

// versions are the protocol versions that clients may speak.
var versions = []string{modern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// modernMeta are the keys that a request has in _meta since 2026-07-28. The extension speaks an older version, so it
// does not get them.
var modernMeta = []string{
	mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, mcp.MetaKeyLogLevel,
}

// A sender is the client that sent a request. Since 2026-07-28 the request describes it, before that its session does.
type sender struct {
	session *mcp.ServerSession
	// key is the client's session. A client over HTTP since 2026-07-28 has none. Its key is made of its name, project
	// and origin: clients that agree in these are one client.
	key    string
	modern bool
	info   mcp.Implementation     // as the client claims
	can    mcp.ClientCapabilities // likewise
	header http.Header            // of its HTTP request, or nil
}

// page returns the origin of a client that is a page, or "".
func (s *sender) page() string { return s.header.Get("Origin") }

// senderOf returns the client of a request.
func (r *relay) senderOf(req mcp.Request) *sender {
	s := &sender{}
	s.session, _ = req.GetSession().(*mcp.ServerSession)
	if extra := req.GetExtra(); extra != nil {
		s.header = extra.Header
	}
	if described, ok := req.(interface {
		ProtocolVersion() string
		ClientInfo() *mcp.Implementation
		ClientCapabilities() *mcp.ClientCapabilities
	}); ok {
		s.modern = described.ProtocolVersion() >= modern
		if info := described.ClientInfo(); info != nil {
			s.info = *info
		}
		if can := described.ClientCapabilities(); can != nil {
			s.can = *can
		}
	}
	s.key = r.id
	if r.id == "" && s.session != nil {
		s.key = s.session.ID()
	}
	if s.modern && r.id == "" {
		sum := sha256.Sum256([]byte(strings.Join([]string{
			s.info.Name, ProjectName(s.header.Get(HeaderProject)), s.header.Get("Origin"), r.profile,
		}, "\x00")))
		s.key = "\n" + hex.EncodeToString(sum[:16]) // the header of a session id has no line end
	}
	return s
}

// caller returns who gets the progress, log messages and questions of a request.
func (s *sender) caller(req mcp.Request) caller {
	c := &client{session: s.session}
	if p := req.GetParams(); p != nil && !reflect.ValueOf(p).IsNil() {
		c.token = p.GetMeta()["progressToken"]
	}
	return c
}

// during returns a context that ends with the client's session, if it has one.
func (b *Bridge) during(ctx context.Context, s *sender) (context.Context, context.CancelFunc) {
	left := func() {}
	if s.modern && s.header != nil {
		left = b.instances.during(s.key)
	}
	ctx, done := b.sessions.during(ctx, s.key)
	return ctx, func() {
		done()
		left()
	}
}

// complete adds to a result of the extension or of the bridge what 2026-07-28 requires: that it is complete, and that lists
// and contents may change at any time.
func (s *sender) complete(method string, result mcp.Result, err error) (mcp.Result, error) {
	raw, ok := result.(*rawmsg.Result)
	if own, is := result.(*mcp.CallToolResult); is && err == nil {
		raw, ok = &rawmsg.Result{}, true
		raw.Text, err = json.Marshal(own)
	}
	var members map[string]json.RawMessage
	if !s.modern || err != nil || !ok || json.Unmarshal(raw.Text, &members) != nil || members["resultType"] != nil {
		return result, err
	}
	head := `{"resultType":"complete"`
	if strings.HasSuffix(method, "/list") || method == "resources/read" {
		for _, member := range [][2]string{{"ttlMs", "0"}, {"cacheScope", `"private"`}} {
			if members[member[0]] == nil {
				head += `,"` + member[0] + `":` + member[1]
			}
		}
	}
	if len(members) > 0 {
		head += ","
	}
	return &rawmsg.Result{Text: append([]byte(head), bytes.TrimSpace(raw.Text)[1:]...)}, nil
}
