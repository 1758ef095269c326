package names

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

var legalName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// The reference vector of the SipHash paper, appendix A.
func TestSipHash(t *testing.T) {
	text := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	if h := sipHash(0x0706050403020100, 0x0f0e0d0c0b0a0908, text); h != 0xa129ca6149be45e5 {
		t.Errorf("got %x", h)
	}
}

// TestToolNameGolden pins names, because conversations and allow lists contain them.
func TestToolNameGolden(t *testing.T) {
	const path = "../../testdata/names/names.json"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
		Name   string `json:"name"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		got := Tool(row.Server, row.Tool)
		if got != row.Name && !*update {
			t.Errorf("Tool(%q, %q) = %q, want %q", row.Server, row.Tool, got, row.Name)
		}
		rows[i].Name = got
	}
	if *update {
		var out strings.Builder
		out.WriteString("[\n")
		for i, row := range rows {
			line, _ := json.Marshal(row)
			out.WriteString("  " + string(line))
			if i < len(rows)-1 {
				out.WriteString(",")
			}
			out.WriteString("\n")
		}
		out.WriteString("]\n")
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestToolNamePlain(t *testing.T) {
	for _, row := range []struct {
		server, tool string
		plain        bool
	}{
		{"github", "create_issue", true},
		{"a", "b__c", true},
		{"a", "_b", true},
		{"a_b", "c", true},
		{"_a", "c", true},
		{"a-b", "c-d", true},
		{"a__b", "c", false},
		{"a_", "b", false},
		{"3d", "b", false},
		{"-a", "b", false},
		{"a", "", false},
		{"a", "b.c", false},
		{"a b", "c", false},
		{"a", "b\n", false},
		{"é", "b", false},
		{"a", strings.Repeat("b", 61), true},
		{"a", strings.Repeat("b", 62), false},
	} {
		name := Tool(row.server, row.tool)
		if plain := name == row.server+"__"+row.tool; plain != row.plain {
			t.Errorf("Tool(%q, %q) = %q", row.server, row.tool, name)
		}
	}
}

// A million pairs of alphabets that favour collisions: few letters, many underscores,
// characters that slugs drop, and lengths around the limit.
func TestToolNamesAreLegalAndDistinct(t *testing.T) {
	const pairs = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	alphabets := [][]rune{
		[]rune("a_"), []rune("ab__-"), []rune("a_. "), []rune("aé中😀_"), []rune("aA0-_\x00\n"), {'\u200b', 'a', '_', '\ufffd'},
	}
	draw := func(max int) string {
		letters := alphabets[r.IntN(len(alphabets))]
		n := r.IntN(max)
		if r.IntN(20) == 0 {
			n = 50 + r.IntN(30)
		}
		var s strings.Builder
		for range n {
			s.WriteRune(letters[r.IntN(len(letters))])
		}
		return s.String()
	}
	type pair struct{ server, tool string }
	seen := make(map[string]pair, pairs)
	for range pairs {
		p := pair{draw(12), draw(16)}
		name := Tool(p.server, p.tool)
		if !legalName.MatchString(name) {
			t.Fatalf("Tool(%q, %q) = %q is illegal", p.server, p.tool, name)
		}
		if other, ok := seen[name]; ok && other != p {
			t.Fatalf("%q names both %q and %q", name, other, p)
		}
		seen[name] = p
	}
	t.Logf("%d distinct names of %d pairs", len(seen), pairs)
}

func FuzzToolName(f *testing.F) {
	for _, s := range []string{"a", "a_", "a__b", "", "é", "3d", strings.Repeat("x", 70), "\xff"} {
		f.Add(s, "b__c", "a__b", "c")
		f.Add("x", s, s, s)
	}
	f.Fuzz(func(t *testing.T, server, tool, server2, tool2 string) {
		name := Tool(server, tool)
		if !legalName.MatchString(name) {
			t.Fatalf("Tool(%q, %q) = %q is illegal", server, tool, name)
		}
		if (server != server2 || tool != tool2) && name == Tool(server2, tool2) {
			t.Fatalf("%q names (%q, %q) and (%q, %q)", name, server, tool, server2, tool2)
		}
	})
}
