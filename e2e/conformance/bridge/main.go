// Command bridge runs a local bridge whose paired extension is a stdio program: go-sdk's
// server for the official conformance suite. For "-" it is a server of this package, with long
// tools. The command prints the bridge's URL and token. With no-samples the program hears that
// no client can be asked for samples, as the bridge says of each client of 2026-07-28.
//
//	bridge PROGRAM|- ADDRESS ORIGIN [no-samples]
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/rawmsg"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 4 || len(os.Args) > 5 {
		fmt.Fprintln(os.Stderr, "usage: bridge PROGRAM|- ADDRESS ORIGIN [no-samples]")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3], len(os.Args) == 4); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "bridge:", err)
		os.Exit(1)
	}
}

const origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"

func run(ctx context.Context, program, address, page string, samples bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The suite's pages send a local origin.
	b, err := bridge.New(&bridge.Options{Address: address, Discovery: "-", Ephemeral: true, Origins: []string{page}})
	if err != nil {
		return err
	}
	if err := b.Listen(); err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
	token, err := b.Token()
	if err != nil {
		return err
	}
	ws, _, err := websocket.Dial(ctx, "ws://"+b.Addr()+"/extension", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		return err
	}
	c := socket.New(ws, nil, socket.Limits{})
	key := sha256.Sum256([]byte("portolan-ephemeral-1\x00" + token))
	err = handshake.Connect(ctx, c, handshake.Client{
		Role: handshake.RoleExtension, InstallID: "conformance", Origin: origin, Address: b.Addr(), Key: key[:],
	})
	if err != nil {
		return err
	}
	var transport mcp.Transport = &mcp.CommandTransport{Command: exec.CommandContext(ctx, program)}
	if program == "-" {
		var own mcp.Transport
		own, transport = mcp.NewInMemoryTransports()
		if _, err := taskServer().Connect(ctx, own, nil); err != nil {
			return err
		}
	}
	server, err := transport.Connect(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp %s\n", b.Addr(), token)
	e := &extension{samples: samples}
	go e.pump(ctx, c, server, e.called)
	e.pump(ctx, server, c, e.marked)
	cancel()
	return <-served
}

// An extension marks messages of the program with the call that they belong to, as the
// real one does. The suite makes one call at a time.
type extension struct {
	samples bool

	mu   sync.Mutex
	call json.RawMessage
}

// pump passes messages on until one side ends.
func (e *extension) pump(ctx context.Context, from, to mcp.Connection, change func(*jsonrpc.Request)) {
	for {
		m, err := from.Read(ctx)
		if err != nil {
			return
		}
		if req, ok := m.(*jsonrpc.Request); ok {
			change(req)
		}
		if to.Write(ctx, m) != nil {
			return
		}
	}
}

func (e *extension) called(req *jsonrpc.Request) {
	if req.Method == "initialize" && !e.samples {
		var params, can map[string]json.RawMessage
		if json.Unmarshal(req.Params, &params) == nil && json.Unmarshal(params["capabilities"], &can) == nil {
			delete(can, "sampling")
			params["capabilities"], _ = json.Marshal(can)
			req.Params, _ = json.Marshal(params)
		}
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(req.Params, &p) == nil && p.Meta[rawmsg.MetaCall] != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.call = p.Meta[rawmsg.MetaCall]
	}
}

func (e *extension) marked(req *jsonrpc.Request) {
	switch req.Method {
	case "elicitation/create", "sampling/createMessage", "notifications/message":
	default:
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var params map[string]json.RawMessage
	if json.Unmarshal(req.Params, &params) == nil && params["_meta"] == nil {
		params["_meta"] = json.RawMessage(`{"` + rawmsg.MetaCall + `":` + string(e.call) + `}`)
		req.Params, _ = json.Marshal(params)
	}
}
