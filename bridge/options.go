package bridge

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// ErrPortTaken is the error of Listen if another process has the port.
var ErrPortTaken = loopback.ErrPortTaken

// DefaultAddress is the default of Options.Address.
const DefaultAddress = "127.0.0.1:55156"

// DiscoveryAddress is a second address for /mcp-discovery, used if the port is free. Another one must be free.
const DiscoveryAddress = "127.0.0.1:8766"

// Options configure a [Bridge]. The zero value is the bridge that portolan bridge
// runs.
type Options struct {
	Address   string // loopback host and port; DefaultAddress if empty
	Discovery string // second address of the discovery answer; DiscoveryAddress if empty, none if "-"
	Dir       string // where pairings are kept; portolan in os.UserConfigDir if empty
	Ephemeral bool   // no pairings are kept; one token admits clients and extensions for this run
	DebugDir  string // where bundles about failed and suspicious chats are written, the last 20; nowhere if empty
	Profile   string // default browser profile of clients that name none: label or install id
	Project   string // of the client of ServeClient, if it reports no roots

	// Origins are the origins of pages that may use /mcp. Pages that the extension
	// approves may use it too. Both need the token.
	Origins []string

	Limits      socket.Limits // on the extension's messages
	Connections int           // sockets at once, without local processes that have proved the key; 10 if 0
	Calls       int           // calls under way in one browser profile, three quarters of one client, others wait; 64 if 0

	// Settle is how long after the start, and after a browser has come or left, requests wait
	// for a paired browser to connect; 10 s if 0, none if negative.
	Settle time.Duration

	Logger *slog.Logger // nothing is logged if nil; no secret ever is
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	out.Address = cmp.Or(out.Address, DefaultAddress)
	out.Discovery = cmp.Or(out.Discovery, DiscoveryAddress)
	out.Connections = cmp.Or(out.Connections, 10)
	out.Calls = cmp.Or(out.Calls, 64)
	out.Settle = cmp.Or(out.Settle, startupWait)
	out.Logger = cmp.Or(out.Logger, slog.New(slog.DiscardHandler))
	return out
}
