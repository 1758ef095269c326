package rawjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

func seed(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
}

// FuzzValid compares the scanner with encoding/json, whose own limit is 10,000 levels.
func FuzzValid(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := rawjson.Valid(b, 10_000) == nil, json.Valid(b); got != want {
			t.Fatalf("Valid = %v, encoding/json says %v", got, want)
		}
	})
}

func FuzzMembers(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]string{}
		err := rawjson.Members(b, func(key string, value []byte) error {
			got[key] = string(value)
			return nil
		})
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(b, &want)
		if wantErr == nil && want == nil {
			return // null decodes into a map, but is no object
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("Members: %v, encoding/json: %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		for key, value := range want {
			if got[key] != string(value) {
				t.Fatalf("member %q = %s, want %s", key, got[key], value)
			}
			if v := rawjson.Get(b, key); !bytes.Equal(v, value) {
				t.Fatalf("Get(%q) = %s, want %s", key, v, value)
			}
		}
	})
}

func FuzzElements(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var got []string
		err := rawjson.Elements(b, func(value []byte) error {
			got = append(got, string(value))
			return nil
		})
		var want []json.RawMessage
		wantErr := json.Unmarshal(b, &want)
		if wantErr == nil && want == nil {
			return // null again
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("Elements: %v, encoding/json: %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d elements, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i] != string(want[i]) {
				t.Fatalf("element %d = %s, want %s", i, got[i], want[i])
			}
		}
	})
}

func FuzzString(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := rawjson.String(b)
		var want *string
		err := json.Unmarshal(b, &want)
		if ok != (err == nil && want != nil) {
			t.Fatalf("String(%q) ok = %v, encoding/json: %v", b, ok, err)
		}
		if !ok {
			return
		}
		if got != *want {
			t.Fatalf("String(%q) = %q, want %q", b, got, *want)
		}
		var back string
		if err := json.Unmarshal(rawjson.AppendString(nil, got), &back); err != nil || back != got {
			t.Fatalf("AppendString(%q) reads back as %q, %v", got, back, err)
		}
	})
}

func FuzzNumber(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var n *json.Number
		isNumber := json.Unmarshal(b, &n) == nil && n != nil && rawjson.Kind(b) == 'n'
		got, ok := rawjson.Float(b)
		if ok && !isNumber {
			t.Fatalf("Float(%q) = %v", b, got)
		}
		if isNumber {
			if want, err := n.Float64(); ok != (err == nil) || ok && got != want {
				t.Fatalf("Float(%q) = %v, %v; want %v", b, got, ok, want)
			}
			if d, ok := rawjson.Milliseconds(b); !ok || math.Abs(got) < 1e12 && math.Abs(float64(d)-got*1e6) > 1+math.Abs(got*1e-8) {
				t.Fatalf("Milliseconds(%q) = %v, %v", b, d, ok)
			}
			want, err := n.Int64()
			if i, ok := rawjson.Int(b); err == nil && (!ok || i != want) {
				t.Fatalf("Int(%q) = %v, %v; want %v", b, i, ok, want)
			}
		}
	})
}

// FuzzParse checks that the text of a tree has the same meaning.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := rawjson.Parse(b, 0, 0)
		if err != nil {
			if json.Valid(b) && !strings.Contains(err.Error(), "deep") {
				t.Fatalf("Parse(%q): %v", b, err)
			}
			return
		}
		var got, want any
		if err := decode(n.Append(nil), &got); err != nil {
			t.Fatalf("the tree of %q prints %q: %v", b, n.Append(nil), err)
		}
		if err := decode(b, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}
