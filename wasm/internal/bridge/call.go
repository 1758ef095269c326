//go:build js

package bridge

import (
	"syscall/js"
	"time"
	"unsafe"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/browser/membuf"
)

// serving is the module's one bridge: exports are functions of the module.
var serving *Bridge

// dispatch is called by host.ts; the name and the arguments are the two texts. The name's
// second line, if there is one, has the call's other options (CallOptions of protocol.ts).
// It returns 1 if no goroutine has to run now: see [membuf].
//
//go:wasmexport portolan_dispatch
func dispatch(id float64, name, args, progress int32, timeoutMs float64) (settled int32) {
	defer caught("dispatch")
	tool, arguments := membuf.Take(name, args)
	timeout := time.Duration(timeoutMs * float64(time.Millisecond))
	if serving.api.Dispatch(int(id), string(tool), append([]byte(nil), arguments...), timeout, progress != 0) {
		return 1
	}
	return 0
}

// cancel is called by host.ts.
//
//go:wasmexport portolan_cancel
func cancel(id float64) {
	defer caught("cancel")
	serving.api.Cancel(int(id))
}

// caught says on the console that an entry has panicked, and lets the module go on.
func caught(entry string) {
	if recover() != nil {
		js.Global().Get("console").Call("error", "portolan: a fault in "+entry)
	}
}

// called reads the server's name and the tool's, with a line feed between.
//
//go:wasmimport portolan called
func called(id float64, table, isError int32, durationMs float64, names unsafe.Pointer, n int32)

// Called ends a request with the answer to a tool call.
func (b *Bridge) Called(id int, result *registry.Result) {
	table, _ := result.Payload.(handle).Handle()
	var isError int32
	if result.IsError {
		isError = 1
	}
	b.names = append(append(append(b.names[:0], result.Server...), '\n'), result.Tool...)
	ms := float64(result.Duration) / float64(time.Millisecond)
	called(float64(id), int32(table), isError, ms, membuf.Address(b.names), int32(len(b.names)))
}
