package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A KeptClient is a desktop client over lines of text. It outlives its bridge: the next one gets what the client had
// set up, and its open requests. A call that was under way is answered, because it may have run.
type KeptClient struct {
	w        *lineWriter
	messages chan json.RawMessage // of the client; closed at its end
	closed   chan struct{}
	close    func()
	greeted  chan struct{} // receives when the next bridge has answered a request that is repeated
	// early are messages that no bridge has got yet, because none has answered: at most maxEarly. Only Serve uses them.
	early []json.RawMessage

	mu     sync.Mutex
	failed error // of the client's output
	open   []message
	// asked are the open questions of the bridge: its own id, by that which the client gets. The next bridge counts from
	// the beginning, and the answer to an older question must not be taken for the answer to a later one.
	asked map[string]json.RawMessage
	count int // of all questions
	// The state that the client has set up, by its kind: its session, its level of logs, each resource that it watches.
	kept map[string]message
	// initialized is the notification of that name.
	initialized json.RawMessage
}

// A message is a request, a response or a notification, with its whole text.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Error json.RawMessage `json:"error"`
	text  json.RawMessage
}

func messageOf(text json.RawMessage) message {
	var m message
	_ = json.Unmarshal(text, &m) // what cannot be read is passed on
	m.text = text
	return m
}

// withID returns the text with another id.
func (m message) withID(id json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(m.text, &members) != nil {
		return m.text
	}
	members["id"] = id
	return encoded(members)
}

// The ids of requests that are repeated begin with this, and their kind follows. Their responses are not for the client.
const repeatedID = "portolan/repeated/"

const (
	methodInitialize = "initialize"
	methodSetLevel   = "logging/setLevel"
	methodCancelled  = "notifications/cancelled"
)

// greetTime is the time for the next bridge to answer the repeated initialize, as for an extension.
const greetTime = 30 * time.Second

// maxEarly bounds the messages that are read before the next bridge has answered.
const maxEarly = 100

var errSilent = errors.New("the bridge that has the port by now does not answer: end it, and start the client again")

// KeepClient reads the client's messages until its input ends.
func KeepClient(in io.ReadCloser, out io.Writer) *KeptClient {
	k := &KeptClient{
		w: &lineWriter{w: out}, messages: make(chan json.RawMessage), closed: make(chan struct{}),
		greeted: make(chan struct{}, 1), asked: make(map[string]json.RawMessage), kept: make(map[string]message),
	}
	k.close = sync.OnceFunc(func() { close(k.closed) })
	go func() {
		defer close(k.messages)
		lines := newLineReader(in, k.w)
		for {
			messages, err := lines.next()
			if err != nil {
				return
			}
			for _, m := range messages {
				select {
				case k.messages <- m:
				case <-k.closed:
					return
				}
			}
		}
	}()
	return k
}

// Close forgets the client. Its input is left open.
func (k *KeptClient) Close() { k.close() }

// Serve passes the client's messages to a bridge until that ends, or the client. Only one bridge serves it at a time.
func (k *KeptClient) Serve(bridge func(in io.ReadCloser, out io.WriteCloser) error) (clientEnded bool, err error) {
	in, feed := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := bridge(in, writeCloser{k})
		in.Close()
		done <- err
	}()
	pass := func(text json.RawMessage) { _, _ = feed.Write(append(bytes.Clone(text), '\n')) } // else the bridge has ended
	session, rest := k.repeats()
	if session != nil {
		go pass(session)
		late := time.After(greetTime)
		for isGreeted := false; !isGreeted; {
			messages := k.messages
			if len(k.early) == maxEarly {
				messages = nil // the others stay in the client's pipe
			}
			select {
			case <-k.greeted:
				isGreeted = true
			case text, ok := <-messages:
				if !ok {
					in.Close()
					return true, nil
				}
				k.early = append(k.early, text)
			case err := <-done:
				return k.left(err)
			case <-late:
				in.Close()
				return k.left(errSilent)
			}
		}
	}
	for _, text := range rest {
		pass(text)
	}
	say := func(text json.RawMessage) {
		if text = k.says(messageOf(text)); text != nil {
			pass(text)
		}
	}
	for _, text := range k.early {
		say(text)
	}
	k.early = nil
	for {
		select {
		case text, ok := <-k.messages:
			if !ok {
				feed.Close()
				return true, <-done
			}
			say(text)
		case err := <-done:
			return k.left(err)
		}
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// repeats returns what the next bridge has to know of the client: first its session, if it has one.
func (k *KeptClient) repeats() (session json.RawMessage, rest []json.RawMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for kind, m := range k.kept {
		text := m.withID(encoded(repeatedID + kind))
		if kind == methodInitialize {
			session = text
		} else {
			rest = append(rest, text)
		}
	}
	if session != nil && k.initialized != nil {
		rest = append([]json.RawMessage{k.initialized}, rest...)
	}
	for _, m := range k.open {
		rest = append(rest, m.text)
	}
	return session, rest
}

// says notes what the client sends, and returns it for the bridge. The answer to a question that no bridge asks any
// more is nil.
func (k *KeptClient) says(m message) json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case m.Method == "":
		id, asked := k.asked[string(m.ID)]
		if !asked {
			return nil
		}
		delete(k.asked, string(m.ID))
		return m.withID(id)
	case m.ID != nil:
		k.open = append(k.open, m)
	case m.Method == "notifications/initialized":
		k.initialized = m.text
	case m.Method == methodCancelled:
		k.take(m.Params.RequestID)
	}
	return m.text
}

// sameID compares ids, which a client and a bridge may write differently: go-sdk escapes & in strings.
func sameID(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y
}

// take removes a request from the open ones. The caller holds k.mu.
func (k *KeptClient) take(id json.RawMessage) (request message) {
	if i := slices.IndexFunc(k.open, func(m message) bool { return sameID(m.ID, id) }); i >= 0 {
		request = k.open[i]
		k.open = slices.Delete(k.open, i, i+1)
	}
	return request
}

// Write implements [io.Writer] for a bridge. The text is whole lines.
func (k *KeptClient) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		said := k.hears(messageOf(line))
		if said == nil {
			continue
		}
		if err := k.w.line(said); err != nil {
			k.mu.Lock()
			k.failed = err
			k.mu.Unlock()
			return 0, err
		}
	}
	return len(text), nil
}

// hears notes what the bridge sends, and returns it for the client. What is not for the client is nil.
func (k *KeptClient) hears(m message) json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case m.Method == "" && bytes.HasPrefix(m.ID, []byte(`"`+repeatedID)):
		offer(k.greeted, struct{}{})
		var id string
		_ = json.Unmarshal(m.ID, &id)
		if uri, ok := strings.CutPrefix(id, repeatedID+methodSubscribe); ok { // it may have changed meanwhile
			return notification("notifications/resources/updated", "uri", uri)
		}
		return nil
	case m.Method == "":
		request := k.take(m.ID)
		if m.Error != nil {
			break
		}
		switch request.Method {
		case methodInitialize, methodSetLevel:
			k.kept[request.Method] = request
		case methodSubscribe:
			k.kept[methodSubscribe+request.Params.URI] = request
		case methodUnsubscribe:
			delete(k.kept, methodSubscribe+request.Params.URI)
		}
	case m.ID != nil:
		k.count++
		id := strconv.Itoa(k.count)
		k.asked[id] = m.ID
		return m.withID(json.RawMessage(id))
	case m.Method == methodCancelled:
		for id, own := range k.asked {
			if sameID(own, m.Params.RequestID) {
				delete(k.asked, id)
				return notification(methodCancelled, "requestId", json.RawMessage(id))
			}
		}
	}
	return m.text
}

// notification returns one with a single param.
func notification(method, param string, value any) json.RawMessage {
	return encoded(map[string]any{"jsonrpc": "2.0", "method": method, "params": map[string]any{param: value}})
}

// left answers the calls that were under way, and takes the bridge's questions back.
func (k *KeptClient) left(err error) (clientEnded bool, _ error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return true, k.failed
	}
	select {
	case <-k.greeted: // by the response to something else that was repeated
	default:
	}
	var lines []any
	for id := range k.asked {
		lines = append(lines, notification(methodCancelled, "requestId", json.RawMessage(id)))
	}
	clear(k.asked)
	k.open = slices.DeleteFunc(k.open, func(m message) bool {
		switch {
		case m.Method == "tools/call":
			text := fmt.Sprintf("The bridge ended while %q was under way: it may have run. Look before you call it again.", m.Params.Name)
			lines = append(lines, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
				"resultType": "complete", "isError": true, "content": []any{map[string]string{"type": "text", "text": text}},
			}})
		case strings.HasPrefix(m.Method, "tasks/"):
			lines = append(lines, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": &jsonrpc.Error{
				Code: jsonrpc.CodeInternalError, Message: "the bridge that had the task has ended" + taskAdvice,
			}})
		default:
			return false // the next bridge answers it
		}
		return true
	})
	for _, line := range lines {
		if err := k.w.line(encoded(line)); err != nil {
			return true, err
		}
	}
	return false, err
}
