package farm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/convert"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/validate"
)

// A Task is what a client does: it has two servers in one registry, discovers both,
// calls the first tool of the bad one, and uses the good one all the while.
type Task struct {
	Bad  string `json:"bad"` // its URL
	Good string `json:"good"`
	Use
}

// An Outcome is what a client made of a case.
type Outcome struct {
	Realm     string   `json:"realm"`
	Fault     string   `json:"fault"`  // of the client itself
	Health    string   `json:"health"` // the error code of the bad server after discovery
	LastError string   `json:"lastError"`
	Tools     []string `json:"tools"`
	Warnings  []string `json:"warnings"`
	// Calls have "text:" and the beginning of the text, or "code:" and the error's code.
	Calls        []string `json:"calls"`
	LongestError int      `json:"longestError"` // bytes of an error's message
	TextBytes    int      `json:"textBytes"`    // of the longest text for a model
	Controls     bool     `json:"controls"`     // an error's message has control characters
	Told         bool     `json:"told"`         // the secret is in something that is shown
	Polluted     bool     `json:"polluted"`     // JavaScript: Object.prototype has changed
	GoodCalls    int      `json:"goodCalls"`
	GoodErrors   int      `json:"goodErrors"`
	GoodError    string   `json:"goodError"`
	// Late says how long after its deadline each call of the API returned, in ms.
	Late map[string]float64 `json:"late"`
}

// Visit does the task. Connect makes sessions under limits.
func Visit(connect func(registry.Limits) registry.Connect, t Task) (o Outcome) {
	o = Outcome{Realm: "native", Late: make(map[string]float64)}
	timeout := time.Duration(t.TimeoutMs) * time.Millisecond
	limits, err := limitsOf(t.Limits)
	if err != nil {
		o.Fault = err.Error()
		return o
	}
	options := &registry.Options{Connect: connect(limits), Limits: limits}
	if t.Validate {
		options.Validate = validate.Schema
	}
	r := registry.New(options)
	timed := func(what string, deadline time.Duration, work func()) {
		began := time.Now()
		work()
		if late := float64((time.Since(began) - deadline).Microseconds()) / 1000; late > o.Late[what] || o.Late[what] == 0 {
			o.Late[what] = late
		}
	}
	defer timed("close", 0, func() { r.Close() })
	if err := errors.Join(
		r.Add("bad", registry.ServerConfig{URL: t.Bad, Transport: t.Transport, Timeout: timeout, Headers: map[string]string{"X-Api-Key": Secret}}),
		r.Add("good", registry.ServerConfig{URL: t.Good}),
	); err != nil {
		o.Fault = err.Error()
		return o
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	good := func() {
		err := r.Discover(ctx, "good")
		if err == nil {
			_, err = r.Dispatch(ctx, registry.Call{Name: "good__t"})
		}
		o.GoodCalls++
		if err != nil {
			o.GoodErrors++
			o.GoodError = err.Error()
		}
	}
	// meanwhile uses the good server as long as work goes on, and once at least.
	meanwhile := func(work func()) {
		done := make(chan struct{})
		go func() { defer close(done); work() }()
		for {
			good()
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	shown := func(text string) {
		o.Told = o.Told || strings.Contains(text, Secret)
		o.LongestError = max(o.LongestError, len(text))
		o.Controls = o.Controls || strings.ContainsFunc(text, isControl)
	}

	meanwhile(func() {
		timed("discover", 2*timeout, func() { // connecting and listing have one deadline each
			if err := r.Discover(ctx, "bad"); err != nil {
				shown(err.Error())
			}
		})
	})
	health, _ := r.Health("bad")
	o.Health, o.LastError, o.Warnings = health.ErrorCode, health.LastError, health.Warnings
	shown(health.LastError)
	shown(health.Server.Name)
	for _, w := range health.Warnings {
		shown(w)
	}
	tools := r.Tools(registry.Filter{Servers: []string{"bad"}})
	for i, tool := range tools {
		o.Tools = append(o.Tools, tool.Name)
		if def, err := tool.Def.JSON(); err == nil && i < 100 {
			o.Told = o.Told || strings.Contains(string(def), Secret)
		}
	}
	for _, dialect := range convert.Dialects() {
		r.Export(dialect, registry.Filter{}) // which walks every schema
	}
	if t.LingerMs > 0 {
		meanwhile(func() { time.Sleep(time.Duration(t.LingerMs) * time.Millisecond) })
	}
	for range max(t.Calls, 1) {
		if len(tools) == 0 {
			break
		}
		meanwhile(func() {
			var mu sync.Mutex
			progress := 0
			deadline := timeout
			ctx := ctx
			if t.CancelMs > 0 {
				deadline = time.Duration(t.CancelMs) * time.Millisecond
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
				defer time.AfterFunc(deadline, cancel).Stop()
			}
			if t.Asks != "" {
				ctx, cancel := context.WithTimeout(ctx, deadline)
				defer cancel()
				timed("ask", deadline, func() {
					text, err := ask(ctx, r, t)
					if err != nil {
						shown(err.Error())
						o.Calls = append(o.Calls, "code:"+registry.Explain(err).Code)
						return
					}
					o.TextBytes = max(o.TextBytes, len(text))
					o.Calls = append(o.Calls, "text:"+strings.ToValidUTF8(text[:min(len(text), 300)], ""))
				})
				return
			}
			timed("call", deadline, func() {
				result, err := r.Dispatch(ctx, registry.Call{
					Name: tools[0].Name, Arguments: []byte(t.Args), Timeout: timeout,
					OnProgress: func(registry.Progress) { mu.Lock(); progress++; mu.Unlock() },
				})
				text := ""
				if err == nil {
					text, _, err = result.Text(1 << 20)
				}
				if err != nil {
					shown(err.Error())
					o.Calls = append(o.Calls, "code:"+registry.Explain(err).Code)
					return
				}
				o.TextBytes = max(o.TextBytes, len(text))
				o.Calls = append(o.Calls, "text:"+strings.ToValidUTF8(text[:min(len(text), 300)], ""))
			})
		})
	}
	good()
	health, _ = r.Health("bad")
	o.LastError = health.LastError
	shown(health.LastError)
	return o
}

// ask does what the task asks for, and returns what came of it as a text.
func ask(ctx context.Context, r *registry.Registry, t Task) (string, error) {
	list := func(offers []registry.Offer, err error) (string, error) {
		text := strconv.Itoa(len(offers)) + " "
		if len(offers) > 0 {
			text += offers[0].Key
		}
		return text, err
	}
	result := func(member string, result *registry.Result, err error) (string, error) {
		if err != nil {
			return "", err
		}
		raw, err := result.Payload.JSON()
		if err != nil {
			return "", err
		}
		words := wordsOf(raw, member)
		return words[:min(len(words), 1<<20)], nil // the host bounds the text of a model
	}
	switch t.Asks {
	case "resources":
		return list(r.Resources(ctx, "bad"))
	case "resourceTemplates":
		return list(r.ResourceTemplates(ctx, "bad"))
	case "prompts":
		return list(r.Prompts(ctx, "bad"))
	case "readResource":
		read, err := r.ReadResource(ctx, "bad", "demo://a")
		return result("contents", read, err)
	case "getPrompt":
		made, err := r.GetPrompt(ctx, "bad__p", nil)
		return result("messages", made, err)
	case "complete":
		completed, err := r.Complete(ctx, "bad", []byte(`{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}`))
		return result("completion", completed, err)
	}
	if t.Asks == "instructions" {
		all, err := r.Instructions(ctx, "bad")
		if len(all) == 0 {
			return "", err
		}
		return all[0].Text, err
	}
	cancel, err := r.SubscribeResource(ctx, "bad", "demo://a", func() {})
	if err != nil {
		return "", err
	}
	time.Sleep(time.Duration(t.LingerMs) * time.Millisecond)
	cancel()
	return "watching", nil
}

// wordsOf finds the first text of contents, messages or values, in the way of the page.
func wordsOf(raw []byte, member string) string {
	var v struct {
		Contents   []any
		Messages   []any
		Completion struct{ Values []any }
	}
	json.Unmarshal(raw, &v) // what is of another shape has no text
	found := ""
	seen := func(words any) bool {
		s, ok := words.(string)
		if ok {
			found, _ = text.Clean(s)
		}
		return ok
	}
	for _, c := range v.Contents {
		c, _ := c.(map[string]any)
		if _, ok := c["uri"].(string); ok && seen(c["text"]) {
			return found
		}
		if blob, ok := c["blob"].(string); ok {
			return "[resource: " + blob[:min(len(blob), 10)]
		}
	}
	for _, m := range v.Messages {
		m, _ := m.(map[string]any)
		content, _ := m["content"].(map[string]any)
		if m["role"] == "user" && seen(content["text"]) {
			return found
		}
	}
	if slices.ContainsFunc(v.Completion.Values, seen) {
		return found
	}
	if member == "contents" {
		return "(no output)"
	}
	return ""
}

func isControl(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }
