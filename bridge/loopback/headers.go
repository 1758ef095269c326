package loopback

import (
	"net/http"
	"regexp"
	"strings"
)

const mcpHeaders = "Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, " +
	"Mcp-Name, Last-Event-ID"

var paramHeader = regexp.MustCompile(`^(?i)mcp-param-[a-z0-9_.-]+$`)

// PageHeaders returns the request headers that a page may send to an MCP endpoint: those of MCP, and those of the
// preflight that copy a tool's parameters (2026-07-28, Mcp-Param-…).
func PageHeaders(preflight *http.Request) string {
	allowed := mcpHeaders
	for name := range strings.SplitSeq(preflight.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = strings.TrimSpace(name); paramHeader.MatchString(name) {
			allowed += ", " + name
		}
	}
	return allowed
}
