package validate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func suite(t testing.TB) map[string][]suiteGroup {
	t.Helper()
	paths, err := filepath.Glob("testdata/jsonschema/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no suite: %v", err)
	}
	files := map[string][]suiteGroup{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var groups []suiteGroup
		if err := json.Unmarshal(b, &groups); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		files[filepath.Base(path)] = groups
	}
	return files
}

// Valid arguments must pass. Invalid ones must be refused, unless the schema has a keyword
// that Validate does not know.
func TestSuite(t *testing.T) {
	for file, groups := range suite(t) {
		for _, g := range groups {
			for _, c := range g.Tests {
				name := file + ": " + g.Description + ": " + c.Description
				err := Schema(g.Schema, c.Data)
				switch {
				case c.Valid && err != nil:
					t.Errorf("%s: %v", name, err)
				case !c.Valid && err == nil:
					v := newValidator(mustParse(t, g.Schema))
					if v.check(v.root, mustParse(t, c.Data), "", 0); !v.unsure {
						t.Errorf("%s: passes", name)
					}
				case err != nil && !errors.Is(err, ErrArguments):
					t.Errorf("%s: %v is not ErrArguments", name, err)
				}
			}
		}
	}
}

func TestValidateNamesThePlaces(t *testing.T) {
	const schema = `{"type":"object","required":["city","days"],"additionalProperties":false,"properties":{
		"city":{"type":"string","minLength":2},"days":{"type":"integer","minimum":1,"maximum":14},
		"unit":{"enum":["C","F"]},"a/b":{"type":["string","null"]},
		"points":{"type":"array","items":{"$ref":"#/$defs/point"},"maxItems":3}},
		"$defs":{"point":{"type":"array","prefixItems":[{"type":"number"},{"type":"number"}],"items":false}}}`
	for _, row := range []struct{ args, want string }{
		{`{"city":"Bonn","days":3}`, ""},
		{`{"days":3}`, "/city: is required"},
		{`{"city":"B","days":15}`, "/city: want at least 2 characters; /days: want at most 14"},
		{`{"city":5,"days":1.5}`, "/city: want a string, not a number; /days: want an integer, not a number"},
		{`{"city":"Bonn","days":3,"unit":"K"}`, `/unit: want one of ["C","F"]`},
		{`{"city":"Bonn","days":3,"a/b":1}`, "/a~1b: want a string or null, not a number"},
		{`{"city":"Bonn","days":3,"towns":1}`, "/towns: there is no such property"},
		{`{"city":"Bonn","days":3,"points":[[1,2],[1,"x"],[1,2,3],[]]}`,
			"/points: want at most 3 items; /points/1/1: want a number, not a string; /points/2/2: is not allowed"},
		{`[]`, "the arguments: want an object, not an array"},
		{`{"city":1,"days":"","unit":1,"x":1,"y":1,"z":1}`,
			"/city: want a string, not a number; /days: want an integer, not a string; /unit: want one of [\"C\",\"F\"]; " +
				"/x: there is no such property; /y: there is no such property"},
		{`{"city":`, "json: unexpected end at byte 8"},
	} {
		got := ""
		if err := Schema([]byte(schema), []byte(row.args)); err != nil {
			got = strings.TrimPrefix(err.Error(), "invalid arguments: ")
		}
		if got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.args, got, row.want)
		}
	}
}

// Values may be secrets, so errors do not contain them.
func TestValidateDoesNotQuoteValues(t *testing.T) {
	const schema = `{"properties":{"token":{"type":"integer"},"key":{"enum":["a"]},"pin":{"maxLength":1},` +
		`"id":{"not":{"type":"string"}}}}`
	err := Schema([]byte(schema), []byte(`{"token":"hunter2","key":"hunter2","pin":"hunter2","id":"hunter2"}`))
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Count(err.Error(), ";") != 3 {
		t.Errorf("got %v", err)
	}
}

func TestValidateAcceptsBrokenAndHostileSchemas(t *testing.T) {
	bomb := `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],` +
		`"not":{"$ref":"#/$defs/a"}}}}`
	for _, schema := range []string{``, `{`, `null`, `[]`,
		`{"type":5,"required":"a","properties":[],"items":3,"enum":{},"anyOf":{},"minimum":"1",` +
			`"$ref":"x.json"}`,
		`{"$ref":"#"}`, bomb, strings.Repeat(`{"not":`, 500) + `{}` +
			strings.Repeat(`}`, 500), `{"properties":{"a":{"type":["text"]}}}`} {
		if err := Schema([]byte(schema), []byte(`{"a":1}`)); err != nil {
			t.Errorf("%.80s: %v", schema, err)
		}
	}
}

// A quotient of doubles is off by more, the larger it is.
func TestMultiplesOfDecimals(t *testing.T) {
	for args, fits := range map[string]bool{"1234567.89": true, "987654321.12": true, "19.99": true,
		"1234567.891": false, "1000000000.005": false} {
		if err := Schema([]byte(`{"multipleOf":0.01}`), []byte(args)); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// Three thousand references to one part make much work of it, by what the part has. Without
// a bound, the test takes minutes.
func TestWorkIsBounded(t *testing.T) {
	refs := strings.Repeat(`{"$ref":"#/$defs/a"},`, 3000)
	for name, part := range map[string]string{
		"required":  `"required":["b"` + strings.Repeat(`,"b"`, 50_000) + `]`,
		"type":      `"type":["string"` + strings.Repeat(`,"string"`, 20_000) + `]`,
		"const":     `"const":"` + strings.Repeat("x", 200_000) + `"`,
		"reference": `"$ref":"#` + strings.Repeat("/a", 100_000) + `"`,
	} {
		if err := Schema([]byte(`{"anyOf":[`+refs+`{}],"$defs":{"a":{`+part+`}}}`), []byte(`{"a":1}`)); err != nil {
			t.Errorf("%s: %.80v", name, err)
		}
	}
}

func TestOtherDialectsAreNamed(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`:      "draft-04",
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`:      "",
		`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`: "",
		`{"$schema":"http://json-schema.org/draft/2020-12/schema#"}`: "", // each scheme is common
		`{"$schema":"http://json-schema.org/draft/2019-09/schema"}`:  "",
		`{"$schema":"https://json-schema.org/schema"}`:               "",
	} {
		err := Schema([]byte(schema), []byte(`{"a":1}`))
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestOtherDocumentsAreNamed(t *testing.T) {
	const other = `{"$ref":"https://example.com/point.json#/a"}`
	for schema, refused := range map[string]bool{
		`{"properties":{"a":` + other + `}}`:                                                        true,
		`{"properties":{"b":` + other + `}}`:                                                        false,
		`{"anyOf":[` + other + `,{"required":["a"]}]}`:                                              false,
		`{"properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`:                   false,
		`{"properties":{"a":` + other + `},"$defs":{"a":{"$id":"https://example.com/point.json"}}}`: false,
	} {
		err := Schema([]byte(schema), []byte(`{"a":1}`))
		if (err != nil) != refused || refused && !strings.HasSuffix(err.Error(), "/a: refers to another document, which is not fetched: https://example.com/point.json#/a") {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, row := range []struct{ raw, want string }{
		{`{}`, ""}, {` {"a":12345678901234567890} `, ""},
		{``, "json: unexpected end at byte 0"}, {`{"a":}`, "json: want a value at byte 5"}, {`{}{}`,
			"json: text behind the value at byte 2"},
		{`[1]`, "want a JSON object, not an array"}, {`null`, "want a JSON object, not null"}, {`"{}"`,
			"want a JSON object, not a string"},
		{`{"path":"mine","path":"theirs"}`, "json: a name stands twice in its object at byte 15"},
		{`{"path":"a\\","in":[{"a":1},{"a":[]}],"a":{"path":"\"path\":"}}`, ""},
	} {
		err := Arguments([]byte(row.raw))
		if row.want == "" && err != nil || row.want != "" &&
			(!errors.Is(err, ErrArguments) || !strings.HasSuffix(err.Error(), row.want)) {
			t.Errorf("Arguments(%s) = %v, want %s", row.raw, err, row.want)
		}
	}
}

// FuzzValidate checks that no schema and no arguments cause a hang or a panic, and that
// every refusal wraps ErrArguments.
func FuzzSchema(f *testing.F) {
	for _, groups := range suite(f) {
		for _, g := range groups {
			f.Add([]byte(g.Schema), []byte(g.Tests[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		if err := Schema(schema, args); err != nil && !errors.Is(err, ErrArguments) {
			t.Fatal(err)
		}
		if err := Arguments(args); (err == nil || strings.Contains(err.Error(), " twice ")) != (json.Valid(args) &&
			strings.HasPrefix(strings.TrimLeft(string(args), " \t\r\n"), "{")) {
			t.Fatalf("Arguments(%q) = %v", args, err)
		}
	})
}
