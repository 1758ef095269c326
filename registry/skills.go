package registry

import (
	"context"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// skillsPath is where a server announces the extension (SEP-2640).
var skillsPath = []string{"extensions", "io.modelcontextprotocol/skills"}

// Skills lists the skills of servers that announce the extension io.modelcontextprotocol/skills, as [Registry.Resources]
// does. An [Offer.Def] is a Skill of SEP-2640. A host that loads
// one checks it, and reads its files by [Registry.ReadResource]. In a browser the page does that, because the module
// has no SHA-256.
func (r *Registry) Skills(ctx context.Context, servers ...string) ([]Offer, error) {
	return r.allOffers(ctx, skillList, servers)
}

// AskSkill asks a server for the entry of one skill (skills/get), or for a page of a directory if it announces
// directoryRead (resources/directory/read). params is the JSON text of the request's params. The payload is a
// GetSkillResult or a ReadResourceDirectoryResult of SEP-2640. The error is [ErrUnknownSkill] if there is none.
func (r *Registry) AskSkill(ctx context.Context, server string, params []byte, directory bool) (*Result, error) {
	method, path := "skills/get", skillsPath
	if directory {
		method, path = "resources/directory/read", append(path, "directoryRead")
	}
	result, err := r.ask(ctx, server, method, Request{Method: method, Params: params}, path...)
	if isRPC(err, codeInvalidParams) {
		err = &kindError{ErrUnknownSkill, err}
	}
	return result, err
}

// ReviewSkills returns for each skill why it waits for an approval, under the same trust as prompts: "changed", "new", or
// "" if it does not. skills are a URI and a digest in turn. The digest is over what an approval is bound to: the URIs and
// the digests of all files. With approve a person has approved these versions; "new" is then one without room to keep it.
func (r *Registry) ReviewSkills(name string, approve bool, skills ...string) (reasons []string, err error) {
	err = r.changeServer(name, "review", func(s *server) error {
		a, fresh := r.approvedFor(s), FreshPins{ByUser: approve}
		first := !a.HasPrompts(true)
		for ; len(skills) > 1; skills = skills[2:] {
			uri, reason, isFresh := approvals.SkillName(skills[0]), "", false
			text := string(append(rawjson.AppendString([]byte(`{"sha256":`), skills[1]), '}'))
			if approve {
				if isFresh = a.ApprovePrompt(uri, text); !isFresh {
					reason = approvals.New
				}
			} else if s.cfg.Trust != TrustAll {
				var hold *approvals.Hold
				if hold, isFresh = a.ReviewPrompt(uri, text, r.policy(s), first); hold != nil {
					reason = hold.Reason
				}
			}
			reasons = append(reasons, reason)
			if isFresh {
				fresh.Tools = append(fresh.Tools, approvals.PromptLine(uri))
			}
		}
		if fresh.Tools != nil {
			r.savePins(s, a, fresh)
		}
		if approve {
			r.changed(Event{Server: name})
		}
		return nil
	})
	return reasons, err
}
