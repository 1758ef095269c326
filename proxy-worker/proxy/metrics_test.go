package proxy

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func metricsOf(p *Policy, authorization string) *Decision {
	return p.Decide(&Request{
		Method: "GET", URL: "https://proxy.example/metrics", Now: noon, Header: []Pair{{"authorization", authorization}},
	})
}

func TestMetrics(t *testing.T) {
	const reader = "a metrics key that is long enough"
	cfg := Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, MetricsKeys: []string{reader}}
	for _, wrong := range []string{"", "Bearer ", "Bearer " + key, reader, "Basic " + reader} {
		if d := metricsOf(policy(t, cfg), wrong); d.Code != "caller_refused" {
			t.Errorf("%q: %d %s", wrong, d.Status, d.Body)
		}
	}
	if d := metricsOf(policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}}), "Bearer "); d.Status == 200 {
		t.Errorf("without a metrics key: %s", d.Body)
	}
	if _, err := New(Config{MetricsKeys: []string{"short"}}); err == nil {
		t.Error("a short key is taken")
	}

	p := policy(t, cfg)
	said := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, string(metricsOf(p, "Bearer "+reader).Body)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	said(`{"since":null,"requests":0,"refused":{},"firstByteMs":{"50":0,"100":0,"250":0,"500":0,"1000":0,"2500":0,"5000":0,"10000":0,"30000":0,"more":0}}`)
	for _, took := range []time.Duration{0, 50 * time.Millisecond, 51 * time.Millisecond, 30 * time.Second, time.Minute} {
		p.Note(Outcome{Origin: page, Host: "mcp.example.com", Began: noon, Took: took})
	}
	p.Note(Outcome{Code: "host_refused", Began: noon.Add(time.Hour)})
	p.Note(Outcome{Code: "caller_refused"})
	p.Note(Outcome{Code: "host_refused"})
	said(`{"since":"2026-11-21T12:00:00Z","requests":8,"refused":{"caller_refused":1,"host_refused":2},"firstByteMs":{"50":2,"100":1,"250":0,"500":0,"1000":0,"2500":0,"5000":0,"10000":0,"30000":1,"more":1}}`)
}

func TestRefusalsAreReported(t *testing.T) {
	var mu sync.Mutex
	var got []Outcome
	p := policy(t, Config{OnRefusal: func(o Outcome) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, o)
		if len(got) == 2 {
			panic("in the callback")
		}
	}})
	p.Note(Outcome{})
	p.Note(Outcome{Code: "host_refused", Origin: strings.Repeat("o", 1000), Host: "h", Client: "c"})
	p.Note(Outcome{Code: "internal"})
	want := []Outcome{{Code: "host_refused", Origin: strings.Repeat("o", maxLogged), Host: "h", Client: "c"}, {Code: "internal"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				p.Note(Outcome{Code: "internal"})
			}
		})
	}
	wait.Wait()
	if len(got) != 802 {
		t.Errorf("%d refusals", len(got))
	}
}
