package api

import (
	"errors"
	"strconv"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// An object is the JSON text of an object in the making. encoding/json would add
// 180 KB to the module for these few flat forms.
type object []byte

// key begins a member.
func (o *object) key(name string) []byte {
	separator := byte(',')
	if len(*o) == 0 {
		separator = '{'
	}
	return append(rawjson.AppendString(append(*o, separator), name), ':')
}

func (o *object) raw(name string, json []byte) *object {
	*o = append(o.key(name), json...)
	return o
}

func (o *object) str(name, value string) *object {
	*o = rawjson.AppendString(o.key(name), value)
	return o
}

func (o *object) num(name string, v int64) *object {
	*o = strconv.AppendInt(o.key(name), v, 10)
	return o
}

func (o *object) bool(name string, v bool) *object {
	*o = strconv.AppendBool(o.key(name), v)
	return o
}

func (o *object) float(name string, v float64) *object {
	*o = strconv.AppendFloat(o.key(name), v, 'g', -1, 64)
	return o
}

// opt leaves an empty string out.
func (o *object) opt(name, value string) *object {
	if value == "" {
		return o
	}
	return o.str(name, value)
}

// time writes ms since the epoch, or null for never.
func (o *object) time(name string, t time.Time) *object {
	if t.IsZero() {
		return o.raw(name, null)
	}
	return o.num(name, t.UnixMilli())
}

func (o *object) strs(name string, list []string) *object {
	return o.raw(name, texts(list))
}

func (o *object) end() []byte {
	if len(*o) == 0 {
		return []byte("{}")
	}
	return append(*o, '}')
}

// An array is the JSON text of an array in the making.
type array []byte

func (a *array) raw(json []byte) {
	separator := byte(',')
	if len(*a) == 0 {
		separator = '['
	}
	*a = append(append(*a, separator), json...)
}

func (a array) end() []byte {
	if len(a) == 0 {
		return []byte("[]")
	}
	return append(a, ']')
}

// texts writes a list of strings.
func texts(list []string) []byte {
	var out array
	for _, s := range list {
		out.raw(rawjson.AppendString(nil, s))
	}
	return out.end()
}

// encodeState writes a StateEvent about the named servers.
func encodeState(reg *registry.Registry, names map[string]bool) []byte {
	status, _ := reg.Status()
	var servers object
	for name := range names {
		health, ok := reg.Health(name)
		cfg, _ := reg.Config(name)
		if !ok {
			servers.raw(name, null)
			continue
		}
		servers.raw(name, encodeServer(health, cfg))
	}
	return new(object).str("event", "state").str("status", status).raw("servers", servers.end()).end()
}

func encodeServer(h registry.ServerHealth, cfg registry.ServerConfig) []byte {
	o := new(object).
		str("status", h.Status).bool("suspended", h.Suspended).
		num("toolCount", int64(h.ToolCount)).num("toolTotal", int64(h.ToolTotal)).
		opt("transport", h.Transport).opt("protocolVersion", h.ProtocolVersion).
		time("lastSuccessful", h.LastSuccessful).time("lastConnected", h.LastConnected)
	if h.LastError == "" {
		o.raw("lastError", null)
	} else {
		o.str("lastError", h.LastError)
	}
	o.opt("errorCode", h.ErrorCode).opt("hint", h.Hint).
		num("consecutiveFailures", int64(h.ConsecutiveFailures)).time("retryAt", h.RetryAt)
	if h.Latency == 0 {
		o.raw("latencyMs", null)
	} else {
		o.float("latencyMs", float64(h.Latency.Microseconds())/1000)
	}
	if h.HeldCount > 0 {
		o.num("heldCount", int64(h.HeldCount))
	}
	for _, list := range []struct {
		name  string
		count *int
	}{{"resourceCount", h.Resources}, {"templateCount", h.Templates}, {"promptCount", h.Prompts}} {
		if list.count != nil {
			o.num(list.name, int64(*list.count))
		}
	}
	if len(h.Warnings) > 0 {
		o.strs("warnings", h.Warnings)
	}
	if h.Server.Name != "" {
		o.raw("serverInfo", encodeImplementation(h.Server))
	}
	if h.Capabilities != nil {
		o.raw("capabilities", h.Capabilities)
	}
	o.opt("instructions", h.Instructions).opt("heldInstructions", h.HeldInstructions)
	return o.opt("signIn", h.SignIn).opt("signInHost", h.SignInHost).raw("config", encodeConfig(cfg, true)).end()
}

func encodeImplementation(i registry.Implementation) []byte {
	o := new(object).str("name", i.Name).str("version", i.Version).opt("title", i.Title)
	o.opt("description", i.Description).opt("websiteUrl", i.WebsiteURL)
	if len(i.Icons) > 0 {
		var icons array
		for _, icon := range i.Icons {
			e := new(object).str("src", icon.Src).opt("mimeType", icon.MIMEType).opt("theme", icon.Theme)
			if len(icon.Sizes) > 0 {
				e.strs("sizes", icon.Sizes)
			}
			icons.raw(e.end())
		}
		o.raw("icons", icons.end())
	}
	return o.end()
}

func encodeProgress(p registry.Progress) []byte {
	o := new(object).float("progress", p.Progress)
	if p.Total != 0 {
		o.float("total", p.Total)
	}
	return o.opt("message", p.Message).end()
}

// encodeRetry writes a ToolProgress about another attempt.
func encodeRetry(attempt int, wait time.Duration, err error) []byte {
	retry := new(object).num("attempt", int64(attempt)).num("waitMs", wait.Milliseconds()).str("code", registry.Explain(err).Code)
	return new(object).num("progress", 0).str("message", err.Error()).raw("retry", retry.end()).end()
}

// EncodeHold writes a Hold.
func EncodeHold(t *registry.Tool) []byte {
	return new(object).str("reason", t.Hold.Reason).opt("renamedFrom", t.Hold.RenamedFrom).
		strs("changes", t.Hold.Changes).str("key", t.Endpoint()).end()
}

// errUsage is a request that the package around the module would not send.
var errUsage = errors.New("invalid request")

// EncodeError writes a WireError.
func EncodeError(err error) []byte {
	x := registry.Explain(err)
	if errors.Is(err, errUsage) {
		x = registry.Explanation{Code: "invalid_option", Hint: "See the published types."}
	}
	o := new(object).str("code", x.Code).str("message", err.Error()).opt("server", x.Server)
	if x.Status != 0 {
		o.num("status", int64(x.Status))
	}
	if rpc, ok := errors.AsType[*registry.RPCError](err); ok {
		fault := new(object).num("code", rpc.Code)
		if len(rpc.Data) <= maxData && rawjson.Valid(rpc.Data, maxDataDepth) == nil {
			fault.raw("data", rpc.Data)
		}
		o.raw("rpc", fault.end())
	}
	return o.opt("hint", x.Hint).bool("retryable", x.Retryable).end()
}

// The bounds of the data of a JSON-RPC error, in bytes and levels.
const (
	maxData      = 16 << 10
	maxDataDepth = 32
)
