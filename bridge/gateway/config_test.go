package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadConfig(t *testing.T) {
	t.Setenv("GATEWAY_TEST_NAME", "value")
	dir := t.TempDir()
	for _, row := range []struct {
		name, text string
		want       []Server
		notes      []string
	}{
		{
			"Claude, with comments", `{ // servers
			"mcpServers": { "files": {"command":"npx","args":["-y","a//b","/* no comment */"],"env":{"KEY":"${GATEWAY_TEST_NAME}"},}, /* more */
			"remote": {"url":"https://x.example/mcp"} } }`,
			[]Server{{Name: "files", Command: "npx", Args: []string{"-y", "a//b", "/* no comment */"}, Env: map[string]string{"KEY": "value"}}},
			[]string{"remote: left out, because pages reach a URL without the gateway"},
		},
		{
			"VS Code", `{"servers":{"a b":{"type":"stdio","command":"x","cwd":"sub","shared":true},"a-b":{"command":"${env:GATEWAY_TEST_NAME}"}},"inputs":[]}`,
			[]Server{
				{Name: "a-b-2", Command: "x", Env: map[string]string{}, Dir: filepath.Join(dir, "sub"), Shared: true},
				{Name: "a-b", Command: "value", Env: map[string]string{}},
			},
			[]string{"a b: its path is /s/a-b-2/mcp"}, // a name that can stay does,
		},
		{
			"VS Code's settings, opencode", `{"mcp":{"servers":{"a":{"command":["x","y"],"args":["z"]}}}}`,
			[]Server{{Name: "a", Command: "x", Args: []string{"y", "z"}, Env: map[string]string{}}}, nil,
		},
		{
			"a server named servers", `{"mcpServers":{"a":{"command":"x"},"servers":{"command":"y"}}}`,
			[]Server{
				{Name: "a", Command: "x", Env: map[string]string{}}, {Name: "servers", Command: "y", Env: map[string]string{}},
			}, nil,
		},
		{
			"mcp-remote, which fills in variables of its own", `{"mcpServers":{"a":{"command":"npx","args":["mcp-remote","https://a.example/sse",
			"--header","Authorization:${AUTH_HEADER}","${GATEWAY_TEST_NAME}"],"env":{"AUTH_HEADER":"Bearer x","PATH":"${GATEWAY_TEST_NAME}"}}}}`,
			[]Server{{
				Name: "a", Command: "npx", Args: []string{"mcp-remote", "https://a.example/sse", "--header", "Authorization:${AUTH_HEADER}", "value"},
				Env: map[string]string{"AUTH_HEADER": "Bearer x", "PATH": "value"},
			}}, nil,
		},
		{
			"an older one of Zed", `{"context_servers":{"a":{"command":{"path":"node","args":["s.js"],"env":{"KEY":"${GATEWAY_TEST_NAME}"}},"settings":{}}}}`,
			[]Server{{Name: "a", Command: "node", Args: []string{"s.js"}, Env: map[string]string{"KEY": "value"}}}, nil,
		},
		{
			"servers by name only, as a plugin of Claude Code has them", `{"a":{"command":"x"},"b":{"url":"https://x.example/mcp"}}`,
			[]Server{{Name: "a", Command: "x", Env: map[string]string{}}},
			[]string{"b: left out, because pages reach a URL without the gateway"},
		},
		{
			"one server only", `{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem"],"env":{"KEY":"k"}}`,
			[]Server{{Name: "filesystem", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem"}, Env: map[string]string{"KEY": "k"}}}, nil,
		},
		{
			"Claude Code's own file, with servers of projects", `{"numStartups":5,"mcpServers":{"files":{"command":"x"}},"projects":{
			"/home/ada/b":{"allowedTools":[],"mcpServers":{"files":{"command":"x"},"git":{"command":"y","cwd":"/srv"},"r":{"url":"https://x.example/mcp"}}},
			"/home/ada/a":{"mcpServers":{}},"/home/ada/c":{"mcpServers":{"z":{"command":"z"}},"disabledMcpServers":["z"]},"/home/ada/d":5}}`,
			[]Server{
				{Name: "files", Command: "x", Env: map[string]string{}},
				{Name: "files-2", Command: "x", Env: map[string]string{}, Dir: "/home/ada/b"},
				{Name: "git", Command: "y", Env: map[string]string{}, Dir: "/srv"},
			},
			[]string{
				"files of /home/ada/b: its path is /s/files-2/mcp",
				"r of /home/ada/b: left out, because pages reach a URL without the gateway",
				"z of /home/ada/c: left out, because it is switched off",
			},
		},
		{
			"servers of projects only", `{"projects":{"/home/ada/b":{"mcpServers":{"git":{"command":"y"}}}},"theme":"dark"}`,
			[]Server{{Name: "git", Command: "y", Env: map[string]string{}, Dir: "/home/ada/b"}}, nil,
		},
		{"other settings, one of which is a command", `{"statusLine":{"type":"command","command":"x"},"model":"y"}`, nil, nil},
		{
			"opencode, with its placeholders", `{"mcp":{"a":{"type":"local","command":["x","--key={env:GATEWAY_TEST_NAME}"],"environment":{"KEY":"{env:GATEWAY_TEST_NAME}"}},
			"b":{"command":["x"],"environment":{"KEY":"{env:NO_SUCH_VARIABLE}"}},"c":{"command":["x"],"environment":{"KEY":"Bearer {file:~/.key}"}}}}`,
			[]Server{{Name: "a", Command: "x", Args: []string{"--key=value"}, Env: map[string]string{"KEY": "value"}}},
			[]string{
				"b: left out, because {env:NO_SUCH_VARIABLE} has no value",
				"c: left out, because the gateway reads no {file:~/.key}; take a variable of the environment",
			},
		},
		{
			"what is left out", `{"mcpServers":{"a":{"command":"x","args":["${input:key}"]},"b":{"command":"x","disabled":true},"c":{},"d":5,
			"e":{"command":"x","env":{"A=B":"c"}},"f":{"command":"x","args":["${NO_SUCH_VARIABLE}","${NO_SUCH_VARIABLE:-d}"]},
			"g":{"command":"x","envFile":"${workspaceFolder}/.env"},"h":{"command":"x","env":{"PORT":80}},"i":{"command":"x","args":"y"}}}`,
			nil,
			[]string{
				"a: left out, because ${input:key} has no value", "b: left out, because it is switched off", "c: left out, because it has no command",
				"d: left out, because the entry has the wrong type: number", "e: left out, because a value has a zero byte, or the name of a variable is empty or has a =",
				"f: left out, because ${NO_SUCH_VARIABLE} has no value",
				"g: left out, because the gateway reads no envFile; write its variables into env",
				"h: left out, because env has the wrong type: number", "i: left out, because args has the wrong type: string",
			},
		},
	} {
		path := filepath.Join(dir, "mcp.json")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, notes, err := ReadConfig(path)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		for i := range got {
			if len(got[i].Args) == 0 {
				got[i].Args = nil
			}
		}
		if d := cmp.Diff(row.want, got) + cmp.Diff(row.notes, notes); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
	for _, text := range []string{"", "{", `{"mcpServers":`, "[]", `{"mcpServers":{"a":/*`} {
		if _, _, err := parseConfig([]byte(text), dir); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	broken := "{ /* one\r\ntwo */\r\n\"mcpServers\": { // three\r\n\"a\" 4\r\n}}"
	if _, _, err := parseConfig([]byte(`[{"command":"a"}]`), dir); err == nil || err.Error() != "want an object of servers, not a JSON array" {
		t.Errorf("a list: %v", err)
	}
	if _, _, err := parseConfig([]byte(broken), dir); err == nil || !strings.HasSuffix(err.Error(), "in line 4") {
		t.Errorf("a missing colon: %v", err)
	}
	if _, _, err := ReadConfig(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing file was read")
	}
}

// TestCodex has a file as Codex writes it.
func TestCodex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	for _, row := range []struct{ text, want, notes, fault string }{
		{
			"model = \"gpt-5\"\nlast = 2026-11-30T04:00:00Z\n[projects.\"/home/ada\"]\ntrust_level = \"trusted\"\n" +
				"[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", 'a\\b'] # more\nstartup_timeout_sec = 20\n" +
				"[mcp_servers.files.env]\nKEY = \"value\"\n[mcp_servers.far]\nurl = \"https://x.example/mcp\"\n" +
				"[mcp_servers.off]\ncommand = \"x\"\nenabled = false\n",
			"files npx [-y a\\b] map[KEY:value]",
			"far: left out, because pages reach a URL without the gateway off: left out, because it is switched off", "",
		},
		{"model = \"gpt-5\"\n", "", "", ""},
		{"[mcp_servers.a]\ncommand = \n", "", "", "not TOML: toml: line 2"},
		{"number = inf\n", "", "", "unsupported value"},
	} {
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		servers, notes, err := ReadConfig(path)
		var got []string
		for _, s := range servers {
			got = append(got, fmt.Sprint(s.Name, " ", s.Command, " ", s.Args, " ", s.Env))
		}
		if d := cmp.Diff(row.want, strings.Join(got, " ")) + cmp.Diff(row.notes, strings.Join(notes, " ")); d != "" {
			t.Errorf("%q: %s", row.text, d)
		}
		if (err == nil) != (row.fault == "") || err != nil && !strings.Contains(err.Error(), row.fault) {
			t.Errorf("%q: %v", row.text, err)
		}
	}
}

// TestManyComments has a file that would be copied once for each of its comments.
func TestManyComments(t *testing.T) {
	text := []byte("{" + strings.Repeat("/**/", 2<<20) + `"mcpServers":{"a":{"command":"b"}}}`)
	if servers, _, err := parseConfig(text, "/"); err != nil || len(servers) != 1 {
		t.Errorf("%v, %v", servers, err)
	}
}

func TestCommandName(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-filesystem DIR": "filesystem", "uvx mcp-server-git@1.2": "git", "/usr/bin/thing --x": "thing",
		"node dist/index.js": "index", "mcp-server": "server", "python3 -m mcp_thing": "mcp_thing", "./my server": "my",
	} {
		if got := CommandServer(strings.Fields(line)).Name; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// The gateway translates one of two values. A program that takes the other would cancel the call of another client.
func TestRequestsAreNamedOnce(t *testing.T) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progressToken":2}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1,"progressTo\u006ben":2}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1},"_meta":{}}}`,
	} {
		if m, err := parse([]byte(text)); err == nil {
			t.Errorf("%s was read: token %s, cancels %s", text, m.token.in(m.text), m.cancels.in(m.text))
		}
	}
}

// FuzzParse reads foreign messages. An edited message stays one valid line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":"\u0041"}}}`))
	f.Add([]byte("{\n\"jsonrpc\" : \"2.0\",\"i\\u0064\":\"a\",\"result\":[]}"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-1.5e3}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parse(text)
		if err != nil {
			return
		}
		line := m.edited(edit{m.id, []byte(`"an id"`)}, edit{m.token, []byte("7")}, edit{m.cancels, []byte("8")}, edit{m.subscription, []byte("9")})
		again, err := parse(line)
		if err != nil || strings.ContainsAny(string(line), "\r\n") {
			t.Fatalf("%q became %q: %v", text, line, err)
		}
		if m.id.there() && string(again.id.in(again.text)) != `"an id"` || m.token.there() && string(again.token.in(again.text)) != "7" ||
			again.method != m.method || again.isResponse() != m.isResponse() {
			t.Fatalf("%q became %q", text, line)
		}
	})
}

// FuzzConfig reads foreign configurations.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x"}}} // end`))
	f.Fuzz(func(t *testing.T, text []byte) {
		servers, _, _ := parseConfig(text, "/")
		taken := map[string]bool{}
		for _, s := range servers {
			if s.Name == "" || notInNames.MatchString(s.Name) || taken[s.Name] || s.Command == "" {
				t.Fatalf("%q: %+v", text, s)
			}
			taken[s.Name] = true
		}
	})
}
