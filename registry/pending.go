package registry

// Placeholders so that the package compiles while namespace.go, validate.go and
// result.go are being written: whoever adds the real one deletes it here, and
// the last one deletes this file.

func Arguments(raw []byte) error         { return nil }
func Validate(schema, args []byte) error { return nil }
