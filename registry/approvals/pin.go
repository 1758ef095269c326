package approvals

import "strings"

// parts are the parts of a definition that a pin tells apart; see package pin.
var parts = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}

// Digest returns the part of a pin that decides whether two definitions are equal.
// The rest tells the parts apart.
func Digest(pin string) string {
	digest, _, _ := strings.Cut(pin, ".")
	return digest
}

func changedParts(before, now string) []string {
	changes := []string{}
	_, before, _ = strings.Cut(before, ".")
	_, now, _ = strings.Cut(now, ".")
	var a, b string
	for _, part := range parts {
		a, before, _ = strings.Cut(before, ".")
		b, now, _ = strings.Cut(now, ".")
		if a != b {
			changes = append(changes, part)
		}
	}
	return changes
}

// Digests that many tools share: of the text "" as a part of a pin, and of the schema {"type":"object"}
// as [likeness] returns it. That schema counts where a list has one new tool. No schema
// counts of a tool that is found with another name and no more changes.
const (
	emptyText   = "Eq4yyx7ALQHt"
	emptySchema = "4oseZJio848Ge"
)

// gone holds the names of approved tools that a list does not have, by what a new tool may
// share with them: all but the name, and each part of [likeness].
type gone map[string]string

func (e *Endpoint) gone(tools []Tool) gone {
	g, missing := make(gone), e.Missing(tools)
	for _, name := range missing {
		g.add(withoutName(e.pins[name]), name)
	}
	added, renamed := 0, make(map[string]bool)
	for i := range tools {
		if e.pins[tools[i].Name] == "" {
			added++
			renamed[g[withoutName(tools[i].Pin)]] = true
		}
	}
	for _, name := range missing {
		for _, part := range likeness(e.pins[name]) {
			if part[0] != '4' || !renamed[name] && (added == 1 || part != emptySchema) {
				g.add(part, name)
			}
		}
	}
	return g
}

// add keeps the first name for each key.
func (g gone) add(key, name string) {
	if g[key] == "" {
		g[key] = name
	}
}

// like returns an approved tool that a new one may be, with another name and more changes, or "".
func (g gone) like(pin string) (name string) {
	for _, part := range likeness(pin) {
		if name == "" {
			name = g[part]
		}
	}
	return name
}

// likeness returns title, description and schema of a pin, each after its number, without
// those that tools share by chance.
func likeness(pin string) (like []string) {
	_, pin, _ = strings.Cut(pin, ".")
	for i := range 4 {
		var part string
		part, pin, _ = strings.Cut(pin, ".")
		if 1 <= i && i <= 3 && part != "" && part != emptyText {
			like = append(like, string(rune('1'+i))+part)
		}
	}
	return like
}

// withoutName returns the parts of a pin behind the name.
func withoutName(pin string) string {
	_, pin, _ = strings.Cut(pin, ".")
	_, pin, _ = strings.Cut(pin, ".")
	return pin
}
