package rawmsg

import (
	"encoding/json"
	"testing"
)

func TestQuestion(t *testing.T) {
	const schema = `{"type":"object","properties":{"z":{"const":12345678901234567890},"a":{"type":"string"}}}`
	for _, tt := range []struct{ text, message, schema string }{
		{`{"message":"who?","requestedSchema":` + schema + `,"_meta":{"portolan/call":"tools/call#1"}}`, "who?", schema},
		{`{"mode":"url","message":"go there","url":"https://a.example/","elicitationId":"1"}`, "go there", "null"},
	} {
		p, err := Question(json.RawMessage(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(p.RequestedSchema)
		if err != nil || string(got) != tt.schema || p.Message != tt.message {
			t.Errorf("%q with %s, %v; want %q with %s", p.Message, got, err, tt.message, tt.schema)
		}
	}
	for _, text := range []string{``, `[]`, `{"message":5}`, `{"message":"x"`} {
		if p, err := Question(json.RawMessage(text)); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
}
