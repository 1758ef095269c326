package bridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestTasksAreBounded(t *testing.T) {
	var ts tasks
	cancelled := 0
	cancel := func() { cancelled++ }
	first, err := ts.begin("a", time.Hour, nil, cancel)
	if err != nil {
		t.Fatal(err)
	}
	for range maxTasks - 1 {
		if _, err := ts.begin("a", time.Hour, nil, cancel); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ts.begin("a", time.Hour, nil, cancel); err == nil {
		t.Error("a session has more tasks than it may")
	}
	if _, err := ts.begin("b", time.Nanosecond, nil, cancel); err != nil {
		t.Errorf("another session: %v", err)
	}
	if _, err := ts.find("b", first.id); err == nil {
		t.Error("a task of another session was found")
	}
	if got := len(ts.of("a")); got != maxTasks {
		t.Errorf("%d tasks are listed", got)
	}
	if _, err := ts.begin("b", time.Hour, nil, cancel); err != nil || cancelled != 1 || len(ts.of("b")) != 1 {
		t.Errorf("a task whose time is over: %v, %d cancelled, %d left", err, cancelled, len(ts.of("b")))
	}
	for i := range maxAllTasks {
		other, err := ts.begin(fmt.Sprint("other ", i), time.Hour, nil, cancel)
		if err != nil && i < maxAllTasks-maxTasks-1 {
			t.Fatalf("task %d: %v", i, err)
		}
		if err == nil && i == 0 {
			other.end("completed", nil, nil)
		}
	}
	if _, err := ts.begin("c", time.Hour, nil, cancel); err == nil || len(ts.all) != maxAllTasks || len(ts.of("other 0")) != 0 {
		t.Errorf("%d tasks, one more: %v", len(ts.all), err)
	}
	ts.leave("b")
	if _, err := ts.begin("c", time.Hour, nil, cancel); err != nil || len(ts.of("b")) != 0 || cancelled != 2 {
		t.Errorf("after a session: %v, %d cancelled", err, cancelled)
	}
	if !first.end("completed", nil, nil) || first.end("failed", nil, errors.New("late")) || first.core().Status != "completed" {
		t.Errorf("a task ends once: %s", first.core().Status)
	}
}

func TestEndedTasksMakeRoomForNewOnesOfTheirClient(t *testing.T) {
	var ts tasks
	other, err := ts.begin("b", time.Hour, nil, func() {})
	if err != nil {
		t.Fatal(err)
	}
	other.end("completed", nil, nil)
	var last *task
	for i := range 2 * maxTasks {
		if last, err = ts.begin("a", time.Hour, nil, func() {}); err != nil {
			t.Fatalf("task %d: %v", i, err)
		}
		last.end("completed", nil, nil)
	}
	if all := ts.of("a"); len(all) != maxTasks || all[maxTasks-1] != last || len(ts.of("b")) != 1 {
		t.Errorf("%d tasks are kept, and %d of another client", len(all), len(ts.of("b")))
	}
}

func TestTasksWhoseTimeIsOverAreNotListed(t *testing.T) {
	var ts tasks
	if _, err := ts.begin("a", -1, nil, func() {}); err != nil {
		t.Fatal(err)
	}
	for _, one := range ts.of("a") {
		if _, err := ts.find("a", one.id); err != nil {
			t.Errorf("a listed task: %v", err)
		}
	}
}

func TestResultsOfTasksAreBounded(t *testing.T) {
	var ts tasks
	old, errOld := ts.begin("d", time.Hour, nil, func() {})
	young, errYoung := ts.begin("d", time.Hour, nil, func() {})
	if errOld != nil || errYoung != nil {
		t.Fatal(errOld, errYoung)
	}
	for _, one := range []*task{old, young} {
		ts.run(one, func() (mcp.Result, error) { return taskResult(strings.Repeat("x", maxTaskBytes/2)) })
		ts.work.Wait()
	}
	if _, err := ts.find("d", old.id); err == nil {
		t.Error("results beyond the bound are kept")
	}
	if _, err := ts.find("d", young.id); err != nil {
		t.Errorf("the newest result: %v", err)
	}
}

func TestTheParamTaskPasses(t *testing.T) {
	for _, row := range [][3]string{
		{"tools/call", `{"name":"a","task":{"ttl":5}}`, `{"_meta":{"portolan/task":{"ttl":5}},"name":"a"}`},
		{"tools/call", `{"name":"a","task":{},"_meta":{"x":1}}`, `{"_meta":{"portolan/task":{},"x":1},"name":"a"}`},
		{"tools/call", `{"name":"task","arguments":{"task":1}}`, `{"name":"task","arguments":{"task":1}}`},
		{"tools/call", `{"task":`, `{"task":`},
		{"prompts/get", `{"task":{}}`, `{"task":{}}`},
		{"tasks/list", ``, `{}`},
		{"tasks/get", `null`, `{}`},
		{"tasks/get", `{"taskId":"a"}`, `{"taskId":"a"}`},
	} {
		if got := string(withTask(row[0], []byte(row[1]))); got != row[2] {
			t.Errorf("%s %s: %s, want %s", row[0], row[1], got, row[2])
		}
	}
	const body = `{"id":12345678901234567890,"jsonrpc":"2.0","method":"tools/call","params":{"name":"a","task":{}}}`
	const want = `{"id":12345678901234567890,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"portolan/task":{}},"name":"a"}}`
	if got := string(withTaskBody([]byte(body))); got != want {
		t.Errorf("body %s", got)
	}
	const list = `{"id":1,"method":"tasks/list"}`
	if got := string(withTaskBody([]byte(list))); got != `{"id":1,"method":"tasks/list","params":{}}` {
		t.Errorf("body %s", got)
	}
	for _, same := range []string{`[{"task":1}]`, `{"task":`, `{"method":5,"task":1}`, `{"method":"tools/call","a":"task"}`} {
		if got := string(withTaskBody([]byte(same))); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}
