package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

const (
	redirectURL       = "http://localhost:3000/callback"
	clientMetadataURL = "https://conformance-test.local/client-metadata.json"
)

// person signs in wherever a page asks for it: the suite's pages send everybody back at once.
var person = oauth.Options{
	Crypto:            nethttp.Crypto(),
	RedirectURL:       redirectURL,
	ClientMetadataURL: clientMetadataURL,
	Ask: func(ctx context.Context, p *oauth.Prompt) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
		if err != nil {
			return "", err
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return "", err
		}
		res.Body.Close()
		location := res.Header.Get("Location")
		if location == "" {
			return "", fmt.Errorf("the page answered %s", res.Status)
		}
		return location, nil
	},
}

// signingIn does what may want somebody to sign in, and signs in as often as a
// patient person would.
func signingIn(ctx context.Context, r *registry.Registry, do func() error) error {
	for tries := 0; ; tries++ {
		err := do()
		var status *registry.StatusError
		wanted := errors.Is(err, registry.ErrSignInNeeded) || errors.As(err, &status) && status.Code == http.StatusUnauthorized
		if !wanted || tries == 3 {
			return err
		}
		if err := r.SignIn(ctx, "peer"); err != nil {
			return err
		}
	}
}

// identity is what the suite has registered for a scenario.
func identity(scenario string) (*registry.Auth, error) {
	text := os.Getenv("MCP_CONFORMANCE_CONTEXT")
	if text == "" {
		return nil, nil
	}
	var given map[string]any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	get := func(name string) string { s, _ := given[name].(string); return s }
	auth := &registry.Auth{
		ClientID: get("client_id"), ClientSecret: get("client_secret"), PrivateKey: get("private_key_pem"),
		SigningAlgorithm: get("signing_algorithm"), Issuer: get("issuer"), Assertion: get("valid_jwt"),
		IDToken: get("idp_id_token"), IDPTokenURL: get("idp_token_endpoint"), IDPClientID: get("idp_client_id"),
	}
	switch scenario {
	case "auth/client-credentials-jwt", "auth/client-credentials-basic":
		auth.Flow = "client-credentials"
	case "auth/wif-jwt-bearer":
		auth.Flow = "jwt-bearer"
	case "auth/enterprise-managed-authorization", "auth/cross-app-access-complete-flow":
		auth.Flow = "enterprise-managed"
	}
	return auth, nil
}
