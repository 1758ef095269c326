package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"time"
)

// DefaultAddress is the default of Options.Address.
const DefaultAddress = "127.0.0.1:55157"

// Options configure a [Gateway]. The zero value is what portolan gateway runs.
type Options struct {
	Address string // loopback host and port; DefaultAddress if empty
	Dir     string // where the tokens of origins are kept; portolan in os.UserConfigDir if empty

	// Pair shows six digits to the person. It returns nil once the person says that the
	// page at origin accepted them. confirmed is closed when the page has confirmed.
	// Nobody can be paired if it is nil.
	Pair func(ctx context.Context, origin, digits string, confirmed <-chan struct{}) error
	// Paired is called after Pair returned nil: the pairing was kept, or err says why not. It may be nil.
	Paired func(origin string, err error)

	Shared bool          // one process for all clients of each server
	Idle   time.Duration // how long an unused process is kept; 10 min if 0
	Start  time.Duration // how long a program may take until its first message; 60 s if 0
	Grace  time.Duration // how long a program may take to end, for each of two steps; 2 s if 0
	Delay  time.Duration // before a program that ended by itself is started again, doubling; 500 ms if 0

	Limits Limits

	Logger *slog.Logger // nothing is logged if nil; no secret ever is
	// Stderr receives what the programs write to stderr, a line at a time with the
	// server's name. nil: it is only kept.
	Stderr func(server, line string)
}

// Limits bound what clients and programs can make the gateway hold. Zero means the
// default.
type Limits struct {
	Processes int // at once; 64
	Sessions  int // of one server; 64
	Calls     int // under way in one process; 256
	Message   int // bytes in a message, in either direction; 16 MiB
	Queue     int // messages that wait for one reader; 1000
	Log       int // bytes of a server's stderr that are kept; 64 KiB
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	out.Address = cmp.Or(out.Address, DefaultAddress)
	out.Idle = cmp.Or(out.Idle, 10*time.Minute)
	out.Start = cmp.Or(out.Start, time.Minute)
	out.Grace = cmp.Or(out.Grace, 2*time.Second)
	out.Delay = cmp.Or(out.Delay, 500*time.Millisecond)
	out.Logger = cmp.Or(out.Logger, slog.New(slog.DiscardHandler))
	l := &out.Limits
	l.Processes, l.Sessions, l.Calls = cmp.Or(l.Processes, 64), cmp.Or(l.Sessions, 64), cmp.Or(l.Calls, 256)
	l.Message, l.Queue, l.Log = cmp.Or(l.Message, 16<<20), cmp.Or(l.Queue, 1000), cmp.Or(l.Log, 64<<10)
	return out
}
