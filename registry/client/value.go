package client

import (
	"context"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A Value is a [registry.Payload] that the platform holds: the host reads it by
// its handle, without a copy in Go.
type Value struct {
	p            Platform
	table, index uint32
	size         int
	bind         []binding // of a tool's parameters to headers
	asTask       bool      // the tool runs as a task only (2025-11-25)
}

// Handle says where the platform keeps the value. For a result index is 0.
func (v *Value) Handle() (table, index uint32) { return v.table, v.index }

// Len is an estimate for a tool definition (the page's average), and exact for a result to a few bytes.
func (v *Value) Len() int { return v.size }

// Pin implements [registry.Pinner].
func (v *Value) Pin() string { return v.p.Pin(v.table, v.index) }

// Risky implements [registry.Risky].
func (v *Value) Risky(ctx context.Context) bool {
	done := make(chan bool, 1)
	v.p.Risky(v.table, v.index, func(risky bool) { done <- risky })
	select {
	case risky := <-done:
		return risky
	case <-ctx.Done():
		return true
	}
}

// Release frees what the platform holds for a result.
func (v *Value) Release() { v.p.Free(v.table) }

// JSON asks the platform for the text: the slow path.
func (v *Value) JSON() ([]byte, error) { return v.p.Text(v.table, v.index) }

// mayBeTask reports whether a tool's definition says that it may run as a task (2025-11-25).
func (v *Value) mayBeTask() bool {
	def, err := v.JSON()
	support := rawjson.Text(rawjson.Get(def, "execution"), "taskSupport")
	return err == nil && (support == "optional" || support == "required")
}
