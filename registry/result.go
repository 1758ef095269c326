package registry

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Text returns a CallToolResult as one text for a model, at most maxBytes long
// (0: no cap), and whether something was cut off. wasm/js/page/text.ts does the same.
//
// The text is the content if there is text in it, its blocks on lines of their
// own, with a marker in brackets for what is no text; or else structuredContent
// as compact JSON; or else the markers. Content and structuredContent say the
// same thing twice, so that one of them is enough. A result with isError begins
// with "Error: ", and a result that says nothing says so. A cut text ends with a
// marker that counts what is missing. The error is for a result that is no JSON
// object; blocks that are none are left out.
func Text(result []byte, maxBytes int) (text string, truncated bool, err error) {
	return resultText(result, maxBytes, nil)
}

func resultText(result []byte, maxBytes int, keep func(string) string) (text string, truncated bool, err error) {
	var content, structured []byte
	isError := false
	err = rawjson.Members(result, func(key string, value []byte) error {
		switch key {
		case "content":
			content = value
		case "structuredContent":
			structured = value
		case "isError":
			isError, _ = rawjson.Bool(value)
		}
		return nil
	})
	if err != nil {
		return "", false, Because(ErrProtocol, err.Error())
	}
	text, hasText := contentText(content)
	if kind := rawjson.Kind(structured); !hasText && kind != 0 && kind != '0' {
		compact, err := rawjson.AppendCompact(nil, structured)
		if err != nil {
			return "", false, Because(ErrProtocol, err.Error())
		}
		text = string(compact)
	}
	if text == "" {
		text = "(no output)"
	}
	if isError && !strings.EqualFold(text[:min(5, len(text))], "error") {
		text = "Error: " + text
	}
	text, _ = Clean(text)
	text, truncated = cut(text, maxBytes, keep)
	return text, truncated, nil
}

// contentText joins the content blocks and tells whether any is text.
func contentText(content []byte) (text string, hasText bool) {
	var out strings.Builder
	if rawjson.Kind(content) != 'a' {
		return "", false
	}
	// An error stops at what cannot be read and keeps what came before.
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

// A block is the members that blocks of the spec have, and "" for those that
// are missing or no strings.
type block struct {
	kind, text, data, mimeType, uri, name, blob string
	resource                                    []byte
}

func readBlock(raw []byte) (b block) {
	err := rawjson.Members(raw, func(key string, value []byte) error {
		s, _ := rawjson.String(value)
		switch key {
		case "type":
			b.kind = s
		case "text":
			b.text = s
		case "data":
			b.data = s
		case "mimeType":
			b.mimeType = s
		case "uri":
			b.uri = s
		case "name":
			b.name = s
		case "blob":
			b.blob = s
		case "resource":
			b.resource = value
		}
		return nil
	})
	if err != nil {
		return block{}
	}
	return b
}

func blockText(raw []byte) (text string, isText bool) {
	b := readBlock(raw)
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

// marker stands for what is no text: [image: image/png, 12.3 KB].
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

// base64Size says how large the bytes are that data encodes, "" if it is empty.
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

// cut shortens text to maxBytes: its beginning and its end, and between them how
// much is missing, in characters as JavaScript counts them, and the handle of the
// whole. It divides no character. Where the marker has no room there is none.
func cut(text string, maxBytes int, keep func(text string) string) (string, bool) {
	if maxBytes <= 0 || len(text) <= maxBytes {
		return text, false
	}
	handle := ""
	if keep != nil {
		handle = keep(text)
	}
	marker := func(missing, offset int) string {
		s := "\n[cut: " + strconv.Itoa(missing) + " characters missing"
		if handle != "" {
			s += "; handle " + handle + ", offset " + strconv.Itoa(offset)
		}
		return s + "]\n"
	}
	whole := utf16Len(text)
	room := maxBytes - len(marker(whole, whole))
	if room < 0 {
		return text[:boundary(text, maxBytes)], true
	}
	head := text[:boundary(text, (room*2+2)/3)]
	at := len(text) - room/3
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	tail := text[at:]
	before := utf16Len(head)
	return head + marker(whole-before-utf16Len(tail), before) + tail, true
}

// boundary returns the end of the last whole character before text[at].
func boundary(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
