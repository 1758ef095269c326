// Package validate checks the arguments of a call before they are sent.
//
// [Schema] knows of JSON Schema 2020-12: type, enum, const, the limits of numbers,
// strings, arrays and objects, required, properties, additionalProperties, items,
// prefixItems, allOf, anyOf, oneOf, not, and references within the schema. It
// ignores all other keywords, pattern and format among them. It
// fetches nothing, and a broken schema accepts every value. A schema of an older dialect
// than draft 6 is an error that names it. So is a reference to another document, where a
// value would have to fit it; alternatives with such a reference accept every value.
//
// Servers choose the schemas. Depth and steps are bounded; past a bound a value is
// accepted, because the server has the last word. An error names places and never
// quotes a value, which may be a secret.
//
// github.com/google/jsonschema-go is the oracle of the tests and does not validate
// calls. The schema {"$ref":"#"} overflows its stack, which no recover stops; 25
// nested references keep it busy for minutes; its errors quote values; and one regular
// expression beyond RE2 makes it refuse the whole schema.
//
// The page validates by wasm/js/page/validate.ts with the same texts. A
// differential test holds the two together.
package validate

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// Bounds of one validation. Past them a value counts as valid.
const (
	maxValidateDepth = 64
	maxValidateSteps = 20_000
	maxProblems      = 5
	maxWork          = 2_000_000 // keywords, names and elements that are looked at, and eighths of texts
)

// ErrArguments: the arguments are not a JSON object, or do not fit the schema. All
// errors of this package wrap it.
var ErrArguments = errors.New("invalid arguments")

// An invalid is an error with details.
type invalid string

func (e invalid) Error() string { return ErrArguments.Error() + ": " + string(e) }
func (e invalid) Unwrap() error { return ErrArguments }

// Arguments checks that raw is the JSON text of one object, as tools/call takes it. No object in
// it may have a name twice: what was checked and approved could be another value than the server uses.
func Arguments(raw []byte) error {
	if err := rawjson.Unambiguous(raw); err != nil {
		return invalid(err.Error())
	}
	if rawjson.Kind(raw) != 'o' {
		return invalid("want a JSON object, not " + article(rawjson.KindName(rawjson.Kind(raw))))
	}
	return nil
}

// Schema checks args against the inputSchema of a tool. The error names up to five
// places, each by its path, and the demand of the schema there.
func Schema(schema, args []byte) error {
	s, err := rawjson.Parse(schema, 0, 0)
	if err != nil {
		return nil
	}
	value, err := rawjson.Parse(args, 0, 0)
	if err != nil {
		return invalid(err.Error())
	}
	if uri, ok := textAt(s, "$schema"); ok && !isKnownDialect(uri) {
		return invalid("the schema is in the dialect " + text.Clip(uri) + ", which is not supported")
	}
	v := newValidator(s)
	v.check(s, value, "", 0)
	if len(v.problems) == 0 {
		return nil
	}
	return invalid(strings.Join(v.problems, "; "))
}

// isKnownDialect reports whether the keywords that are read mean the same in a dialect.
func isKnownDialect(uri string) bool {
	return slices.Contains(wire.Dialects, strings.TrimSuffix(uri, "#"))
}

// hasID reports whether a part of the schema has an address, to which references may lead.
func hasID(n *rawjson.Node) bool {
	_, ok := textAt(n, "$id")
	return ok || hasIDWithin(n)
}

// hasIDWithin reports whether a part within has one. References of that part then begin
// there, and not at the root.
func hasIDWithin(n *rawjson.Node) bool {
	return (n.Is('o') || n.Is('a')) && slices.ContainsFunc(n.Values, hasID)
}

func textAt(s *rawjson.Node, key string) (string, bool) {
	if s.Kind != 'o' || s.Get(key) == nil {
		return "", false
	}
	return s.Get(key).Text()
}

// A validator refuses only wrong values. unsure means that the schema holds
// something that it does not understand, so that an accepted value may be wrong.
type validator struct {
	root     *rawjson.Node
	problems []string
	steps    int
	work     int
	trials   int // passes that are running
	unsure   bool
	// isAddressed reports whether the schema or a part of it has an address.
	isAddressed func() bool
	// isNested reports whether a part of the schema has an address of its own.
	isNested func() bool
}

func newValidator(root *rawjson.Node) *validator {
	return &validator{
		root:        root,
		isAddressed: once(hasID, root),
		isNested:    once(hasIDWithin, root),
	}
}

// once returns a function that asks about n at its first call. One goroutine uses a validator, so that it needs no lock.
func once(ask func(*rawjson.Node) bool, n *rawjson.Node) func() bool {
	known, is := false, false
	return func() bool {
		if !known {
			known, is = true, ask(n)
		}
		return is
	}
}

// fail records one problem, which may quote the schema. It never quotes the value. Nobody
// reads the problems of a trial.
func (v *validator) fail(path, want string, quoted ...*rawjson.Node) {
	switch {
	case len(v.problems) == maxProblems:
		return
	case v.trials > 0:
		v.problems = append(v.problems, want)
		return
	case path == "":
		path = "the arguments"
	}
	for _, n := range quoted {
		want += n.Stringify()
	}
	v.problems = append(v.problems, text.Clip(path)+": "+text.Clip(want))
}

// passes reports whether value fits s, and if so, whether that is certain.
func (v *validator) passes(s, value *rawjson.Node, depth int) (ok, sure bool) {
	problems, unsure := v.problems, v.unsure
	v.problems, v.unsure = nil, false
	v.trials++
	v.check(s, value, "", depth)
	v.trials--
	ok, sure = len(v.problems) == 0, !v.unsure
	v.problems, v.unsure = problems, unsure || v.unsure
	return ok, sure
}

// isUnderstood reports whether a keyword is checked here or asserts nothing.
func isUnderstood(keyword string) bool {
	switch keyword {
	case "$ref", "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"uniqueItems", "minProperties", "maxProperties", "required", "properties",
		"additionalProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "title",
		"description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema",
		"$id", "$comment", "$defs", "definitions":
		return true
	}
	return false
}

func (v *validator) check(s, value *rawjson.Node, path string, depth int) {
	if v.steps++; depth > maxValidateDepth || v.steps > maxValidateSteps || v.work > maxWork ||
		len(v.problems) == maxProblems {
		v.unsure = true
		return
	}
	if s.Kind != 'o' {
		if yes, ok := rawjson.Bool(s.Raw); ok && !yes {
			v.fail(path, "is not allowed")
		}
		return
	}
	for i, key := range s.Keys {
		v.unsure = v.unsure || !isUnderstood(key)
		v.work += 1 + len(s.Values[i].Values)
		if key == "$ref" {
			v.work += len(s.Values[i].Raw)
		}
	}
	if value.Kind == '0' && s.Get("nullable").IsTrue() {
		return
	}
	if t := s.Get("type"); t != nil && !hasType(value, t.Texts()) {
		v.fail(path, "want "+article(strings.Join(t.Texts(), " or "))+", not "+article(rawjson.KindName(value.Kind)))
		return // other keywords would repeat the problem
	}
	v.values(s, value, path)
	switch value.Kind {
	case 'o':
		v.object(s, value, path, depth)
	case 'a':
		v.array(s, value, path, depth)
	case 's':
		v.characters(s, value, path)
	case 'n':
		v.number(s, value, path)
	}
	v.combined(s, value, path, depth)
}

func (v *validator) values(s, value *rawjson.Node, path string) {
	if one := s.Get("const"); one != nil && !v.equal(one, value) {
		v.fail(path, "want ", one)
	}
	list := s.Get("enum")
	if !list.Is('a') {
		return
	}
	v.steps += len(list.Values)
	if !v.among(list.Values, value) {
		v.fail(path, "want one of ", list)
	}
}

func (v *validator) among(list []*rawjson.Node, value *rawjson.Node) bool {
	return slices.ContainsFunc(list, func(e *rawjson.Node) bool { return v.equal(e, value) })
}

func (v *validator) object(s, value *rawjson.Node, path string, depth int) {
	v.work += len(value.Keys)
	has := make(map[string]bool, len(value.Keys))
	for _, name := range value.Keys {
		has[name] = true
	}
	if required := s.Get("required"); required.Is('a') {
		for _, n := range required.Values {
			if name, ok := n.Text(); ok && !has[name] {
				v.fail(rawjson.Pointer(path, name), "is required")
			}
		}
	}
	v.atLeast(s, "minProperties", len(value.Keys), path, "properties")
	v.atMost(s, "maxProperties", len(value.Keys), path, "properties")

	known := map[string]*rawjson.Node{}
	if properties := s.Get("properties"); properties.Is('o') {
		for i, name := range properties.Keys {
			known[name] = properties.Values[i]
		}
	}
	// A pattern may allow what additionalProperties does not; patterns are not read.
	others := s.Get("additionalProperties")
	if s.Get("patternProperties") != nil {
		others = nil
	}
	for i, name := range value.Keys {
		switch schema := known[name]; {
		case schema != nil:
			v.check(schema, value.Values[i], rawjson.Pointer(path, name), depth+1)
		case others.Is('b') && !others.IsTrue():
			v.fail(rawjson.Pointer(path, name), "there is no such property")
		case others != nil:
			v.check(others, value.Values[i], rawjson.Pointer(path, name), depth+1)
		}
	}
}

func (v *validator) array(s, value *rawjson.Node, path string, depth int) {
	v.work += len(value.Values)
	v.atLeast(s, "minItems", len(value.Values), path, "items")
	v.atMost(s, "maxItems", len(value.Values), path, "items")
	rest, first := s.Get("items"), s.Get("prefixItems")
	if rest.Is('a') { // the tuple of the drafts before 2020-12
		first, rest = rest, s.Get("additionalItems")
	}
	for i, e := range value.Values {
		at := rawjson.Pointer(path, strconv.Itoa(i))
		switch {
		case first.Is('a') && i < len(first.Values):
			v.check(first.Values[i], e, at, depth+1)
		case rest != nil:
			v.check(rest, e, at, depth+1)
		}
	}
	if s.Get("uniqueItems").IsTrue() && v.repeats(value.Values) {
		v.fail(path, "want items that differ")
	}
}

// repeats reports whether two of the values are equal. In a long list it compares
// only their texts.
func (v *validator) repeats(list []*rawjson.Node) bool {
	distinct := rawjson.Distinct(list)
	for _, e := range distinct.Values {
		v.work += len(e.Raw) >> 3
	}
	if len(distinct.Values) < len(list) {
		return true
	}
	const comparable = 100
	if len(list) > comparable {
		v.unsure = true
		return false
	}
	for i, a := range list {
		if v.among(list[:i], a) {
			return true
		}
	}
	return false
}

func (v *validator) characters(s, value *rawjson.Node, path string) {
	if s.Get("minLength") == nil && s.Get("maxLength") == nil {
		return
	}
	v.work += len(value.Raw) >> 3
	content, _ := value.Text()
	n := utf8.RuneCountInString(content)
	v.atLeast(s, "minLength", n, path, "characters")
	v.atMost(s, "maxLength", n, path, "characters")
}

func (v *validator) number(s, value *rawjson.Node, path string) {
	for _, row := range []struct {
		keyword, words string
		fits           func(n, limit []byte) bool
	}{
		{"minimum", "at least ", func(n, limit []byte) bool { return compareNumbers(n, limit) >= 0 }},
		{"maximum", "at most ", func(n, limit []byte) bool { return compareNumbers(n, limit) <= 0 }},
		{"exclusiveMinimum", "more than ", isMore},
		{"exclusiveMaximum", "less than ", func(n, limit []byte) bool { return isMore(limit, n) }},
		{"multipleOf", "a multiple of ", v.isMultiple},
	} {
		limit := s.Get(row.keyword)
		if limit.Is('n') && !row.fits(value.Raw, limit.Raw) {
			v.fail(path, "want "+row.words+string(limit.Raw))
		}
	}
}

// isMultiple allows for the rounding of decimal steps such as 0.1.
func (v *validator) isMultiple(n, step []byte) bool {
	divisor := approximate(step)
	quotient := approximate(n) / divisor
	if divisor <= 0 || math.IsInf(quotient, 0) {
		v.unsure = true
		return true
	}
	return math.Abs(quotient-math.Round(quotient)) < 1e-9+math.Abs(quotient)/(1<<51)
}

func (v *validator) combined(s, value *rawjson.Node, path string, depth int) {
	if ref, ok := s.Get("$ref").Text(); ok {
		if target := v.root.Resolve(ref); target != nil && isSchema(target) && !v.isNested() {
			v.check(target, value, path, depth+1)
		} else if v.trials == 0 && strings.Contains(ref, "://") && !isKnownDialect(ref) && !v.isAddressed() {
			v.fail(path, "refers to another document, which is not fetched: "+ref)
		} else {
			v.unsure = true
		}
	}
	if list := s.Get("allOf"); list.Is('a') {
		for _, s := range list.Values {
			v.check(s, value, path, depth+1)
		}
	}
	if list := s.Get("anyOf"); list.Is('a') && len(list.Values) > 0 {
		if maybe, _ := v.fitting(list, value, depth); maybe == 0 {
			v.fail(path, "fits none of the "+strconv.Itoa(len(list.Values))+" alternatives (anyOf)")
		}
	}
	if list := s.Get("oneOf"); list.Is('a') && len(list.Values) > 0 {
		if maybe, surely := v.fitting(list, value, depth); maybe == 0 || surely > 1 {
			of := strconv.Itoa(max(maybe, surely)) + " of the " + strconv.Itoa(len(list.Values))
			v.fail(path, "fits "+of+" alternatives (oneOf), want 1")
		}
	}
	if not := s.Get("not"); not != nil && isSchema(not) {
		if ok, sure := v.passes(not, value, depth+1); ok && sure {
			v.fail(path, "must not fit ", not)
		}
	}
}

// fitting counts the alternatives that value may fit, and those that it surely does.
func (v *validator) fitting(list, value *rawjson.Node, depth int) (maybe, surely int) {
	for _, s := range list.Values {
		ok, sure := v.passes(s, value, depth+1)
		if ok {
			maybe++
		}
		if ok && sure {
			surely++
		}
	}
	return maybe, surely
}

func (v *validator) atLeast(s *rawjson.Node, keyword string, n int, path, what string) {
	if limit, ok := limitOf(s, keyword); ok && int64(n) < limit {
		v.fail(path, "want at least "+strconv.FormatInt(limit, 10)+" "+what)
	}
}

func (v *validator) atMost(s *rawjson.Node, keyword string, n int, path, what string) {
	if limit, ok := limitOf(s, keyword); ok && int64(n) > limit {
		v.fail(path, "want at most "+strconv.FormatInt(limit, 10)+" "+what)
	}
}

func limitOf(s *rawjson.Node, keyword string) (int64, bool) {
	n := s.Get(keyword)
	if !n.Is('n') {
		return 0, false
	}
	return rawjson.Int(n.Raw)
}

func isSchema(n *rawjson.Node) bool { return n.Kind == 'o' || n.Kind == 'b' }
