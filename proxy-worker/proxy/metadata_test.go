package proxy

import (
	"encoding/json"
	"slices"
	"testing"
)

// FuzzMetadata compares the reader with encoding/json.
func FuzzMetadata(f *testing.F) {
	for _, text := range []string{
		`{"issuer":"https://a.example","token_endpoint":"https:\/\/a.example\/token",` +
			`"registration_endpoint":"https://a.example/r","x":[1,{"y":null}]}`,
		`{"authorization_servers":["https://a.example",1,["x"],"https://b.example"],"token_endpoint":7}`,
		`{"token_endpoint":"\u0068ttps://a.example/\u00fc\n"}`, `{}`, `[]`, `{"a":}`, `{"token_endpoint":"x"`,
		`{"token_endpoint":"x"} x`, "{\"token_endpoint\":\"\x01\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := readMetadata(text)
		if !ok {
			return
		}
		var want map[string]any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q was read: %v", text, err)
		}
		for name := range endpointNames {
			if url, ok := want[name].(string); ok && !slices.Contains(got.endpoints, url) {
				t.Errorf("%q of %q is missing", url, text)
			}
		}
		servers, _ := want["authorization_servers"].([]any)
		for _, server := range servers {
			if url, ok := server.(string); ok && !slices.Contains(got.servers, url) {
				t.Errorf("%q of %q is missing", url, text)
			}
		}
	})
}

func TestMetadata(t *testing.T) {
	m, ok := readMetadata([]byte(` {"authorization_servers" : [ "https://a.example" , 1, "https:\/\/b.example"],
		"x":{"token_endpoint":"no"},
		"token_endpoint":"https://a.example/t\u00e9", "revocation_endpoint":null, "device_authorization_endpoint":"d"} `))
	if !ok || !slices.Equal(m.servers, []string{"https://a.example", "https://b.example"}) ||
		!slices.Equal(m.endpoints, []string{"https://a.example/té", "d"}) {
		t.Errorf("%v %q", ok, m)
	}
	for _, text := range []string{``, `[]`, `{`, `{"a"}`, `{"a":1,}`, `{"a":1} x`, `{"a":[1}`} {
		if _, ok := readMetadata([]byte(text)); ok {
			t.Errorf("read %q", text)
		}
	}
}
