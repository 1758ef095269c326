package bridge

import (
	"io"
	"log/slog"
	"time"

	"github.com/portolan-mcp/portolan/bridge/socket"
)

// DefaultAddress is where the bridge listens.
const DefaultAddress = "127.0.0.1:55156"

// DiscoveryAddress is where it answers /mcp-discovery besides, if that is free.
const DiscoveryAddress = "127.0.0.1:8766"

// Options configure a [Bridge]. The zero value is the bridge that portolan bridge
// runs.
type Options struct {
	Address   string // loopback host and port; DefaultAddress if empty
	Discovery string // second address of the discovery answer; DiscoveryAddress if empty, none if "-"
	Dir       string // where pairings are kept; portolan in os.UserConfigDir if empty
	Ephemeral bool   // keep nothing: one token for the run is all that counts
	Profile   string // the browser profile that clients mean who name none: label or install id

	// Origins are pages that may use /mcp, beside those that the extension
	// approves; they need the token all the same.
	Origins []string

	Limits      socket.Limits // on the extension's messages
	Connections int           // sockets of extensions and local processes at once; 10 if 0
	Calls       int           // calls under way in one browser profile; 64 if 0

	// Settle is how long after its start the bridge lets requests wait for paired
	// browsers to find it; 10 s if 0, not at all if negative.
	Settle time.Duration

	Logger *slog.Logger // nothing is logged if nil; no secret ever is
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Address == "" {
		out.Address = DefaultAddress
	}
	if out.Discovery == "" {
		out.Discovery = DiscoveryAddress
	}
	if out.Connections == 0 {
		out.Connections = 10
	}
	if out.Calls == 0 {
		out.Calls = 64
	}
	if out.Settle == 0 {
		out.Settle = startupWait
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return out
}
