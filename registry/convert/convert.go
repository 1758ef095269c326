// Package convert writes tools in the forms that model vendors' APIs take.
//
// [Tool] converts one tool. Whatever its definition holds, the result is a tool
// that the vendor's API accepts: these APIs refuse a whole request for one schema.
//
// # What is kept
//
// A schema keeps its order and its meaning, except for the losses that [Tool]
// reports. A keyword that the dialect lacks moves into the nearest description, and so
// does an ill-formed one: a pattern that is no regular expression of ECMAScript, a
// reference that leads only to itself. $schema, $id, $anchor and $comment are removed
// without a report, because they tell a model nothing.
//
// Keywords of older drafts become those of 2020-12 where there is one: boolean
// exclusiveMinimum, a list as items, dependencies, $recursiveRef. A $dynamicRef becomes
// a $ref.
//
// OpenAI and Anthropic get JSON Schema 2020-12 whose root is a plain object. Gemini
// gets [Schema] with references inlined. The refusals of each API were learnt from its
// answers; the comments of the functions name it.
//
// The page converts by wasm/js/page/models/convert.ts with the same results. The goldens
// of testdata/convert and a differential test hold the two together.
//
// [Schema]: https://ai.google.dev/api/caching#Schema
package convert

import (
	"errors"
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A Dialect is the form in which one model vendor's API takes tools.
type Dialect string

const (
	OpenAI          Dialect = "openai"           // Chat Completions: {type, function: {name, description, parameters}}
	OpenAIResponses Dialect = "openai-responses" // Responses: {type, name, description, parameters, strict: false}
	Anthropic       Dialect = "anthropic"        // Messages: {name, description, input_schema}
	Gemini          Dialect = "gemini"           // a FunctionDeclaration with the OpenAPI subset as parameters
)

// Dialects lists every dialect.
func Dialects() []Dialect { return []Dialect{OpenAI, OpenAIResponses, Anthropic, Gemini} }

// Check returns an error for a dialect that is not one of [Dialects].
func (d Dialect) Check() error {
	if !slices.Contains(Dialects(), d) {
		return errors.New(`unknown dialect "` + string(d) + `"; want openai, openai-responses, anthropic or gemini`)
	}
	return nil
}

// A Loss is one thing in a tool's schema that its dialect cannot express. The
// nearest description tells it, as far as words can.
type Loss struct {
	Tool string // the model's name for the tool
	Path string // JSON pointer into the inputSchema, see [rawjson.Pointer]; "" is its root
	What string // the keyword and its replacement
}

// A Report lists the losses of an export.
type Report struct {
	Losses []Loss
}

// Tool writes one tool in a dialect. The name is the model's; def is the Tool
// object of the MCP spec. The description is the server's behind "[server] ", or else the
// title or the name. The error is for an unknown dialect only.
func Tool(d Dialect, name, server string, def []byte) (tool []byte, losses []Loss, err error) {
	if err := d.Check(); err != nil {
		return nil, nil, err
	}
	c := &converter{tool: name}
	node, err := rawjson.Parse(def, 0, 0)
	if err != nil {
		c.lose("", "definition: not valid JSON")
	}
	if c.root = node.Get("inputSchema"); c.root != nil {
		nullBeyond(c.root)
		c.inOneDocument()
	}
	description := rawjson.NewString("[" + server + "] " + describe(node, name))

	out := rawjson.NewObject()
	switch d {
	case OpenAI:
		f := rawjson.NewObject()
		f.Set("name", rawjson.NewString(name))
		f.Set("description", description)
		f.Set("parameters", c.jsonSchema(nil))
		out.Set("type", rawjson.NewString("function"))
		out.Set("function", f)
	case OpenAIResponses:
		out.Set("type", rawjson.NewString("function"))
		out.Set("name", rawjson.NewString(name))
		out.Set("description", description)
		out.Set("parameters", c.jsonSchema(nil))
		out.Set("strict", rawjson.NewScalar("false"))
	case Anthropic:
		out.Set("name", rawjson.NewString(name))
		out.Set("description", description)
		out.Set("input_schema", c.jsonSchema(isAnthropicKey))
	case Gemini:
		out.Set("name", rawjson.NewString(name))
		out.Set("description", description)
		parameters := c.geminiParameters()
		if parameters.Get("properties") != nil {
			out.Set("parameters", parameters)
		} else if more, ok := parameters.Get("description").Text(); ok {
			// Gemini refuses an object without properties: such a tool has no parameters.
			own, _ := description.Text()
			out.Set("description", rawjson.NewString(own+" "+more))
		}
	}
	return out.Append(nil), c.losses, nil
}

// describe returns the best words that the definition has for its tool.
func describe(def *rawjson.Node, name string) string {
	for _, n := range []*rawjson.Node{
		def.Get("description"), def.Get("title"), def.Get("annotations").Get("title"), def.Get("name"),
	} {
		if s, ok := n.Text(); ok && s != "" {
			return s
		}
	}
	return name
}

// isAnthropicKey reports whether Anthropic takes key as the name of a property of the root.
func isAnthropicKey(key string) bool {
	const taken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return 0 < len(key) && len(key) <= 64 && strings.Trim(key, taken) == ""
}
