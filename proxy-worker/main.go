//go:build js

// The policy in a Cloudflare Worker: one Go program for all requests of an isolate.
// worker.mjs calls its synchronous exports, fetches and streams. No code here starts a
// goroutine or waits, because it would run on in the context of another request.
//
// syumai/workers provides the environment and the bindings, the import by which main
// reports that it is ready, and the handler for hosts with its stock glue. Its own way to
// serve starts a program and several goroutines for each request. That takes nine times
// the CPU of this program.
package main

import (
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"syscall/js"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
)

var policy *proxy.Policy

func main() {
	debug.SetGCPercent(400) // at most 16 MB before a collection, which is little for an isolate
	var problem error
	if policy, problem = configured(); problem != nil {
		js.Global().Get("console").Call("error", "portolan: the proxy stays closed: "+problem.Error())
	}
	workers.ServeNonBlock(http.HandlerFunc(ownAnswers))
	workers.Ready()
	select {}
}

// configured returns the policy. A policy with mistakes in its configuration is closed.
func configured() (*proxy.Policy, error) {
	cfg, problem := proxy.Env(variable)
	logs, unclear := proxy.Flag(variable, "LOG_REFUSALS")
	if logs {
		cfg.OnRefusal = logRefusal
	}
	p, err := proxy.New(cfg)
	if problem = errors.Join(problem, unclear, err); problem != nil {
		p, _ = proxy.New(proxy.Config{})
	}
	return p, problem
}

// variable returns a variable or secret of the Worker as text. wrangler.jsonc may also
// have numbers, booleans and lists, which become text with commas.
func variable(name string) string {
	v := cloudflare.GetBinding(name)
	if v.IsUndefined() || v.IsNull() {
		return ""
	}
	return js.Global().Call("String", v).String()
}

// logRefusal writes a line of the security log to the console, for `wrangler tail` and Logpush.
func logRefusal(o proxy.Outcome) {
	js.Global().Get("console").Call("log", "portolan: refused code="+o.Code+" origin="+strconv.Quote(o.Origin)+
		" host="+strconv.Quote(o.Host)+" client="+strconv.Quote(o.Client))
}

// ownAnswers serves requests that need no server, such as GET /healthz, for hosts whose
// glue calls syumai's handleRequest instead of worker.mjs.
func ownAnswers(w http.ResponseWriter, r *http.Request) {
	header := []proxy.Pair{
		{Name: "origin", Value: r.Header.Get("Origin")}, {Name: "authorization", Value: r.Header.Get("Authorization")},
	}
	d := policy.Decide(&proxy.Request{Method: r.Method, URL: r.URL.String(), Header: header})
	if d.Verdict != proxy.Answer {
		d = proxy.Refuse("internal", d.Origin())
	}
	for _, h := range d.Header {
		w.Header().Set(h.Name, h.Value)
	}
	w.WriteHeader(d.Status)
	_, _ = w.Write(d.Body)
}
