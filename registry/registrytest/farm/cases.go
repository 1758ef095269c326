package farm

import "slices"

// Cases returns all of them.
func Cases() []Case {
	var all []Case
	for _, area := range []struct {
		name  string
		cases []Case
	}{
		{"transport", transportCases()},
		{"protocol", protocolCases()},
		{"sessions", sessionCases()},
		{"sse", sseCases()},
		{"legacy-sse", legacyCases()},
		{"lists", listCases()},
		{"results", resultCases()},
		{"tasks", taskCases()},
		{"offers", offerCases()},
		{"auth", authCases()},
	} {
		for _, c := range area.cases {
			c.Area = area.name
			if c.server.legacy {
				c.Name = "HTTP+SSE: " + c.Name
			}
			if c.Use.TimeoutMs == 0 {
				c.Use.TimeoutMs = 3000 // for a machine that has much to do
				if c.Expect.waits() {
					c.Use.TimeoutMs = 1000
				}
			}
			all = append(all, c)
		}
	}
	return all
}

// waits says that a deadline passes.
func (e Expect) waits() bool {
	return slices.Contains(e.Health, "timeout") || slices.Contains(e.Call, "code:timeout")
}

// fails is a server that cannot be used, with one of these codes in its health.
func fails(codes ...string) Expect { return Expect{Health: codes} }

// works is a server that can be used in spite of all.
func works(calls ...string) Expect {
	if len(calls) == 0 {
		calls = []string{"text:call "}
	}
	return Expect{Health: []string{""}, Tools: []string{"bad__t"}, Call: calls}
}

// survives is any outcome that leaves client and good server well.
func survives() Expect {
	return Expect{Health: []string{"", "timeout", "network", "protocol", "http_status", "too_large", "server_error", "session_expired", "rate_limited"}}
}

func (e Expect) most(method string, n int) Expect {
	e.Most = with(e.Most, method, n)
	return e
}

func (e Expect) often(method string, n int) Expect {
	e.Often = with(e.Often, method, n)
	return e
}

func (e Expect) least(method string, n int) Expect {
	e.Least = with(e.Least, method, n)
	return e
}

func (e Expect) warning(text string) Expect { e.Warning = text; return e }
func (e Expect) tools(names ...string) Expect {
	e.Tools = append([]string{}, names...)
	return e
}
func (e Expect) repeats() Expect             { e.Repeats = true; return e }
func (e Expect) sent(text string) Expect     { e.Sent = text; return e }
func (e Expect) last(calls ...string) Expect { e.Last = calls; return e }
func (e Expect) orFails(codes ...string) Expect {
	e.Health = slices.Concat(e.Health, codes)
	e.Tools, e.Call = nil, nil
	return e
}

func with(m map[string]int, key string, n int) map[string]int {
	if m == nil {
		m = make(map[string]int)
	}
	m[key] = n
	return m
}

type on = map[string]step
