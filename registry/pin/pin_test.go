package pin

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

var update = flag.Bool("update", false, "write the pins of testdata/pins")

const table = "../../testdata/pins/pins.json"

// A row is a definition's text with its canonical form and pin, shared with wasm/js/fetch/pin.test.ts.
type row struct {
	Name      string `json:"name"`
	Text      string `json:"text"`
	Canonical string `json:"canonical"`
	Pin       string `json:"pin"`
	// Same names an earlier row that has the same pin.
	Same string `json:"same,omitempty"`
}

func rows(t testing.TB) (rows []row) {
	t.Helper()
	b, err := os.ReadFile(table)
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestPins(t *testing.T) {
	all := rows(t)
	byPin := map[string]string{}
	for i, r := range all {
		tree, err := rawjson.Parse([]byte(r.Text), 0, 0)
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		text := makeCanonical(tree).Append(nil)
		pin, err := Of([]byte(r.Text))
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if *update {
			all[i].Canonical, all[i].Pin = string(text), pin
		} else if string(text) != r.Canonical || pin != r.Pin {
			t.Errorf("%s:\ngot  %s %s\nwant %s %s", r.Name, text, pin, r.Canonical, r.Pin)
		}
		digest, _, _ := strings.Cut(pin, ".")
		if byPin[digest] != r.Same {
			t.Errorf("%s: pinned as %q is, want %q", r.Name, byPin[digest], r.Same)
		}
		if byPin[digest] == "" {
			byPin[digest] = r.Name
		}
	}
	if *update {
		var out strings.Builder
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		out.WriteString("[\n")
		for i, r := range all {
			if i > 0 {
				out.WriteString(",")
			}
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		out.WriteString("]\n")
		if err := os.WriteFile(table, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPinOfWhatIsNoJSON(t *testing.T) {
	if pin, err := Of([]byte(`{"name":`)); err == nil {
		t.Errorf("pin %q", pin)
	}
}

func BenchmarkOf(b *testing.B) {
	text := []byte(`{"name":"t","description":"` + strings.Repeat("d", 300) +
		`","inputSchema":{"type":"object","properties":{` +
		strings.TrimSuffix(strings.Repeat(`"p":{"type":"string","description":"a parameter of the tool"},`, 10), ",") + `}}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Of(text); err != nil {
			b.Fatal(err)
		}
	}
}
