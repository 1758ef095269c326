// Package handshake has the messages of a browser extension and the bridge before the
// first MCP message. One exchange pairs them. The other proves on every connection that
// they are paired. The package has both roles, and knows no sockets. It only uses
// algorithms of WebCrypto: ECDH P-256, HKDF, HMAC and SHA-256.
//
// # Pairing
//
// The extension and the bridge agree on a key by ECDH. Six digits follow from both
// public keys and both nonces. The bridge commits to its nonce before it sees the
// extension's. So neither side, nor a process between them, can choose the digits: it
// has one guess in a million for each attempt.
//
// The person reads the digits in the terminal and types them into the extension. Then
// the person confirms in the terminal that the extension accepted them. Each side keeps
// the key only after its own confirmation. One confirmation is not enough, because a
// process between the sides knows the digits of the side that it talks to.
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
// The bridge proves itself first. A process that squats the port only receives a random
// install id and a nonce. Either side may answer
// {"type":"refused","code":…,"message":…} instead and close.
//
// # Encoding
//
// Messages are JSON objects in text frames of at most [MaxMessage] bytes. Bytes
// are base64url without padding: nonces, commitments and MACs of 32, public keys
// of 65 (uncompressed points). The functions get a label and fields, each as its length
// (32 bits, big endian) and its bytes:
//
//	commitment  SHA-256("portolan-pair-1 commitment", bridge key, extension key, bridge nonce)
//	digits      SHA-256("portolan-pair-1 code", T), the first 64 bits modulo 1,000,000
//	key         HKDF-SHA-256(secret: ECDH, salt: extension nonce ‖ bridge nonce,
//	              info: "portolan-pair-1 key", T), 32 bytes
//	pair MACs   HMAC-SHA-256(key, "portolan-pair-1 confirm extension" or "… confirm bridge", T)
//	T           extension key, bridge key, extension nonce, bridge nonce, origin, address, install id
//
//	proof MACs  HMAC-SHA-256(key, "portolan-connect-1 bridge" or "… client",
//	              role, origin, address, install id, client nonce, bridge nonce)
//
// The origin is the extension's ("chrome-extension://…"), and empty for a local process.
// The address is the dialled host and port ("127.0.0.1:55156"). Because of the address, a
// process that squats one port cannot pass the exchange on to a bridge on another port.
package handshake
