package sdksession

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// An envelope is a JSON-RPC message cut into its members; nil where it has none.
type envelope struct {
	id, method, params, result, fault []byte
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
		case "params":
			e.params = value
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

// maxDataDepth bounds the nesting of an error's data, which the SDK decodes.
const maxDataDepth = 64

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
	if data, ok := rawjson.Get(e.fault, "data"); ok && rawjson.Valid(data, maxDataDepth) == nil {
		rpc.Data = bytes.Clone(data)
	}
	return rpc
}

// settle takes the response to x and returns it in the form that the SDK accepts:
// over anything else it would end the session. A result that the caller wants raw
// stays with the exchange; the SDK sees an empty object. Depth bounds what it has
// to decode.
func (x *exchange) settle(e *envelope, depth int) []byte {
	switch {
	case e.result == nil:
		rpc := e.rpcError()
		if rpc == nil { // it has no code, but perhaps a message
			message, _ := rawjson.Get(e.fault, "message")
			text, _ := rawjson.String(message)
			rpc = &registry.RPCError{Message: text}
		}
		return failure(x.id, rpc)
	case x.out != nil && x.out.raw:
		x.out.keep(x.id, e.result)
		return response(x.id, []byte("{}"))
	case rawjson.Valid(e.result, depth) != nil:
		return failure(x.id, x.fail(registry.Because(registry.ErrProtocol, "the answer nests too deep")))
	default:
		return response(x.id, e.result)
	}
}

// request returns a message that has a method in the form that the SDK accepts;
// nil if it cannot be one. Depth bounds its params.
func (e *envelope) request(depth int) []byte {
	method, ok := rawjson.String(e.method)
	if !ok {
		return nil
	}
	b := []byte(`{"jsonrpc":"2.0"`)
	if e.id != nil {
		if _, isInt := rawjson.Int(e.id); !isInt && rawjson.Kind(e.id) != 's' {
			return nil
		}
		b = append(append(b, `,"id":`...), e.id...)
	}
	b = rawjson.AppendString(append(b, `,"method":`...), method)
	if kind := rawjson.Kind(e.params); kind == 'o' || kind == 'a' {
		if rawjson.Valid(e.params, depth) != nil {
			return nil
		}
		b = append(append(b, `,"params":`...), e.params...)
	}
	return append(b, '}')
}

func response(id string, result []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(b, `,"result":`...), result...)
	return append(b, '}')
}

// failure is a response that ends the request id with an error.
func failure(id string, err error) []byte {
	code, message, data := int64(-32603), err.Error(), []byte(nil)
	var rpc *registry.RPCError
	if errors.As(err, &rpc) {
		code, message, data = rpc.Code, rpc.Message, rpc.Data
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), code, 10)
	b = rawjson.AppendString(append(b, `,"message":`...), message)
	if data != nil {
		b = append(append(b, `,"data":`...), data...)
	}
	return append(b, "}}"...)
}
