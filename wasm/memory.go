//go:build js

package main

import (
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/text"
)

// memoryDelay collects what is learned of many servers at once.
const memoryDelay = 50 * time.Millisecond

// maxRemembered bounds the endpoints that are remembered. A new one takes the place of any other.
const maxRemembered = 500

// A memory keeps what was learned of endpoints, as the text that the host
// stores: a line each of URL, transport, version, "changes" or nothing, and
// "proxied" or nothing, separated by tabs.
type memory struct {
	save func(text string)

	mu      sync.Mutex
	learned map[string]client.Hint
	timer   *time.Timer
}

func newMemory(text string, save func(string)) *memory {
	m := &memory{learned: make(map[string]client.Hint), save: save}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Split(line, "\t")
		if len(f) == 5 && f[0] != "" && len(m.learned) < maxRemembered {
			m.learned[f[0]] = client.Hint{Transport: f[1], Version: f[2], ListChanged: f[3] == "changes", Proxied: f[4] == "proxied"}
		}
	}
	return m
}

// changed notes a hint, or that an endpoint was forgotten, and saves a little later.
func (m *memory) changed(url string, h client.Hint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.learned, url)
	if h != (client.Hint{}) {
		for other := range m.learned {
			if len(m.learned) < maxRemembered {
				break
			}
			delete(m.learned, other)
		}
		m.learned[url] = h
	}
	if m.timer == nil {
		m.timer = time.AfterFunc(memoryDelay, m.flush)
	}
}

func (m *memory) flush() {
	m.mu.Lock()
	m.timer = nil
	var lines []byte
	for _, url := range text.Keys(m.learned) {
		h, changes, proxied := m.learned[url], "", ""
		if h.ListChanged {
			changes = "changes"
		}
		if h.Proxied {
			proxied = "proxied"
		}
		lines = append(lines, strings.Join([]string{url, h.Transport, h.Version, changes, proxied}, "\t")+"\n"...)
	}
	m.mu.Unlock()
	m.save(string(lines))
}
