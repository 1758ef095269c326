package oauth

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/portolan-mcp/portolan/registry"
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
		s.keep(t.Context(), &grant{issuer: "https://a.example", token: "https://a.example/token", revoke: "https://a.example/revoke", access: "first-token", refresh: "refresh"})
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

// A token that is renewed while its server is renamed goes along: the refresh token before it is void.
func TestRenameDuringARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fetch := func(_ context.Context, r *Request) (*Response, error) {
			switch r.URL {
			case "https://a.example/.well-known/oauth-authorization-server":
				return &Response{Status: 200, Body: []byte(`{"issuer":"https://a.example","token_endpoint":"https://a.example/token"}`)}, nil
			case "https://a.example/token":
				<-release
				return &Response{Status: 200, Body: []byte(`{"access_token":"second-token","token_type":"Bearer"}`)}, nil
			}
			return &Response{Status: 404}, nil
		}
		c := New(Options{Crypto: stub{}})
		from := c.Server("a", "https://a.example/mcp", nil, fetch)
		from.keep(t.Context(), &grant{issuer: "https://a.example", token: "https://a.example/token", access: "first-token", refresh: "refresh"})
		go func() { _ = from.renew(t.Context(), "first-token") }()
		synctest.Wait()
		to := c.Server("b", "https://a.example/mcp", nil, fetch)
		go to.TakeOver(t.Context(), from)
		synctest.Wait()
		close(release)
		synctest.Wait()
		for s, want := range map[*Server]string{from: "", to: "Bearer second-token"} {
			header, err := s.Header(t.Context(), "POST", "https://a.example/mcp")
			if got := strings.Join(header[min(1, len(header)):], ""); got != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", s.name, got, err, want)
			}
		}
	})
}

// A page that goes to the authorization server itself does not come back from a server that has forgotten the client. The
// next sign-in registers again.
func TestASignInThatDoesNotComeBack(t *testing.T) {
	stored := map[string]string{}
	registrations := 0
	fetch := func(_ context.Context, r *Request) (*Response, error) {
		switch r.URL {
		case "https://a.example/.well-known/oauth-authorization-server":
			return &Response{Status: 200, Body: []byte(`{"issuer":"https://a.example","authorization_endpoint":"https://a.example/authorize",` +
				`"token_endpoint":"https://a.example/token","registration_endpoint":"https://a.example/register"}`)}, nil
		case "https://a.example/register":
			registrations++
			return &Response{Status: 201, Body: []byte(`{"client_id":"client` + strconv.Itoa(registrations) + `"}`)}, nil
		}
		return &Response{Status: 404}, nil
	}
	for run := range 3 {
		ctx, leave := context.WithCancel(t.Context())
		c := New(Options{
			Crypto: stub{}, RedirectURL: "https://page.example/callback",
			Load: func(_ context.Context, key string) (string, error) { return stored[key], nil },
			Save: func(ctx context.Context, key, text string) error {
				if ctx.Err() == nil { // else the program has ended
					stored[key] = text
				}
				return ctx.Err()
			},
			Ask: func(context.Context, *Prompt) (string, error) {
				leave()
				return "", context.Canceled
			},
		})
		s := c.Server("a", "https://a.example/mcp", nil, fetch)
		if run == 0 { // a sign-in whose tokens were lost
			s.keep(ctx, &grant{issuer: "https://a.example", token: "https://a.example/token", client: "client0", redirect: "https://page.example/callback"})
		}
		if err := s.SignIn(ctx, nil); err == nil {
			t.Error("no error")
		}
		if registrations != run {
			t.Errorf("run %d: %d registrations", run, registrations)
		}
	}
}

// The tokens of one client, or of one authorization server, are not those of another.
func TestASignInOfAnotherClientIsNotUsed(t *testing.T) {
	const at, issuer = "https://a.example/mcp", "https://login.example"
	mine := &registry.Auth{ClientID: "mine", ClientSecret: "secret", Issuer: issuer}
	fetch := func(_ context.Context, r *Request) (*Response, error) {
		if r.Method == "POST" {
			return &Response{Status: 201, Body: []byte(`{"client_id":"registered"}`)}, nil
		}
		return &Response{Status: 404}, nil
	}
	for name, row := range map[string]struct {
		before, after *registry.Auth
		used          bool
	}{
		"the same":                {mine, mine, true},
		"a new secret":            {mine, &registry.Auth{ClientID: "mine", ClientSecret: "new", Issuer: issuer}, true},
		"its issuer":              {nil, &registry.Auth{Issuer: issuer}, true},
		"another client":          {mine, &registry.Auth{ClientID: "other", Issuer: issuer}, false},
		"no client any more":      {mine, &registry.Auth{Issuer: issuer}, false},
		"a client where none was": {nil, mine, false},
		"another issuer":          {mine, &registry.Auth{ClientID: "mine", Issuer: "https://other.example"}, false},
		"an issuer of others":     {nil, &registry.Auth{Issuer: "https://other.example"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			stored := map[string]string{}
			open := func() *Client {
				return New(Options{
					Crypto: stub{},
					Load:   func(_ context.Context, key string) (string, error) { return stored[key], nil },
					Save:   func(_ context.Context, key, text string) error { stored[key] = text; return nil },
				})
			}
			first := open()
			s := first.Server("a", at, row.before, fetch)
			g, err := s.identity(t.Context(), &metadata{issuer: issuer, register: issuer + "/register"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			g.access = "token"
			s.keep(t.Context(), g)
			for when, c := range map[string]*Client{"in the same run": first, "in a later run": open()} {
				s := c.Server("a", at, row.after, fetch)
				for range 2 {
					if header, err := s.Header(t.Context(), "POST", at); (header != nil) != row.used || err != nil {
						t.Errorf("%s: %v, %v", when, header, err)
					}
					_ = s.renew(t.Context(), "token") // which reads what is stored
				}
			}
		})
	}
}

// A server may name the issuer of its tokens in metadata of its own, with a token endpoint of its own. It gets neither the
// refresh token and the registration from there, nor an assertion for there.
func TestAServerThatNamesTheIssuerOfOthers(t *testing.T) {
	const at, issuer = "https://a.example/mcp", "https://login.example"
	key := &registry.Auth{ClientID: "mine", PrivateKey: "key", Flow: "client-credentials"}
	idp := &registry.Auth{
		ClientID: "mine", Flow: "enterprise-managed", IDToken: "identity", IDPTokenURL: "https://idp.example/token", IDPClientID: "mine",
	}
	for name, auth := range map[string]*registry.Auth{"a person": nil, "a key": key, "an identity provider": idp} {
		t.Run(name, func(t *testing.T) {
			refresh := ""
			if auth == nil {
				refresh = "refresh"
			}
			fetch := func(_ context.Context, r *Request) (*Response, error) {
				switch r.URL {
				case "https://a.example/.well-known/oauth-authorization-server":
					return &Response{Status: 200, Body: []byte(`{"issuer":"` + issuer + `","authorization_endpoint":"https://a.example/authorize",` +
						`"token_endpoint":"https://a.example/token"}`)}, nil
				case "https://a.example/token":
					t.Errorf("the server got %s", r.Body)
				case "https://idp.example/token":
					t.Errorf("the identity token is exchanged: %s", r.Body)
				}
				return &Response{Status: 404}, nil
			}
			s := New(Options{
				Crypto: stub{}, RedirectURL: "https://page.example/callback",
				Ask: func(_ context.Context, p *Prompt) (string, error) {
					t.Errorf("a page of the known client: %s", p.URL)
					return "", context.Canceled
				},
			}).Server("a", at, auth, fetch)
			s.keep(t.Context(), &grant{
				issuer: issuer, token: issuer + "/token", client: "known", secret: "secret", method: "client_secret_basic",
				redirect: "https://page.example/callback", configured: s.auth().ClientID, access: "token", refresh: refresh,
			})
			if err := s.renew(t.Context(), "token"); err == nil {
				t.Error("renewed")
			}
			if auth == nil && s.SignIn(t.Context(), nil) == nil {
				t.Error("signed in")
			}
		})
	}
}
