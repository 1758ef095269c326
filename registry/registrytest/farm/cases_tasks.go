package farm

import (
	"fmt"
	"strings"
)

// taskCases are servers that make tasks of calls (the extension io.modelcontextprotocol/tasks).
func taskCases() []Case {
	const state = `"taskId":"1","pollIntervalMs":1,"status":`
	task := func(begun string, states ...string) server {
		return server{modern: true, on: on{
			"tools/call":   gives(`{"resultType":"task",` + begun + `}`),
			"tasks/get":    func(a *asked) { a.result(`{` + states[min(a.nth, len(states))-1] + `}`) },
			"tasks/cancel": gives(`{}`),
			"tasks/update": gives(`{}`),
		}}
	}
	working := state + `"working"`
	done := `,"result":` + textResult("call 1")
	return []Case{
		{Name: "a task that completes", server: task(working, working, state+`"completed"`+done), Expect: works()},
		{Name: "a task that never ends", Severe: true, Use: Use{TimeoutMs: 2000}, server: task(working, working), Expect: works("code:timeout").most("tasks/get", 20)},
		{Name: "a task that nobody waits for", Use: Use{CancelMs: 300}, server: task(working, working), Expect: works("code:aborted")},
		{Name: "a task without an id", server: task(`"status":"working"`, working), Expect: works("code:protocol")},
		{Name: "a task whose id is a number", server: task(`"taskId":1,"status":"working"`, working), Expect: works("code:protocol")},
		{Name: "a task with an id of 1 MB", Severe: true, server: task(`"taskId":"`+megabyte+`","status":"working"`, working), Expect: works("code:protocol")},
		{Name: "a task with a line break in its id", server: task(`"taskId":"1\r\nX-Evil: 1","status":"working"`, `"taskId":"1\r\nX-Evil: 1","status":"completed"`+done), Expect: works()},
		{Name: "a task with a status of nonsense", server: task(state+`{"working":true}`, working), Expect: works("code:protocol")},
		{Name: "a task with intervals of nonsense", server: task(`"taskId":"1","pollIntervalMs":-1e308,"status":"working"`, `"taskId":"1","pollIntervalMs":"soon","status":"working"`, state+`"completed"`+done), Expect: works()},
		{Name: "a task that fails without an error", server: task(working, state+`"failed"`), Expect: works("code:server_error")},
		{Name: "a task that the server cancels", server: task(working, state+`"cancelled","statusMessage":"\u001b[31mlow tide"`), Expect: works("code:server_error")},
		{Name: "a task that is complete without a result", server: task(working, state+`"completed"`), Expect: works("code:protocol")},
		{Name: "a task with a result of 200 levels", Severe: true, server: task(working, state+`"completed","result":{"content":[],"structuredContent":`+nested(`{"a":`, "1", "}", 200)+`}`), Expect: works("code:protocol")},
		{Name: "the state of another task", server: task(working, `"taskId":"2","status":"working"`), Expect: works("code:protocol")},
		{Name: "a task that is no object", server: server{modern: true, on: on{"tools/call": gives(`{"resultType":"task",` + working + `}`), "tasks/get": gives(`[1,2]`)}}, Expect: works("code:protocol")},
		{Name: "a task that nobody knows any more", server: server{modern: true, on: on{
			"tools/call": gives(`{"resultType":"task",` + working + `}`),
			"tasks/get":  answers(`{"jsonrpc":"2.0","id":$id,"error":{"code":-32602,"message":"no such task"}}`),
		}}, Expect: works("code:gone")},
		{Name: "a task that asks 10,000 questions", Severe: true, server: task(working, state+`"input_required","inputRequests":{`+strings.Join(many(10000, func(i int) string {
			return fmt.Sprintf(`"q%d":{"method":"elicitation/create","params":{"message":"?"}}`, i)
		}), ",")+`}`), Expect: works("code:protocol", "code:server_error").most("tasks/update", 1)},
		{Name: "a message of a task has 1 MB", Severe: true, server: task(working+`,"statusMessage":"`+megabyte+`"`, state+`"completed"`+done), Expect: works("text:", "code:protocol")},
		{Name: "a task in the list of tools", server: server{modern: true, on: on{"tools/list": gives(`{"resultType":"task",` + working + `}`)}}, Expect: fails("unsupported")},
	}
}
