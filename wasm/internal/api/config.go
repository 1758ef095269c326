package api

import (
	"slices"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// redacted stands for a header's value wherever a configuration is shown. In a
// patch it means: the value stays.
const redacted = "[redacted]"

// encodeConfig writes a ServerConfig as a caller would, secrets included, or a RedactedConfig.
func encodeConfig(cfg registry.ServerConfig, redacts bool) []byte {
	o := new(object).str("url", cfg.URL)
	if len(cfg.Headers) > 0 {
		var headers object
		for _, name := range text.Keys(cfg.Headers) {
			headers.str(name, secret(cfg.Headers[name], redacts))
		}
		o.raw("headers", headers.end())
	}
	if cfg.ProxyAuto {
		o.str("proxy", "auto")
	} else if cfg.Proxy || redacts {
		o.bool("proxy", cfg.Proxy)
	}
	if cfg.Disabled || redacts {
		o.bool("enabled", !cfg.Disabled)
	}
	o.opt("transport", cfg.Transport)
	if cfg.Timeout > 0 {
		o.num("timeoutMs", cfg.Timeout.Milliseconds())
	}
	o.opt("logLevel", cfg.LogLevel)
	if cfg.Concurrency > 0 {
		o.num("concurrency", int64(cfg.Concurrency))
	}
	if cfg.Ping > 0 {
		o.num("pingMs", cfg.Ping.Milliseconds())
	}
	if cfg.Attempts > 0 {
		o.raw("retry", new(object).num("attempts", int64(cfg.Attempts)).end())
	}
	if auth := encodeAuth(cfg.Auth, redacts); auth != nil {
		o.raw("auth", auth)
	}
	o.opt("trust", cfg.Trust)
	if cfg.HoldNewTools {
		o.bool("holdNewTools", true)
	}
	if cfg.RememberSecrets != nil {
		o.bool("rememberSecrets", *cfg.RememberSecrets)
	}
	if cfg.MissingHeaders != nil {
		o.strs("missingHeaders", cfg.MissingHeaders)
	}
	if cfg.AllowTools != nil || cfg.DenyTools != nil {
		var tools object
		if cfg.AllowTools != nil {
			tools.strs("allow", cfg.AllowTools)
		}
		if cfg.DenyTools != nil {
			tools.strs("deny", cfg.DenyTools)
		}
		o.raw("tools", tools.end())
	}
	if cfg.Overrides != nil {
		o.raw("overrides", cfg.Overrides)
	}
	return o.end()
}

// secret is a secret value as it is written.
func secret(value string, redacts bool) string {
	if redacts {
		return redacted
	}
	return value
}

// changeConfig runs a change of a server's configuration and sends the host the outcome.
// Changes run one after the other, because a patch is merged into what the registry has.
func (a *API) changeConfig(name string, change func() error) error {
	a.changes.Lock()
	defer a.changes.Unlock()
	err := change()
	if err == nil {
		var config []byte
		if cfg, ok := a.reg.Config(name); ok {
			config = encodeConfig(cfg, false)
		}
		a.host.Config(name, config)
	}
	return err
}

// applyConfig sets the fields of cfg that patch names; null sets the default.
// Header values stay behind when the URL moves to another origin: they were
// entrusted to the old one.
func applyConfig(cfg *registry.ServerConfig, patch []byte) error {
	if rawjson.Kind(patch) != 'o' {
		return invalid("the configuration is not an object")
	}
	before := *cfg
	var headers, auth []byte
	var missing []string
	err := rawjson.Members(patch, func(key string, value []byte) (err error) {
		isNull := rawjson.Kind(value) == '0'
		text, isText := rawjson.String(value)
		is, isBool := rawjson.Bool(value)
		whole, _ := rawjson.Int(value)
		span, _ := rawjson.Milliseconds(value)
		ok, wrong := true, " is not a boolean"
		switch key {
		case "url":
			cfg.URL, ok, wrong, isNull = text, isText, " is not a string", false
		case "headers":
			headers = value
		case "auth":
			auth = value
		case "proxy":
			cfg.Proxy, cfg.ProxyAuto = is, text == "auto"
			ok, wrong = isBool || cfg.ProxyAuto, ` is neither a boolean nor "auto"`
		case "transport":
			cfg.Transport, ok, wrong = text, isText, " is not a string"
		case "logLevel":
			cfg.LogLevel = text
			ok, wrong = slices.Contains(wire.LogLevels, text), " is none of the levels from debug to emergency"
		case "concurrency":
			cfg.Concurrency = int(whole)
			ok, wrong = whole > 0 && whole <= wire.MaxConcurrency, " is not a whole number from 1 to 1000"
		case "pingMs":
			cfg.Ping = span
			ok, wrong = span >= wire.MinPingMs*time.Millisecond && span <= wire.MaxTimeoutMs*time.Millisecond, " is not a number of milliseconds from 1000 to a day"
		case "retry":
			attempts := rawjson.Get(value, "attempts")
			n, _ := rawjson.Int(attempts)
			cfg.Attempts = int(n)
			ok, wrong = n > 0 && n <= wire.MaxAttempts, " is not an object with attempts, a whole number from 1 to 5"
		case "timeoutMs":
			cfg.Timeout = span
			ok, wrong = span > 0 && span <= wire.MaxTimeoutMs*time.Millisecond, " is not a number of milliseconds above 0 and within a day"
		case "trust":
			cfg.Trust = text
			ok, wrong = slices.Contains(wire.TrustPolicies, text), ` is not "trust", "ask-on-change" or "ask-always"`
		case "enabled":
			cfg.Disabled, ok = isBool && !is, isBool
		case "holdNewTools":
			cfg.HoldNewTools, ok = is, isBool
		case "rememberSecrets":
			if cfg.RememberSecrets, ok = nil, isBool; ok {
				cfg.RememberSecrets = &is
			}
		case "missingHeaders":
			missing, err = stringList(value, key)
		case "tools":
			err = applyTools(cfg, value)
		case "overrides":
			cfg.Overrides = nil
			if !isNull {
				cfg.Overrides = slices.Clone(value)
			}
		default:
			return invalid(`unknown field "` + key + `"; known are ` + strings.Join(wire.ConfigFields[:], ", "))
		}
		if !ok && !isNull {
			return invalid(key + wrong)
		}
		return err
	})
	if err != nil {
		return err
	}
	kept := before.Headers
	if endpoint.Origin(before.URL) != endpoint.Origin(cfg.URL) {
		kept = nil
		cfg.Headers, cfg.MissingHeaders, cfg.Auth = nil, nil, withoutSecrets(cfg.Auth)
	}
	if missing != nil {
		cfg.MissingHeaders = missing
	}
	if auth != nil {
		if err := applyAuth(&cfg.Auth, auth); err != nil {
			return err
		}
	}
	if headers != nil {
		if err := applyHeaders(cfg, headers, kept); err != nil {
			return err
		}
	}
	for _, name := range missing {
		if cfg.Headers[name] == "" && !slices.Contains(cfg.MissingHeaders, name) {
			cfg.MissingHeaders = append(cfg.MissingHeaders, name)
		}
	}
	return nil
}

func applyTools(cfg *registry.ServerConfig, value []byte) error {
	cfg.AllowTools, cfg.DenyTools = nil, nil
	if rawjson.Kind(value) == '0' {
		return nil
	}
	if rawjson.Kind(value) != 'o' {
		return invalid("tools is not an object with allow or deny")
	}
	return rawjson.Members(value, func(key string, value []byte) error {
		list, err := stringList(value, "tools."+key)
		switch {
		case key != "allow" && key != "deny":
			return invalid(`unknown field "tools.` + key + `"; known are allow, deny`)
		case err != nil:
			return invalid("tools." + key + " is not an array of strings")
		case key == "allow":
			cfg.AllowTools = list
		default:
			cfg.DenyTools = list
		}
		return nil
	})
}

func applyHeaders(cfg *registry.ServerConfig, value []byte, kept map[string]string) error {
	missing := cfg.MissingHeaders
	cfg.Headers, cfg.MissingHeaders = nil, nil
	if rawjson.Kind(value) == '0' {
		return nil
	}
	if rawjson.Kind(value) != 'o' {
		return invalid("headers is not an object of strings")
	}
	headers := make(map[string]string)
	err := rawjson.Members(value, func(name string, value []byte) error {
		s, ok := rawjson.String(value)
		if !ok {
			return invalid(`header "` + name + `" is not a string`)
		}
		if s == redacted && slices.Contains(missing, name) {
			cfg.MissingHeaders = append(cfg.MissingHeaders, name)
			return nil
		}
		if s == redacted {
			if s, ok = kept[name]; !ok {
				return invalid(`the value of header "` + name + `" is not known; give it again`)
			}
		}
		headers[name] = s
		return nil
	})
	cfg.Headers = headers
	return err
}

func invalid(detail string) error { return registry.Because(registry.ErrInvalidConfig, detail) }
