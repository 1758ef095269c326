// Package scan looks over what servers say for poison: words that are meant for
// a model and against its user. It works by rules, here and always alike, and
// what it finds are hints: a harmless server may say such things, and a harmful
// one may say others.
//
//	for _, t := range r.Tools(registry.Filter{}) {
//		def, _ := t.Def.JSON()
//		for _, f := range scan.Definition(def, others) {
//			fmt.Println(t.Name, f.Rule, f.Where, f.Excerpt)
//		}
//	}
//
// The rules are in rules.json, which wasm/js/page/scan.ts reads, too; testdata/scan has
// the corpus on which they are measured.
package scan

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

//go:embed rules.json
var source []byte

type rule struct {
	name    string
	pattern *regexp.Regexp
}

var (
	rules                                []rule
	parameters, asking, asked, instructs *regexp.Regexp
	latin                                = map[rune]rune{}
)

func init() {
	var s struct {
		Rules                                            []struct{ Rule, Pattern string }
		Parameters, Asking, Asked, Instructs, Lookalikes string
	}
	if err := json.Unmarshal(source, &s); err != nil {
		panic("scan: " + err.Error())
	}
	compile := func(p string) *regexp.Regexp { return regexp.MustCompile("(?i)" + p) }
	for _, r := range s.Rules {
		rules = append(rules, rule{r.Rule, compile(r.Pattern)})
	}
	parameters, asking, asked, instructs = compile(s.Parameters), compile(s.Asking), compile(s.Asked), compile(s.Instructs)
	for _, pair := range strings.Fields(s.Lookalikes) {
		chars := []rune(pair)
		latin[chars[0]] = chars[1]
	}
}

// Bounds on what is looked at of one definition or result, and told.
const (
	maxText    = 64 << 10
	maxStrings = 2000
	maxFlags   = 20
	maxDepth   = 64
)

// Definition returns what is suspicious in a Tool object of the spec: in all of its
// strings, the names of its members among them. others are the names of tools of
// other servers, which it should have nothing to say about.
func Definition(def []byte, others map[string]bool) []text.Flag {
	s := &scanner{left: maxText, others: others}
	if n, err := rawjson.Parse(def, 0, 0); err == nil {
		s.walk(n, "", 0, true)
	}
	return s.flags
}

// Result returns what is suspicious in a CallToolResult.
func Result(result []byte) []text.Flag {
	s := &scanner{left: maxText}
	if n, err := rawjson.Parse(result, 0, 0); err == nil {
		s.walk(n, "", 0, false)
	}
	return s.flags
}

type scanner struct {
	left, count int
	flags       []text.Flag
	others      map[string]bool
}

func (s *scanner) full() bool {
	return s.left <= 0 || s.count >= maxStrings || len(s.flags) >= maxFlags
}

func (s *scanner) flag(rule, where, words string, at int) {
	if len(s.flags) < maxFlags {
		s.flags = append(s.flags, text.Flag{Rule: rule, Where: where, Excerpt: text.Excerpt(words, at)})
	}
}

func (s *scanner) walk(n *rawjson.Node, where string, depth int, definition bool) {
	if depth > maxDepth || s.full() {
		return
	}
	switch n.Kind {
	case 's':
		words, _ := n.Text()
		s.words(words, where)
	case 'a':
		for i, v := range n.Values {
			s.walk(v, where+"/"+strconv.Itoa(i), depth+1, definition)
		}
	case 'o':
		for i, key := range n.Keys {
			at := rawjson.Pointer(where, key)
			if !isWord(key) {
				s.words(key, at)
			}
			if definition && key == "properties" && n.Values[i].Kind == 'o' {
				s.parameters(n.Values[i], at)
			}
			if definition || key != "data" && key != "blob" {
				s.walk(n.Values[i], at, depth+1, definition)
			}
		}
	}
}

func isWord(key string) bool {
	for _, c := range key {
		if c >= 0x80 || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_$.-/", c) {
			return false
		}
	}
	return true
}

// parameters looks for names by which a server asks for what the model was told.
func (s *scanner) parameters(properties *rawjson.Node, where string) {
	for i, name := range properties.Keys {
		plain := snake(name)
		described, _ := properties.Values[i].Get("description").Text()
		if parameters.MatchString(plain) || asking.MatchString(plain) && asked.MatchString(spaced(described)) {
			s.flag("parameter", rawjson.Pointer(where, name), name, 0)
		}
	}
}

// snake writes sideNote and side-note as side_note.
func snake(name string) string {
	var out strings.Builder
	before := rune(0)
	for _, c := range name {
		if c == '-' {
			c = '_'
		}
		if 'A' <= c && c <= 'Z' && 'a' <= before && before <= 'z' {
			out.WriteByte('_')
		}
		out.WriteRune(c)
		before = c
	}
	return out.String()
}

func (s *scanner) words(found, where string) {
	if s.full() {
		return
	}
	s.count++
	if len(found) > s.left {
		found = found[:s.left]
		for len(found) > 0 && !utf8.ValidString(found[max(0, len(found)-4):]) {
			found = found[:len(found)-1]
		}
	}
	s.left -= len(found)
	plain, at := text.Clean(found)
	if at >= 0 {
		s.flag("hidden_text", where, found, at)
	}
	plain = spaced(plain)
	folded, at := fold(plain)
	if at >= 0 {
		s.flag("lookalike", where, plain, at)
	}
	told := map[string]bool{}
	for _, r := range rules {
		if told[r.name] {
			continue
		}
		if m := r.pattern.FindStringIndex(folded); m != nil && (r.name != "blob" || isBlob(folded[m[0]:m[1]])) {
			told[r.name] = true
			s.flag(r.name, where, folded, utf8.RuneCountInString(folded[:m[0]]))
		}
	}
	if !told["shadowing"] && len(s.others) > 0 {
		if at := s.shadows(folded); at >= 0 {
			s.flag("shadowing", where, folded, utf8.RuneCountInString(folded[:at]))
		}
	}
}

var names = regexp.MustCompile(`[A-Za-z][\w-]{4,}`)

// shadows says where a text gives instructions about another server's tool, or -1.
func (s *scanner) shadows(text string) int {
	for _, m := range names.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		if s.others[name] && isIdentifier(name) && instructs.MatchString(text[max(0, m[0]-80):min(len(text), m[1]+80)]) {
			return m[0]
		}
	}
	return -1
}

// isIdentifier reports whether a name could not be an ordinary word.
func isIdentifier(name string) bool {
	return strings.ContainsAny(name, "_-") || strings.ToLower(name[1:]) != name[1:]
}

// isBlob tells encoded bytes from long words.
func isBlob(s string) bool {
	if !strings.ContainsAny(s[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") || strings.ContainsRune(s, ' ') {
		return true
	}
	return strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz")
}

// spaced writes each run of space as one.
func spaced(s string) string {
	var out strings.Builder
	gap := false
	for _, c := range s {
		if c == ' ' || '\t' <= c && c <= '\r' || c == 0xa0 || 0x2000 <= c && c <= 0x200a || c == 0x202f || c == 0x205f || c == 0x3000 {
			gap = out.Len() > 0
			continue
		}
		if gap {
			out.WriteByte(' ')
			gap = false
		}
		out.WriteRune(c)
	}
	return out.String()
}

// fold writes letters that look like Latin ones as those, in words that have both,
// and says where the first such word is, in characters, or -1.
func fold(s string) (string, int) {
	first := -1
	chars := []rune(s)
	for i := 0; i < len(chars); {
		if !unicode.IsLetter(chars[i]) {
			i++
			continue
		}
		from, plain, alike := i, false, false
		for i < len(chars) && unicode.IsLetter(chars[i]) {
			c := chars[i]
			if wide := unwide(c); wide != c {
				chars[i], plain, alike = wide, true, true
			} else if c < 0x80 {
				plain = true
			} else if latin[c] != 0 {
				alike = true
			}
			i++
		}
		if !plain || !alike {
			continue
		}
		if first < 0 {
			first = from
		}
		for k := from; k < i; k++ {
			if l := latin[chars[k]]; l != 0 {
				chars[k] = l
			}
		}
	}
	if first < 0 {
		return s, -1
	}
	return string(chars), first
}

// unwide returns the letter that a wide or a mathematical one is.
func unwide(c rune) rune {
	switch {
	case 0xff21 <= c && c <= 0xff5a:
		return c - 0xfee0
	case 0x1d400 <= c && c <= 0x1d6a3:
		if k := (c - 0x1d400) % 52; k < 26 {
			return 'A' + k
		} else {
			return 'a' + k - 26
		}
	}
	return c
}
