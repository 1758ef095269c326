package rawjson_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

func TestStringifyKeepsOrderAndDigits(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1.0 , "a" : [ 9007199254740993, "\u0041" ] } `: `{"b":1.0,"a":[9007199254740993,"A"]}`,
		" { \"a\" : 2.50 , \"b c\" : \"\\u00e9\\/ \\\"\" } ":     `{"a":2.50,"b c":"é/ \""}`,
		`{"a":1,"b":2,"\u0061":3}`:                               `{"a":3,"b":2}`,
		"[\"\xff\"]":                                             "[\"\uFFFD\"]",
		`null`:                                                   `null`,
	} {
		n, err := rawjson.Parse([]byte(in), 0, 0)
		if err != nil {
			t.Errorf("Parse(%s): %v", in, err)
			continue
		}
		if got := n.Stringify(); got != want {
			t.Errorf("Parse(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestParseBounds(t *testing.T) {
	for _, row := range []struct {
		text         string
		depth, nodes int
		ok           bool
	}{
		{`[1,2,3]`, 0, 4, true}, {`[1,2,3]`, 0, 3, false}, {`{"a":{"b":1}}`, 2, 3, true}, {`{"a":{"b":1}}`, 1, 3,
			false}, {`1 2`, 0, 0, false},
	} {
		if _, err := rawjson.Parse([]byte(row.text), row.depth, row.nodes); (err == nil) != row.ok {
			t.Errorf("Parse(%s, %d, %d): %v", row.text, row.depth, row.nodes, err)
		}
	}
}

func TestUnambiguous(t *testing.T) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = `"` + strconv.Itoa(i) + `":{}`
	}
	wide := "{" + strings.Join(names, ",")
	for _, row := range []struct {
		text string
		at   int // of the fault, or -1
	}{
		{`7`, -1}, {`["a","a"]`, -1}, {`{"a":"a","b":["a",{"a":"b"}],"c":{"a":{"a":":"}}}`, -1}, {wide + "}", -1},
		{`{"\"a\":":1,"a":2}`, -1}, {`{"a":1,"a":2}`, 7}, {`{"a" :1,"b":{"a":0}, "\u0061" : 2}`, 21},
		{`[[],{"b":{"c":1,"d":[],"c":1}}]`, 23}, {`{"":1,"":2}`, 6}, {wide + `,"7":0}`, len(wide) + 1},
		{`{"a":}`, 5}, {strings.Repeat("[", 1001) + strings.Repeat("]", 1001), 1000},
	} {
		at := -1
		if fault := (*rawjson.SyntaxError)(nil); errors.As(rawjson.Unambiguous([]byte(row.text)), &fault) {
			at = fault.Offset
		}
		if at != row.at {
			t.Errorf("Unambiguous(%.60s): a fault at %d, want %d", row.text, at, row.at)
		}
	}
}

func TestNodeEdits(t *testing.T) {
	n := rawjson.NewObject()
	n.Set("a", rawjson.NewScalar("1"))
	n.Set("b", rawjson.NewArray(rawjson.NewString("x\n"), rawjson.NewScalar("null")))
	n.Set("a", rawjson.NewScalar("true"))
	n.Set("c", rawjson.NewObject())
	n.Delete("c")
	n.Delete("none")
	if got := string(n.Append(nil)); got != `{"a":true,"b":["x\n",null]}` {
		t.Errorf("got %s", got)
	}
	if s, ok := n.Get("b").Values[0].Text(); !ok || s != "x\n" {
		t.Errorf("Text = %q, %v", s, ok)
	}
	if n.Get("c") != nil || n.Get("c").Get("d") != nil {
		t.Error("Get of a missing member is not nil")
	}
	if _, ok := n.Get("a").Text(); ok {
		t.Error("a boolean has text")
	}
}

// TestManyMembers sets members that would each be looked for among all the others. That would take minutes.
func TestManyMembers(t *testing.T) {
	const many = 300_000
	n := rawjson.NewObject()
	for i := range many {
		n.Set(strconv.Itoa(i), rawjson.NewScalar("1"))
	}
	for i := range many {
		n.Set(strconv.Itoa(i), rawjson.NewScalar(strconv.Itoa(i)))
	}
	n.Delete("7")
	n.Set("last", rawjson.NewScalar("0"))
	for key, want := range map[string]string{"0": "0", "6": "6", "8": "8", "299999": "299999", "last": "0"} {
		if got := n.Get(key); got == nil || string(got.Raw) != want {
			t.Errorf("%s: %v, want %s", key, got, want)
		}
	}
	if len(n.Keys) != many || n.Get("7") != nil || n.Get("none") != nil || n.Keys[7] != "8" || n.Keys[many-1] != "last" {
		t.Errorf("%d members, %q and %q", len(n.Keys), n.Keys[7], n.Keys[many-1])
	}
}
