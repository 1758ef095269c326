package api

// What the tests compare with TypeScript.
var (
	EncodeServer   = encodeServer
	EncodeProgress = encodeProgress
	EncodeConfig   = encodeConfig
	ApplyConfig    = applyConfig
)
