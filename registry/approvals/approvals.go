// Package approvals decides which tools of a list the user has approved.
//
// An [Endpoint] holds the approvals of one endpoint: the pin of each approved tool.
// A pin is the digest of a definition; package pin computes it. [Endpoint.Review]
// compares a new list with the approved pins and holds each tool that differs:
// "changed", "new" or "renamed". Models do not see a held tool until the user
// approves it.
//
// The first list of an endpoint is approved as it is, unless the [Policy] asks.
// A list whose fingerprint equals the approved one has the approved pins, so that
// nothing is hashed.
//
// [Endpoint.Text] and [Parse] are the form in which a store keeps approvals. Native
// hosts keep two more things there: the approved definitions, in memory only, and
// the remembered answers to questions about calls. In a browser the page keeps both
// (wasm/js/page/trust.ts).
//
// The package holds no lock. The registry guards each Endpoint.
package approvals

import (
	"runtime"
	"slices"
	"strings"
)

// A Hold says why a tool is not offered to models until the user approves it.
type Hold struct {
	// Reason is [Changed], [New] or [Renamed].
	Reason string
	// RenamedFrom is the approved name, with Renamed.
	RenamedFrom string
	// Before is the JSON text of the approved definition; nil if it is not known.
	Before []byte
	// Changes are the parts that differ: name, title, description, inputSchema,
	// outputSchema, annotations, _meta.
	Changes []string
}

// The reasons of a [Hold].
const (
	Changed = "changed" // the definition differs from the approved one
	New     = "new"     // the name is not approved
	Renamed = "renamed" // only the name differs
)

// A Policy says which tools of a list need an approval.
type Policy struct {
	HoldFirst bool // also those of the first list
	HoldNew   bool // also new tools of a known server
}

// A Tool is one tool of a list that is reviewed.
type Tool struct {
	Name string // the server's own
	Pin  string // "" is never held
	Def  []byte // the definition if it is JSON text, or nil
	Hold *Hold  // set by Review
}

// An Endpoint holds the approvals of the server at one endpoint.
type Endpoint struct {
	known   bool // a list has been reviewed
	pins    map[string]string
	print   string // of the list with these pins, if none of its tools was held
	defs    map[string][]byte
	defSize int
	answers map[string]answer
}

type answer struct{ digest, approval string }

// keepsAll says that definitions and answers are kept here, not in the page.
const keepsAll = runtime.GOOS != "js"

// maxDefSize bounds the definitions of one endpoint, in bytes.
const maxDefSize = 4 << 20

// Known reports whether a list of the endpoint has been reviewed.
func (e *Endpoint) Known() bool { return e.known }

// Pin returns the approved pin of a tool, or "".
func (e *Endpoint) Pin(name string) string { return e.pins[name] }

// Len returns the number of approved tools.
func (e *Endpoint) Len() int { return len(e.pins) }

// IsApprovedList reports whether print is the fingerprint of the approved list.
func (e *Endpoint) IsApprovedList(print string) bool { return print != "" && e.print == print }

// Review sets the Hold of each tool of a list with that fingerprint, and approves
// the tools that need no approval. It returns the names of those that were not
// approved before, and whether anything is to be saved.
func (e *Endpoint) Review(tools []Tool, p Policy, print string) (fresh []string, save bool) {
	first := !e.known && !p.HoldFirst
	e.known = true
	var missing []string
	if !first {
		missing = e.Missing(tools)
	}
	held := false
	for i := range tools {
		t := &tools[i]
		t.Hold = e.hold(t, missing, !first && (p.HoldNew || p.HoldFirst), first)
		switch approved, ok := e.pins[t.Name]; {
		case t.Hold != nil:
			held = true
		case t.Pin == "" || ok && Digest(approved) == Digest(t.Pin):
			e.keep(t.Name, t.Def)
		default:
			e.Approve(t.Name, t.Pin, t.Def)
			fresh = append(fresh, t.Name)
		}
	}
	save = len(fresh) > 0
	if !held && e.print != print {
		e.print, save = print, true
	}
	return fresh, save
}

// hold returns why a tool needs an approval, or nil.
func (e *Endpoint) hold(t *Tool, missing []string, holdNew, first bool) *Hold {
	if approved, ok := e.pins[t.Name]; t.Pin == "" || ok && Digest(approved) == Digest(t.Pin) {
		return nil
	} else if ok {
		return &Hold{Reason: Changed, Before: e.defs[t.Name], Changes: changedParts(approved, t.Pin)}
	}
	if first {
		return nil
	}
	for _, name := range missing {
		if sameExceptName(e.pins[name], t.Pin) {
			return &Hold{Reason: Renamed, RenamedFrom: name, Before: e.defs[name], Changes: parts[:1]}
		}
	}
	if holdNew {
		return &Hold{Reason: New}
	}
	return nil
}

// Missing returns the approved names that a list does not have, in order.
func (e *Endpoint) Missing(tools []Tool) []string {
	listed := make(map[string]bool, len(tools))
	for i := range tools {
		listed[tools[i].Name] = true
	}
	var missing []string
	for name := range e.pins {
		if !listed[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

// Approve approves a tool as it is.
func (e *Endpoint) Approve(name, pin string, def []byte) {
	e.Forget(name)
	e.pins[name] = pin
	e.keep(name, def)
}

// Forget removes the approval of a tool.
func (e *Endpoint) Forget(name string) {
	e.print = ""
	delete(e.pins, name)
	e.dropDef(name)
}

// keep stores the approved definition of a tool.
func (e *Endpoint) keep(name string, def []byte) {
	if !keepsAll || def == nil || e.defs[name] != nil || e.defSize+len(def) > maxDefSize {
		return
	}
	if e.defs == nil {
		e.defs = make(map[string][]byte)
	}
	e.defSize += len(def)
	e.defs[name] = slices.Clone(def) // def may be a part of the text of a whole list
}

func (e *Endpoint) dropDef(name string) {
	e.defSize -= len(e.defs[name])
	delete(e.defs, name)
}

// Inherit takes over the definitions of an older state of the same endpoint, as far
// as their pins are the same. It reports whether any pin differs.
func (e *Endpoint) Inherit(old *Endpoint) (changed bool) {
	e.defs, e.defSize = old.defs, old.defSize
	changed = len(e.pins) != len(old.pins)
	for name, pin := range old.pins {
		if e.pins[name] != pin {
			e.dropDef(name)
			changed = true
		}
	}
	return changed
}

// Answer returns the remembered answer about calls of a tool with that pin, or "".
func (e *Endpoint) Answer(name, pin string) string {
	if a := e.answers[name]; a.digest == Digest(pin) {
		return a.approval
	}
	return ""
}

// Remember stores the answer about calls of a tool, as long as its pin stays.
func (e *Endpoint) Remember(name, pin, approval string) {
	e.remember(name, answer{Digest(pin), approval})
}

func (e *Endpoint) remember(name string, a answer) {
	if e.answers == nil {
		e.answers = make(map[string]answer)
	}
	e.answers[name] = a
}

// ForgetAnswers removes all answers and reports whether there were any.
func (e *Endpoint) ForgetAnswers() bool {
	had := len(e.answers) > 0
	clear(e.answers)
	return had
}

// Text returns the approvals as lines of fields with tabs between: a tool and its
// pin; a tool, a digest and an answer; and an empty name and the fingerprint. Names
// of tools hold no control characters.
func (e *Endpoint) Text() string {
	var out []byte
	line := func(fields ...string) {
		for i, field := range fields {
			if i > 0 {
				out = append(out, '\t')
			}
			out = append(out, field...)
		}
		out = append(out, '\n')
	}
	if e.print != "" {
		line("", e.print)
	}
	for name, pin := range e.pins {
		line(name, pin)
	}
	if keepsAll {
		for name, a := range e.answers {
			line(name, a.digest, a.approval)
		}
	}
	return string(out)
}

// Parse reads a text of [Endpoint.Text]. After "" the next list counts as the first.
func Parse(text string) *Endpoint {
	e := &Endpoint{known: text != "", pins: make(map[string]string)}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, rest, _ := strings.Cut(line, "\t")
		pin, approval, isAnswer := strings.Cut(rest, "\t")
		switch {
		case isAnswer && keepsAll:
			e.remember(name, answer{pin, approval})
		case isAnswer:
		case name == "":
			e.print = pin
		case pin != "":
			e.pins[name] = pin
		}
	}
	return e
}
