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
func (b *Bridge) Tools(server string, each func(visit func(*registry.Tool))) {
	lines, handles := append(make([]byte, 0, 4<<10), server...), make([]uint32, 0, 128)
	each(func(t *registry.Tool) {
		lines = append(append(lines, '\n'), t.Name...)
		lines = append(append(lines, '\t'), t.Digest()...)
		if t.Hold != nil {
			lines = append(append(lines, '\t'), api.EncodeHold(t)...)
		}
		table, index := t.Def.(handle).Handle()
		if t.Withheld {
			index |= withheld
		}
		handles = append(handles, table, index)
	})
	listed(membuf.Address(lines), int32(len(lines)), unsafe.Pointer(unsafe.SliceData(handles)), int32(len(handles)/2))
}

// listed reads the server's name, a line for each tool, and the table and index of each,
// with the withheld bit. A line has the tool's name and the digest of its pin, with a tab
// between. If the tool is held, another tab and the JSON text of its Hold follow.
//
//go:wasmimport portolan listed
func listed(lines unsafe.Pointer, n int32, handles unsafe.Pointer, tools int32)
