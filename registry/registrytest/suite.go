package registrytest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
)

// Options are what the suite asks of an implementation beyond its defaults.
type Options struct {
	Limits registry.Limits
	Elicit registry.Elicit
	Sample registry.Elicit // answers sampling/createMessage
	Roots  []string        // file: URLs; nil: not announced
}

// A Dial makes the implementation under test, with rt as its network.
type Dial func(rt http.RoundTripper, opts Options) registry.Connect

// RunSessionSuite checks that an implementation of [registry.Session] behaves as the
// interface promises. Some of its servers are real, and others misbehave. With only, it runs
// those groups alone.
func RunSessionSuite(t *testing.T, dial Dial, only ...string) {
	for name, test := range map[string]func(*testing.T, Dial){
		"Versions":      testVersions,
		"Pages":         testPages,
		"Drops":         testDrops,
		"Pins":          testPins,
		"Hygiene":       testHygiene,
		"BadLists":      testBadLists,
		"Calls":         testCalls,
		"Progress":      testProgress,
		"Cancel":        testCancel,
		"Deadlines":     testDeadlines,
		"Expiry":        testExpiry,
		"Statuses":      testStatuses,
		"ForeignErrors": testForeignErrors,
		"BadAnswers":    testBadAnswers,
		"Framing":       testFraming,
		"LostAnswers":   testLostAnswers,
		"Limits":        testLimits,
		"Legacy":        testLegacy,
		"Requests":      testServerRequests,
		"Elicitation":   testElicitation,
		"Input":         testInputRequired,
		"Tasks":         testTasks,
		"Offers":        testOffers,
		"Following":     testFollowing,
		"OfferFaults":   testOfferFaults,
		"Logs":          testLogs,
		"Older":         testOlder,
		"Sampling":      testSamplingBounds,
		"ListChanged":   testListChanged,
		"ParamHeaders":  testParamHeaders,
		"Headers":       testHeaders,
		"Close":         testClose,
		"Death":         testDeath,
	} {
		if len(only) == 0 || slices.Contains(only, name) {
			t.Run(name, func(t *testing.T) { test(t, dial) })
		}
	}
}

const (
	origin   = "https://server.example"
	endpoint = origin + "/mcp"
	// patience is longer than anything here takes on a loaded machine.
	patience = 20 * time.Second
	// promptly is what a method may take beyond its context's end.
	promptly = 2 * time.Second
)

// A peer is a session under test with its surroundings.
type peer struct {
	registry.Session
	t       *testing.T
	ctx     context.Context
	net     *Net
	notices chan registry.Notice
}

func surroundings(t *testing.T, h http.Handler) (*peer, func(Dial, Options, registry.ServerConfig) error) {
	t.Helper()
	p := &peer{t: t, net: NewNet(t), notices: make(chan registry.Notice, 100)}
	if h != nil {
		p.net.Handle(origin, h)
	}
	var cancel context.CancelFunc
	p.ctx, cancel = context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return p, func(dial Dial, opts Options, cfg registry.ServerConfig) error {
		if cfg.URL == "" {
			cfg.URL = endpoint
		}
		notify := func(n registry.Notice) {
			select {
			case p.notices <- n:
			default:
			}
		}
		s, err := dial(p.net, opts)(p.ctx, "a", cfg, notify)
		if err != nil {
			return err
		}
		p.Session = s
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			s.Close(ctx)
		})
		return nil
	}
}

// connect opens a session with h, which has to work.
func connect(t *testing.T, dial Dial, h http.Handler, opts Options) *peer {
	t.Helper()
	return connectTo(t, dial, h, opts, registry.ServerConfig{})
}

func connectTo(t *testing.T, dial Dial, h http.Handler, opts Options, cfg registry.ServerConfig) *peer {
	t.Helper()
	p, open := surroundings(t, h)
	if err := open(dial, opts, cfg); err != nil {
		t.Fatalf("connect: %v", err)
	}
	return p
}

// connectFails opens a session with h, which must not work.
func connectFails(t *testing.T, dial Dial, h http.Handler, cfg registry.ServerConfig) (*peer, error) {
	t.Helper()
	p, open := surroundings(t, h)
	err := open(dial, Options{}, cfg)
	if err == nil {
		t.Fatal("connect succeeded")
	}
	return p, err
}

// call calls a tool, which has to answer, and returns its result.
func (p *peer) call(tool, arguments string) map[string]any {
	p.t.Helper()
	out, err := p.CallTool(p.ctx, registry.ToolCall{Tool: tool, Arguments: []byte(arguments)})
	if err != nil {
		p.t.Fatalf("call %s: %v", tool, err)
	}
	return decode(p.t, out.Result)
}

// text calls a tool and returns the text of its first block of content.
func (p *peer) text(tool, arguments string) string {
	p.t.Helper()
	content, _ := p.call(tool, arguments)["content"].([]any)
	if len(content) == 0 {
		p.t.Fatalf("call %s: no content", tool)
	}
	block, _ := content[0].(map[string]any)
	text, _ := block["text"].(string)
	return text
}

func (p *peer) list(cursor *string) *registry.ToolPage {
	p.t.Helper()
	page, err := p.ListTools(p.ctx, cursor)
	if err != nil {
		p.t.Fatalf("list tools: %v", err)
	}
	if page.Release != nil {
		p.t.Cleanup(page.Release)
	}
	return page
}

func names(page *registry.ToolPage) []string {
	var all []string
	for _, tool := range page.Tools {
		all = append(all, tool.Name)
	}
	return all
}

// decode reads a payload, numbers as text so that no digit is lost.
func decode(t *testing.T, payload registry.Payload) map[string]any {
	t.Helper()
	text, err := payload.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %.200q", err, text)
	}
	return v
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
