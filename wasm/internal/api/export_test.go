package api

import "github.com/portolan-mcp/portolan/registry"

// Functions that the tests compare with TypeScript.
var (
	EncodeServer   = encodeServer
	EncodeProgress = encodeProgress
	EncodeConfig   = func(cfg registry.ServerConfig) []byte { return encodeConfig(cfg, true) }
	ApplyConfig    = applyConfig
)
