// Package pin computes the pins of tools. A user approves a tool by its pin: equal
// pins mean that nothing has changed which models or users see.
//
// A pin covers seven parts: name, title, description, inputSchema, outputSchema,
// annotations, and the members of _meta for user interfaces (ui, ui/…, openai/… and
// io.modelcontextprotocol/ui…). The digest of a part is the SHA-256 of its canonical
// JSON, as base64url without padding. A missing part has an empty digest. The pin
// begins with the SHA-256 of the seven digests, each with a line feed. For each part a
// dot and the first twelve characters of its digest follow. They tell which part changed.
//
// Canonical JSON is that of RFC 8785: members ordered by the UTF-16 units of their
// names, no space, numbers as ECMAScript writes them. A number that no double holds
// is ±1e999; bytes that are not Unicode become U+FFFD. Definitions are pinned as the
// server sent them, with their hidden characters. wasm/js/fetch/pin.ts does the same.
package pin

import (
	"crypto/sha256"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

var fields = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}

// short is the number of characters of a part's digest in a pin.
const short = 12

// Of returns the pin of a Tool object of the spec.
func Of(def []byte) (string, error) {
	tool, err := rawjson.Parse(def, 0, 0)
	if err != nil {
		return "", err
	}
	var all, parts strings.Builder
	add := func(v *rawjson.Node) {
		digest := ""
		if v != nil {
			digest = digestOf(makeCanonical(v).Append(nil))
		}
		all.WriteString(digest)
		all.WriteByte('\n')
		parts.WriteByte('.')
		parts.WriteString(digest[:min(short, len(digest))])
	}
	for _, field := range fields {
		add(tool.Get(field))
	}
	ui := rawjson.NewObject()
	if meta := tool.Get("_meta"); meta.Is('o') {
		for i, key := range meta.Keys {
			if isUI(key) {
				ui.Set(key, meta.Values[i])
			}
		}
	}
	if len(ui.Keys) == 0 {
		ui = nil
	}
	add(ui)
	return digestOf([]byte(all.String())) + parts.String(), nil
}

func isUI(key string) bool {
	return key == "ui" || strings.HasPrefix(key, "ui/") || strings.HasPrefix(key, "openai/") ||
		strings.HasPrefix(key, "io.modelcontextprotocol/ui")
}

func digestOf(b []byte) string {
	digest := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// makeCanonical makes n canonical: its text is then that of RFC 8785.
func makeCanonical(n *rawjson.Node) *rawjson.Node {
	for _, v := range n.Values {
		makeCanonical(v)
	}
	switch n.Kind {
	case 'o':
		order := make([]int, len(n.Keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return compareUTF16(n.Keys[a], n.Keys[b]) })
		sorted := rawjson.NewObject()
		for _, i := range order {
			sorted.Keys, sorted.Values = append(sorted.Keys, n.Keys[i]), append(sorted.Values, n.Values[i])
		}
		*n = *sorted
	case 'n':
		n.Raw = appendNumber(nil, string(n.Raw))
	}
	return n
}

// compareUTF16 orders strings by their UTF-16 units.
func compareUTF16(a, b string) int {
	for i, r := range a {
		if len(b) <= i || !strings.HasPrefix(b[i:], string(r)) {
			return slices.Compare(utf16.Encode([]rune(a[i:])), utf16.Encode([]rune(b[i:])))
		}
	}
	return len(a) - len(b)
}

// appendNumber writes a number as ECMAScript's Number::toString does.
func appendNumber(dst []byte, text string) []byte {
	f, _ := strconv.ParseFloat(text, 64) // out of range is ±Inf
	switch {
	case math.IsInf(f, 0):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "1e999"...)
	case f == 0:
		return append(dst, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	sign := exponent[:1]
	return append(dst, mantissa+"e"+sign+strings.TrimLeft(exponent[1:], "0")...)
}
