package convert

import "testing"

// wasm/js/page/models/convertdiff.test.ts compares the rule with the engine's for random schemas.
func TestPatterns(t *testing.T) {
	for _, good := range []string{
		``, `a|`, `^[^\]\-\w]+$`, `\d{2,3}?`, `(?:a)*`, `(?<year>\d)\k<year>`, `(a)\1`, `[\u{1F600}-\u{1F64F}]`, `\p{Lu}`,
		`[a-]`, `[--a]`, `(?<!a)b`, `\ud83d\ude00`, `\cA\0\x41\/`, `[\b\cA]`,
	} {
		if !isPattern(good) {
			t.Errorf("%s is refused", good)
		}
	}
	for _, bad := range []string{
		`(`, `)`, `[`, `]`, `{`, `a{`, `a{,2}`, `a{2,1}`, `*`, `a**`, `^*`, `(?=a)*`, `(?i:a)`, `(?P<n>a)`, `(?<>a)`,
		`(?<n>a)(?<n>b)`, `\k<n>`, `\k`, `\1`, `\A`, `\-`, `\`, `\u12`, `\u{110000}`, `\u{}`, `\x4`, `\c1`, `\01`,
		`[b-a]`, `[\w-a]`, `[a-\d]`, `[\B]`, `\pL`, `\p{Greek}`, `\p{Xx}`, `|*`,
	} {
		if isPattern(bad) {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestConvertDropsTooSmallAMultiple(t *testing.T) {
	const def = `{"inputSchema":{"properties":{"n":{"type":"number","multipleOf":1e-400}}}}`
	tool, _, _ := Tool(Anthropic, "n", "s", []byte(def))
	const want = `{"name":"n","description":"[s] n","input_schema":{"properties":{"n":{"type":"number","description":"multipleOf: 1e-400"}},"type":"object"}}`
	if string(tool) != want {
		t.Errorf("got %s", tool)
	}
}
