package proxy

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An Outcome says how a request of a page ended.
type Outcome struct {
	Code           string // "" or the code of the refusal
	Origin, Client string // as the request named them
	Host           string // of the server; "" of a request that was refused before it was read
	Began          time.Time
	Took           time.Duration // until the header of the response
}

// maxLogged bounds a text of an Outcome that [Config.OnRefusal] gets, in bytes.
const maxLogged = 255

// firstBytes are the upper ends of the buckets of GET /metrics.
var firstBytes = [...]time.Duration{
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// counts is what GET /metrics says. It knows no origin, address or URL.
type counts struct {
	mu       sync.Mutex
	since    time.Time // of the first outcome
	requests uint64
	refused  map[string]uint64           // by code
	passed   [len(firstBytes) + 1]uint64 // by bucket
}

// Note counts the outcome of a request, and reports a refusal to [Config.OnRefusal]. The
// caller of [Policy.Decide] calls it once for each request, but not for permitted preflights
// and the proxy's own pages. A panic of OnRefusal ends here, because the response goes on.
// Note may be called from several goroutines at once.
func (p *Policy) Note(o Outcome) {
	defer func() { _ = recover() }()
	p.counts.add(o)
	if o.Code == "" || p.cfg.OnRefusal == nil {
		return
	}
	for _, text := range []*string{&o.Origin, &o.Host, &o.Client} {
		*text = (*text)[:min(len(*text), maxLogged)]
	}
	p.cfg.OnRefusal(o)
}

func (c *counts) add(o Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests++; c.requests == 1 {
		c.since = o.Began
	}
	if o.Code == "" {
		bucket, _ := slices.BinarySearch(firstBytes[:], o.Took)
		c.passed[bucket]++
		return
	}
	if c.refused == nil {
		c.refused = map[string]uint64{}
	}
	c.refused[o.Code]++
}

// metrics answers GET /metrics for callers with a metrics key.
func (p *Policy) metrics(r *Request, origin string) *Decision {
	key, bearer := strings.CutPrefix(Get(r.Header, "authorization"), "Bearer ")
	if !bearer || !isAmong(p.metricsKeys, key) {
		return callerRefused.decision(origin)
	}
	return answer(origin, p.counts.json())
}

func (c *counts) json() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := func(name string, n uint64) string { return `"` + name + `":` + strconv.FormatUint(n, 10) }
	since := "null"
	if c.requests > 0 {
		since = `"` + c.since.UTC().Format(time.RFC3339) + `"`
	}
	var refused, passed []string
	for _, code := range slices.Sorted(maps.Keys(c.refused)) {
		refused = append(refused, number(code, c.refused[code]))
	}
	for i, n := range c.passed {
		name := "more"
		if i < len(firstBytes) {
			name = strconv.FormatInt(firstBytes[i].Milliseconds(), 10)
		}
		passed = append(passed, number(name, n))
	}
	return `{"since":` + since + `,` + number("requests", c.requests) + `,"refused":{` + strings.Join(refused, ",") +
		`},"firstByteMs":{` + strings.Join(passed, ",") + `}}`
}
