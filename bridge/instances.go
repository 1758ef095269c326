package bridge

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 roots belong to the versions that the bridge speaks

// HeaderProject names the project of an HTTP client that reports no roots.
const HeaderProject = "Portolan-Project"

const (
	rootsWait    = 2 * time.Second // for a client to list its roots
	instanceIdle = time.Minute     // after it, a session without an open request may be replaced
	maxInstances = 1000            // sessions; the one over HTTP that has been idle for longest makes room
)

// instances tells clients of the same name apart. Of the clients that are connected, no two
// have the same name, home project and number. A client that starts again gets the lowest
// number that is free, so that a single client keeps its own. The zero value is ready.
type instances struct {
	mu       sync.Mutex
	sessions map[string]*instance // by session
	left     []string             // sessions that made room and are to be ended
}

type instance struct {
	name, home string // home is the project of the session's first request
	number     int    // 0 until the first request
	open       int    // HTTP requests under way
	seen       time.Time
	page       string // the origin, if the client is a page
	lasting    bool   // until the session ends; an HTTP session may be left behind instead
	roots      string // project by the client's roots
	asked      bool   // the roots are known, or the client did not list them in time
	changes    int    // of the roots
}

// begin keeps a record of a session until end. It is false if there is one.
func (s *instances) begin(id, page string, lasting bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beginLocked(id, page, lasting)
}

func (s *instances) beginLocked(id, page string, lasting bool) bool {
	if id == "" || s.sessions[id] != nil {
		return false
	}
	if s.sessions == nil {
		s.sessions = make(map[string]*instance)
	}
	if len(s.sessions) >= maxInstances {
		s.makeRoom()
	}
	s.sessions[id] = &instance{seen: time.Now(), page: page, lasting: lasting}
	return true
}

// session returns the record of a session, or one that nobody keeps if the session has ended. The caller holds mu.
func (s *instances) session(id string) *instance {
	if in := s.sessions[id]; in != nil {
		return in
	}
	return &instance{}
}

// page returns the origin of a session's client, if that is a page.
func (s *instances) page(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session(id).page
}

// makeRoom forgets the session that has been idle for longest. The caller holds mu.
func (s *instances) makeRoom() {
	idle := ""
	for id, in := range s.sessions {
		if !in.lasting && in.open == 0 && (idle == "" || in.seen.Before(s.sessions[idle].seen)) {
			idle = id
		}
	}
	delete(s.sessions, idle)
	if idle != "" && idle[0] != '\n' && len(s.left) < maxInstances {
		s.left = append(s.left, idle)
	}
}

// takeLeft returns the sessions that made room since the last call.
func (s *instances) takeLeft() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.left
	s.left = nil
	return left
}

func (in *instance) live() bool {
	return in.lasting || in.open > 0 || time.Since(in.seen) < instanceIdle
}

// number returns the session's instance: a number, and its home project.
func (s *instances) number(id, name, project string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.sessions[id]
	if in == nil { // it has ended: what is left of it takes no number from others
		in = &instance{number: 1, home: project}
	}
	in.seen = time.Now()
	if in.number == 0 {
		in.name, in.home = name, project
		taken := make(map[int]bool)
		for _, o := range s.sessions {
			switch {
			case o == in || o.number == 0 || o.name != name || o.home != project:
			case o.live():
				taken[o.number] = true
			default:
				o.number = 0 // if it returns, it gets another number
			}
		}
		for in.number = 1; taken[in.number]; {
			in.number++
		}
	}
	return in.String()
}

// String returns the number and the home project.
func (in *instance) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", in.number, in.home))
}

// known returns the instance of a session, or "" before its first request.
func (s *instances) known(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.session(id); in.number > 0 {
		return in.String()
	}
	return ""
}

// during marks an HTTP session as used until the result is called. The session may have ended by then.
func (s *instances) during(id string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(id, "\n") { // of a client of 2026-07-28, which has no session
		s.beginLocked(id, "", false)
	}
	in := s.session(id)
	in.open++
	in.seen = time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		in.open--
		in.seen = time.Now()
	}
}

// end forgets a session.
func (s *instances) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

// project returns the project of a session's first root, or "". It asks the client once, and
// again after its roots have changed.
func (s *instances) project(ctx context.Context, id string, session *mcp.ServerSession) string {
	s.mu.Lock()
	in := s.session(id)
	known, project, changes := in.asked, in.roots, in.changes
	s.mu.Unlock()
	init := session.InitializeParams()
	if known || init == nil || init.Capabilities == nil || init.Capabilities.RootsV2 == nil {
		return project
	}
	limited, cancel := context.WithTimeout(ctx, rootsWait)
	defer cancel()
	project = ""
	roots, err := session.ListRoots(limited, nil)
	if err == nil && len(roots.Roots) > 0 && roots.Roots[0] != nil {
		if at, err := url.Parse(roots.Roots[0].URI); err == nil {
			project = ProjectName(at.Path)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in = s.session(id)
	// An error says nothing about the roots, and neither does a request that was cancelled.
	if in.changes == changes && ctx.Err() == nil && (err == nil || limited.Err() != nil) {
		in.roots, in.asked = project, true
	}
	return project
}

// rootsChanged makes the next request ask for the roots again.
func (s *instances) rootsChanged(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.session(id)
	in.asked = false
	in.changes++
}

// projectOf returns the project of a request: of the client's first root, else the one that
// the client was started for, else that of its header.
func (r *relay) projectOf(ctx context.Context, s *sender) string {
	if !s.modern { // else the client cannot be asked for its roots
		if project := r.bridge.instances.project(ctx, s.key, s.session); project != "" {
			return project
		}
	}
	if r.project != "" {
		return r.project
	}
	return ProjectName(s.header.Get(HeaderProject))
}

// ProjectName returns the name of a project by its folder, or "" for a root of a disk. It is at
// most 100 characters long, and has no control characters.
func ProjectName(folder string) string {
	name := path.Base(strings.ReplaceAll(folder, `\`, "/"))
	name = strings.TrimSpace(strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, name))
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100])
	}
	if name == "." || name == "/" || name == ".." || strings.HasSuffix(name, ":") {
		return ""
	}
	return name
}
