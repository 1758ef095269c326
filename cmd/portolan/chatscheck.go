package main

import (
	"context"
	_ "embed" // the scenarios
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// promptEvery is the least time between two prompts to one site.
const promptEvery = time.Minute

// offerWait is the time for a browser to connect.
var offerWait = 5 * time.Second

const (
	maxScenarioFile = 1 << 20
	maxScenarios    = 200
)

//go:embed chatscenarios.json
var ownScenarios []byte

// A scenario is one or more prompts in one conversation, and what the answers must be.
type scenario struct {
	ID      string   `json:"id"`
	Tags    []string `json:"tags"`
	Sites   []string `json:"sites,omitempty"` // asked at the same time; without them, each site alone
	Prompts []string `json:"prompts"`
	Expect  expect   `json:"expect"`
}

// expect has the assertions of a case. Zero values assert nothing.
type expect struct {
	BothMustSucceed    bool     `json:"bothMustSucceed,omitempty"` // every one of the sites answers
	MinAnswerLength    int      `json:"minAnswerLength,omitempty"`
	RelevanceThreshold float64  `json:"relevanceThreshold,omitempty"` // the least share of the prompt's words, or of Keywords
	Keywords           []string `json:"keywords,omitempty"`
	Contains           []string `json:"contains,omitempty"`
	MaxTotalMs         float64  `json:"maxTotalMs,omitempty"`
	NoFallback         bool     `json:"noFallback,omitempty"` // the end of the answer was certain
	NoEmptyMarkdown    bool     `json:"noEmptyMarkdown,omitempty"`
}

// readScenarios reads a file, or the scenarios of this command. It refuses trivial prompts,
// which sites take for a robot's.
func readScenarios(file string) ([]scenario, error) {
	text := ownScenarios
	if file != "" {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if info.Size() > maxScenarioFile {
			return nil, fmt.Errorf("%s is larger than %d bytes", file, maxScenarioFile)
		}
		if text, err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	var all []scenario
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("%w: the scenarios in %s: %w", errUsage, file, err)
	}
	if len(all) > maxScenarios {
		return nil, fmt.Errorf("%w: more than %d scenarios", errUsage, maxScenarios)
	}
	for _, s := range all {
		if s.ID == "" || len(s.Prompts) == 0 {
			return nil, fmt.Errorf("%w: each scenario needs an id and prompts", errUsage)
		}
		for _, p := range s.Prompts {
			if trivial(p) {
				return nil, fmt.Errorf("%w: scenario %s: the prompt %q is trivial: sites take such prompts for a robot's, "+
					"so ask a real question", errUsage, s.ID, p)
			}
		}
	}
	return all, nil
}

var sum = regexp.MustCompile(`^\D{0,16}\d+\s*[-+*/x×÷]\s*\d+\D{0,4}$`)

// trivial reports a prompt like "1+1", "Hello" or "OK": a sum, or fewer than five words.
func trivial(prompt string) bool {
	plain := strings.TrimSpace(prompt)
	if sum.MatchString(plain) {
		return true
	}
	letters := strings.FieldsFunc(plain, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	wide := strings.ContainsFunc(plain, func(c rune) bool {
		return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	})
	return wide && len([]rune(plain)) < 10 || !wide && len(letters) < 5
}

// choose returns the scenarios that have one of the ids and one of the tags, and whose sites are all chosen.
func choose(all []scenario, o *chatsOptions) []scenario {
	return slices.DeleteFunc(slices.Clone(all), func(s scenario) bool {
		tagged := len(o.tags) == 0 || slices.ContainsFunc(o.tags, func(tag string) bool {
			return slices.Contains(s.Tags, tag) || slices.Contains(s.Sites, tag)
		})
		named := len(o.ids) == 0 || slices.Contains(o.ids, s.ID)
		sited := len(o.sites) == 0 || len(missing(s.Sites, o.sites)) == 0
		return !tagged || !named || !sited
	})
}

// missing returns those of the wanted sites that are not among the others.
func missing(wanted, others []string) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(site string) bool { return slices.Contains(others, site) })
}

// A step is a scenario for some sites at the same time.
type step struct {
	scenario scenario
	sites    []string
}

type checker struct {
	session *mcp.ClientSession
	every   time.Duration
	debug   bool
	log     io.Writer

	mu    sync.Mutex
	next  map[string]time.Time // when a site may be asked again
	times string               // the file in which that is kept between runs
}

// timesFile returns the file that keeps when each site may be asked again.
func timesFile(dir string) (string, error) {
	dir, err := loopback.ConfigDir(dir)
	return filepath.Join(dir, "chats-check.json"), err
}

// readTimes reads the times of the last run, which are at most one pause ahead.
func (c *checker) readTimes() {
	text, err := os.ReadFile(c.times)
	if err != nil || json.Unmarshal(text, &c.next) != nil || c.next == nil {
		c.next = make(map[string]time.Time)
	}
	for site, at := range c.next {
		if time.Until(at) > c.every { // a run that was ended had planned more prompts
			c.next[site] = time.Now().Add(c.every)
		}
	}
}

// plan returns the steps for the sites that the browser offers.
func (c *checker) plan(ctx context.Context, chosen []scenario, sites []string) ([]step, error) {
	offered, err := offeredChats(ctx, c.session)
	if err != nil {
		return nil, err
	}
	if sites, err = chosenSites(sites, offered); err != nil {
		return nil, err
	}
	var plan []step
	for _, s := range chosen {
		if len(s.Sites) == 0 {
			for _, site := range sites {
				plan = append(plan, step{s, []string{site}})
			}
			continue
		}
		if lacking := missing(s.Sites, offered); len(lacking) > 0 {
			fmt.Fprintf(c.log, "skipped %s: the browser does not offer %s\n", s.ID, strings.Join(lacking, ", "))
			continue
		}
		plan = append(plan, step{s, s.Sites})
	}
	if len(plan) == 0 {
		return nil, fmt.Errorf("no scenario is left for the chats that the browser offers: %s", strings.Join(offered, ", "))
	}
	return plan, nil
}

// An unreachable says why no browser can be asked.
type unreachable struct{ code, text string }

func (u unreachable) Error() string { return u.text }

var errNotPaired = unreachable{"NOT_PAIRED", "no browser is paired: run portolan bridge pair"}

// offeredChats returns the sites that the browser offers. A browser that is just connecting gets
// some seconds.
func offeredChats(ctx context.Context, session *mcp.ClientSession) ([]string, error) {
	for patience := time.After(offerWait); ; {
		list, err := session.ListTools(ctx, nil)
		if err != nil {
			return nil, err
		}
		var sites []string
		for _, t := range list.Tools {
			site, named := strings.CutPrefix(t.Name, "chat_")
			schema, _ := t.InputSchema.(map[string]any)
			properties, _ := schema["properties"].(map[string]any)
			isStart := properties["tool"] != nil // chat_start
			if named && properties["conversationId"] != nil && !isStart {
				sites = append(sites, site)
			}
		}
		if len(sites) > 0 {
			return sites, nil
		}
		if len(list.Tools) == 1 && list.Tools[0].Name == "portolan_pair" {
			return nil, errNotPaired
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-patience:
			if len(list.Tools) == 0 { // the answer to a call says why
				if result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "chat_all"}); err == nil && result.IsError {
					why := unreachable{"NOT_CONNECTED", printable(textOf(result))}
					if strings.HasSuffix(why.text, "(STOPPED)") {
						why.code = "STOPPED"
					}
					return nil, why
				}
			}
			return nil, errors.New("the browser offers no chat: open it, and switch one on in the side panel of Portolan")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *checker) run(ctx context.Context, plan []step) *chatReport {
	r := &chatReport{StartedAt: time.Now().UTC()}
	for _, s := range plan {
		results := make([]checkResult, len(s.sites))
		var asking sync.WaitGroup
		for i, site := range s.sites {
			asking.Go(func() { results[i] = c.check(ctx, s.scenario, site) })
		}
		asking.Wait()
		answered := 0
		for _, result := range results {
			if result.Code == "" {
				answered++
			}
		}
		for i := range results {
			if s.scenario.Expect.BothMustSucceed && answered < len(results) && results[i].Code == "" {
				results[i].fail("bothMustSucceed: %d of %d sites answered", answered, len(results))
			}
			r.add(results[i])
			fmt.Fprintln(c.log, results[i].line())
		}
	}
	return r
}

// check sends the prompts of a scenario to one site, and looks at the last answer.
func (c *checker) check(ctx context.Context, s scenario, site string) checkResult {
	result := checkResult{ID: s.ID, Site: site, Tags: s.Tags}
	conversation := "new"
	for _, prompt := range s.Prompts {
		if err := c.wait(ctx, site); err != nil {
			result.Code = "CANCELLED"
			result.fail("%v", err)
			return result
		}
		result.Prompt = prompt
		seconds := 480.0
		if ms := s.Expect.MaxTotalMs; ms > 0 {
			seconds = min(480, max(10, ms/1000+30))
		}
		reply, code, err := callText(ctx, c.session, "chat_"+site,
			map[string]any{"prompt": prompt, "conversationId": conversation, "timeoutSeconds": int(seconds)})
		switch {
		case err != nil:
			result.Code = "UNKNOWN"
			result.fail("%v", err)
		case code != "":
			result.Code = code
			result.fail("%s", textOf(reply))
		}
		if result.Code != "" {
			break
		}
		result.Answer = chatAnswer{}
		if text, err := json.Marshal(reply.StructuredContent); err == nil {
			_ = json.Unmarshal(text, &result.Answer)
		}
		s.Expect.judge(&result)
		conversation = result.Answer.ConversationID
		if len(result.Failures) > 0 || conversation == "" {
			break
		}
	}
	if c.debug || len(result.Failures) > 0 {
		if shot, code, err := callText(ctx, c.session, "chat_snapshot", map[string]any{"service": site}); err == nil && code == "" {
			result.Snapshot = shot.StructuredContent
		}
	}
	return result
}

// writeTimes keeps when the sites may be asked again, for a run that follows soon.
func (c *checker) writeTimes() error {
	text, _ := json.Marshal(c.next) // times have JSON texts
	return os.WriteFile(c.times, text, 0o600)
}

// wait waits until the site may be asked again.
func (c *checker) wait(ctx context.Context, site string) error {
	c.mu.Lock()
	at := c.next[site]
	now := time.Now()
	if at.Before(now) {
		at = now
	}
	c.next[site] = at.Add(c.every)
	err := c.writeTimes()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if pause := time.Until(at); pause > time.Second {
		fmt.Fprintf(c.log, "%s waits %d s\n", site, int(pause.Seconds()))
	}
	select {
	case <-time.After(time.Until(at)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// judge adds the assertions that an answer fails.
func (e expect) judge(r *checkResult) {
	a := r.Answer
	if n := len([]rune(a.Answer)); n < e.MinAnswerLength {
		r.fail("minAnswerLength: %d characters, want %d", n, e.MinAnswerLength)
	}
	r.Relevance = relevance(r.Prompt, e.Keywords, a.Answer)
	if r.Relevance < e.RelevanceThreshold {
		r.fail("relevanceThreshold: %.2f, want %.2f", r.Relevance, e.RelevanceThreshold)
	}
	for _, want := range e.Contains {
		if !strings.Contains(a.Answer, want) {
			r.fail("contains: no %q in the answer", want)
		}
	}
	if total := a.Timings["totalMs"]; e.MaxTotalMs > 0 && total > e.MaxTotalMs {
		r.fail("maxTotalMs: %.0f ms, want at most %.0f", total, e.MaxTotalMs)
	}
	if e.NoFallback && a.Confidence == "low" {
		r.fail("noFallback: the end of the answer is uncertain (%s)", strings.Join(a.Evidence, ", "))
	}
	if e.NoEmptyMarkdown && strings.TrimSpace(a.Answer) == "" {
		r.fail("noEmptyMarkdown: the answer is empty")
	}
}

// relevance returns the share of the keywords that are in the answer. Without keywords, they
// are the words of the prompt with five letters or more.
func relevance(prompt string, keywords []string, answer string) float64 {
	if len(keywords) == 0 {
		for _, w := range strings.FieldsFunc(prompt, func(c rune) bool { return !unicode.IsLetter(c) && c != '-' }) {
			if len([]rune(w)) >= 5 {
				keywords = append(keywords, w)
			}
		}
	}
	if len(keywords) == 0 {
		return 1
	}
	lower := strings.ToLower(answer)
	found := 0
	for _, w := range keywords {
		if strings.Contains(lower, strings.ToLower(w)) {
			found++
		}
	}
	return float64(found) / float64(len(keywords))
}
