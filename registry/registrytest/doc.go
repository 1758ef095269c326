// Package registrytest holds what the tests of sessions share: MCP servers that
// are real (built on the Go SDK), servers that misbehave, the way to reach them
// without sockets, and the suite that every implementation of
// [registry.Session] passes. The [Oracle] is the official client.
//
//	net := registrytest.NewNet(t)
//	net.Handle("https://a.example", registrytest.NewServer(nil))
//	connect := client.New(nethttp.New(&nethttp.Options{RoundTripper: net}), nil).Connect
package registrytest
