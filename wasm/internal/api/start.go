package api

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Start is what the module receives once, when it starts (StartOptions of protocol.ts).
type Start struct {
	Options registry.Options // without Connect
	Proxy   string           // template with {href}
	// Elicit and ElicitURL say that the host puts forms, and addresses, to its user.
	Elicit, ElicitURL bool
	// Sample and SampleTools say that the host's model answers servers, also with tools.
	Sample, SampleTools bool
	Apps                bool            // client.Options.Apps
	Roots               []registry.Root // client.Options.Roots
	ElicitTime          time.Duration   // client.Options.ElicitTime
	Hints               string          // what an earlier run learned about endpoints
	Pins                Pins
	Early               []string // client.Options.Early
	SignIn              SignIn
}

// SignIn is how people sign in; the zero value: nobody can.
type SignIn struct {
	RedirectURL       string
	ClientMetadataURL string
	ClientName        string
	Remember          bool // keep tokens beyond the module's life
}

// ParseStart reads a StartOptions.
func ParseStart(json []byte) (Start, error) {
	var s Start
	if rawjson.Kind(json) != 'o' {
		return s, registry.Because(errUsage, "the start options are not an object")
	}
	o := &s.Options
	fields := [...]struct {
		name string
		to   any
	}{
		{"proxy", &s.Proxy}, {"hints", &s.Hints}, {"redirectUrl", &s.SignIn.RedirectURL},
		{"clientMetadataUrl", &s.SignIn.ClientMetadataURL}, {"clientName", &s.SignIn.ClientName}, {"remember", &s.SignIn.Remember},
		{"elicit", &s.Elicit}, {"elicitUrl", &s.ElicitURL}, {"elicitationTimeoutMs", &s.ElicitTime},
		{"sample", &s.Sample}, {"sampleTools", &s.SampleTools}, {"apps", &s.Apps},
		{"cooldownMs", &o.Cooldown}, {"timeoutMs", &o.Timeout}, {"callTimeoutMs", &o.CallTimeout}, {"idleTimeoutMs", &o.IdleTimeout},
	}
	err := rawjson.Members(json, func(key string, value []byte) error {
		ok := false
		for i := range fields {
			if fields[i].name == key {
				switch to := fields[i].to.(type) {
				case *string:
					*to, ok = rawjson.String(value)
				case *bool:
					*to, ok = rawjson.Bool(value)
				case *time.Duration:
					*to, ok = rawjson.Milliseconds(value)
					ok = ok && *to >= 0
				}
			}
		}
		switch key {
		case "failureThreshold":
			var n int64
			n, ok = rawjson.Int(value)
			o.FailureThreshold = int(n)
		case "pins":
			s.Pins = Pins{}
			return rawjson.Members(value, func(key string, value []byte) error {
				s.Pins[key], _ = rawjson.String(value)
				return nil
			})
		case "early":
			s.Early, ok = rawjson.Strings(value), true
		case "roots":
			s.Roots, ok = parseRoots(value), true
		case "limits":
			return parseLimits(&o.Limits, value)
		}
		if !ok {
			return registry.Because(errUsage, "start option "+key)
		}
		return nil
	})
	o.Limits = o.Limits.WithDefaults()
	return s, err
}

func parseRoots(list []byte) []registry.Root {
	roots := []registry.Root{}
	_ = rawjson.Elements(list, func(root []byte) error {
		roots = append(roots, registry.Root{URI: rawjson.Text(root, "uri"), Name: rawjson.Text(root, "name")})
		return nil
	})
	return roots
}

func setRoots(_ context.Context, a *API, params []byte) ([]byte, error) {
	list := rawjson.Get(params, "roots")
	if a.SetRoots == nil {
		return nil, registry.ErrUnsupported
	}
	if rawjson.Kind(list) != 'a' {
		return nil, registry.Because(errUsage, "roots is not an array")
	}
	return null, a.SetRoots(parseRoots(list))
}

func parseLimits(l *registry.Limits, value []byte) error {
	return rawjson.Members(value, func(key string, value []byte) error {
		n, ok := rawjson.Int(value)
		if !ok || !l.Set(key, n) {
			return registry.Because(errUsage, "limit "+key)
		}
		return nil
	})
}
