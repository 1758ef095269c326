// Package registrytest holds what the tests of sessions share: MCP servers that
// are real (built on the Go SDK), servers that misbehave, the way to reach them
// without sockets, and the suite that every implementation of
// [registry.Session] passes.
//
//	net := registrytest.NewNet(t)
//	net.Handle("https://a.example", registrytest.NewServer(nil))
//	connect := sdksession.New(&sdksession.Options{RoundTripper: net}).Connect
package registrytest
