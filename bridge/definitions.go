package bridge

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Most clients refuse a whole list of tools for one member of another type than the specification's. So one server
// would hide the tools of all others, and the browser's own.

// A repair returns a member as clients take it, or nil to leave it out. The member is nil if there is none.
type repair func(member json.RawMessage) json.RawMessage

var (
	ofTool = map[string]repair{
		"title": only(`"`), "annotations": within(ofAnnotations), "inputSchema": objectSchema, "outputSchema": only("{"),
	}
	// ofOlderTool is for the versions before 2026-07-28: they know output of objects only.
	ofOlderTool   = map[string]repair{"outputSchema": soundSchema}
	ofAnnotations = map[string]repair{
		"title": only(`"`), "readOnlyHint": only("tf"), "destructiveHint": only("tf"), "idempotentHint": only("tf"),
		"openWorldHint": only("tf"),
	}
	ofSchema = map[string]repair{
		"type":       func(json.RawMessage) json.RawMessage { return json.RawMessage(`"object"`) },
		"properties": properties, "required": names,
	}
)

// repaired returns an object with its members repaired. One that needs no repair stays as it is.
func repaired(object json.RawMessage, repairs map[string]repair) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return object
	}
	changed := false
	for name, repair := range repairs {
		before := members[name]
		now := repair(before)
		if bytes.Equal(before, now) {
			continue
		}
		changed = true
		if members[name] = now; now == nil {
			delete(members, name)
		}
	}
	if !changed {
		return object
	}
	return encoded(members)
}

// encoded returns the JSON text of a value that has one, as parts of JSON texts have.
func encoded(value any) json.RawMessage {
	text, _ := json.Marshal(value)
	return text
}

// only keeps values that begin with one of these characters.
func only(first string) repair {
	return func(member json.RawMessage) json.RawMessage {
		if len(member) > 0 && bytes.IndexByte([]byte(first), member[0]) >= 0 {
			return member
		}
		return nil
	}
}

// within repairs the members of an object.
func within(repairs map[string]repair) repair {
	return func(member json.RawMessage) json.RawMessage { return repaired(only("{")(member), repairs) }
}

// objectSchema makes a schema one of objects, because arguments are one.
func objectSchema(member json.RawMessage) json.RawMessage {
	if only("{")(member) == nil {
		member = json.RawMessage(`{}`)
	}
	return repaired(member, ofSchema)
}

// soundSchema leaves a schema out that is none of objects.
func soundSchema(member json.RawMessage) json.RawMessage {
	if bytes.Equal(objectSchema(member), member) {
		return member
	}
	return nil
}

// properties makes schemas of true and false, which clients do not expect, ones that take anything.
func properties(member json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if only("{")(member) == nil || json.Unmarshal(member, &all) != nil {
		return nil
	}
	repairs := make(map[string]repair, len(all))
	for name := range all {
		repairs[name] = func(schema json.RawMessage) json.RawMessage {
			if only("{")(schema) == nil {
				return json.RawMessage(`{}`)
			}
			return schema
		}
	}
	return repaired(member, repairs)
}

// names keeps a list of texts.
func names(member json.RawMessage) json.RawMessage {
	var all []*string
	if only("[")(member) == nil || json.Unmarshal(member, &all) != nil || slices.Contains(all, nil) {
		return nil
	}
	return member
}

// forOlder returns a result for the versions before 2026-07-28, whose structured content is an object. Another value
// becomes a text if there is no content beside it.
func forOlder(result json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if !bytes.Contains(result, []byte(`"structuredContent"`)) || json.Unmarshal(result, &members) != nil {
		return result
	}
	structured := members["structuredContent"]
	if structured == nil || structured[0] == '{' {
		return result
	}
	delete(members, "structuredContent")
	if string(members["content"]) == "[]" && string(structured) != "null" {
		members["content"] = encoded([]any{map[string]string{"type": "text", "text": string(structured)}})
	}
	return encoded(members)
}
