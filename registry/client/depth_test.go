package client

import (
	"bytes"
	"encoding/json"
)

// depth counts how deep the JSON text nests, as far as it can be read.
func depth(text []byte) int {
	d := json.NewDecoder(bytes.NewReader(text))
	deep, most := 0, 0
	for {
		t, err := d.Token()
		if err != nil {
			return most
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			deep++
			most = max(most, deep)
		case json.Delim('}'), json.Delim(']'):
			deep--
		}
	}
}
