// Package scan searches the texts of servers for poison: words that turn a model against
// its user. It applies fixed rules on this machine. Its flags are hints: a harmless text
// may have one, and a harmful text may have none.
//
//	for _, t := range r.Tools(registry.Filter{}) {
//		def, _ := t.Def.JSON()
//		for _, f := range scan.Definition(def, others) {
//			fmt.Println(t.Name, f.Rule, f.Where, f.Excerpt)
//		}
//	}
//
// wasm/js/shared/scan.ts reads the same rules.json. testdata/scan has the corpus that
// measures the rules.
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

// Bounds of the scan of one definition or result.
const (
	maxText    = 64 << 10 // bytes of all strings
	maxStrings = 2000
	maxFlags   = 20
	maxDepth   = 64
)

// Definition returns the flags of a Tool object of the spec. It scans all strings and the
// names of members. others are the names of other servers' tools. A definition that gives
// instructions about one of these has the flag "shadowing".
func Definition(def []byte, others map[string]bool) []text.Flag {
	return scan(def, &scanner{left: maxText, others: others, definition: true})
}

// Result returns the flags of a CallToolResult.
func Result(result []byte) []text.Flag { return scan(result, &scanner{left: maxText}) }

func scan(json []byte, s *scanner) []text.Flag {
	if n, err := rawjson.Parse(json, 0, 0); err == nil {
		s.walk(n, "", 0)
	}
	return s.flags
}

type scanner struct {
	left, count int // bytes that may follow, and strings so far
	flags       []text.Flag
	others      map[string]bool
	definition  bool // not a result
}

func (s *scanner) full() bool {
	return s.left <= 0 || s.count >= maxStrings || len(s.flags) >= maxFlags
}

func (s *scanner) flag(rule, where, words string, at int) {
	if len(s.flags) < maxFlags {
		s.flags = append(s.flags, text.Flag{Rule: rule, Where: where, Excerpt: text.Excerpt(words, at)})
	}
}

func (s *scanner) walk(n *rawjson.Node, where string, depth int) {
	if depth > maxDepth || s.full() {
		return
	}
	switch n.Kind {
	case 's':
		words, _ := n.Text()
		s.words(words, where)
	case 'a':
		for i, v := range n.Values {
			if strings.IndexByte("sao", v.Kind) >= 0 { // a long list of numbers has no words
				s.walk(v, rawjson.Pointer(where, strconv.Itoa(i)), depth+1)
			}
		}
	case 'o':
		for i, key := range n.Keys {
			at := rawjson.Pointer(where, key)
			if !isWord(key) {
				s.words(key, at)
			}
			if s.definition && key == "properties" && n.Values[i].Kind == 'o' {
				s.parameters(n.Values[i], at)
			}
			if s.definition || key != "data" && key != "blob" {
				s.walk(n.Values[i], at, depth+1)
			}
		}
	}
}

func isWord(key string) bool {
	return !strings.ContainsFunc(key, func(c rune) bool {
		return c >= 0x80 || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_$.-/", c)
	})
}

// parameters flags names of parameters that ask for the model's instructions or secrets.
func (s *scanner) parameters(properties *rawjson.Node, where string) {
	for i, name := range properties.Keys {
		plain := snakeCase(name)
		described, _ := properties.Values[i].Get("description").Text()
		if parameters.MatchString(plain) || asking.MatchString(plain) && asked.MatchString(collapseSpace(described)) {
			s.flag("parameter", rawjson.Pointer(where, name), name, 0)
		}
	}
}

// snakeCase writes sideNote and side-note as side_note.
func snakeCase(name string) string {
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
	plain = collapseSpace(plain)
	folded, at := foldLookalikes(plain)
	if at >= 0 {
		s.flag("lookalike", where, plain, at)
	}
	flagged := map[string]bool{}
	for _, r := range rules {
		if flagged[r.name] {
			continue
		}
		if m := r.pattern.FindStringIndex(folded); m != nil && (r.name != "blob" || isBlob(folded[m[0]:m[1]])) {
			flagged[r.name] = true
			s.flag(r.name, where, folded, utf8.RuneCountInString(folded[:m[0]]))
		}
	}
	if !flagged["shadowing"] && len(s.others) > 0 {
		if at := s.shadows(folded); at >= 0 {
			s.flag("shadowing", where, folded, utf8.RuneCountInString(folded[:at]))
		}
	}
}

var names = regexp.MustCompile(`[A-Za-z][\w-]{4,}`)

// shadows returns the index of the other server's tool about which a text gives
// instructions, or -1.
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

// isBlob reports whether s is encoded bytes, and not a long word.
func isBlob(s string) bool {
	if !strings.ContainsAny(s[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") ||
		strings.ContainsRune(s, ' ') {
		return true
	}
	return strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz")
}

// collapseSpace returns s with one space for each run of space, and none at the ends.
func collapseSpace(s string) string {
	var out strings.Builder
	gap := false
	for _, c := range s {
		if c == ' ' || '\t' <= c && c <= '\r' || c == 0xa0 || 0x2000 <= c && c <= 0x200a || c == 0x202f || c == 0x205f ||
			c == 0x3000 {
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

// foldLookalikes replaces lookalikes of Latin letters in words that also have Latin letters. It
// returns the index of the first such word, in characters, or -1.
func foldLookalikes(s string) (string, int) {
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
			if wide := narrow(c); wide != c {
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

// narrow returns the ASCII letter for a wide or mathematical letter, and any other
// character as it is.
func narrow(c rune) rune {
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
