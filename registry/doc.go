// Package registry is a client registry of MCP servers: it discovers the tools of
// many servers at once, gives each a name of its own, converts them to the
// forms that models take, and dispatches a model's call to the right server.
package registry
