// Package handshake is what a browser extension and the bridge say to each other
// on a new WebSocket before the first MCP message: once to pair, and on every
// connection to prove that they are paired. It has both roles, uses only what
// WebCrypto has too (ECDH P-256, HKDF, HMAC and SHA-256), and knows no sockets.
//
// # Pairing
//
// The extension and the bridge agree on a key by ECDH. The bridge commits to its
// nonce before it sees the extension's, so that neither side, nor a process that
// sits between them, can choose the six digits that follow from both public keys
// and both nonces: it has one guess in a million for each attempt. A person sees
// the digits in the terminal, types them into the extension, and says in the
// terminal that the extension accepted them; each side keeps the key only after
// its own confirmation. (One confirmation is not enough: the peer that talks to the
// other side knows that side's digits.)
//
//	extension → bridge  {"type":"pair","version":1,"installId":…,"label":…,"address":…,"publicKey":…}
//	bridge → extension  {"type":"pair-commit","publicKey":…,"commitment":…}
//	extension → bridge  {"type":"pair-nonce","nonce":…}
//	bridge → extension  {"type":"pair-reveal","nonce":…}
//	extension → bridge  {"type":"pair-confirm","mac":…}      the person typed the right digits
//	bridge → extension  {"type":"pair-done","mac":…}         the person confirmed in the terminal
//
// # Connecting
//
//	extension → bridge  {"type":"hello","version":1,"role":"extension","installId":…,"address":…,"nonce":…}
//	bridge → extension  {"type":"challenge","nonce":…,"mac":…}
//	extension → bridge  {"type":"proof","mac":…}
//	bridge → extension  {"type":"ready"}
//
// The bridge proves itself first: a process that squats the port hears a random
// install id and a nonce, and nothing else. Either side may answer
// {"type":"refused","code":…,"message":…} instead and close.
//
// # Encoding
//
// Messages are JSON objects in text frames of at most [MaxMessage] bytes. Bytes
// are base64url without padding: nonces, commitments and MACs of 32, public keys
// of 65 (uncompressed points). What is hashed is a label and fields, each as its
// length (32 bits, big endian) and its bytes:
//
//	commitment  SHA-256("portolan-pair-1 commitment", bridge key, extension key, bridge nonce)
//	digits      SHA-256("portolan-pair-1 code", T), the first 64 bits modulo 1,000,000
//	key         HKDF-SHA-256(secret: ECDH, salt: extension nonce ‖ bridge nonce, info: "portolan-pair-1 key", T), 32 bytes
//	pair MACs   HMAC-SHA-256(key, "portolan-pair-1 confirm extension" or "… confirm bridge", T)
//	T           extension key, bridge key, extension nonce, bridge nonce, origin, address, install id
//
//	proof MACs  HMAC-SHA-256(key, "portolan-connect-1 bridge" or "… client", role, origin, address, install id, client nonce, bridge nonce)
//
// The origin is the extension's ("chrome-extension://…", nothing for a local
// process); the address is the host and port that was dialled ("127.0.0.1:55156").
// It is hashed so that a squatter cannot pass the whole exchange on to a bridge
// on another port.
package handshake
