package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A Server is a configured program.
type Server struct {
	Name    string // letters, digits, "_", "." and "-"; part of the path
	Command string
	Args    []string
	Env     map[string]string
	Dir     string // working directory; the gateway's if empty
	Shared  bool   // one process for all clients
}

// The bounds of a configuration.
const (
	maxConfig  = 1 << 20
	maxServers = 200
)

// ReadConfig reads the stdio servers of an mcp.json of any client, or of Codex's config.toml. notes say which
// of its servers are left out, and why.
func ReadConfig(path string) (servers []Server, notes []string, err error) {
	stat, err := os.Stat(path)
	if err == nil && stat.Size() > maxConfig {
		err = errors.New("it is larger than 1 MiB")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	if filepath.Ext(path) == ".toml" {
		text, err = jsonOf(text)
	}
	if err == nil {
		servers, notes, err = parseConfig(text, filepath.Dir(path))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	return servers, notes, nil
}

// jsonOf writes a TOML document as JSON.
func jsonOf(document []byte) ([]byte, error) {
	var file map[string]any
	if err := toml.Unmarshal(document, &file); err != nil {
		return nil, fmt.Errorf("not TOML: %w", err)
	}
	return json.Marshal(file)
}

type written struct {
	Command     json.RawMessage   `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Environment map[string]string `json:"environment"`
	EnvFile     string            `json:"envFile"`
	Cwd         string            `json:"cwd"`
	URL         json.RawMessage   `json:"url"`
	ServerURL   json.RawMessage   `json:"serverUrl"`
	HTTPURL     json.RawMessage   `json:"httpUrl"`
	Disabled    bool              `json:"disabled"`
	Enabled     *bool             `json:"enabled"`
	Shared      bool              `json:"shared"`
}

func parseConfig(text []byte, dir string) (servers []Server, notes []string, err error) {
	// The keys of Claude, Cursor and others, of VS Code, of Zed, of opencode, and of Codex.
	var file map[string]json.RawMessage
	text = plainJSON(text)
	if err := json.Unmarshal(text, &file); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, nil, fmt.Errorf("want an object of servers, not a JSON %s", wrong.Value)
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			err = fmt.Errorf("%w in line %d", err, 1+bytes.Count(text[:syntax.Offset], []byte("\n")))
		}
		return nil, nil, fmt.Errorf("not JSON: %w", err)
	}
	entries := map[string]json.RawMessage{}
	for _, key := range []string{"mcpServers", "servers", "context_servers", "mcp", "mcp_servers"} {
		if file[key] != nil && json.Unmarshal(file[key], &entries) == nil && len(entries) > 0 {
			break
		}
	}
	if len(entries) == 0 {
		entries = bareServers(file, text)
	}
	if inner := entries["servers"]; inner != nil && file["mcp"] != nil { // VS Code's settings.json: {"mcp":{"servers":{}}}
		clear(entries)
		_ = json.Unmarshal(inner, &entries)
	}
	all := configuredIn(entries, file["projects"])
	if len(all) > maxServers {
		return nil, nil, fmt.Errorf("more than %d servers", maxServers)
	}
	taken, given := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		if freeName(e.name, map[string]bool{}) == e.name { // it stays, also if another server is added
			taken[e.name] = true
		}
	}
	for _, e := range all {
		s, why := readServer(e.text, cmp.Or(e.project, dir))
		label := e.name
		if e.project != "" {
			s.Dir, label = cmp.Or(s.Dir, e.project), label+" of "+e.project
		}
		if e.off {
			why = "it is switched off"
		}
		if why != "" {
			notes = append(notes, fmt.Sprintf("%s: left out, because %s", label, why))
			continue
		}
		if s.Name = e.name; !taken[e.name] || given[e.name] {
			s.Name = freeName(e.name, taken)
			notes = append(notes, fmt.Sprintf("%s: its path is /s/%s/mcp", label, s.Name))
		}
		given[s.Name] = true
		servers = append(servers, s)
	}
	return servers, notes, nil
}

// A configured server is one as it is written. Its project is a folder in the file of Claude Code, or "".
type configured struct {
	name, project string
	text          json.RawMessage
	off           bool
}

// configuredIn returns servers in the order of their names, and then those of the projects of ~/.claude.json.
func configuredIn(servers map[string]json.RawMessage, inProjects json.RawMessage) (all []configured) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		all = append(all, configured{name: name, text: servers[name]})
	}
	var projects map[string]struct {
		MCPServers         map[string]json.RawMessage `json:"mcpServers"`
		DisabledMCPServers []string                   `json:"disabledMcpServers"`
	}
	_ = json.Unmarshal(inProjects, &projects) // what is no project has no servers
	for _, folder := range slices.Sorted(maps.Keys(projects)) {
		p := projects[folder]
		for _, name := range slices.Sorted(maps.Keys(p.MCPServers)) {
			all = append(all, configured{name, folder, p.MCPServers[name], slices.Contains(p.DisabledMCPServers, name)})
		}
	}
	return all
}

// bareServers returns the servers of a file that holds nothing else: a server, or servers by name, as of plugins of
// Claude Code.
func bareServers(file map[string]json.RawMessage, text []byte) map[string]json.RawMessage {
	var line []string
	var command string
	if json.Unmarshal(file["command"], &command) == nil || json.Unmarshal(file["command"], &line) == nil {
		var w written
		_ = json.Unmarshal(text, &w)
		if line = append(line, w.Args...); command != "" {
			line = append([]string{command}, line...)
		}
		return map[string]json.RawMessage{CommandServer(append(line, "server")).Name: text}
	}
	for _, raw := range file {
		var w written
		if json.Unmarshal(raw, &w) != nil || w.Command == nil && w.URL == nil && w.ServerURL == nil && w.HTTPURL == nil {
			return nil
		}
	}
	return file
}

// readServer reads one entry. why is the reason to leave it out.
func readServer(raw json.RawMessage, dir string) (s Server, why string) {
	var w written
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(raw, &w)); ok {
		return s, fmt.Sprintf("%s has the wrong type: %s", cmp.Or(wrong.Field, "the entry"), wrong.Value)
	}
	if w.Disabled || w.Enabled != nil && !*w.Enabled {
		return s, "it is switched off"
	}
	if w.URL != nil || w.ServerURL != nil || w.HTTPURL != nil {
		return s, "pages reach a URL without the gateway"
	}
	if w.EnvFile != "" {
		return s, "the gateway reads no envFile; write its variables into env"
	}
	var line []string
	var parts struct { // of Zed, until 2025
		Path string
		Args []string
		Env  map[string]string
	}
	if json.Unmarshal(w.Command, &line) != nil {
		if line = []string{""}; json.Unmarshal(w.Command, &line[0]) != nil && json.Unmarshal(w.Command, &parts) == nil {
			line = append([]string{parts.Path}, parts.Args...)
		}
	}
	if len(line) == 0 || line[0] == "" {
		return s, "it has no command"
	}
	s = Server{Command: line[0], Args: append(line[1:], w.Args...), Env: map[string]string{}, Dir: w.Cwd, Shared: w.Shared}
	maps.Copy(s.Env, parts.Env)
	maps.Copy(s.Env, w.Environment)
	maps.Copy(s.Env, w.Env)
	fill := func(text *string, own map[string]string) {
		filled, missing := expand(*text, own)
		if *text = filled; missing != "" && why == "" {
			why = missing + " has no value"
		}
		if file := unreadFile.FindStringSubmatch(*text); file != nil && why == "" {
			why = "the gateway reads no " + file[1] + "; take a variable of the environment"
		}
	}
	fill(&s.Command, nil)
	for i := range s.Args {
		fill(&s.Args[i], s.Env)
	}
	for name, value := range s.Env {
		fill(&value, nil)
		s.Env[name] = value
	}
	fill(&s.Dir, nil)
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		s.Dir = filepath.Join(dir, s.Dir)
	}
	if hasNUL(s) {
		why = "a value has a zero byte, or the name of a variable is empty or has a ="
	}
	return s, why
}

// unreadFile matches what opencode replaces by the content of a file, as the whole value or behind a word and a space.
var unreadFile = regexp.MustCompile(`^(?:\S+ )?(\{file:[^{}]+\})$`)

func hasNUL(s Server) bool {
	all := append([]string{s.Command, s.Dir}, s.Args...)
	for name, value := range s.Env {
		all = append(all, name, value)
		if name == "" || strings.Contains(name, "=") {
			return true
		}
	}
	return slices.ContainsFunc(all, func(text string) bool { return strings.ContainsRune(text, 0) })
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// freeName writes a name as a part of a path that no other server has.
func freeName(name string, taken map[string]bool) string {
	base := strings.Trim(notInNames.ReplaceAllString(name, "-"), "-.")
	base = cmp.Or(base[:min(len(base), 64)], "server")
	free := base
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s-%d", base, i)
	}
	taken[free] = true
	return free
}

// CommandServer returns the server of one command line, with a name made of its words:
// npx -y @modelcontextprotocol/server-filesystem DIR is "filesystem".
func CommandServer(line []string) Server {
	name := filepath.Base(line[0])
	if strings.HasPrefix(name, "npx") || name == "uvx" || name == "bunx" || name == "pnpx" || name == "node" ||
		strings.HasPrefix(name, "python") {
		if i := slices.IndexFunc(line[1:], func(arg string) bool { return !strings.HasPrefix(arg, "-") }); i >= 0 {
			name = line[1+i]
		}
	}
	name = strings.TrimRight(name, "/")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if at := strings.LastIndex(name, "@"); at > 0 {
		name = name[:at]
	}
	for _, end := range []string{".js", ".mjs", ".py", ".exe"} {
		name = strings.TrimSuffix(name, end)
	}
	for _, word := range []string{"mcp-server-", "server-", "mcp-"} {
		if rest := strings.TrimPrefix(name, word); rest != "" {
			name = rest
		}
	}
	return Server{Name: freeName(name, map[string]bool{}), Command: line[0], Args: line[1:]}
}

// plainJSON removes comments and commas before a closing bracket, which the files of some
// clients have. Lines keep their numbers.
func plainJSON(text []byte) []byte {
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	out := make([]byte, 0, len(text))
	comma := -1 // index in out of a comma with nothing behind it yet
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			from := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out, comma = append(out, text[from:min(i+1, len(text))]...), -1
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			out = append(out, '\n')
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			end := bytes.Index(text[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			out = append(append(out, ' '), bytes.Repeat([]byte("\n"), bytes.Count(text[i:i+end+4], []byte("\n")))...)
			i += end + 3
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			out = append(out, c)
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				out[comma] = ' '
			}
			if comma = -1; c == ',' {
				comma = len(out)
			}
			out = append(out, c)
		}
	}
	return out
}
