package client

import (
	"testing"

	"github.com/portolan-mcp/portolan/registry/wire"
)

// TestNumbersFollowTheTable holds the numbers of events to those that TypeScript has.
func TestNumbersFollowTheTable(t *testing.T) {
	for want, names := range []struct {
		kind Kind
		name string
	}{
		{Head, "Head"}, {Refused, "Refused"}, {End, "End"}, {Tools, "Tools"}, {Output, "Output"}, {Progress, "Progress"},
		{Changed, "Changed"}, {Message, "Message"}, {Endpoint, "Endpoint"}, {Dropped, "Dropped"},
	} {
		if int(names.kind) != want || wire.EventKinds[want] != names.name {
			t.Errorf("%s is %d, and %s in the table", names.name, names.kind, wire.EventKinds[want])
		}
	}
	for want, names := range []struct {
		reason Reason
		name   string
	}{{EOF, "EOF"}, {Network, "Network"}, {TooLarge, "TooLarge"}, {NotMCP, "NotMCP"}} {
		if int(names.reason) != want || wire.EndReasons[want] != names.name {
			t.Errorf("%s is %d, and %s in the table", names.name, names.reason, wire.EndReasons[want])
		}
	}
	if OpOther != 0 || OpList != 1 || OpCall != 2 || opStep != wire.RequestKindMask+1 {
		t.Error("kinds of requests differ from the table")
	}
}
