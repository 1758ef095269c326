package api

import (
	"slices"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// encodeAuth writes an AuthConfig; nil for a nil Auth.
func encodeAuth(a *registry.Auth, redacts bool) []byte {
	if a == nil {
		return nil
	}
	var o object
	for _, f := range a.Fields() {
		if f.Secret && *f.Value != "" {
			o.str(f.Name, secret(*f.Value, redacts))
		} else if slices.Contains(a.Missing, f.Name) {
			o.str(f.Name, "")
		} else {
			o.opt(f.Name, *f.Value)
		}
	}
	if a.Scopes != nil {
		o.strs("scopes", a.Scopes)
	}
	return o.end()
}

// applyAuth replaces a by what value says; [redacted] keeps a secret.
func applyAuth(a **registry.Auth, value []byte) error {
	old, next := new(registry.Auth), new(registry.Auth)
	if *a != nil {
		old = *a
	}
	kept, fields := old.Fields(), next.Fields()
	switch rawjson.Kind(value) {
	case '0':
		*a = nil
		return nil
	case 'o':
	default:
		return invalid("auth is not an object")
	}
	err := rawjson.Members(value, func(key string, value []byte) (err error) {
		if key == "scopes" {
			if next.Scopes, err = stringList(value, key); err != nil {
				err = invalid("auth.scopes is not an array of strings")
			}
			return err
		}
		for i, f := range fields {
			if f.Name == key {
				if err = applyField(f, *kept[i].Value, value); f.Secret && *f.Value == "" {
					next.Missing = append(next.Missing, key)
				}
				return err
			}
		}
		known := `; known are scopes`
		for _, f := range fields {
			known += ", " + f.Name
		}
		return invalid(`unknown field "auth.` + key + `"` + known)
	})
	if err == nil {
		*a = next
	}
	return err
}

func applyField(f registry.AuthField, kept string, value []byte) error {
	s, ok := rawjson.String(value)
	if !ok {
		return invalid("auth." + f.Name + " is not a string")
	}
	if f.Secret && s == redacted {
		if s = kept; s == "" {
			return invalid("auth." + f.Name + " is not known; give it again")
		}
	}
	*f.Value = s
	return nil
}

// withoutSecrets is what stays when a server moves to another origin.
func withoutSecrets(a *registry.Auth) *registry.Auth {
	if a == nil {
		return nil
	}
	open := *a
	open.Missing = nil
	for _, f := range open.Fields() {
		if f.Secret {
			*f.Value = ""
		}
	}
	return &open
}
