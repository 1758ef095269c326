package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// texts are valid and broken texts, which also seed the fuzz targets.
var texts = []string{
	``, ` `, `null`, ` true `, `false`, `nul`, `truee`, `0`, `-0`, `01`, `-`, `1.`, `1.5e`, `1.5e+3`, `1e999`, `.5`, `+1`,
	`9007199254740993`, `-12345678901234567890123`, `0x10`, `NaN`, `1_000`,
	`""`, `"a"`, `"\u00e9\n\/"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\u12"`,
	`"\x"`, `"\u00:0"`, `"`, `"\`, "\"\x01\"", "\"\xff\xfe\"", "\"\u2028\"",
	`[]`, `[ ]`, `[1]`, `[1,]`, `[,1]`, `[1 2]`, `[1,2]]`, `[[],[[]]]`, `[1}`, `[`,
	`{}`, `{ }`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a" : [1, {"b":null}] , "c":"d"}`, `{"a":1,"a":2}`, `{a:1}`,
	`{"a":1 "b":2}`, `{1:2}`, `{"a":1]`, `{`, `{"a"`, `{"a":`,
	`{"":1,"\u0061":2}`, "\ufeff{}", `{"a":1}x`, "{\"\xff\":1}", `{"__proto__":1}`,
}

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		if got, want := rawjson.Valid([]byte(text), 0) == nil, json.Valid([]byte(text)); got != want {
			t.Errorf("Valid(%q) = %v, encoding/json says %v", text, got, want)
		}
	}
}

func TestValidBoundsDepth(t *testing.T) {
	for _, row := range []struct {
		text  string
		depth int
		ok    bool
	}{
		{`1`, 1, true}, {`[]`, 1, true}, {`[[]]`, 1, false}, {`[[1]]`, 2, true}, {`{"a":{"b":[]}}`, 2,
			false}, {`{"a":{"b":[]}}`, 3, true},
		{`[[],[],[]]`, 2, true},
	} {
		if got := rawjson.Valid([]byte(row.text), row.depth) == nil; got != row.ok {
			t.Errorf("Valid(%s, %d) = %v, want %v", row.text, row.depth, got, row.ok)
		}
	}
}

func TestDepthDoesNotExhaustTheStack(t *testing.T) {
	const deep = 1_000_000
	open, object := strings.Repeat("[", deep), strings.Repeat(`{"a":`, deep)
	text := []byte(open + strings.Repeat("]", deep))
	if err := rawjson.Valid(text, 0); err != nil {
		t.Error(err)
	}
	for _, b := range [][]byte{text, []byte(open), []byte(object)} {
		if rawjson.Valid(b, 128) == nil {
			t.Error("a million levels pass a bound of 128")
		}
		if _, err := rawjson.Parse(b, 10_000, 0); err == nil {
			t.Error("Parse made a tree of a million levels")
		}
	}
	member := []byte(`{"a":` + string(text) + `}`)
	if v := rawjson.Get(member, "a"); len(v) != len(text) {
		t.Error("Get lost a deep member")
	}
}

func TestMembersAndElementsSplit(t *testing.T) {
	var got []string
	err := rawjson.Members([]byte(" { \"a\" : [1, 2] ,\"\\u0062\":{\"c\":\"}\"},\"a\":null} "),
		func(key string, value []byte) error {
			got = append(got, key+"="+string(value))
			return nil
		})
	if want := `a=[1, 2] b={"c":"}"} a=null`; err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	got = nil
	err = rawjson.Elements([]byte(`[ 1 , "]" ,[ ],{} ]`), func(value []byte) error {
		got = append(got, string(value))
		return nil
	})
	if want := `1 "]" [ ] {}`; err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestSplittersStopAtTheCallersError(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	if err := rawjson.Members([]byte(`{"a":1,"b":2}`), func(string, []byte) error { calls++; return stop }); err != stop ||
		calls != 1 {
		t.Errorf("Members: %v after %d calls", err, calls)
	}
	if err := rawjson.Elements([]byte(`[1,2]`), func([]byte) error { calls++; return stop }); err != stop || calls != 2 {
		t.Errorf("Elements: %v after %d calls", err, calls)
	}
}

// An append to a value must not overwrite the text behind it.
func TestValuesCannotGrowIntoTheText(t *testing.T) {
	text := []byte(`{"a":1,"b":2}`)
	v := rawjson.Get(text, "a")
	_ = append(v, "999"...)
	if string(text) != `{"a":1,"b":2}` {
		t.Errorf("text became %s", text)
	}
}

func TestSyntaxErrorsDoNotQuoteTheText(t *testing.T) {
	err := rawjson.Valid([]byte(`{"token": secret}`), 0)
	var syntax *rawjson.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 10 || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestGetTakesTheLastMember(t *testing.T) {
	if v := rawjson.Get([]byte(`{"a":1,"b":0,"\u0061":2}`), "a"); string(v) != "2" {
		t.Errorf("got %s", v)
	}
	for _, text := range []string{`{"b":1}`, `{"a":1`, `{"a":1}}`, `["a"]`, ``} {
		if v := rawjson.Get([]byte(text), "a"); v != nil {
			t.Errorf("Get(%s) = %s", text, v)
		}
	}
}

func TestPick(t *testing.T) {
	values, err := rawjson.Pick([]byte(`{"a":1,"b":{"c":2},"\u0061": 3 }`), "b", "a", "none")
	if err != nil || string(values[0]) != `{"c":2}` || string(values[1]) != "3" || values[2] != nil {
		t.Errorf("%q, %v", values, err)
	}
	if values, err := rawjson.Pick([]byte(`[]`), "a"); err == nil || len(values) != 1 {
		t.Errorf("an array gives %q, %v", values, err)
	}
}

func TestIsTrue(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a": true}`: true, `{"a":false}`: false, `{"a":"true"}`: false, `{"b":true}`: false, `[true]`: false, ``: false,
	} {
		if got := rawjson.IsTrue([]byte(text), "a"); got != want {
			t.Errorf("IsTrue(%q) = %v", text, got)
		}
	}
}

func TestStrings(t *testing.T) {
	for text, want := range map[string][]string{
		`["a", 1, "\u0062", null, ["c"]]`: {"a", "b"}, `[]`: nil, `{"a":"b"}`: nil, `"a"`: nil, ``: nil,
	} {
		if got := rawjson.Strings([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("Strings(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAppendMember(t *testing.T) {
	for begun, want := range map[string]string{
		``: `"k\"":[1]`, `{`: `{"k\"":[1]`, `"a":1`: `"a":1,"k\"":[1]`, `{"a":{}`: `{"a":{},"k\"":[1]`,
	} {
		if got := rawjson.AppendMember([]byte(begun), `k"`, []byte("[1]")); string(got) != want {
			t.Errorf("AppendMember(%q) = %s, want %s", begun, got, want)
		}
	}
}

func TestScalars(t *testing.T) {
	for _, row := range []struct {
		raw string
		n   int64
		ok  bool
	}{
		{"0", 0, true}, {" 42\n", 42, true}, {"-9223372036854775808", -1 << 63, true}, {"9223372036854775808", 0, false},
		{"3.0", 3, true}, {"3e2", 300, true}, {"3.5", 0, false}, {"1e400", 0, false}, {`"1"`, 0, false}, {"01", 0,
			false}, {"0x1", 0, false}, {"inf", 0, false}, {"", 0, false},
		{"9223372036854775807", 1<<63 - 1, true}, {"-9223372036854775809", 0, false}, {"-12e-1", 0, false}, {"0e99", 0, true},
		{"1200e-2", 12, true}, {"9007199254740993.0", 1<<53 + 1, true}, {"100000000000000000000e-18", 100, true},
		{"100000000000000000001e-18", 0, false}, {"1.00000000000000000000", 1, true}, {"1.00000000000000000001", 0, false},
		{"1e-99999999999", 0, false}, {"92233720368547758070e-1", 1<<63 - 1, true}, {"10000000000000000000", 0, false},
	} {
		if n, ok := rawjson.Int([]byte(row.raw)); n != row.n || ok != row.ok {
			t.Errorf("Int(%s) = %d, %v", row.raw, n, ok)
		}
	}
	for _, row := range []struct {
		raw string
		f   float64
		ok  bool
	}{{"1.5", 1.5, true}, {"-2e3", -2000, true}, {"nan", 0, false}, {"1_0", 0, false}} {
		if f, ok := rawjson.Float([]byte(row.raw)); f != row.f || ok != row.ok {
			t.Errorf("Float(%s) = %v, %v", row.raw, f, ok)
		}
	}
	for raw, want := range map[string]time.Duration{
		"1500": 1500 * time.Millisecond, "0.25": 250 * time.Microsecond, "1E3": time.Second, "-1": -time.Millisecond,
		"0.0000019": 1, "1e-9": 0, "1e300": math.MaxInt64, "-1e300": math.MinInt64, "9223372036854": 9223372036854e6,
		"9223372036855": math.MaxInt64,
	} {
		if d, ok := rawjson.Milliseconds([]byte(raw)); d != want || !ok {
			t.Errorf("Milliseconds(%s) = %d, %v; want %d", raw, d, ok, want)
		}
	}
	if d, ok := rawjson.Milliseconds([]byte("soon")); d != 0 || ok {
		t.Errorf("Milliseconds(soon) = %v, %v", d, ok)
	}
	for _, row := range []struct {
		s    string
		base uint64
		n    uint64
		ok   bool
	}{
		{"0", 10, 0, true}, {"007", 10, 7, true}, {"fF", 16, 255, true}, {"fg", 16, 0, false}, {"a", 10, 0, false}, {"", 10, 0, false},
		{"+1", 10, 0, false}, {"1_0", 10, 0, false}, {"123456789012345", 10, 123456789012345, true}, {"1234567890123456", 10, 0, false},
		{"\x1a", 16, 0, false}, {"\xc1", 16, 0, false}, {"0:", 16, 0, false}, {"?0", 16, 0, false}, {"@", 16, 0, false}, {"`", 16, 0, false},
	} {
		if n, ok := rawjson.Digits(row.s, row.base); n != row.n || ok != row.ok {
			t.Errorf("Digits(%q, %d) = %d, %v", row.s, row.base, n, ok)
		}
	}
	for raw, want := range map[string][2]bool{"true": {true, true}, " false ": {false, true}, "1": {}, "": {}, "tru": {}} {
		if v, ok := rawjson.Bool([]byte(raw)); v != want[0] || ok != want[1] {
			t.Errorf("Bool(%s) = %v, %v", raw, v, ok)
		}
	}
	for raw, want := range map[string]byte{"{": 'o', " [": 'a', `"`: 's', "-1": 'n', "7": 'n', "true": 'b', "false": 'b',
		"null": '0', "": 0, "x": 0, "+1": 0} {
		if got := rawjson.Kind([]byte(raw)); got != want {
			t.Errorf("Kind(%s) = %q", raw, got)
		}
	}
}

// The wanted texts are those of JSON.stringify in Node 22.
func TestAppendStringIsJSONStringify(t *testing.T) {
	for in, want := range map[string]string{
		"":                  `""`,
		"a\"b\\c/d":         `"a\"b\\c/d"`,
		"\b\f\n\r\t\v\x00":  `"\b\f\n\r\t\u000b\u0000"`,
		"\x1f\x7f":          "\"\\u001f\x7f\"",
		"<>&\u2028\u2029é😀": "\"<>&\u2028\u2029é😀\"",
		"a\xffb\xc3":        "\"a\uFFFDb\uFFFD\"",
	} {
		if got := string(rawjson.AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestLinearTime(t *testing.T) {
	text := []byte("{" + strings.Repeat(`"key":[1,2,3],`, 200_000) + `"last":0}`)
	if v := rawjson.Get(text, "last"); !bytes.Equal(v, []byte("0")) {
		t.Error("Get lost the last member")
	}
	wide := []byte(`{"k":0`)
	for i := range 100_000 {
		wide = append(wide, `,"k`+strconv.Itoa(i)+`":1`...)
	}
	n, err := rawjson.Parse(append(wide, '}'), 0, 0)
	if err != nil || len(n.Keys) != 100_001 {
		t.Errorf("Parse of a wide object: %v", err)
	}
}
