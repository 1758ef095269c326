package gateway

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// inherited are the variables of the gateway's own environment that programs get: those
// without which they cannot find programs and folders. All others stay here, because they
// may be secrets.
var inherited = strings.Fields("PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP " +
	"SystemRoot SystemDrive ComSpec PATHEXT WINDIR USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA " +
	"ProgramData ProgramFiles ProgramFiles(x86) USERNAME PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS")

// environ returns the environment of a program.
func environ(configured map[string]string) []string {
	var out []string
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			if _, set := configured[name]; !set {
				out = append(out, name+"="+value)
			}
		}
	}
	for name, value := range configured {
		out = append(out, name+"="+value)
	}
	return out
}

// commandOf returns the command of a server. A PATH of its own says where that is.
func commandOf(s Server) string {
	if filepath.Base(s.Command) == s.Command {
		for _, dir := range filepath.SplitList(s.Env["PATH"]) {
			if !filepath.IsAbs(dir) {
				continue // it would depend on where the gateway was started
			}
			if found, err := exec.LookPath(filepath.Join(dir, s.Command)); err == nil {
				return found
			}
		}
	}
	return s.Command
}

// variable matches ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:id} and {env:NAME}, as MCP clients
// write them.
var variable = regexp.MustCompile(`(?:\$\{(env:|input:)?|\{(env:))([A-Za-z_][A-Za-z0-9_.-]{0,99}?)(?::-([^}]*))?\}`)

// expand fills in variables of the gateway's environment. missing is the first one that
// cannot be filled in. Those of own stay as they are: the program fills them in, as mcp-remote does.
func expand(text string, own map[string]string) (out, missing string) {
	out = variable.ReplaceAllStringFunc(text, func(match string) string {
		m := variable.FindStringSubmatch(match)
		if m[1] != "input:" {
			if value, ok := os.LookupEnv(m[3]); ok {
				return value
			}
			if strings.Contains(match, ":-") {
				return m[4]
			}
		}
		if _, set := own[m[3]]; missing == "" && (m[1]+m[2] != "" || !set) {
			missing = match
		}
		return match
	})
	return out, missing
}

const secretName = `[\w.-]*(?:key|token|secret|password|passwd|auth|credential)[\w-]*`

// secretFlag matches a flag whose value is the next argument.
var secretFlag = regexp.MustCompile(`(?i)^--?` + secretName + `$`)

// secretParts match the secrets in an argument: of an address its password, a token in place of the user, and its
// parameters; and the value of a flag, of a variable or of a header.
var secretParts = []*regexp.Regexp{
	regexp.MustCompile(`://[^/?#\s:@]*:([^/?#\s@]+)@`),
	regexp.MustCompile(`://([^/?#\s:@]{16,})@`),
	regexp.MustCompile(`(?i)[?&]` + secretName + `=([^&#\s]+)`),
	regexp.MustCompile(`(?i)^(?:--?[\w-]+=)?` + secretName + `(?:=|:\s*(?:(?:bearer|basic|token)\s+)?)(.+)$`),
}

// secretsOf returns the configured values that may be secrets, the longest first: one may be a part of another.
func secretsOf(s Server) []string {
	var all []string
	add := func(value string) {
		if len(value) >= 6 {
			all = append(all, value)
		}
	}
	addParts := func(text string) {
		for _, part := range secretParts {
			for _, m := range part.FindAllStringSubmatch(text, -1) {
				add(m[1])
			}
		}
	}
	for _, value := range s.Env {
		add(value)
		addParts(value)
	}
	for i, arg := range s.Args {
		if secretFlag.MatchString(arg) && i+1 < len(s.Args) {
			add(s.Args[i+1])
		}
		addParts(arg)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// redact hides secrets in a text of a program.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}
