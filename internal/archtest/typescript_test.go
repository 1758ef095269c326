package archtest

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A scriptRule says which files a room of scripts may import beside its own.
// Imports of types count.
type scriptRule struct {
	room   string   // a folder; the longest that matches counts
	may    []string // folders, or single files
	reason string
}

const (
	published = "wasm/js/shared/types.ts" // the package's index.d.ts
	entry     = "wasm/js/page/index.ts"   // the package's index.js
)

var scriptRules = []scriptRule{
	{room: "wasm/js/shared", reason: "what all rooms of the package use"},
	{room: "wasm/js/fetch", may: []string{"wasm/js/shared"}, reason: "the platform in a browser"},
	{room: "wasm/js/page", may: []string{"wasm/js/shared"}, reason: "reaches the host through the channel only"},
	{
		room: "wasm/js/page/launch.ts", may: []string{"wasm/js/shared", "wasm/js/page", "wasm/js/host/worker.ts"},
		reason: "starts the host on the page's thread where there is no worker",
	},
	{
		room: "wasm/js/shared/scan.ts", may: []string{"wasm/js/shared", "registry/scan/rules.json"},
		reason: "the rules are data that Go reads too",
	},
	{
		room: "wasm/js/host", may: []string{"wasm/js/shared", "wasm/js/fetch", "wasm/js/gen"},
		reason: "composes the module with its platform",
	},
	{
		room: "wasm/js/host/service.ts", may: []string{"wasm/js/host", "wasm/js/page/parts.ts"},
		reason: "contains the page's parts for service workers, which have no import()",
	},
	{room: "wasm/js/cassette", may: []string{"wasm/js/shared"}, reason: "stands in for a started host"},
	{room: "web", reason: "built files stand beside nothing"},
	{room: "web/ui", may: []string{"wasm/js/shared/hidden.ts"}, reason: "what both panels are made of"},
	{
		room: "web/config", may: []string{
			"web/ui", published, "wasm/js/shared/wire.gen.ts", "wasm/js/shared/fields.ts", "wasm/js/shared/json.ts",
			"wasm/js/shared/registry-error.ts",
		},
		reason: "reads and writes configurations, for the panel and for apps",
	},
	{
		room: "web/panel", may: []string{"web/ui", "web/config", "web/pairing", published, "wasm/js/shared/wire.gen.ts"},
		reason: "uses the package as an app does, and the tables that all share",
	},
	{
		room:   "web/panel/activity",
		may:    []string{published, "web/ui", "web/config", "web/panel", "wasm/js/cassette/key.ts", "wasm/js/shared/leaks.ts", "wasm/js/shared/json.ts"},
		reason: "saves calls as a cassette, and shows all digits of numbers",
	},
	{
		room:   "web/panel/tool",
		may:    []string{published, "web/ui", "web/config", "web/panel", "wasm/js/shared/base64.ts", "wasm/js/shared/json.ts"},
		reason: "shows the bytes of media, and all digits of numbers",
	},
	{
		room: "web/panel/tools",
		may: []string{
			published, "web/ui", "web/config", "web/panel", "wasm/js/shared/scan.ts", "wasm/js/shared/search.ts",
			"wasm/js/shared/searchdocument.ts", "wasm/js/shared/tokens.ts", "wasm/js/shared/yield.ts",
		},
		reason: "marks suspicious definitions of registries that do not scan; finds tools, also those that are off; counts tokens",
	},
	{
		room: "web/prompts", may: []string{"web/ui", "web/panel", published},
		reason: "a menu for the fields of pages, made of parts of the panel",
	},
	{
		room: "web/apps", may: []string{"web/ui", "web/panel", published, "wasm/js/shared/base64.ts", "wasm/js/shared/object.ts"},
		reason: "an element of pages, with the words of the panel",
	},
	{room: "web/pairing", reason: "a browser's side of the handshake with the bridge or the gateway"},
	{
		room: "web/loop", may: []string{published, entry, "wasm/js/shared/fields.ts", "wasm/js/shared/object.ts"},
		reason: "uses the package as an app does, and checks options as it does",
	},
	{
		room: "web/adapters", may: []string{"web/loop/types.ts", published},
		reason: "gives tools to libraries of model providers; its files import nothing of the package at run time",
	},
	{
		room: "web/run", may: []string{"web/loop", published, entry, "wasm/js/shared/fields.ts", "wasm/js/shared/object.ts"},
		reason: "uses the package as an app does, also where there is no page",
	},
	{
		room: "web/run/endpoint", may: []string{"web/run", "web/loop/events.ts"},
		reason: "serves runs, and reads them from there",
	},
	{
		room: "web/run/element", may: []string{"web/run", "web/ui", "web/panel", published},
		reason: "an element of pages, with the words of the panel",
	},
	{
		room: "web/react",
		may: []string{
			published, entry, "web/panel/index.ts", "web/panel/types.ts", "web/panel/questions/element.ts",
			"web/panel/questions/queue.ts",
		},
		reason: "uses the package as an app does",
	},
	{room: "web/demo", reason: "uses the built package"},
	{room: "web/examples", reason: "uses the built package"},
	{room: "extension", may: []string{"wasm/js/shared"}, reason: "the background, which composes the other rooms"},
	{
		room: "extension/tools", may: []string{"extension/browser.ts", "wasm/js/shared", "wasm/js/page", "wasm/js/host"},
		reason: "runs a registry in the background",
	},
	{
		room: "extension/link",
		may: []string{
			"extension/messages.ts", "extension/timeout.ts", "wasm/js/host/abi.ts", "wasm/js/host/loader.ts",
			"wasm/js/shared/database.ts", "web/pairing",
		},
		reason: "runs the extension's own module",
	},
	{
		room: "extension/calls",
		may: []string{
			"extension/messages.ts", "extension/stored.ts", "extension/tools/tool.ts", "wasm/js/shared/copied.ts",
			"wasm/js/shared/json.ts",
		},
		reason: "admits calls",
	},
	{
		room: "extension/chats",
		may: []string{
			"extension/browser.ts", "extension/messages.ts", "extension/stored.ts", "extension/timeout.ts",
			"extension/tools/tool.ts", "wasm/js/shared/copied.ts", "wasm/js/shared/database.ts",
		},
		reason: "runs prompts on chat sites from the background",
	},
	{
		room: "extension/webmcp",
		may: []string{
			"extension/browser.ts", "extension/messages.ts", "extension/timeout.ts", "extension/tools/tool.ts",
			"wasm/js/shared", "wasm/js/fetch/hygiene.ts", "wasm/js/page/validate.ts",
		},
		reason: "the tools of pages: the background's part, and a content script",
	},
	{room: "extension/chats/sites", reason: "data"},
	{
		room:   "extension/chats/driver",
		may:    []string{"extension/browser.ts", "extension/chats/drivermessages.ts", "extension/chats/sites", "extension/chats/suspicious.ts"},
		reason: "a content script: neither wasm nor panel",
	},
	{room: "extension/chats/shim.ts", reason: "a content script: neither wasm nor panel"},
	{
		room: "extension/panel",
		may: []string{
			"extension/browser.ts", "extension/messages.ts", "extension/link/discovery.ts", "extension/chats", "web/ui",
			"web/panel", "web/pairing", published, entry,
		},
		reason: "the extension's pages",
	},
	{
		room: "e2e", may: []string{"wasm/js", "web", "extension", "dist", "internal/build", "testdata"},
		reason: "tests of the whole",
	},
	{
		room: "bench", may: []string{"e2e", "wasm/js", "web", "extension", "dist", "internal/build"},
		reason: "measures the whole",
	},
	{
		room: "internal/build", may: []string{"registry/client/testdata/exec.mjs", "e2e/rig/flags.ts"},
		reason: "steps of the build, and the runner of the tests",
	},
	{room: "docs/tools", reason: "makes the reference"},
	{room: "proxy-worker", reason: "the Worker's scripts"},
	{room: "registry", may: []string{"wasm/js"}, reason: "runs Go tests on the platform in JavaScript"},
	{room: "testdata", may: []string{"wasm/js/shared"}, reason: "goldens of the messages, which tsc checks"},
}

// importOf finds the specifiers of import, import type, export from and import().
var importOf = regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"\n]+)['"]`)

var testFile = regexp.MustCompile(`\.test\.tsx?$`)

// scripts returns the tracked scripts with their texts. A file that is about to be committed counts.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx", "*.mjs")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	texts := map[string]string{}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if text, err := os.ReadFile("../../" + name); err == nil { // a file that was removed is still listed
			texts[name] = string(text)
		}
	}
	return texts
}

// imports returns the files of the repository that a script imports.
func imports(name, text string) []string {
	var files []string
	for _, m := range importOf.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], ".") {
			files = append(files, path.Join(path.Dir(name), m[1]))
		}
	}
	return files
}

func inRoom(file, room string) bool {
	return file == room || strings.HasPrefix(file, room+"/")
}

func scriptRuleOf(file string) *scriptRule {
	var found *scriptRule
	for i := range scriptRules {
		if r := &scriptRules[i]; inRoom(file, r.room) && (found == nil || len(r.room) > len(found.room)) {
			found = r
		}
	}
	return found
}

func TestScriptImports(t *testing.T) {
	for name, text := range scripts(t) {
		rule := scriptRuleOf(name)
		if rule == nil {
			t.Errorf("%s belongs to no room", name)
			continue
		}
		for _, to := range imports(name, text) {
			home := rule.room
			if inRoom(to, home) || slices.ContainsFunc(rule.may, func(may string) bool { return inRoom(to, may) }) {
				continue
			}
			// A file's rule is beside that of its folder.
			if path.Ext(home) != "" && inRoom(to, path.Dir(home)) && path.Dir(home) == path.Dir(to) {
				continue
			}
			// The main file of a room composes the rooms below it.
			if strings.HasPrefix(to, path.Dir(name)+"/") {
				continue
			}
			// A test may compare rooms with each other.
			if testFile.MatchString(name) && !inRoom(to, "e2e") {
				continue
			}
			t.Errorf("%s imports %s, which room %s (%s) may not", name, to, rule.room, rule.reason)
		}
	}
}

func TestNoCircleOfScripts(t *testing.T) {
	graph := map[string][]string{}
	for name, text := range scripts(t) {
		graph[name] = imports(name, text)
	}
	const open, done = 1, 2
	state := map[string]int{}
	var way []string
	var visit func(string)
	visit = func(name string) {
		switch state[name] {
		case open:
			t.Errorf("a circle of imports: %s", strings.Join(append(way[slices.Index(way, name):], name), " → "))
			return
		case done:
			return
		}
		state[name] = open
		way = append(way, name)
		for _, to := range graph[name] {
			visit(to)
		}
		way = way[:len(way)-1]
		state[name] = done
	}
	for name := range graph {
		visit(name)
	}
}

// TestLinesOfComments holds comments to 120 characters a line. The formatter holds code to it, and leaves texts.
func TestLinesOfComments(t *testing.T) {
	for name, text := range scripts(t) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			line = strings.TrimRight(line, "\n")
			comment := strings.TrimLeft(line, " \t")
			if !strings.HasPrefix(comment, "//") && !strings.HasPrefix(comment, "/*") && !strings.HasPrefix(comment, "* ") {
				continue
			}
			if utf8.RuneCountInString(line) > 120 && !strings.Contains(line, "://") {
				t.Errorf("%s:%d has more than 120 characters", name, n)
			}
		}
	}
}
