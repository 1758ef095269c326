package farm

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A Case is one way to misbehave.
type Case struct {
	Name   string `json:"name"`
	Area   string `json:"area"`
	Severe bool   `json:"severe"` // it can hang, crash or fill a careless client, or make it give away a secret
	Use    Use    `json:"use"`    // how a client uses it
	Expect Expect `json:"expect"` // what comes of it
	Owner  string `json:"owner,omitempty"`

	server server
}

// Use says what a client does beside discovering and calling the first tool.
type Use struct {
	Transport string         `json:"transport,omitempty"` // of the server's configuration
	TimeoutMs int            `json:"timeoutMs"`           // each deadline
	Limits    map[string]int `json:"limits,omitempty"`    // by their JavaScript names
	Args      string         `json:"args,omitempty"`      // of the call, as JSON text
	LingerMs  int            `json:"lingerMs,omitempty"`  // how long it waits before it calls
	CancelMs  int            `json:"cancelMs,omitempty"`  // when it gives the call up
	Calls     int            `json:"calls,omitempty"`     // how often it calls, one after the other; 1 if 0
	Validate  bool           `json:"validate,omitempty"`  // it checks arguments first
	// Asks is what it asks for in place of a call: a method of the JavaScript surface, of
	// the resource demo://a or the prompt p.
	Asks string `json:"asks,omitempty"`
}

// Expect says what a careful client makes of a server.
type Expect struct {
	// Health lists the error codes that the server's health may have after discovery;
	// "" is a server that is connected.
	Health []string `json:"health"`
	// Tools are the model names of its tools; nil: any.
	Tools []string `json:"tools,omitempty"`
	// Warning is a part of the server's warnings.
	Warning string `json:"warning,omitempty"`
	// Call lists what each call may come to: "code:timeout", or "text:" and how the
	// text begins. Empty: any.
	Call []string `json:"call,omitempty"`
	// Last is what the last of several calls comes to.
	Last []string `json:"last,omitempty"`
	// Most and Least bound how often a method was asked for.
	Most  map[string]int `json:"most,omitempty"`
	Least map[string]int `json:"least,omitempty"`
	// Often bounds it as Most does, for each five seconds: a machine that has much to do takes longer.
	Often map[string]int `json:"often,omitempty"`
	// Repeats says that over HTTP/1.1 a browser sends a broken POST again by itself.
	Repeats bool `json:"repeats,omitempty"`
	// Sent is what must be in a message that the server got.
	Sent string `json:"sent,omitempty"`
}

// Secret is the header value that a client configures for each hostile server.
const Secret = "k3y-of-the-user"

// A Farm is all cases on sockets of their own, and a good server.
type Farm struct {
	Good string // URL of a server that does all well

	cases     map[string]*field
	elsewhere *field
	servers   []*http.Server
}

// Start begins to listen.
func Start() (*Farm, error) {
	f := &Farm{cases: make(map[string]*field)}
	for i, c := range Cases() {
		if f.cases[c.Name] != nil {
			panic("farm: two cases are named " + c.Name)
		}
		field := &field{c: c, number: i, farm: f, runs: make(map[string]*Run)}
		f.cases[c.Name] = field
		if err := f.listen(field, &field.origin); err != nil {
			f.Close()
			return nil, err
		}
	}
	// Another origin, which credentials must not reach.
	f.elsewhere = &field{c: Case{Name: "elsewhere"}, farm: f, runs: make(map[string]*Run)}
	var good string
	if err := f.listen(f.elsewhere, &f.elsewhere.origin); err != nil {
		f.Close()
		return nil, err
	}
	if err := f.listen(readable(goodServer()), &good); err != nil {
		f.Close()
		return nil, err
	}
	f.Good = good + "/mcp"
	return f, nil
}

func (f *Farm) listen(h http.Handler, origin *string) error {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	*origin = "http://" + socket.Addr().String()
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: quiet}
	f.servers = append(f.servers, s)
	go s.Serve(socket)
	return nil
}

// Close ends all servers.
func (f *Farm) Close() {
	for _, s := range f.servers {
		s.Close()
	}
}

// URL is where the case's server is for one run.
func (f *Farm) URL(name, run string) string {
	c := f.cases[name]
	path := "/mcp"
	if c.c.Use.Transport == "sse" {
		path = "/sse"
	}
	return c.origin + "/" + run + path
}

// Task is what a client needs to know of a case for one run.
func (f *Farm) Task(c Case, run string) Task {
	return Task{Bad: f.URL(c.Name, run), Good: f.Good, Use: c.Use}
}

// A Manifest describes a farm to clients in other processes.
type Manifest struct {
	Control string `json:"control"` // POST control/judge/NAME/RUN with an Outcome answers with problems
	Good    string `json:"good"`
	Secret  string `json:"secret"`
	Cases   []struct {
		Case
		// URL has RUN where the run's name goes.
		URL string `json:"url"`
	} `json:"cases"`
}

// Serve also listens for clients in other processes and tells what they need.
func (f *Farm) Serve() (*Manifest, error) {
	m := &Manifest{Good: f.Good, Secret: Secret}
	for _, c := range Cases() {
		m.Cases = append(m.Cases, struct {
			Case
			URL string `json:"url"`
		}{c, f.URL(c.Name, "RUN")})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /judge/{name}/{run}", func(w http.ResponseWriter, req *http.Request) {
		var o Outcome
		problems := []string{"there is no such case"}
		if err := json.NewDecoder(req.Body).Decode(&o); err != nil {
			problems = []string{"the outcome cannot be read: " + err.Error()}
		} else if f.cases[req.PathValue("name")] != nil {
			problems = f.Judge(req.PathValue("name"), req.PathValue("run"), o)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(append([]string{}, problems...))
	})
	// The number of open exchanges of a run, and the time until there were none.
	mux.HandleFunc("GET /open/{name}/{run}", func(w http.ResponseWriter, req *http.Request) {
		began := time.Now()
		left := f.cases[req.PathValue("name")].run(req.PathValue("run")).settle(settled)
		json.NewEncoder(w).Encode(map[string]any{"open": len(left), "ms": time.Since(began).Milliseconds()})
	})
	return m, f.listen(readable(mux), &m.Control)
}

// A field is a case on its socket, with the runs that there have been.
type field struct {
	c      Case
	number int
	farm   *Farm
	origin string

	mu   sync.Mutex
	runs map[string]*Run
}

func (f *field) run(name string) *Run {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[name]
	if r == nil {
		r = &Run{name: name, field: f, asked: make(map[string]int), open: make(map[int]string)}
		f.runs[name] = r
		if f.farm != nil && f.c.Name != "elsewhere" {
			r.handler = f.c.server.handler(r)
		}
	}
	return r
}

// ServeHTTP implements [http.Handler]. The first part of the path is the run; below
// /.well-known/ it is a later one.
func (f *field) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	readable(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		parts := strings.Split(strings.TrimPrefix(req.URL.Path, "/"), "/")
		if parts[0] == ".well-known" {
			parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, ".") || strings.HasPrefix(p, "o") })
			if len(parts) == 0 {
				http.NotFound(w, req)
				return
			}
		}
		r := f.run(parts[0])
		done := r.enter(req)
		defer done()
		if r.handler == nil {
			http.NotFound(w, req)
			return
		}
		r.handler.ServeHTTP(w, req)
	})).ServeHTTP(w, req)
}

// readable lets pages of any origin use a server.
func readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		for key, value := range corsHeaders {
			h.Set(key, value)
		}
		if req.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, req)
	})
}

var corsHeaders = map[string]string{
	"Access-Control-Allow-Origin":   "*",
	"Access-Control-Allow-Headers":  "*",
	"Access-Control-Allow-Methods":  "GET, POST, DELETE",
	"Access-Control-Expose-Headers": "Mcp-Session-Id, Www-Authenticate, Retry-After",
	"Access-Control-Max-Age":        "600",
}

// A Run is what one client has asked of a case's server.
type Run struct {
	name    string
	field   *field
	handler http.Handler

	mu      sync.Mutex
	asked   map[string]int // by method
	began   time.Time      // when the first request came
	open    map[int]string // exchanges under way
	last    int
	changed chan struct{}
	sent    strings.Builder // bodies, the first of them
	faults  []string        // what a client must not do
}

func (r *Run) enter(req *http.Request) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last++; r.last == 1 {
		r.began = time.Now()
	}
	id := r.last
	r.open[id] = req.Method
	if req.Header.Get("Cookie") != "" {
		r.faults = append(r.faults, "it sent a cookie")
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, id)
		if r.changed != nil {
			close(r.changed)
			r.changed = nil
		}
	}
}

// count notes a message and returns how many of its method there have been.
func (r *Run) count(method string, body []byte) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sent.Len() < 1<<20 {
		r.sent.Write(body)
	}
	r.asked[method]++
	return r.asked[method]
}

// settle waits until no exchange is open and returns those that are all the same.
func (r *Run) settle(most time.Duration) []string {
	limit := time.After(most)
	for {
		r.mu.Lock()
		var left []string
		for _, what := range r.open {
			left = append(left, what)
		}
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		changed := r.changed
		r.mu.Unlock()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-limit:
			return left
		}
	}
}

// Judge says what was wrong with the way a client dealt with a case.
func (f *Farm) Judge(name, run string, o Outcome) (problems []string) {
	c := f.cases[name]
	r := c.run(run)
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	e := &c.c.Expect
	if o.Fault != "" {
		bad("the client failed: %s", o.Fault)
		return problems
	}
	if !slices.Contains(e.Health, o.Health) {
		bad("health is %q (%s), want one of %q", o.Health, o.LastError, e.Health)
	}
	if e.Tools != nil && !slices.Equal(o.Tools, e.Tools) {
		bad("tools are %.300q, want %.300q", o.Tools, e.Tools)
	}
	if !strings.Contains(strings.Join(o.Warnings, "\n"), e.Warning) {
		bad("no warning has %q: %.500q", e.Warning, o.Warnings)
	}
	if e.Call != nil && len(o.Calls) == 0 {
		bad("nothing could be called")
	}
	for i, call := range o.Calls {
		want := e.Call
		if i > 0 && i == len(o.Calls)-1 && e.Last != nil {
			want = e.Last
		}
		if want != nil && !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(call, w) }) {
			bad("call %d came to %.300q, want one of %q", i+1, call, want)
		}
	}
	// Rules for all cases.
	if o.GoodErrors > 0 || o.GoodCalls == 0 {
		bad("the good server answered %d calls and failed %d: %s", o.GoodCalls, o.GoodErrors, o.GoodError)
	}
	if o.Told {
		bad("it shows a header value")
	}
	if o.Polluted {
		bad("it let a server change the prototype of all objects")
	}
	if len(o.LastError) > surfaced || o.LongestError > surfaced {
		bad("it shows %d and %d bytes of error", len(o.LastError), o.LongestError)
	}
	if o.Controls {
		bad("it shows control characters of an error")
	}
	if o.TextBytes > 1<<20+200 {
		bad("it gives a model %d bytes", o.TextBytes)
	}
	if left := r.settle(settled); len(left) > 0 {
		bad("after the end %d exchanges are open: %q", len(left), left)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	problems = append(problems, r.faults...)
	for method, most := range e.Most {
		if e.Repeats && o.Realm == "Chromium" {
			most *= 4 // once for each idle connection
		}
		if r.asked[method] > most {
			bad("it asked %d times for %s, want at most %d", r.asked[method], method, most)
		}
	}
	for method, often := range e.Often {
		most := int(float64(often) * max(1, time.Since(r.began).Seconds()/5))
		if r.asked[method] > most {
			bad("it asked %d times for %s, want at most %d", r.asked[method], method, most)
		}
	}
	for method, least := range e.Least {
		if r.asked[method] < least {
			bad("it asked %d times for %s, want %d", r.asked[method], method, least)
		}
	}
	if !strings.Contains(r.sent.String(), e.Sent) {
		bad("it did not send %s", e.Sent)
	}
	if other := f.elsewhere.run(r.word()); other.last > 0 {
		bad("it sent %d requests to another origin", other.last)
	}
	return problems
}

// settled bounds how long exchanges may stay open after the end. Chromium reads on for
// up to 5 s where it hopes to use the connection again.
const settled = 6 * time.Second

// surfaced bounds an error that is shown: 2 KiB, and what names the server and the operation.
const surfaced = 2<<10 + 512

// elsewhere is an address on another origin that nothing may be sent to.
func (r *Run) elsewhere() string {
	return r.field.farm.elsewhere.origin + "/" + r.word() + "/taken"
}

// word names the run among all runs of all cases.
func (r *Run) word() string { return strconv.Itoa(r.field.number) + "." + r.name }

// here is an address on the server's own origin.
func (r *Run) here(path string) string { return r.field.origin + "/" + r.name + path }

func limitsOf(named map[string]int) (l registry.Limits, err error) {
	for name, n := range named {
		if !l.Set(name, int64(n)) {
			return l, fmt.Errorf("farm: limit %s", name)
		}
	}
	return l, nil
}
