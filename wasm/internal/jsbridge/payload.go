//go:build js

package jsbridge

import (
	"strings"
	"syscall/js"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A handle is a Payload that the platform holds already parsed: only its
// number crosses the boundary.
type handle interface {
	Handle() (table, index uint32)
}

// Tools replaces the tools that models see of one server.
func (b *Bridge) Tools(server string, tools []registry.Tool) {
	if len(tools) > 0 {
		if _, ok := tools[0].Def.(handle); !ok {
			b.boot.Call("toolsText", server, string(encodeTools(tools)))
			return
		}
	}
	names := make([]string, len(tools))
	raw := make([]byte, 0, 8*len(tools))
	for i, t := range tools {
		names[i] = t.Name
		table, index := t.Def.(handle).Handle()
		raw = appendUint32(appendUint32(raw, table), index)
	}
	handles := js.Global().Get("Uint8Array").New(len(raw))
	js.CopyBytesToJS(handles, raw)
	b.boot.Call("tools", server, strings.Join(names, "\n"), handles)
}

// appendUint32 writes in the byte order of WebAssembly.
func appendUint32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// encodeTools writes [{"name","tool","definition"}…] for definitions held as text.
func encodeTools(tools []registry.Tool) []byte {
	out := []byte{'['}
	for _, t := range tools {
		def, err := t.Def.JSON()
		if err != nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(append(out, `{"name":`...), t.Name)
		out = rawjson.AppendString(append(out, `,"tool":`...), t.RawName)
		out = append(append(append(out, `,"definition":`...), def...), '}')
	}
	return append(out, ']')
}
