package wire

// A Shape is a form that the values of some keywords of JSON Schema must have.
type Shape struct {
	Letter   string
	Keywords string // with spaces between
}

// Shapes are the forms of keywords: s a string, x a pattern, n a number, p a positive one,
// i a count, b a boolean, a an array, e and L arrays with elements (L: of schemas), t
// types, r an array of strings, D an object of such arrays, S a schema, M an object of
// schemas, X one whose names are patterns, v any value, - a keyword that is removed or
// becomes another one. Other keywords may hold any value but an object: validators look
// for schemas in it.
var Shapes = [...]Shape{
	{"s", "title description format contentEncoding contentMediaType $ref"},
	{"x", "pattern"},
	{"n", "minimum maximum exclusiveMinimum exclusiveMaximum"},
	{"p", "multipleOf"},
	{"i", "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"},
	{"b", "uniqueItems nullable deprecated readOnly writeOnly"},
	{"a", "examples"},
	{"e", "enum"},
	{"t", "type"},
	{"r", "required"},
	{"D", "dependentRequired"},
	{"S", "items additionalProperties contains propertyNames if then else not unevaluatedItems unevaluatedProperties additionalItems contentSchema"},
	{"M", "properties $defs definitions dependentSchemas"},
	{"X", "patternProperties"},
	{"L", "anyOf oneOf allOf prefixItems"},
	{"v", "const default"},
	{"-", "$schema $id id $anchor $comment $vocabulary $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef dependencies"},
}

// SameValue are the keywords whose schemas apply to the value of the schema around them.
var SameValue = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}

// Dialects are the values of $schema, without an empty fragment, whose keywords are
// validated alike.
var Dialects = []string{
	"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft/2020-12/schema",
	"https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema",
	"http://json-schema.org/draft-06/schema", "https://json-schema.org/draft-06/schema",
	"http://json-schema.org/schema", "https://json-schema.org/schema",
}

// TypeNames are the types of JSON Schema.
var TypeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// A GeminiType holds the keywords that constrain a type: those that Gemini has, and
// those that move into the description.
type GeminiType struct {
	Name            string
	Kept, Described []string
}

// GeminiTypes are in the order in which a missing type is inferred.
var GeminiTypes = [...]GeminiType{
	{"object", []string{"properties", "required", "minProperties", "maxProperties"},
		[]string{"additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties", "dependentRequired", "dependentSchemas", "dependencies"}},
	{"array", []string{"items", "minItems", "maxItems"},
		[]string{"prefixItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems", "additionalItems"}},
	{"string", []string{"minLength", "maxLength", "pattern"},
		[]string{"contentEncoding", "contentMediaType", "contentSchema"}},
	{"number", []string{"minimum", "maximum"},
		[]string{"exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
}

// A GeminiFormat holds the formats of a type that Gemini knows.
type GeminiFormat struct {
	Type    string
	Formats []string
}

// GeminiFormats are the formats by type. Other formats move into the description.
var GeminiFormats = [...]GeminiFormat{
	{"string", []string{"enum", "date-time"}},
	{"number", []string{"float", "double"}},
	{"integer", []string{"int32", "int64"}},
}

// GeminiSilent are keywords that the description never repeats.
var GeminiSilent = []string{"type", "nullable", "enum", "const", "title", "description", "default", "$defs", "definitions"}

// Bounds of one schema in a dialect. Gemini gets references inlined; the others get
// JSON Schema, and the largest real tool seen has 700 schemas.
const (
	MaxSchemas     = 10_000
	MaxSchemaDepth = 64
	MaxRefs        = 100
	MaxForms       = 20  // alternatives of a union whose words the description has
	MaxBase        = 200 // characters
	MaxPattern     = 4096
	MaxGeminiNodes = 1000
	MaxGeminiDepth = 32
	MaxGeminiEnum  = 500
)
