package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// FuzzMetadata compares the reader with encoding/json.
func FuzzMetadata(f *testing.F) {
	for _, text := range []string{
		`{"issuer":"https://a.example","token_endpoint":"https:\/\/a.example\/token","registration_endpoint":"https://a.example/r","x":[1,{"y":null}]}`,
		`{"authorization_servers":["https://a.example",1,["x"],"https://b.example"],"token_endpoint":7}`,
		`{"token_endpoint":"\u0068ttps://a.example/\u00fc\n"}`, `{}`, `[]`, `{"a":}`, `{"token_endpoint":"x"`, `{"token_endpoint":"x"} x`, "{\"token_endpoint\":\"\x01\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := readMetadata(text)
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil || !ok {
			return // a document that is not JSON may be read; its names are checked all the same
		}
		for _, endpoint := range got.endpoints {
			found := false
			for name := range endpointNames {
				var s string
				// Of several members with one name encoding/json keeps the last.
				if json.Unmarshal(want[name], &s) == nil && s == endpoint {
					found = true
				}
			}
			if !found && len(got.endpoints) <= countKeys(text) {
				t.Errorf("%q is not in %q", endpoint, text)
			}
		}
		var servers []any
		if json.Unmarshal(want["authorization_servers"], &servers) == nil && len(got.servers) > 0 && countKeys(text) == len(want) {
			for _, s := range got.servers {
				if !slices.Contains(servers, any(s)) {
					t.Errorf("%q is not in %q", s, text)
				}
			}
		}
	})
}

// countKeys is how many different names the top level has, or 0 if one is there twice.
func countKeys(text []byte) int {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return 0
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		key, ok := name.(string)
		if err != nil || !ok || seen[key] {
			return 0
		}
		seen[key] = true
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return 0
		}
	}
	return len(seen)
}

func TestMetadata(t *testing.T) {
	m, ok := readMetadata([]byte(` {"authorization_servers" : [ "https://a.example" , 1, "https:\/\/b.example"], "x":{"token_endpoint":"no"},
		"token_endpoint":"https://a.example/t\u00e9", "revocation_endpoint":null, "device_authorization_endpoint":"d"} `))
	if !ok || !slices.Equal(m.servers, []string{"https://a.example", "https://b.example"}) || !slices.Equal(m.endpoints, []string{"https://a.example/té", "d"}) {
		t.Errorf("%v %q", ok, m)
	}
	for _, text := range []string{``, `[]`, `{`, `{"a"}`, `{"a":1,}`, `{"a":1} x`, `{"token_endpoint":"\ud800"}`, `{"a":[1}`} {
		if _, ok := readMetadata([]byte(text)); ok {
			t.Errorf("read %q", text)
		}
	}
}
