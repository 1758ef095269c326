package registrytest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// A Message is a JSON-RPC message as a [Script] receives it.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Header http.Header     `json:"-"`
}

// A Step answers one message.
type Step func(w http.ResponseWriter, req *http.Request, m Message)

// A Script is a server that does what a test says, right or wrong. Unless On says
// otherwise, it shakes hands, and accepts notifications and responses. It lists one tool
// "t" and answers calls with an empty result. It refuses GET with 405 and takes DELETE.
type Script struct {
	Session     string // the session id it gives; none if empty
	Modern      bool   // speak 2026-07-28 instead of 2025-11-25
	Tasks       bool   // tools may run as tasks (2025-11-25)
	ListChanged bool   // announce notifications/tools/list_changed

	mu       sync.Mutex
	steps    map[string]Step
	received []Message
	arrived  chan struct{}
}

// On sets the answer to a method, to "GET" or to "DELETE". It returns s.
func (s *Script) On(method string, step Step) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps == nil {
		s.steps = make(map[string]Step)
	}
	s.steps[method] = step
	return s
}

// Received returns the messages of that method so far; "" means responses.
func (s *Script) Received(method string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, m := range s.received {
		if m.Method == method {
			found = append(found, m)
		}
	}
	return found
}

// Await returns the first message of that method, "" meaning responses, once it
// has come. The second result is false if done is closed before.
func (s *Script) Await(method string, done <-chan struct{}) (Message, bool) {
	found := s.await(method, 1, done)
	if len(found) == 0 {
		return Message{}, false
	}
	return found[0], true
}

// await returns the messages of that method once there are n, or nil if done is
// closed before.
func (s *Script) await(method string, n int, done <-chan struct{}) []Message {
	for {
		s.mu.Lock()
		if s.arrived == nil {
			s.arrived = make(chan struct{})
		}
		arrived := s.arrived
		s.mu.Unlock()
		if found := s.Received(method); len(found) >= n {
			return found
		}
		select {
		case <-arrived:
		case <-done:
			return nil
		}
	}
}

func (s *Script) note(m Message) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, m)
	if s.arrived != nil {
		close(s.arrived)
		s.arrived = nil
	}
	return s.steps[m.Method]
}

// ServeHTTP implements [http.Handler].
func (s *Script) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	m := Message{Method: req.Method, Header: req.Header.Clone()}
	if req.Method == http.MethodPost {
		body, err := io.ReadAll(req.Body)
		m.Method = ""
		if err != nil || json.Unmarshal(body, &m) != nil {
			http.Error(w, "not JSON-RPC", http.StatusBadRequest)
			return
		}
	}
	if step := s.note(m); step != nil {
		step(w, req, m)
		return
	}
	s.usual(w, m)
}

func (s *Script) usual(w http.ResponseWriter, m Message) {
	tools := `{"listChanged":false}`
	if s.ListChanged {
		tools = `{"listChanged":true}`
	}
	tasks := ""
	if s.Tasks {
		tasks = `,"tasks":{"requests":{"tools":{"call":{}}}}`
	}
	switch m.Method {
	case "server/discover":
		if !s.Modern {
			ReplyError(w, m, http.StatusBadRequest, -32601, "unknown method")
			return
		}
		Reply(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":`+tools+`},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"script","version":"1"}}}`)
	case "initialize":
		if s.Session != "" {
			w.Header().Set("Mcp-Session-Id", s.Session)
		}
		Reply(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":`+tools+tasks+`},"serverInfo":{"name":"script","version":"1"}}`)
	case "tools/list":
		Reply(w, m, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		Reply(w, m, `{"content":[]}`)
	case http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	default:
		if len(m.ID) > 0 && m.Method != "" {
			ReplyError(w, m, http.StatusOK, -32601, "unknown method")
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

// Reply answers m with a result, as application/json.
func Reply(w http.ResponseWriter, m Message, result string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
}

// ReplyError answers m with a JSON-RPC error.
func ReplyError(w http.ResponseWriter, m Message, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": message}})
	w.Write(text)
}

// Status answers with a status and a plain body.
func Status(code int, body string) Step {
	return func(w http.ResponseWriter, _ *http.Request, _ Message) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// Body answers with a media type and a body in which $id stands for the id of the
// request.
func Body(media, body string) Step {
	return func(w http.ResponseWriter, _ *http.Request, m Message) {
		w.Header().Set("Content-Type", media)
		io.WriteString(w, strings.ReplaceAll(body, "$id", string(m.ID)))
	}
}

// Silent never answers.
func Silent(_ http.ResponseWriter, req *http.Request, _ Message) { <-req.Context().Done() }

// Then answers and leaves the body open.
func Then(first, next Step) Step {
	return func(w http.ResponseWriter, req *http.Request, m Message) {
		first(w, req, m)
		next(w, req, m)
	}
}

// Abort breaks the connection.
func Abort(http.ResponseWriter, *http.Request, Message) { panic(http.ErrAbortHandler) }
