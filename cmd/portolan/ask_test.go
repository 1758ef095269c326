package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestFormInTheTerminal(t *testing.T) {
	const question = `{"message":"Who \u001b[31mcomes?","requestedSchema":{"type":"object","required":["name","berth"],"properties":{
		"name":{"type":"string","title":"Your name"},
		"berth":{"type":"integer","default":3},
		"flag":{"type":"string","oneOf":[{"const":"no","title":"Norway"},{"const":"pt","title":"Portugal"}]},
		"cargo":{"type":"boolean"},
		"crew":{"type":"array","items":{"enum":["a","b"]}},
		"depth":{"type":"number","maximum":9},
		"holds":{"type":"array","maxItems":1,"items":{"anyOf":[{"const":"h1","title":"Fore"},{"const":"h2","title":"Aft"}]}}}}}`
	for _, row := range []struct {
		typed []string
		want  string
	}{
		{[]string{"", "Ada", "", "de", "pt", "yes", "a, c", "a, b", "10", "NaN", "2.5", "h1, h2", "h3", "h2", "y"},
			`{"action":"accept","content":{"cargo":true,"crew":["a","b"],"depth":2.5,"flag":"pt","holds":["h2"],"name":"Ada"}}`},
		{[]string{"Ada", "three", "4", "", "", "", "", "", "y"}, `{"action":"accept","content":{"berth":4,"name":"Ada"}}`},
		{[]string{"Ada", "", "", "", "", "", "", "n"}, `{"action":"decline"}`},
		{[]string{"Ada", "", "", "", "", "", "", "?", "c"}, `{"action":"cancel"}`},
	} {
		var out bytes.Buffer
		got, err := personTyping(strings.NewReader(strings.Join(row.typed, "\n")+"\n"), &out).form(t.Context(), "harbour", []byte(question))
		if err != nil || string(got) != row.want {
			t.Errorf("typed %q: %s, %v, want %s", row.typed, got, err, row.want)
		}
		if said := out.String(); strings.Contains(said, "\x1b") || !strings.Contains(said, "The server harbour asks: Who") {
			t.Errorf("the terminal says %q", said)
		} else if !strings.Contains(said, "crew, with commas between several [a b]: ") || !strings.Contains(said, "h1: Fore\n  h2: Aft: ") {
			t.Errorf("the terminal does not name the choices: %q", said)
		}
	}
}

func TestAddressInTheTerminal(t *testing.T) {
	var out bytes.Buffer
	got, err := personTyping(strings.NewReader("y\n"), &out).address(t.Context(), "harbour", []byte(`{"mode":"url","message":"Pay","url":"https://pay.example/7","awaitsEnd":true}`))
	if err != nil || string(got) != `{"action":"accept"}` {
		t.Errorf("%s, %v", got, err)
	}
	if said := out.String(); !strings.Contains(said, "at pay.example: Pay") || !strings.Contains(said, "Are you done there?") {
		t.Errorf("the terminal says %q", said)
	}
}

func TestMessageInTheTerminal(t *testing.T) {
	const request = `{"mode":"sampling","systemPrompt":"Be \u001b[31mbrief.","messages":[{"role":"user","content":{"type":"text","text":"Where?"}},{"role":"user","content":{"type":"image","data":"AAAA"}}]}`
	var out bytes.Buffer
	got, err := personTyping(strings.NewReader("Over there.\n"), &out).message(t.Context(), "harbour", []byte(request))
	if err != nil || string(got) != `{"content":{"type":"text","text":"Over there."},"model":"a person","role":"assistant"}` {
		t.Errorf("%s, %v", got, err)
	}
	if said := out.String(); strings.Contains(said, "\x1b") || !strings.Contains(said, "user: Where?") || !strings.Contains(said, "AAAA") {
		t.Errorf("the terminal says %q", said)
	}
	if _, err := personTyping(strings.NewReader("\n"), io.Discard).message(t.Context(), "harbour", []byte(request)); err == nil {
		t.Error("an empty line is an answer")
	}
}

func TestNobodyAtTheTerminal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, typed := io.Pipe()
	defer typed.Close()
	cancel()
	if _, err := personTyping(in, io.Discard).address(ctx, "harbour", []byte(`{"url":"https://pay.example/"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if _, err := personTyping(strings.NewReader(""), io.Discard).address(t.Context(), "harbour", []byte(`{"url":"https://pay.example/"}`)); !errors.Is(err, errNoLine) {
		t.Errorf("error %v, want errNoLine", err)
	}
}

// The input of a program that a timer or another program starts is often the null device, or closed.
func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if personAt(null, io.Discard) != nil {
		t.Error("a person is at the null device")
	}
}
