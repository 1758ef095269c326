//go:build js

// The policy as a Cloudflare Worker runs it: one Go program for all requests of
// an isolate, asked through synchronous functions. worker.mjs fetches and
// streams. Nothing here starts a goroutine or waits: what Go does after an export
// has returned would run in another request's context.
//
// syumai/workers gives what is there before any request: the environment and
// bindings, the import that says when main is ready, and the handler of hosts
// that bring its stock glue. Its way of serving, a program and several
// goroutines for each request, takes nine times the CPU of this one.
package main

import (
	"errors"
	"net/http"
	"syscall/js"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
)

var policy *proxy.Policy

func main() {
	var problem error
	if policy, problem = configured(); problem != nil {
		js.Global().Get("console").Call("error", "portolan: the proxy stays closed: "+problem.Error())
	}
	workers.ServeNonBlock(http.HandlerFunc(ownAnswers))
	workers.Ready()
	select {}
}

// configured makes the policy; one with mistakes is closed.
func configured() (*proxy.Policy, error) {
	cfg, problem := proxy.Env(variable)
	p, err := proxy.New(cfg)
	if problem = errors.Join(problem, err); problem != nil {
		p, _ = proxy.New(proxy.Config{})
	}
	return p, problem
}

// variable reads a variable or secret of the Worker: text, or what JSON
// wrangler.jsonc has it as, lists with commas.
func variable(name string) string {
	v := cloudflare.GetBinding(name)
	if v.IsUndefined() || v.IsNull() {
		return ""
	}
	return js.Global().Call("String", v).String()
}

// ownAnswers serves what needs no server, such as GET /healthz, where a host's
// glue calls syumai's handleRequest instead of worker.mjs.
func ownAnswers(w http.ResponseWriter, r *http.Request) {
	origin := []proxy.Pair{{Name: "origin", Value: r.Header.Get("Origin")}}
	d := policy.Decide(&proxy.Request{Method: r.Method, URL: r.URL.String(), Header: origin})
	if d.Verdict != proxy.Answer {
		d = proxy.Refuse("internal", d.Origin())
	}
	for _, h := range d.Header {
		w.Header().Set(h.Name, h.Value)
	}
	w.WriteHeader(d.Status)
	_, _ = w.Write(d.Body)
}
