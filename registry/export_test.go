package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/convert"
)

// gone is a definition that the platform has let go of.
type gone struct{}

func (gone) Len() int              { return 2 }
func (gone) JSON() ([]byte, error) { return nil, errors.New("released") }

func TestExport(t *testing.T) {
	b := &harbour{}
	b.list = func(context.Context, *string) (*registry.ToolPage, error) {
		return &registry.ToolPage{Tools: []registry.ToolDef{
			{Name: "when", Def: registry.Raw(`{"name":"when","inputSchema":{"type":"object","properties":{"at":{"type":"string","format":"time"}}}}`)},
			{Name: "gone", Def: gone{}},
		}}, nil
	}
	r := chart(t, registry.Options{}, map[string]*harbour{"a": {}, "b": b})
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, report := r.Export(convert.Gemini, registry.Filter{})
	const want = `[{"name":"a__echo","description":"[a] echo"},` +
		`{"name":"b__when","description":"[b] when","parameters":{"type":"object","properties":{"at":{"type":"string","description":"format: \"time\""}}}}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	losses := []convert.Loss{
		{Tool: "b__when", Path: "/properties/at", What: "format: moved into the description"},
		{Tool: "b__gone", What: "tool: left out, its list was replaced"},
	}
	if diff := cmp.Diff(losses, report.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}

	got, report = r.Export(convert.Anthropic, registry.Filter{Servers: []string{"none"}})
	if string(got) != "[]" || report.Losses != nil {
		t.Errorf("got %s, %v", got, report)
	}
	if got, report = r.Export("cohere", registry.Filter{}); got != nil || len(report.Losses) != 1 {
		t.Errorf("an unknown dialect exports %s, %v", got, report)
	}
}

func TestTextOfWhatIsNoResult(t *testing.T) {
	h := &harbour{call: func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
		return &registry.ToolOutput{Result: registry.Raw(`[]`)}, nil
	}}
	r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := r.Dispatch(t.Context(), registry.Call{Name: "a__echo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := result.Text(0); !errors.Is(err, registry.ErrProtocol) {
		t.Errorf("got %v, want a protocol error", err)
	}
}
