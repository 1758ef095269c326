package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

// A client begins a call as a task, and fetches the result later. The bridge keeps tasks, so the extension sees ordinary
// calls. Clients see a task in one of two forms: that of 2025-11-25 (coretasks.go), or that of the extension of
// 2026-07-28 (exttasks.go).

// Bounds on tasks. A client that asks for a longer time gets the longest.
const (
	maxTasks       = 50       // of one session; its oldest that has ended makes room
	maxAllTasks    = 256      // of all; likewise
	maxTaskBytes   = 64 << 20 // of all results; likewise
	usualTaskTime  = time.Hour
	maxTaskTime    = 24 * time.Hour
	taskPoll       = 2 * time.Second
	maxTaskMessage = 500 // bytes
)

// A task is a call whose client does not wait for it.
type task struct {
	id      string
	session string
	began   time.Time
	ttl     time.Duration
	cancel  context.CancelFunc
	done    chan struct{} // closed at the end
	asks    *questions    // for requests of 2026-07-28; nil if the client is asked itself
	unsent  chan unsent   // questions of 2025-11-25 that wait for tasks/result

	mu      sync.Mutex
	asking  int    // questions of 2025-11-25 that are open
	status  string // working, completed, failed or cancelled
	message string // of the last progress
	changed time.Time
	result  json.RawMessage // of a completed task
	err     error           // of a failed one
}

// tasks are the tasks of all clients. The zero value is ready.
type tasks struct {
	work sync.WaitGroup // their calls

	mu    sync.Mutex
	all   map[string]*task // by id
	ended bool
}

// end ends a task once. It reports whether the task was under way.
func (t *task) end(status string, result json.RawMessage, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != "working" {
		return false
	}
	t.status, t.result, t.err, t.changed = status, result, err, time.Now()
	close(t.done)
	return true
}

func (t *task) working() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status == "working"
}

// over reports whether the time of the task is over. No client finds it then.
func (t *task) over() bool { return time.Since(t.began) > t.ttl }

func (t *task) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.result)
}

// say keeps a message about the progress.
func (t *task) say(message string) {
	if len(message) > maxTaskMessage {
		message = strings.ToValidUTF8(message[:maxTaskMessage], "")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status == "working" {
		t.message, t.changed = message, time.Now()
	}
}

// begin adds a task of a session.
func (ts *tasks) begin(session string, ttl time.Duration, asks *questions, cancel context.CancelFunc) (*task, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	own := 0
	for id, t := range ts.all {
		if t.over() {
			t.cancel()
			delete(ts.all, id)
		} else if t.session == session {
			own++
		}
	}
	if own >= maxTasks && !ts.makeRoom(session) {
		return nil, fmt.Errorf("%d tasks of this client are under way; try again when one has ended", maxTasks)
	}
	if len(ts.all) >= maxAllTasks && !ts.makeRoom("") {
		return nil, fmt.Errorf("%d tasks are under way; try again when one has ended", maxAllTasks)
	}
	if ts.all == nil {
		ts.all = make(map[string]*task)
	}
	now := time.Now()
	t := &task{
		id: rand.Text(), session: session, began: now, changed: now, ttl: ttl, cancel: cancel,
		done: make(chan struct{}), asks: asks, unsent: make(chan unsent), status: "working",
	}
	ts.all[t.id] = t
	return t, nil
}

// makeRoom removes the oldest task of a session that has ended, or of all sessions if that is "". The caller holds mu.
func (ts *tasks) makeRoom(session string) bool {
	var oldest *task
	for _, t := range ts.all {
		if (session == "" || t.session == session) && !t.working() && (oldest == nil || t.began.Before(oldest.began)) {
			oldest = t
		}
	}
	if oldest != nil {
		delete(ts.all, oldest.id)
	}
	return oldest != nil
}

// trim removes the oldest results beyond the bound.
func (ts *tasks) trim() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for {
		size := 0
		for _, t := range ts.all {
			size += t.size()
		}
		if size <= maxTaskBytes || !ts.makeRoom("") {
			return
		}
	}
}

// run makes the call of a task. It reports false if the bridge has ended.
func (ts *tasks) run(t *task, call func() (mcp.Result, error)) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.ended {
		return false
	}
	ts.work.Go(func() {
		defer t.cancel()
		defer func() {
			if recover() != nil {
				t.end("failed", nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a fault of the bridge"})
			}
		}()
		result, err := call()
		var text json.RawMessage
		if err == nil {
			text, err = json.Marshal(result)
		}
		if err != nil {
			t.end("failed", nil, err)
		} else {
			t.end("completed", text, nil)
			ts.trim()
		}
	})
	return true
}

// leave removes the tasks of a session that has ended.
func (ts *tasks) leave(session string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for id, t := range ts.all {
		if t.session == session {
			t.cancel()
			delete(ts.all, id)
		}
	}
}

// close cancels all tasks, and waits for their calls.
func (ts *tasks) close() {
	ts.mu.Lock()
	ts.ended = true
	for _, t := range ts.all {
		t.cancel()
	}
	ts.mu.Unlock()
	ts.work.Wait()
}

// taskAdvice ends the error of a request about a task that is gone.
const taskAdvice = ": its call may have run; look before you call the tool again"

// find returns a task of a session.
func (ts *tasks) find(session, id string) (*task, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.all[id]; t != nil && t.session == session && !t.over() {
		return t, nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task of this client any more, " +
		"because its time is over or its bridge has ended" + taskAdvice}
}

// of returns the tasks of a session, the oldest first.
func (ts *tasks) of(session string) []*task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var own []*task
	for _, t := range ts.all {
		if t.session == session && !t.over() {
			own = append(own, t)
		}
	}
	slices.SortFunc(own, func(a, b *task) int { return cmp.Or(a.began.Compare(b.began), strings.Compare(a.id, b.id)) })
	return own
}

// startTask begins a call as a task. asks is nil if to can be asked itself.
func (r *relay) startTask(s *sender, req *mcp.CallToolRequest, ttl time.Duration, asks *questions, to caller) (*task, error) {
	// A context of the request would send the task's questions to a response that has ended.
	ctx, cancel := context.WithTimeout(context.Background(), ttl)
	t, err := r.bridge.tasks.begin(s.key, ttl, asks, cancel)
	by := taskCaller{to, t, s.session, r.bridge.rounds.limit()}
	if err == nil && !r.bridge.tasks.run(t, func() (mcp.Result, error) { return r.call(ctx, s, req, by) }) {
		err = errors.New("the bridge ends")
	}
	if err != nil {
		cancel()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return t, nil
}

// A taskCaller is the client of a task. The task's state has the message of the last progress.
type taskCaller struct {
	caller
	task    *task
	session *mcp.ServerSession
	limit   time.Duration // for the client to fetch a question
}

func (c taskCaller) progress(ctx context.Context, p progress) {
	c.task.say(p.Message)
	c.caller.progress(ctx, p)
}

// taskSupport returns what the extension says of a tool: "optional" if it may be called as a task, "required" if it
// must be, and else "" or "forbidden". The error says why no browser can be asked.
func (r *relay) taskSupport(ctx context.Context, s *sender, tool string) (string, error) {
	l, err := r.bridge.await(ctx, r.profile, s.page())
	if err != nil {
		return "", err
	}
	list, ok := l.listed()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok || len(list) == 0 {
		return "", nil
	}
	if len(r.supportOf) == 0 || &r.supportOf[0] != &list[0] {
		r.supportOf, r.support = list, supportIn(list)
	}
	return r.support[tool], nil
}

func supportIn(list json.RawMessage) map[string]string {
	var all struct {
		Tools []struct {
			Name      string `json:"name"`
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
		} `json:"tools"`
	}
	support := make(map[string]string)
	if json.Unmarshal(list, &all) == nil {
		for _, t := range all.Tools {
			if t.Execution.TaskSupport != "" {
				support[t.Name] = t.Execution.TaskSupport
			}
		}
	}
	return support
}

func taskResult(value any) (mcp.Result, error) {
	text, err := json.Marshal(value)
	return &rawmsg.Result{Text: text}, err
}
