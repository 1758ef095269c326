package sdksession

import "testing"

func TestDefaultsFillAcceptedForms(t *testing.T) {
	const asked = `{"requestedSchema":{"properties":{"a":{"default":1},"b":{"default":"x"},"c":{}}}}`
	for _, row := range []struct{ params, answer, want string }{
		{asked, `{"action":"accept","content":{"b":"y"}}`, `{"action":"accept","content":{"b":"y","a":1}}`},
		{asked, `{"action":"accept"}`, `{"action":"accept","content":{"a":1,"b":"x"}}`},
		{asked, `{"action":"decline"}`, `{"action":"decline"}`},
		{`{}`, `{"action":"accept","content":{"z":[]}}`, `{"action":"accept","content":{"z":[]}}`},
		{`{"requestedSchema":{"properties":[]}}`, `{"action":"accept"}`, `{"action":"accept"}`},
	} {
		if got := string(withDefaults([]byte(row.params), []byte(row.answer))); got != row.want {
			t.Errorf("%s to %s: %s, want %s", row.answer, row.params, got, row.want)
		}
	}
}
