package registrytest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// taskServer is a server whose tool "slow" becomes a task. It answers the nth poll with the
// nth state, and later ones with the last.
func taskServer(modern bool, states ...string) *Script {
	s := &Script{Modern: modern, Tasks: true}
	execution := `,"execution":{"taskSupport":"required"}`
	begun := `{"task":{"taskId":"t 1","status":"working","pollInterval":1}}`
	if modern {
		execution, begun = "", `{"resultType":"task","taskId":"t 1","status":"working","pollIntervalMs":1}`
	}
	s.On("tools/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"tools":[{"name":"slow","inputSchema":{"type":"object"}`+execution+`}]}}`))
	s.On("tools/call", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+begun+`}`))
	n := 0
	s.On("tasks/get", func(w http.ResponseWriter, req *http.Request, m Message) {
		state := states[min(n, len(states)-1)]
		n++
		if state == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		Reply(w, m, `{"taskId":"t 1",`+state+`}`)
	})
	s.On("tasks/cancel", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{}}`))
	s.On("tasks/update", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{}}`))
	return s
}

func testTasks(t *testing.T, dial Dial) {
	const done = `{"content":[{"type":"text","text":"at last"}]}`
	slow := func(p *peer, ctx context.Context, progress func(registry.Progress)) (*registry.ToolOutput, error) {
		page := p.list(nil)
		if len(page.Tools) != 1 {
			p.t.Fatalf("tools %v, dropped %v", names(page), page.Dropped)
		}
		return p.CallTool(ctx, registry.ToolCall{Tool: "slow", Def: page.Tools[0].Def, OnProgress: progress})
	}
	each := func(t *testing.T, name string, test func(t *testing.T, modern bool)) {
		for era, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
			t.Run(name+", "+era, func(t *testing.T) {
				t.Parallel()
				test(t, modern)
			})
		}
	}
	each(t, "it completes", func(t *testing.T, modern bool) {
		s := taskServer(modern, `"status":"working","statusMessage":"half"`, "", `"status":"completed","result":`+done)
		s.On("tasks/result", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+done+`}`))
		p := connect(t, dial, s, Options{})
		var told []string
		out, err := slow(p, p.ctx, func(x registry.Progress) { told = append(told, x.Message) })
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := out.Result.JSON(); string(got) != done {
			t.Errorf("result %s", got)
		}
		if !strings.Contains(strings.Join(told, ","), "half") {
			t.Errorf("progress %q", told)
		}
		if call := s.Received("tools/call")[0]; strings.Contains(string(call.Params), `"task":{}`) == modern {
			t.Errorf("the call was %s", call.Params)
		}
	})
	each(t, "detached, and followed by another session", func(t *testing.T, modern bool) {
		s := taskServer(modern, `"status":"working","statusMessage":"half"`, `"status":"completed","result":`+done)
		s.On("tasks/result", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+done+`}`))
		p := connect(t, dial, s, Options{})
		begun, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "slow", Def: p.list(nil).Tools[0].Def, Detach: true})
		if err != nil || begun.Result != nil || !strings.Contains(string(begun.Task), `"taskId":"t 1"`) {
			t.Fatalf("%v, %v", begun, err)
		}
		if n := len(s.Received("tasks/get")); n != 0 {
			t.Errorf("%d polls of a detached task", n)
		}
		later := connect(t, dial, s, Options{})
		var told []string
		out, err := later.Session.(registry.Tasker).FollowTask(later.ctx, "t 1", registry.ToolCall{
			OnProgress: func(x registry.Progress) { told = append(told, x.Message) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := out.Result.JSON(); string(got) != done || !strings.Contains(strings.Join(told, ","), "half") {
			t.Errorf("result %s, progress %q", got, told)
		}
	})
	each(t, "a change that the server reports ends a long wait", func(t *testing.T, modern bool) {
		const minute = `"status":"working","pollInterval":60000,"pollIntervalMs":60000`
		s := taskServer(modern, minute, `"status":"completed","result":`+done)
		s.ListChanged = true
		s.On("tasks/result", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+done+`}`))
		reports := func(w http.ResponseWriter, req *http.Request, m Message) {
			method := "notifications/tasks/status"
			if modern {
				method = "notifications/tasks"
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for !modern || strings.Contains(string(m.Params), `"taskIds":["t 1"]`) {
				io.WriteString(w, `data: {"jsonrpc":"2.0","method":"`+method+`","params":{"taskId":"t 1","status":"completed"}}`+"\n\n")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-req.Context().Done():
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
			Silent(w, req, m)
		}
		s.On("GET", reports).On("subscriptions/listen", reports)
		p := connect(t, dial, s, Options{})
		out, err := slow(p, p.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := out.Result.JSON(); string(got) != done {
			t.Errorf("result %s", got)
		}
		if n := len(s.Received("tasks/get")); n != 2 {
			t.Errorf("%d polls, want 2", n)
		}
	})
	each(t, "cancelled, or not known", func(t *testing.T, modern bool) {
		s := taskServer(modern, "")
		p := connect(t, dial, s, Options{})
		tasks := p.Session.(registry.Tasker)
		if err := tasks.CancelTask(p.ctx, "t 1"); err != nil || len(s.Received("tasks/cancel")) != 1 {
			t.Errorf("cancel: %v", err)
		}
		gone := func(w http.ResponseWriter, req *http.Request, m Message) {
			ReplyError(w, m, 200, -32602, "no such task")
		}
		s.On("tasks/cancel", gone)
		s.On("tasks/get", gone)
		if err := tasks.CancelTask(p.ctx, "t 2"); !errors.Is(err, registry.ErrGone) {
			t.Errorf("cancel an unknown task: %v", err)
		}
		if _, err := tasks.FollowTask(p.ctx, "t 2", registry.ToolCall{}); !errors.Is(err, registry.ErrGone) {
			t.Errorf("follow an unknown task: %v", err)
		}
		if n := len(s.Received("tasks/cancel")); n != 2 {
			t.Errorf("%d cancels", n)
		}
	})
	each(t, "the server forgets it while it is followed", func(t *testing.T, modern bool) {
		s := taskServer(modern, `"status":"working"`)
		s.On("tasks/get", func(w http.ResponseWriter, req *http.Request, m Message) {
			ReplyError(w, m, 200, -32602, "no such task")
		})
		if _, err := slow(connect(t, dial, s, Options{}), t.Context(), nil); !errors.Is(err, registry.ErrGone) {
			t.Errorf("error %v, want ErrGone", err)
		}
	})
	each(t, "it fails for its parameters", func(t *testing.T, modern bool) {
		s := taskServer(modern, `"status":"failed","error":{"code":-32602,"message":"no such tide"}`)
		s.On("tasks/result", Body("application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32602,"message":"no such tide"}}`))
		p := connect(t, dial, s, Options{})
		_, err := p.Session.(registry.Tasker).FollowTask(p.ctx, "t 1", registry.ToolCall{})
		if rpc := (*registry.RPCError)(nil); errors.Is(err, registry.ErrGone) || !errors.As(err, &rpc) || rpc.Message != "no such tide" {
			t.Errorf("error %v, want the server's", err)
		}
	})
	each(t, "it asks", func(t *testing.T, modern bool) {
		const question = `{"method":"elicitation/create","params":{"message":"Which colour?","requestedSchema":{"type":"object","properties":{}}}}`
		s := taskServer(modern, `"status":"input_required","inputRequests":{"q":`+question+`}`, `"status":"input_required","inputRequests":{"q":`+question+`}`,
			`"status":"input_required"`, `"status":"completed","result":`+done)
		s.On("tasks/result", func(w http.ResponseWriter, req *http.Request, m Message) {
			Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":\"e\","+question[1:]+"\n\n")(w, req, m)
			s.Await("", req.Context().Done())
			Body("", "data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":"+done+"}\n\n")(w, req, m)
		})
		p := connect(t, dial, s, Options{Elicit: accept})
		if _, err := slow(p, p.ctx, nil); err != nil {
			t.Fatal(err)
		}
		if updates := s.Received("tasks/update"); modern && (len(updates) != 1 || !strings.Contains(string(updates[0].Params), `"inputResponses":{"q":{"action":"accept","content":{"colour":"red"}}}`)) {
			t.Errorf("updates %v", updates)
		}
	})
	each(t, "it fails", func(t *testing.T, modern bool) {
		s := taskServer(modern, `"status":"failed","error":{"code":-32050,"message":"no wind"}`)
		s.On("tasks/result", Body("application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32050,"message":"no wind"}}`))
		p := connect(t, dial, s, Options{})
		_, err := slow(p, p.ctx, nil)
		var rpc *registry.RPCError
		if !errors.As(err, &rpc) || rpc.Code != -32050 || rpc.Message != "no wind" {
			t.Errorf("error %v", err)
		}
	})
	each(t, "the server cancels it", func(t *testing.T, modern bool) {
		p := connect(t, dial, taskServer(modern, `"status":"cancelled","statusMessage":"low tide"`), Options{})
		if _, err := slow(p, p.ctx, nil); err == nil || !strings.Contains(err.Error(), "cancelled the task: low tide") {
			t.Errorf("error %v", err)
		}
	})
	each(t, "it has no valid status", func(t *testing.T, modern bool) {
		p := connect(t, dial, taskServer(modern, `"status":7`), Options{})
		if _, err := slow(p, p.ctx, nil); !errors.Is(err, registry.ErrProtocol) {
			t.Errorf("error %v, want ErrProtocol", err)
		}
	})
	each(t, "nobody waits any more", func(t *testing.T, modern bool) {
		s := taskServer(modern, `"status":"working"`)
		p := connect(t, dial, s, Options{})
		ctx, cancel := context.WithCancel(p.ctx)
		go func() {
			s.Await("tasks/get", p.ctx.Done()) // the client knows the task by then
			cancel()
		}()
		if _, err := slow(p, ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		m, ok := s.Await("tasks/cancel", p.ctx.Done())
		if !ok || !strings.Contains(string(m.Params), `"taskId":"t 1"`) {
			t.Errorf("the server heard %s", m.Params)
		}
	})
	t.Run("the response with its result is lost", func(t *testing.T) {
		t.Parallel()
		for _, fault := range []Step{Abort, Status(503, "")} {
			s := taskServer(false, `"status":"completed"`)
			s.On("tasks/result", fault)
			p := connect(t, dial, s, Options{})
			go func() {
				s.Await("tasks/result", p.ctx.Done())
				s.On("tasks/result", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+done+`}`))
			}()
			if _, err := slow(p, p.ctx, nil); err != nil {
				t.Errorf("error %v", err)
			}
		}
		s := taskServer(false, `"status":"completed"`).On("tasks/result", Abort)
		if _, err := slow(connect(t, dial, s, Options{}), t.Context(), nil); !errors.Is(err, registry.ErrNetwork) {
			t.Errorf("a result that is lost for good: %v", err)
		}
		if n := len(s.Received("tasks/result")); n != 5 {
			t.Errorf("%d requests for a result that is lost for good", n)
		}
	})
	t.Run("the session expires while it is followed", func(t *testing.T) {
		t.Parallel()
		s := taskServer(false, "")
		s.Session = "s1"
		s.On("tasks/get", Status(404, "session not found"))
		p := connect(t, dial, s, Options{})
		// ErrSessionExpired has the registry send the call again, and the server begin the task twice.
		if _, err := slow(p, p.ctx, nil); err == nil || errors.Is(err, registry.ErrSessionExpired) {
			t.Errorf("a call that became a task: %v", err)
		}
		again := connect(t, dial, s, Options{}).Session.(registry.Tasker)
		if _, err := again.FollowTask(p.ctx, "t 1", registry.ToolCall{}); !errors.Is(err, registry.ErrSessionExpired) {
			t.Errorf("a task that is followed: %v, want ErrSessionExpired", err)
		}
		if n := len(s.Received("tasks/get")); n != 2 {
			t.Errorf("%d polls, want one on each session", n)
		}
	})
	t.Run("a server that answers at once, without a task", func(t *testing.T) {
		for _, detach := range []bool{false, true} {
			s := taskServer(false)
			s.On("tools/call", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+done+`}`))
			p := connect(t, dial, s, Options{})
			out, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "slow", Def: p.list(nil).Tools[0].Def, Detach: detach})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := out.Result.JSON(); string(got) != done || out.Task != nil {
				t.Errorf("detached %v: result %s, task %s", detach, got, out.Task)
			}
		}
	})
	t.Run("a server without tasks", func(t *testing.T) {
		s := taskServer(false, "")
		s.Tasks = false
		page := connect(t, dial, s, Options{}).list(nil)
		if len(page.Tools) != 0 || len(page.Dropped) != 1 || !strings.Contains(page.Dropped[0].Reason, "task") {
			t.Errorf("tools %v, dropped %v", names(page), page.Dropped)
		}
	})
}

// accept answers each question with the colour red.
func accept(context.Context, string, []byte) ([]byte, error) {
	return []byte(`{"action":"accept","content":{"colour":"red"}}`), nil
}
