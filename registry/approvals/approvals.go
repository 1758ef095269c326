// Package approvals decides which tools of a list the user has approved.
//
// An [Endpoint] holds the approvals of one endpoint: the pin of each approved tool.
// A pin is the digest of a definition; package pin computes it. [Endpoint.Review]
// compares a new list with the approved pins and holds each tool that differs:
// "changed", "new" or "renamed". Models do not see a held tool until the user
// approves it.
//
// The first list of an endpoint is approved as it is, unless the [Policy] asks.
// Later lists may bring new tools, at most newPerDay of them. A new tool that is
// risky or resembles one that is gone is held. A name whose approval was forgotten
// is never new again: the endpoint keeps a short hash of it.
//
// A list whose fingerprint equals the approved one has the approved pins, so that
// nothing is hashed.
//
// [Endpoint.Text] and [Parse] are the form in which a store keeps approvals. Native
// hosts keep two more things there: the approved definitions that sessions give as
// text, in memory only, and the remembered answers to questions about calls. In a
// browser the page keeps both (wasm/js/page/storage/trust.ts).
//
// The package holds no lock. The registry guards each Endpoint.
package approvals

import (
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
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
	Changed = "changed" // the definition differs from the approved one, or that one was forgotten
	New     = "new"     // the name is not approved
	Renamed = "renamed" // the name differs, and perhaps more: an approved tool like it is gone
)

// A Policy says which tools of a list need an approval.
type Policy struct {
	HoldFirst bool   // also those of the first list
	HoldNew   bool   // also new tools of a known server
	Day       string // the present day
	// Risky, if not nil, reports whether the tool at an index of the list is held when it is new.
	Risky func(i int) bool
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
	seen    map[string]string // the day on which a name was new, or "", by [hashOf] of the name
	print   string            // of the list with these pins, if none of its tools was held
	defs    map[string][]byte
	defSize int
	answers map[string]answer

	instructions string // those of the server that are approved
	instructed   bool   // they were reviewed

	prompts     map[string]string // approved texts of prompts, by [PromptLine]
	promptSizes [2]int            // their bytes with their names: of prompts, of skills
}

type answer struct{ digest, approval string }

// keepsAll says that definitions and answers are kept here, not in the page.
const keepsAll = runtime.GOOS != "js"

// maxDefSize bounds the definitions of one endpoint, in bytes.
const maxDefSize = 4 << 20

// newPerDay bounds the new names that an endpoint brings in a day without being asked
// about, and maxSeen those that are remembered. Beyond them new tools are held.
const (
	newPerDay = 1000
	maxSeen   = 10_000
)

// hashOf returns a short hash of a tool's name. A server that finds two names with one
// hash has the second held, and no more.
func hashOf(name string) string { return strconv.FormatUint(names.Hash(name)>>16, 36) }

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
	var gone gone
	room := 0
	if !first {
		gone = e.gone(tools)
		room = e.room(p.Day)
	}
	held := false
	for i := range tools {
		t := &tools[i]
		approved, ok := e.pins[t.Name]
		same := t.Pin == "" || ok && Digest(approved) == Digest(t.Pin)
		switch {
		case same || first && !ok:
			t.Hold = nil
		case ok:
			t.Hold = &Hold{Reason: Changed, Before: e.defs[t.Name], Changes: changedParts(approved, t.Pin)}
		default:
			t.Hold = e.holdNew(t, gone)
			if t.Hold == nil && (p.HoldNew || p.HoldFirst || room <= 0 || p.Risky != nil && p.Risky(i)) {
				t.Hold = &Hold{Reason: New}
			}
		}
		switch {
		case t.Hold != nil:
			held = true
		case same:
			e.keep(t.Name, t.Def)
		default:
			if !first {
				room--
				e.remember(t.Name, p.Day)
			}
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

// holdNew returns why a tool without an approval is no ordinary new one, or nil.
func (e *Endpoint) holdNew(t *Tool, gone gone) *Hold {
	from := gone[withoutName(t.Pin)]
	if from == "" {
		if _, seen := e.seen[hashOf(t.Name)]; seen {
			return &Hold{Reason: Changed}
		}
		if from = gone.like(t.Pin); from == "" {
			return nil
		}
	}
	return &Hold{Reason: Renamed, RenamedFrom: from, Before: e.defs[from], Changes: changedParts(e.pins[from], t.Pin)}
}

// room returns how many more names may be new on a day.
func (e *Endpoint) room(day string) int {
	today := 0
	for _, d := range e.seen {
		if d == day {
			today++
		}
	}
	return min(newPerDay-today, maxSeen-len(e.seen))
}

// remember keeps the hash of a name that is new on a day, or with "" of one whose
// approval is forgotten.
func (e *Endpoint) remember(name, day string) {
	if hash := hashOf(name); day != "" || e.seen[hash] == "" {
		e.seen[hash] = day
	}
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
	text.Sort(missing)
	return missing
}

// Approve approves a tool as it is.
func (e *Endpoint) Approve(name, pin string, def []byte) {
	e.unpin(name)
	e.pins[name] = pin
	e.keep(name, def)
}

// Crowded reports whether there are too many approvals for a list of so many tools.
func (e *Endpoint) Crowded(tools int) bool { return len(e.pins) > 2*max(tools, 1000) }

// Trim forgets the approvals of tools that a list does not have, as long as there is room
// for the hashes of their names. It returns the names. It is for a crowded endpoint.
func (e *Endpoint) Trim(tools []Tool) (forgotten []string) {
	for _, name := range e.Missing(tools) {
		if len(e.seen) >= maxSeen {
			break
		}
		e.Forget(name)
		forgotten = append(forgotten, name)
	}
	return forgotten
}

// Forget removes the approval of a tool. The name is then held, with whatever definition.
func (e *Endpoint) Forget(name string) {
	if e.pins[name] != "" {
		e.remember(name, "")
	}
	e.unpin(name)
}

func (e *Endpoint) unpin(name string) {
	e.print = ""
	delete(e.pins, name)
	e.dropDef(name)
}

// keep stores the approved definition of a tool.
func (e *Endpoint) keep(name string, def []byte) {
	if !keepsAll || def == nil || e.defs[name] != nil || e.defSize+len(def) > maxDefSize {
		return
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
	changed = len(e.pins) != len(old.pins) || e.instructions != old.instructions || !maps.Equal(e.prompts, old.prompts)
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
	e.rememberAnswer(name, answer{Digest(pin), approval})
}

func (e *Endpoint) rememberAnswer(name string, a answer) {
	e.answers[name] = a
}

// ForgetAnswers removes all answers and reports whether there were any.
func (e *Endpoint) ForgetAnswers() bool {
	had := len(e.answers) > 0
	clear(e.answers)
	return had
}

// Text returns the approvals as lines of fields with tabs between: a tool and its
// pin; a tool, a digest and an answer; an empty name and the fingerprint; [InstructionsName]
// and instructions; a [PromptLine] and the prompt's text; and [seenName] with each hash of a name, a dot and a
// day. Names of tools hold no control characters.
func (e *Endpoint) Text() string {
	var out strings.Builder
	size := 0
	for name, pin := range e.pins {
		size += len(name) + len(pin) + 2
	}
	out.Grow(size)
	line := func(fields ...string) {
		for i, field := range fields {
			if i > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(field)
		}
		out.WriteByte('\n')
	}
	if e.print != "" {
		line("", e.print)
	}
	if e.instructed {
		line(InstructionsName, string(rawjson.AppendString(nil, e.instructions)))
	}
	for name, text := range e.prompts {
		line(name, text)
	}
	if len(e.seen) > 0 {
		between := seenName + "\t"
		for _, hash := range text.Keys(e.seen) {
			out.WriteString(between + hash + "." + e.seen[hash])
			between = " "
		}
		out.WriteByte('\n')
	}
	for name, pin := range e.pins {
		line(name, pin)
	}
	if keepsAll {
		for name, a := range e.answers {
			line(name, a.digest, a.approval)
		}
	}
	return out.String()
}

// seenName stands in place of a tool's name before the hashes of all names that were new
// or forgotten. wasm/js/page/storage/trust.ts merges those of several tabs.
const seenName = "\x7f"

// InstructionsName stands in place of a tool's name before the approved instructions of the
// server, as JSON text.
const InstructionsName = "\x01"

// Instructions returns the approved instructions of the server, and whether there was a
// review: "" may be approved.
func (e *Endpoint) Instructions() (text string, reviewed bool) { return e.instructions, e.instructed }

// ApproveInstructions approves instructions as they are.
func (e *Endpoint) ApproveInstructions(text string) { e.instructions, e.instructed = text, true }

// promptPrefix begins the name of a line for a prompt.
const promptPrefix = "\x02"

// maxPrompts bounds the texts of an endpoint's approved prompts with their names, in bytes.
// New prompts beyond it are offered without being kept. maxSkills is for those of skills.
const (
	maxPrompts = 64 << 10
	maxSkills  = 256 << 10
)

// PromptLine returns what stands in place of a tool's name before the approved text of a prompt.
func PromptLine(name string) string { return promptPrefix + string(rawjson.AppendString(nil, name)) }

// SkillName returns what stands for the name of a prompt in the approval of a skill. No prompt has such a name: those
// with control characters are not listed.
func SkillName(uri string) string { return "\x01" + uri }

// HasPrompts reports whether a list of prompts has been reviewed, or one of skills.
func (e *Endpoint) HasPrompts(skills bool) bool {
	if skills {
		return e.promptSizes[1] > 0
	}
	return e.promptSizes[0] > 0
}

// ReviewPrompt returns the Hold of a prompt, or approves it if it needs no approval. text is
// one line of JSON. first says that no list of prompts was reviewed before.
func (e *Endpoint) ReviewPrompt(name, text string, p Policy, first bool) (hold *Hold, fresh bool) {
	approved, known := e.prompts[PromptLine(name)]
	switch {
	case known && approved == text:
		return nil, false
	case known:
		return &Hold{Reason: Changed, Before: []byte(approved)}, false
	case p.HoldFirst || p.HoldNew && !first:
		return &Hold{Reason: New}, false
	}
	return nil, e.ApprovePrompt(name, text)
}

// ApprovePrompt approves a prompt as it is. It reports whether there is room to keep the approval.
func (e *Endpoint) ApprovePrompt(name, text string) bool {
	return e.keepPrompt(PromptLine(name), text)
}

// keepPrompt is ApprovePrompt by [PromptLine].
func (e *Endpoint) keepPrompt(line, text string) bool {
	size, room := &e.promptSizes[0], maxPrompts
	if strings.HasPrefix(line, promptPrefix+`"\u0001`) {
		size, room = &e.promptSizes[1], maxSkills
	}
	if old, ok := e.prompts[line]; ok {
		*size -= len(line) + len(old)
		delete(e.prompts, line)
	}
	if *size+len(line)+len(text) > room {
		return false
	}
	*size += len(line) + len(text)
	e.prompts[line] = text
	return true
}

// Parse reads a text of [Endpoint.Text]. After "" the next list counts as the first.
func Parse(text string) *Endpoint {
	e := &Endpoint{
		pins: make(map[string]string), prompts: make(map[string]string), seen: make(map[string]string),
		defs: make(map[string][]byte), answers: make(map[string]answer),
	}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, rest, _ := strings.Cut(line, "\t")
		pin, approval, isAnswer := strings.Cut(rest, "\t")
		isPrompt := strings.HasPrefix(name, promptPrefix)
		e.known = e.known || name != InstructionsName && !isPrompt // which come before the first list
		switch {
		case isPrompt:
			if rawjson.Kind([]byte(rest)) == 'o' && rawjson.Valid([]byte(rest), 0) == nil {
				e.keepPrompt(name, rest)
			}
		case name == seenName:
			e.parseSeen(rest)
		case name == InstructionsName:
			e.instructions, e.instructed = rawjson.String([]byte(rest))
		case isAnswer && keepsAll:
			e.rememberAnswer(name, answer{pin, approval})
		case isAnswer:
		case name == "":
			e.print = pin
		case pin != "":
			e.pins[name] = pin
		}
	}
	return e
}

func (e *Endpoint) parseSeen(list string) {
	e.seen = make(map[string]string)
	for list != "" {
		var entry string
		entry, list, _ = strings.Cut(list, " ")
		hash, day, _ := strings.Cut(entry, ".")
		e.seen[hash] = max(e.seen[hash], day)
	}
}
