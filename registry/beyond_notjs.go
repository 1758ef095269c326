//go:build !js

package registry

// beyond is what native hosts keep beyond the pins: the definitions behind them,
// and the answers of [Options.Approve] that are to be remembered.
type beyond struct {
	defs    map[string]Raw
	bytes   int
	answers map[string]answer
}

type answer struct {
	pin      string
	approval Approval
}

// maxDefBytes bounds the approved definitions that are kept for one endpoint.
const maxDefBytes = 4 << 20

// keep remembers the definition behind a pin, if it is text.
func (b *beyond) keep(t *Tool) {
	def, ok := t.Def.(Raw)
	if !ok || b.defs[t.RawName] != nil || b.bytes+len(def) > maxDefBytes {
		return
	}
	if b.defs == nil {
		b.defs = make(map[string]Raw)
	}
	b.bytes += len(def)
	b.defs[t.RawName] = append(Raw(nil), def...) // not the whole list that it is a part of
}

func (b *beyond) drop(name string) {
	b.bytes -= len(b.defs[name])
	delete(b.defs, name)
}

// inherit takes over the definitions that an earlier one has; stores have the rest.
func (b *beyond) inherit(old *beyond) { b.defs, b.bytes = old.defs, old.bytes }

func (b *beyond) before(name string) Payload {
	if def, ok := b.defs[name]; ok {
		return def
	}
	return nil
}

// append writes the answers as lines of tool, digest and approval.
func (b *beyond) append(out []byte) []byte {
	for name, a := range b.answers {
		out = append(out, name+"\t"+a.pin+"\t"+string(a.approval)+"\n"...)
	}
	return out
}

func (b *beyond) parse(name, pin, approval string) { b.remember(name, answer{pin, Approval(approval)}) }

func (b *beyond) remember(name string, a answer) {
	if b.answers == nil {
		b.answers = make(map[string]answer)
	}
	b.answers[name] = a
}
