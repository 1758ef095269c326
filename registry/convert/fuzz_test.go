package convert

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry/wire"
)

// FuzzConvert checks that no converted definition has a part that vendors' APIs refuse.
func FuzzConvert(f *testing.F) {
	for _, tools := range corpus(f) {
		for _, def := range tools {
			f.Add([]byte(def))
		}
	}
	f.Add([]byte(`{`))
	f.Add([]byte(`{"name":"deep","inputSchema":` + strings.Repeat(`{"items":`, 500) + `{}` + strings.Repeat(`}`, 501)))
	f.Fuzz(func(t *testing.T, def []byte) { checkConversion(t, def) })
}

func TestConversionIsAccepted(t *testing.T) {
	for _, tools := range corpus(t) {
		for _, def := range tools {
			checkConversion(t, def)
		}
	}
}

func TestConvertRefusesUnknownDialects(t *testing.T) {
	if _, _, err := Tool("cohere", "n", "s", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "cohere") {
		t.Errorf("got %v", err)
	}
}

// Digits beyond float64 must stay.
func TestConvertKeepsDigits(t *testing.T) {
	const def = `{"inputSchema":{"properties":{"n":{"type":"integer","maximum":9007199254740993,"default":1.10}}}}`
	for _, d := range Dialects() {
		tool, _, _ := Tool(d, "n", "s", []byte(def))
		if !strings.Contains(string(tool), "9007199254740993") || !strings.Contains(string(tool), "1.10") {
			t.Errorf("%s: %s", d, tool)
		}
	}
}

// References that fan out or repeat a large target must not multiply the text.
func TestConvertBoundsReferences(t *testing.T) {
	var fan, wide strings.Builder
	for i := range 40 {
		next := `{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"}`
		fan.WriteString(`"d` + strconv.Itoa(i) + `":{"allOf":[` + next + `,` + next + `],"anyOf":[` + next + `,` + next +
			`]},`)
	}
	for i := range 1000 {
		wide.WriteString(`"p` + strconv.Itoa(i) + `":{"$ref":"#/$defs/big"},`)
	}
	big := `"big":{"type":"string","description":"` + strings.Repeat("x", 60_000) + `"}`
	for name, def := range map[string]string{
		"fan":  `{"inputSchema":{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + fan.String() + big + `}}}`,
		"wide": `{"inputSchema":{"properties":{` + wide.String() + `"z":{}},"$defs":{` + big + `}}}`,
	} {
		tool, losses, _ := Tool(Gemini, "n", "s", []byte(def))
		if len(tool) > 4<<20 {
			t.Errorf("%s: %d bytes became %d", name, len(def), len(tool))
		}
		if !slices.ContainsFunc(losses, func(l Loss) bool { return strings.HasPrefix(l.What, "cut: ") }) {
			t.Errorf("%s: the cut is not reported", name)
		}
	}
}

func checkConversion(t *testing.T, def []byte) {
	t.Helper()
	for _, d := range Dialects() {
		text, losses, err := Tool(d, "name", "server", def)
		if err != nil {
			t.Fatal(err)
		}
		var tool map[string]any
		if err := json.Unmarshal(text, &tool); err != nil {
			t.Fatalf("%s: %v in %s", d, err, text)
		}
		for _, l := range losses {
			if l.Tool != "name" || l.What == "" || l.Path != "" && l.Path[0] != '/' {
				t.Fatalf("odd loss %+v", l)
			}
		}
		at := tool
		if d == OpenAI {
			at = tool["function"].(map[string]any)
		}
		if s, _ := at["description"].(string); at["name"] != "name" || !strings.HasPrefix(s, "[server] ") {
			t.Fatalf("%s: %s", d, text)
		}
		if d == Gemini {
			if p, ok := at["parameters"]; ok {
				checkGemini(t, p, true)
			}
			continue
		}
		key := "parameters"
		if d == Anthropic {
			key = "input_schema"
		}
		root, _ := at[key].(map[string]any)
		for _, bad := range []string{"oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"} {
			if root[bad] != nil {
				t.Fatalf("%s: %s at the root of %s", d, bad, text)
			}
		}
		if _, ok := root["properties"].(map[string]any); !ok || root["type"] != "object" {
			t.Fatalf("%s: the root is no object: %s", d, text)
		}
		c := &converter{}
		c.root = mustParse(t, mustMarshal(t, root))
		checkJSONSchema(t, c, root)
	}
}

// checkJSONSchema finds parts of a schema that the vendors refuse.
func checkJSONSchema(t *testing.T, c *converter, v any) {
	t.Helper()
	s, ok := v.(map[string]any)
	if !ok {
		if _, ok := v.(bool); !ok {
			t.Fatalf("%v is not a schema", v)
		}
		return
	}
	if types, ok := s["type"].([]any); s["items"] == nil &&
		(s["type"] == "array" || ok && slices.Contains(types, any("array"))) {
		t.Fatalf("array without items: %v", s)
	}
	for key, v := range s {
		shape := keywordShape(key)
		if !hasShape(shape, mustParse(t, mustMarshal(t, v))) || shape == '-' {
			t.Fatalf("ill-formed %s: %v", key, v)
		}
		if ref, ok := v.(string); ok && key == "$ref" && c.lookup(ref) == nil {
			t.Fatalf("dangling reference %q", ref)
		}
		switch shape {
		case 'S':
			checkJSONSchema(t, c, v)
		case 'M':
			for _, v := range v.(map[string]any) {
				checkJSONSchema(t, c, v)
			}
		case 'L':
			for _, v := range v.([]any) {
				checkJSONSchema(t, c, v)
			}
		}
	}
}

var geminiFields = strings.Fields("type format title description nullable enum maxItems minItems properties " +
	"required minProperties maxProperties minLength maxLength pattern anyOf default items minimum maximum")

// checkGemini checks the rules of the API's documentation for schemas.
func checkGemini(t *testing.T, v any, root bool) {
	t.Helper()
	s, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%v is not a schema", v)
	}
	if list, ok := s["anyOf"].([]any); ok {
		if len(s) != 1 || len(list) < 2 || root {
			t.Fatalf("anyOf is not alone: %v", s)
		}
		for _, v := range list {
			checkGemini(t, v, false)
			if v.(map[string]any)["anyOf"] != nil {
				t.Fatalf("nested anyOf: %v", s)
			}
		}
		return
	}
	typ, _ := s["type"].(string)
	if !slices.Contains(wire.TypeNames[:6], typ) || root && typ != "object" {
		t.Fatalf("type of %v", s)
	}
	for key := range s {
		if !slices.Contains(geminiFields, key) {
			t.Fatalf("field %q of %v", key, s)
		}
		for _, row := range wire.GeminiTypes {
			if slices.Contains(row.Kept, key) && row.Name != typ && !(row.Name == "number" && typ == "integer") {
				t.Fatalf("field %q of a %s: %v", key, typ, s)
			}
		}
	}
	if enum, ok := s["enum"].([]any); ok {
		for _, e := range enum {
			if text, _ := e.(string); text == "" || typ != "string" {
				t.Fatalf("enum of %v", s)
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, v := range properties {
		checkGemini(t, v, false)
	}
	if required, ok := s["required"].([]any); ok {
		for _, name := range required {
			if properties[name.(string)] == nil {
				t.Fatalf("required %v of %v", name, s)
			}
		}
	}
	if typ == "array" {
		checkGemini(t, s["items"], false)
	}
	if format, ok := s["format"].(string); ok && !isGeminiFormat(typ, format) {
		t.Fatalf("format of %v", s)
	}
}
