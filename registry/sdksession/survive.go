package sdksession

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
)

// Whatever a server sends, a fault in handling it is that session's and not the
// process's. Everything that runs on a goroutine of its own, or on one of the SDK's,
// goes through one of these.

var errFault = registry.Because(registry.ErrProtocol, "a message could not be handled")

// survived turns a panic of work into an error.
func survived(work func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errFault
		}
	}()
	return work()
}

// survive does so for requests of the server that the SDK hands over.
func survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		fault := survived(func() error {
			result, err = next(ctx, method, req)
			return nil
		})
		if fault != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client could not handle the request"}
		}
		return result, err
	}
}

// surviving does so for requests to the server.
func surviving(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (res *http.Response, err error) {
		fault := survived(func() error {
			res, err = next.RoundTrip(req)
			return nil
		})
		if fault != nil {
			return nil, exchangeOf(req.Context()).fail(fault)
		}
		return res, err
	})
}
