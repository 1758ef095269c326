//go:build !js

package client

import (
	"strings"
	"testing"
)

// In a browser the host takes out hidden characters.
func TestQuestionsAreCleaned(t *testing.T) {
	d := &dial{c: New(&nowhere{}, nil), headers: []string{"X-Key", "s3cr3t-t0ken"}}
	long := strings.Repeat("x", 3000)
	for _, row := range []struct{ params, want string }{
		{`{"message":"a\u001b[31m\u202eb\nc s3cr3t-t0ken","requestedSchema":{"type":"object","properties":{"n":{"type":"string","title":"T\u200b","enum":["a"],"enumNames":["A\u202e"]}},"required":["n"]},"_meta":{"baggage":"` + long + `"}}`,
			`{"message":"ab\nc [redacted]","requestedSchema":{"type":"object","properties":{"n":{"type":"string","title":"T","enum":["a"],"enumNames":["A"]}},"required":["n"]}}`},
		{`{"message":"?","requestedSchema":{"properties":{"n":{"minimum":1.50,"default":true,"description":"` + long + `"}}}}`,
			`{"message":"?","requestedSchema":{"properties":{"n":{"minimum":1.50,"default":true,"description":"` + long[:1021] + `…"}}}}`},
		{`{"message":"?","requestedSchema":{"properties":{"n\u202e":{}}}}`, ""},
		{`{"message":"?","requestedSchema":{"properties":{"n":{"enum":["a\u200b"]}}}}`, ""},
		{`{"message":"` + strings.Repeat("x", 70<<10) + `"}`, ""},
	} {
		got, err := d.askedForm([]byte(row.params))
		if got = object(got); err != nil {
			got = nil
		}
		if string(got) != row.want {
			t.Errorf("question(%.80s) = %s, %v, want %s", row.params, got, err, row.want)
		}
	}
}
