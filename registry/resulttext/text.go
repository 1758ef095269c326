// Package resulttext writes the result of a tool as one text for a model.
//
// [Of] returns the text content if there is any, its blocks on lines of their own.
// A marker in brackets stands for each block without text. A result without text
// content gives structuredContent as compact JSON, or else the markers. Content and
// structuredContent say the same twice, so that only one of them is used. JSON of
// 600,000 values or more stays as the server wrote it.
//
// The text of a result with isError begins with "Error: ". A result without any
// content gives "(no output)". A block for the user alone is left out. The text has no
// hidden characters, and U+FFFD in place of half a character.
//
// A long text is cut in the middle. A marker counts the characters that are
// missing, and names a handle under which [Kept] holds the whole.
//
// wasm/js/page/models/text.ts returns the same texts; testdata/results holds the two together.
package resulttext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

const noOutput = "(no output)"

// maxTree is the number of values, about 100 bytes each as a tree, from which on structuredContent stays as the server
// wrote it.
const maxTree = 600_000

// Of returns a CallToolResult as one text of at most maxBytes (0: no limit), and
// whether it was cut. keep, if not nil, stores a text that is cut and returns its
// handle. The error is for a result that is not a JSON object; malformed blocks are
// left out.
func Of(result []byte, maxBytes int, keep func(string) string) (out string, truncated bool, err error) {
	v, err := rawjson.Pick(result, "content", "structuredContent", "isError")
	if err != nil {
		return "", false, err
	}
	content, structured := v[0], v[1]
	isError, _ := rawjson.Bool(v[2])
	out, hasText := contentText(content)
	if kind := rawjson.Kind(structured); !hasText && kind != 0 && kind != '0' {
		out = string(structured)
		if strings.Count(out, ",") < maxTree {
			tree, err := rawjson.Parse(structured, 0, 0)
			if err != nil {
				return "", false, err
			}
			out = tree.Stringify()
		}
	}
	if out == "" {
		out = noOutput
	}
	if isError && !strings.EqualFold(out[:min(5, len(out))], "error") {
		out = "Error: " + out
	}
	if out, _ = text.Clean(out); out == "" {
		out = noOutput
	}
	out, truncated = shorten(out, maxBytes, keep)
	return out, truncated, nil
}

// contentText joins the content blocks and reports whether any is text.
func contentText(content []byte) (joined string, hasText bool) {
	var out strings.Builder
	// At an error, the blocks before it count. Another value than a list has none.
	_ = rawjson.Elements(content, func(block []byte) error {
		part, isText := blockText(block)
		if part == "" {
			return nil
		}
		hasText = hasText || isText
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(part)
		return nil
	})
	return out.String(), hasText
}

// A block holds the members of a content block. A missing member, or one that is not
// a string, is "".
type block struct {
	kind, text, data, mimeType, uri, name, blob string
	resource, annotations                       []byte
}

func readBlock(raw []byte) block {
	v, err := rawjson.Pick(raw, "type", "text", "data", "mimeType", "uri", "name", "blob", "resource", "annotations")
	if err != nil {
		return block{}
	}
	text := func(i int) string {
		s, _ := rawjson.String(v[i])
		return s
	}
	return block{text(0), text(1), text(2), text(3), text(4), text(5), text(6), v[7], v[8]}
}

func blockText(raw []byte) (words string, isText bool) {
	b := readBlock(raw)
	if isForUser(b.annotations) {
		return "", false
	}
	switch b.kind {
	case "":
		return "", false
	case "text":
		return b.text, true
	case "image", "audio":
		return marker(b.kind, b.mimeType, base64Size(b.data)), false
	case "resource_link":
		return "[resource: " + b.name + " <" + b.uri + ">]", false
	case "resource":
		r := readBlock(b.resource)
		if r.text != "" {
			return r.text, true
		}
		return marker(b.kind, r.uri, r.mimeType, base64Size(r.blob)), false
	}
	return "[" + b.kind + "]", false
}

// isForUser reports whether a block is for the user alone: its audience is ["user"].
func isForUser(annotations []byte) bool {
	users, others := 0, 0
	_ = rawjson.Elements(rawjson.Get(annotations, "audience"), func(role []byte) error {
		if name, _ := rawjson.String(role); name == "user" {
			users++
		} else {
			others++
		}
		return nil
	})
	return users > 0 && others == 0
}

// marker returns the text in place of a block without text: [image: image/png, 12.3 KB].
func marker(kind string, about ...string) string {
	known := make([]string, 0, len(about))
	for _, s := range about {
		if s != "" {
			known = append(known, s)
		}
	}
	if len(known) == 0 {
		return "[" + kind + "]"
	}
	return "[" + kind + ": " + strings.Join(known, ", ") + "]"
}

// base64Size returns the size of the bytes that data encodes, or "" for empty data.
func base64Size(data string) string {
	if data == "" {
		return ""
	}
	n := len(strings.TrimRight(data, "=")) * 3 / 4
	switch {
	case n < 1024:
		return strconv.Itoa(n) + " B"
	case n < 1024*1024:
		return tenths(n, 1024) + " KB"
	default:
		return tenths(n, 1024*1024) + " MB"
	}
}

func tenths(n, unit int) string {
	t := (n*10 + unit/2) / unit
	return strconv.Itoa(t/10) + "." + strconv.Itoa(t%10)
}

// shorten returns at most maxBytes of s: its beginning and its end, with a marker between
// them. The marker has the number of missing characters, as JavaScript counts them, and the
// handle of the whole. It divides no character. A text without room for the marker
// is only cut.
func shorten(s string, maxBytes int, keep func(string) string) (string, bool) {
	if maxBytes <= 0 || len(s) <= maxBytes {
		return s, false
	}
	handle := ""
	if keep != nil {
		handle = keep(s)
	}
	marker := func(missing, offset int) string {
		m := "\n[cut: " + strconv.Itoa(missing) + " characters missing"
		if handle != "" {
			m += "; handle " + handle + ", offset " + strconv.Itoa(offset)
		}
		return m + "]\n"
	}
	whole := text.UTF16Len(s)
	room := maxBytes - len(marker(whole, whole))
	if room < 0 {
		return text.Cut(s, maxBytes), true
	}
	head := text.Cut(s, (room*2+2)/3)
	at := len(s) - room/3
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	tail := s[at:]
	before := text.UTF16Len(head)
	return head + marker(whole-before-text.UTF16Len(tail), before) + tail, true
}
