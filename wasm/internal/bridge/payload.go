//go:build js

package bridge

import (
	"unsafe"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/browser/membuf"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

// A handle is a Payload that the platform holds already parsed: only its
// number crosses the boundary.
type handle interface {
	Handle() (table, index uint32)
}

// withheld marks the index of a tool that models do not see.
const withheld = 1 << 31

// Tools replaces the tools of one server.
func (b *Bridge) Tools(server string, tools []registry.Tool) {
	size := len(server)
	for i := range tools {
		size += 1 + len(tools[i].Name) + 1 + len(tools[i].Digest())
	}
	lines := append(make([]byte, 0, size), server...)
	handles := make([]uint32, 0, 2*len(tools))
	for i := range tools {
		lines = append(append(lines, '\n'), tools[i].Name...)
		lines = append(append(lines, '\t'), tools[i].Digest()...)
		if tools[i].Hold != nil {
			lines = append(append(lines, '\t'), api.EncodeHold(&tools[i])...)
		}
		table, index := tools[i].Def.(handle).Handle()
		if tools[i].Withheld {
			index |= withheld
		}
		handles = append(handles, table, index)
	}
	listed(membuf.Address(lines), int32(len(lines)), unsafe.Pointer(unsafe.SliceData(handles)), int32(len(tools)))
}

// listed reads the server's name, a line for each tool, and the table and index of each,
// with the withheld bit. A line has the tool's name, the digest of its pin and, if the
// tool is held, the JSON text of its Hold, with tabs between.
//
//go:wasmimport portolan listed
func listed(lines unsafe.Pointer, n int32, handles unsafe.Pointer, tools int32)
