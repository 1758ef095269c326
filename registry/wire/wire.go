// Package wire holds the tables that Go and TypeScript share.
//
// Go uses the tables directly. `go generate ./registry/wire` writes them to
// wasm/js/shared/wire.gen.ts for TypeScript, and a test fails when that file is
// stale. A rule that both languages need is a row here, not code in each of them.
//
// The package has no code and imports nothing, so that the page's module links only
// the tables that it uses.
package wire

//go:generate go run ./generate
