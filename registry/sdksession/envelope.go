package sdksession

import (
	"bytes"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// An envelope is a JSON-RPC message cut into its members; nil where it has none.
type envelope struct {
	id, method, result, fault []byte
}

// open cuts a message. It is an error if text is not one JSON object; how deep it
// nests is for those to judge who open its members.
func open(text []byte) (e envelope, err error) {
	err = rawjson.Members(text, func(key string, value []byte) error {
		switch key {
		case "id":
			e.id = value
		case "method":
			e.method = value
		case "result":
			e.result = value
		case "error":
			e.fault = value
		}
		return nil
	})
	return e, err
}

// answers reports whether the message is a response to the request id.
func (e *envelope) answers(id string) bool {
	return string(e.id) == id && e.method == nil && (e.result != nil || rawjson.Kind(e.fault) == 'o')
}

// rpcError returns the error of a response, or nil.
func (e *envelope) rpcError() *registry.RPCError {
	if rawjson.Kind(e.fault) != 'o' {
		return nil
	}
	rpc := new(registry.RPCError)
	code, _ := rawjson.Get(e.fault, "code")
	var ok bool
	if rpc.Code, ok = rawjson.Int(code); !ok {
		return nil
	}
	message, _ := rawjson.Get(e.fault, "message")
	rpc.Message, _ = rawjson.String(message)
	if data, ok := rawjson.Get(e.fault, "data"); ok {
		rpc.Data = bytes.Clone(data)
	}
	return rpc
}

// settle takes the response to x, or what the SDK is to see in its place. A result
// that the caller wants raw stays with the exchange: decoding it would cost time,
// and one that nests too deep would take the session with it. Where the SDK has to
// decode more than an empty object, depth bounds it.
func (x *exchange) settle(text []byte, e *envelope, depth int) []byte {
	switch {
	case e.result != nil && x.out != nil && x.out.raw:
		x.out.keep(x.id, e.result)
		return append(append([]byte(`{"jsonrpc":"2.0","id":`), x.id...), `,"result":{}}`...)
	case rawjson.Valid(text, depth) != nil:
		err := x.fail(registry.Because(registry.ErrProtocol, "the answer nests too deep"))
		return failure(x.id, err)
	default:
		return text
	}
}

// failure is a response that ends the request id with an error.
func failure(id string, err error) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":{"code":-32603,"message":`...)
	return append(rawjson.AppendString(b, err.Error()), "}}"...)
}
