package proxy

import "github.com/portolan-mcp/portolan/registry/rawjson"

// metadata has the URLs of OAuth metadata: the endpoints of an authorization server
// (RFC 8414, OpenID Connect Discovery), and the authorization servers of a resource
// (RFC 9728).
type metadata struct{ endpoints, servers []string }

var endpointNames = setOf("token_endpoint", "registration_endpoint", "revocation_endpoint", "introspection_endpoint",
	"device_authorization_endpoint", "pushed_authorization_request_endpoint")

// readMetadata reads a document. encoding/json would make the Worker a tenth larger.
func readMetadata(text []byte) (m metadata, ok bool) {
	ok = rawjson.Valid(text, 32) == nil
	err := rawjson.Members(text, func(name string, value []byte) error {
		switch {
		case endpointNames[name]:
			if url, ok := rawjson.String(value); ok {
				m.endpoints = append(m.endpoints, url)
			}
		case name == "authorization_servers" && rawjson.Kind(value) == 'a':
			m.servers = nil
			return rawjson.Elements(value, func(element []byte) error {
				if url, ok := rawjson.String(element); ok {
					m.servers = append(m.servers, url)
				}
				return nil
			})
		}
		return nil
	})
	return m, ok && err == nil
}
