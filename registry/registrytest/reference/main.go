// Command reference answers the differential tests of TypeScript with the results of
// the Go packages. It reads JSON values, one a line, and writes one JSON value for
// each:
//
//	go run ./registry/registrytest/reference clean    a text → [text, at] of text.Clean
//	go run ./registry/registrytest/reference convert  a definition → the tools of all dialects
//	go run ./registry/registrytest/reference validate {schema, args} → the error of validate.Schema, or ""
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/portolan-mcp/portolan/registry/convert"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/validate"
)

func main() {
	answers := map[string]func(json.RawMessage) (any, error){"clean": clean, "convert": convertTool, "validate": validateArguments}
	if len(os.Args) != 2 || answers[os.Args[1]] == nil {
		log.Fatal("usage: reference clean|convert|validate")
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		var value json.RawMessage
		if err := in.Decode(&value); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		answer, err := answers[os.Args[1]](value)
		if err == nil {
			err = out.Encode(answer)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

func clean(value json.RawMessage) (any, error) {
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return nil, err
	}
	cleaned, at := text.Clean(s)
	return []any{cleaned, at}, nil
}

func convertTool(definition json.RawMessage) (any, error) {
	var tools []json.RawMessage
	for _, d := range convert.Dialects() {
		tool, _, err := convert.Tool(d, "name", "server", definition)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

func validateArguments(value json.RawMessage) (any, error) {
	var c struct{ Schema, Args json.RawMessage }
	if err := json.Unmarshal(value, &c); err != nil {
		return nil, err
	}
	if err := validate.Schema(c.Schema, c.Args); err != nil {
		return err.Error(), nil
	}
	return "", nil
}
