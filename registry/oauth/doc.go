// Package oauth signs a client in to MCP servers: the authorization pages of the
// MCP specifications from 2025-03-26 to 2026-07-28, and the extensions for client
// credentials, workload identity, enterprise-managed authorization and DPoP.
//
// It is one implementation for native hosts and for the page's module. The
// host brings network, cryptography and storage: see [Options].
//
//	client := oauth.New(oauth.Options{Crypto: crypto, Ask: ask, RedirectURL: "http://127.0.0.1:8080/callback"})
//	server := client.Server("files", "https://files.example/mcp", nil, fetch)
//	header, err := server.Header(ctx, "POST", "https://files.example/mcp") // before a request
//	again, err := server.Refused(ctx, refusal)                            // after a 401 or 403
//	err = server.SignIn(ctx, nil)                                         // when a person asks for it
package oauth
