package oauth

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
)

// A token that is renewed while a person signs out does not sign in again.
func TestSignOutDuringARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var revoked string
		fetch := func(_ context.Context, r *Request) (*Response, error) {
			switch r.URL {
			case "https://a.example/.well-known/oauth-authorization-server":
				return &Response{Status: 200, Body: []byte(`{"issuer":"https://a.example","token_endpoint":"https://a.example/token"}`)}, nil
			case "https://a.example/token":
				<-release
				return &Response{Status: 200, Body: []byte(`{"access_token":"second-token","token_type":"Bearer"}`)}, nil
			case "https://a.example/revoke":
				revoked += string(r.Body)
				return &Response{Status: 200}, nil
			}
			return &Response{Status: 404}, nil
		}
		s := New(Options{Crypto: stub{}}).Server("a", "https://a.example/mcp", nil, fetch)
		s.keep(t.Context(), &grant{issuer: "https://a.example", revoke: "https://a.example/revoke", access: "first-token", refresh: "refresh"})
		go func() { _ = s.renew(t.Context(), "first-token") }()
		synctest.Wait()
		go func() { _ = s.SignOut(t.Context()) }()
		synctest.Wait()
		close(release)
		synctest.Wait()
		if header, err := s.Header(t.Context(), "POST", "https://a.example/mcp"); header != nil || err != nil {
			t.Errorf("%v, %v", header, err)
		}
		if !strings.Contains(revoked, "token=second-token") {
			t.Errorf("revoked: %s", revoked)
		}
	})
}
