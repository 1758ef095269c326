package resulttext

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	for _, c := range resultCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			var keep func(string) string
			if c.Handle != "" {
				keep = func(string) string { return c.Handle }
			}
			text, truncated, err := Of(c.Result, c.MaxBytes, keep)
			if err != nil || text != c.Text || truncated != c.Truncated {
				t.Errorf("got %q, %v, %v; want %q, %v", text, truncated, err, c.Text, c.Truncated)
			}
		})
	}
}

func TestTextSizes(t *testing.T) {
	for bytes, want := range map[int]string{1023: "1023 B", 1024: "1.0 KB", 1280: "1.3 KB", 12595: "12.3 KB",
		1 << 20: "1.0 MB", 5<<20 + 3<<18: "5.8 MB"} {
		data := strings.Repeat("A", (bytes*4+2)/3)
		if got := base64Size(data); got != want {
			t.Errorf("%d bytes: %s, want %s", bytes, got, want)
		}
	}
}

func TestHiddenTextAloneIsNoOutput(t *testing.T) {
	for _, hidden := range []string{`\ufeff`, `\u200b\u200b`, `\u001b[0m`} {
		got, _, err := Of([]byte(`{"content":[{"type":"text","text":"`+hidden+`"}]}`), 0, nil)
		if err != nil || got != "(no output)" {
			t.Errorf("%s: %q, %v", hidden, got, err)
		}
	}
}

func TestManyValuesStayAsWritten(t *testing.T) {
	list := "[ 0" + strings.Repeat(", 0", maxTree) + " ]"
	result := []byte(`{"structuredContent":` + list + `}`)
	allocs := testing.AllocsPerRun(1, func() {
		if got, _, err := Of(result, 0, nil); err != nil || got != list {
			t.Errorf("%d characters, %v", len(got), err)
		}
	})
	if allocs > 1000 {
		t.Errorf("%.0f allocations", allocs)
	}
}

func TestNotAResult(t *testing.T) {
	for _, in := range []string{``, `null`, `[]`, `"x"`, `{"content":[`} {
		if _, _, err := Of([]byte(in), 0, nil); err == nil {
			t.Errorf("Of(%s) is no error", in)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, c := range resultCases(f) {
		f.Add([]byte(c.Result), c.MaxBytes)
	}
	f.Fuzz(func(t *testing.T, result []byte, maxBytes int) {
		text, truncated, err := Of(result, maxBytes, nil)
		if err != nil {
			return
		}
		if text == "" && maxBytes > 3 || !utf8.ValidString(text) || maxBytes > 0 && len(text) > maxBytes || truncated &&
			maxBytes <= 0 {
			t.Fatalf("Of(%q, %d) = %q, %v", result, maxBytes, text, truncated)
		}
	})
}

type resultCase struct {
	Name      string
	Result    json.RawMessage
	MaxBytes  int
	Text      string
	Truncated bool
	Handle    string
}

// resultCases are shared with wasm/js/page/models/text.test.ts.
func resultCases(t testing.TB) (cases []resultCase) {
	t.Helper()
	b, err := os.ReadFile("../../testdata/results/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}
