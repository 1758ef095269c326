package registry

// beyond the pins nothing is kept here: the page keeps definitions and answers (wasm/js/page/trust.ts).
type beyond struct{}

func (beyond) keep(*Tool)               {}
func (beyond) drop(string)              {}
func (beyond) inherit(*beyond)          {}
func (beyond) before(string) Payload    { return nil }
func (beyond) append(out []byte) []byte { return out }
func (beyond) parse(_, _, _ string)     {}

// In a browser the page that calls asks, before the module hears of it.
func (r *Registry) asks(*server, *Tool) (bool, error) { return false, nil }
func (p *Pending) await() error                       { return nil }
