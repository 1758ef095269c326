package convert

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

var update = flag.Bool("update", false, "write the golden files")

const convertData = "../../testdata/convert/"

// corpus returns the tool definitions of every server in testdata, by server.
func corpus(t testing.TB) map[string][]json.RawMessage {
	t.Helper()
	paths, err := filepath.Glob(convertData + "*.tools.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tools in %s: %v", convertData, err)
	}
	servers := map[string][]json.RawMessage{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var tools []json.RawMessage
		if err := json.Unmarshal(b, &tools); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		servers[strings.TrimSuffix(filepath.Base(path), ".tools.json")] = tools
	}
	return servers
}

// A golden holds one server's tools in one dialect. convert.test.ts reads it too.
type golden struct {
	Tools  []json.RawMessage `json:"tools"`
	Losses []string          `json:"losses"`
}

// text returns a golden as text, with one tool or loss in each line.
func (g golden) text() []byte {
	var b bytes.Buffer
	b.WriteString("{\"tools\":[\n")
	for i, tool := range g.Tools {
		b.Write(tool)
		if i < len(g.Tools)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("],\"losses\":[\n")
	for i, loss := range g.Losses {
		b.Write(rawjson.AppendString(nil, loss))
		if i < len(g.Losses)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

func TestConvertGolden(t *testing.T) {
	for server, tools := range corpus(t) {
		for _, d := range Dialects() {
			t.Run(server+"/"+string(d), func(t *testing.T) {
				got := golden{Losses: []string{}}
				for _, def := range tools {
					var head struct{ Name string }
					if err := json.Unmarshal(def, &head); err != nil {
						t.Fatal(err)
					}
					tool, losses, err := Tool(d, names.Tool(server, head.Name), server, def)
					if err != nil {
						t.Fatal(err)
					}
					got.Tools = append(got.Tools, tool)
					for _, l := range losses {
						got.Losses = append(got.Losses, l.Tool+" "+l.Path+" "+l.What)
					}
				}
				b := got.text()
				path := convertData + server + "." + string(d) + ".golden.json"
				if *update {
					if err := os.WriteFile(path, b, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(b, want) {
					t.Errorf("differs from %s; look at it with -update and git diff", path)
				}
			})
		}
	}
}

func TestPlacesOfLossesAreBounded(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":{"anyOf":[`, 10) + `{"$ref":"#/none"}` + strings.Repeat(`]}}`, 10)
	def := `{"inputSchema":{"type":"object","properties":{"` + strings.Repeat("k", 5000) + `":` + deep + `}}}`
	for _, d := range Dialects() {
		_, losses, err := Tool(d, "name", "server", []byte(def))
		if err != nil || d != Anthropic && len(losses) == 0 {
			t.Errorf("%s: %d losses, error %v", d, len(losses), err)
		}
		for _, loss := range losses {
			if len(loss.Path) > 1000 {
				t.Errorf("%s: the place of %q has %d bytes", d, loss.What, len(loss.Path))
			}
		}
	}
}

// The words of an alternative say when it is meant. A union of objects becomes one object, whose description keeps them.
func TestWordsOfAlternatives(t *testing.T) {
	const def = `{"inputSchema":{"type":"object","oneOf":[
		{"title":"By id","description":"If the id is known.","properties":{"id":{"type":"string"}},"required":["id"],"minProperties":-1},
		{"title":"By name","properties":{"name":{"type":"string"}}},
		{"properties":{"all":{"type":"boolean"}}},
		{"description":"Nothing."}]}}`
	const want = `"1: If the id is known. (minProperties: -1); 2: By name; 4: Nothing.; ` +
		`exactly one of these forms: id | name? | all? | {\"description\":\"Nothing.\"}"`
	for _, d := range Dialects() {
		tool, _, err := Tool(d, "name", "server", []byte(def))
		if err != nil || !bytes.Contains(tool, []byte(want)) {
			t.Errorf("%s: %s, %v", d, tool, err)
		}
		many := strings.Repeat(`{"description":"`+strings.Repeat("x", 500)+`","properties":{"id":true}},`, 1000)
		tool, _, err = Tool(d, "name", "server", []byte(`{"inputSchema":{"type":"object","anyOf":[`+many+`{}]}}`))
		if err != nil || len(tool) > 10_000 {
			t.Errorf("%s: %d bytes of many alternatives, %v", d, len(tool), err)
		}
	}
}

// TestManyRequired converts alternatives whose names would each be looked for among all the others. That would take
// minutes.
func TestManyRequired(t *testing.T) {
	var required, properties strings.Builder
	for i := range 200_000 {
		name := `"k` + strconv.Itoa(i) + `"`
		required.WriteString("," + name)
		properties.WriteString("," + name + ":true")
	}
	s := `{"required":[` + required.String()[1:] + `],"properties":{` + properties.String()[1:] + `}}`
	def := `{"inputSchema":{"type":"object","anyOf":[` + s + `,` + s + `]}}`
	tool, _, err := Tool(OpenAI, "name", "server", []byte(def))
	if err != nil || !bytes.Contains(tool, []byte(`,"k199999":{`)) {
		t.Errorf("%d bytes, %v", len(tool), err)
	}
}
