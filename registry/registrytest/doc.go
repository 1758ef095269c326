// Package registrytest holds what the tests of sessions share: real MCP servers (built on
// the Go SDK), servers that misbehave, and the way to reach them without sockets. Every
// implementation of [registry.Session] passes its suite. The [Oracle] is the official client.
//
//	net := registrytest.NewNet(t)
//	net.Handle("https://a.example", registrytest.NewServer(nil))
//	connect := client.New(nethttp.New(&nethttp.Options{RoundTripper: net}), nil).Connect
package registrytest
