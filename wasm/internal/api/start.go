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
	err := rawjson.Members(json, func(key string, value []byte) error {
		ok := true
		switch key {
		case "proxy":
			s.Proxy, ok = rawjson.String(value)
		case "hints":
			s.Hints, ok = rawjson.String(value)
		case "redirectUrl":
			s.SignIn.RedirectURL, ok = rawjson.String(value)
		case "clientMetadataUrl":
			s.SignIn.ClientMetadataURL, ok = rawjson.String(value)
		case "clientName":
			s.SignIn.ClientName, ok = rawjson.String(value)
		case "remember":
			s.SignIn.Remember, ok = rawjson.Bool(value)
		case "pins":
			s.Pins = Pins{}
			return rawjson.Members(value, func(key string, value []byte) error {
				s.Pins[key], _ = rawjson.String(value)
				return nil
			})
		case "early":
			return rawjson.Elements(value, func(url []byte) error {
				href, _ := rawjson.String(url)
				s.Early = append(s.Early, href)
				return nil
			})
		case "elicit":
			s.Elicit, ok = rawjson.Bool(value)
		case "elicitUrl":
			s.ElicitURL, ok = rawjson.Bool(value)
		case "sample":
			s.Sample, ok = rawjson.Bool(value)
		case "sampleTools":
			s.SampleTools, ok = rawjson.Bool(value)
		case "apps":
			s.Apps, ok = rawjson.Bool(value)
		case "roots":
			s.Roots = parseRoots(value)
		case "elicitationTimeoutMs":
			s.ElicitTime, ok = duration(value)
		case "failureThreshold":
			var n int64
			n, ok = rawjson.Int(value)
			o.FailureThreshold = int(n)
		case "cooldownMs":
			o.Cooldown, ok = duration(value)
		case "timeoutMs":
			o.Timeout, ok = duration(value)
		case "callTimeoutMs":
			o.CallTimeout, ok = duration(value)
		case "idleTimeoutMs":
			o.IdleTimeout, ok = duration(value)
		case "limits":
			return parseLimits(&o.Limits, value)
		default:
			ok = false
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
		values, _ := rawjson.Pick(root, "uri", "name")
		uri, _ := rawjson.String(values[0])
		name, _ := rawjson.String(values[1])
		roots = append(roots, registry.Root{URI: uri, Name: name})
		return nil
	})
	return roots
}

func setRoots(_ context.Context, a *API, params []byte) ([]byte, error) {
	list, _ := rawjson.Get(params, "roots")
	if a.SetRoots == nil {
		return nil, registry.ErrUnsupported
	}
	if rawjson.Kind(list) != 'a' {
		return nil, registry.Because(errUsage, "roots is not an array")
	}
	return null, a.SetRoots(parseRoots(list))
}

func duration(value []byte) (time.Duration, bool) {
	v, ok := rawjson.Milliseconds(value)
	return v, ok && v >= 0
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
