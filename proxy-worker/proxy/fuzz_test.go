package proxy

import (
	"strings"
	"testing"
	"time"
)

// FuzzDecide checks that the fields of a request to a server have legal names, none of
// them the proxy's own, and that every refusal is complete.
func FuzzDecide(f *testing.F) {
	f.Add("POST", "https://proxy.example/?url=https%3A%2F%2Fmcp.example.com", "x-portolan-target",
		"https://mcp.example.com/mcp", "connection", "x, y")
	f.Add("GET", "https://proxy.example", "x-portolan-ticket", "v1.a.b", "x-portolan-sealed", "v1.AAAA")
	f.Add("OPTIONS", "/", "access-control-request-method", "POST", "access-control-request-headers", "a,,b")
	f.Add("DELETE", "https://proxy.example/?url=%zz", "mcp-session-id", "\x00", "x-portolan-binding", "v1..")
	p := policy(f, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, Keys: []string{key},
		TicketKeys: []string{signer}, SealKeys: []string{sealed}})
	f.Fuzz(func(t *testing.T, method, url, name1, value1, name2, value2 string) {
		for _, keyed := range []string{"", key} {
			d := p.Decide(&Request{Method: method, URL: url, Now: noon, Header: []Pair{
				{"origin", page}, {"content-type", "application/json"}, {"accept", "*/*"}, {"x-portolan-key", keyed},
				{strings.ToLower(name1), value1}, {strings.ToLower(name2), value2}}})
			if d.Verdict == Send {
				if d.target.host != "mcp.example.com" {
					t.Fatalf("sent to %q", d.URL)
				}
				for _, h := range d.Header {
					if isHopByHop(h.Name) || !sendable(h.Name) {
						t.Fatalf("sent %q", h.Name)
					}
				}
				continue
			}
			if d.Status == 0 || d.Code != "" && Get(d.Header, "x-proxy-error") != d.Code {
				t.Fatalf("%+v", d)
			}
		}
	})
}

// FuzzRespond checks the same for responses.
func FuzzRespond(f *testing.F) {
	f.Add(200, "content-type", "text/event-stream", "set-cookie", "a")
	f.Add(302, "location", "//evil.example", "access-control-expose-headers", "*, a b")
	f.Add(99, "connection", ",", "content-length", "-1")
	p := policy(f, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, TicketKeys: []string{signer}})
	f.Fuzz(func(t *testing.T, status int, name1, value1, name2, value2 string) {
		for _, r := range []*Request{message(server),
			method("GET", message("https://mcp.example.com/.well-known/openid-configuration", "accept", "*/*"))} {
			d := p.Decide(r)
			reply := d.Respond(&Response{Status: status,
				Header: []Pair{{strings.ToLower(name1), value1}, {strings.ToLower(name2), value2}}})
			if reply.Follow != nil {
				if reply.Follow.target.host != "mcp.example.com" {
					t.Fatalf("followed to %q", reply.Follow.URL)
				}
				continue
			}
			d.Bind(reply, []byte(value2))
			if reply.Status < 200 || reply.Status > 599 || Get(reply.Header, "access-control-allow-origin") != page ||
				has(reply.Header, "set-cookie") {
				t.Fatalf("%+v", reply)
			}
		}
	})
}

// FuzzSigned checks that only signed tokens verify and only sealed headers open.
func FuzzSigned(f *testing.F) {
	good := Ticket{Origin: page, Host: "mcp.example.com", Expires: noon.Add(time.Hour)}.Sign(signer)
	box, err := Seal(sealed, page, "mcp.example.com", []Pair{{"authorization", "x"}}, zero{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(box)
	f.Add("v1..")
	f.Add("v1.MQ.MQ")
	p := policy(f, Config{Origins: []string{page}, TicketKeys: []string{signer}, SealKeys: []string{sealed}})
	t0, refused := parseTarget(server)
	if refused != nil {
		f.Fatal(refused.code)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if _, ok := p.ticket(token, page, t0, noon); ok && token != good {
			t.Errorf("a forged ticket: %q", token)
		}
		if _, ok := p.unseal(token, page, t0); ok && token != box {
			t.Errorf("a forged seal: %q", token)
		}
		if p.binds(token, "POST", page, t0, noon) {
			t.Errorf("a forged binding: %q", token)
		}
	})
}
