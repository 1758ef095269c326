package text

import (
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// hygiene reads a table that wasm/js/fetch/hygiene.test.ts uses too.
func hygiene[Row any](t testing.TB, name string) (rows []Row) {
	t.Helper()
	b, err := os.ReadFile("../../testdata/hygiene/" + name)
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	return rows
}

type textRow struct {
	Name, In, Out string
	At            int
}

func TestClean(t *testing.T) {
	for _, row := range hygiene[textRow](t, "texts.json") {
		if out, at := Clean(row.In); out != row.Out || at != row.At {
			t.Errorf("%s: %+q, %d; want %+q, %d", row.Name, out, at, row.Out, row.At)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, row := range hygiene[textRow](f, "texts.json") {
		f.Add(row.In)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, at := Clean(s)
		if utf8.ValidString(s) && (len(out) > len(s) || !utf8.ValidString(out)) {
			t.Fatalf("Clean(%+q) = %+q", s, out)
		}
		if at >= utf8.RuneCountInString(s) || at >= 0 && out == s && utf8.ValidString(s) {
			t.Fatalf("Clean(%+q) = %+q, %d", s, out, at)
		}
	})
}

func TestCleanDefinition(t *testing.T) {
	for _, row := range hygiene[struct {
		Name    string
		In, Out json.RawMessage
		Flags   []string
		Refused bool
	}](t, "definitions.json") {
		out, flags, err := CleanDefinition(row.In)
		if err != nil || row.Refused {
			if (err != nil) != row.Refused {
				t.Errorf("%s: %v", row.Name, err)
			}
			continue
		}
		var got, want any
		if json.Unmarshal(out, &got) != nil || json.Unmarshal(row.Out, &want) != nil || !cmp.Equal(got, want) {
			t.Errorf("%s:\ngot  %+q\nwant %+q", row.Name, out, row.Out)
		}
		where := []string{}
		for _, f := range flags {
			where = append(where, f.Where)
			if f.Rule != "hidden_text" || f.Excerpt == "" {
				t.Errorf("%s: flag %+v", row.Name, f)
			}
		}
		if diff := cmp.Diff(row.Flags, where); diff != "" {
			t.Errorf("%s: flags (-want +got):\n%s", row.Name, diff)
		}
	}
}

func TestExcerpts(t *testing.T) {
	long := "0123456789012345678901234567890"
	for _, row := range []struct {
		in   string
		at   int
		want string
	}{
		{"a\u200bb", 1, "a⟨U+200B⟩b"},
		{long + "\U000e0041" + long + long, 31, "…5678901234567890⟨U+E0041⟩012345678901234567890123456789001234567"},
		{"a\nb\x1b[0m", 3, "a b⟨U+001B⟩[0m"},
	} {
		if got := Excerpt(row.in, row.at); got != row.want {
			t.Errorf("%+q: %q, want %q", row.in, got, row.want)
		}
	}
}

func TestLower(t *testing.T) {
	for _, row := range [][2]string{
		{"", ""}, {"https", "https"}, {"X-Api-KEY", "x-api-key"}, {"AZ@[`az{", "az@[`az{"}, {"B\u00dc\u212a.Example", "b\u00dc\u212a.example"},
	} {
		if got := Lower(row[0]); got != row[1] {
			t.Errorf("%q: got %q, want %q", row[0], got, row[1])
		}
	}
	if n := testing.AllocsPerRun(10, func() { Lower("mcp.example.com") }); n > 0 {
		t.Errorf("%v allocations where nothing changes", n)
	}
}
