package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Bounds on the list of tools.
const (
	maxPages     = 100
	maxListBytes = 8 << 20
	listTimeout  = 30 * time.Second
)

// refresh fetches the list of tools, and fetches it again if it changes meanwhile.
func (l *link) refresh(ctx context.Context) {
	l.mu.Lock()
	if l.listing {
		l.stale = true
		l.mu.Unlock()
		return
	}
	l.listing = true
	l.mu.Unlock()
	l.spawn(func() {
		for {
			tools, older, err := l.list(ctx)
			l.mu.Lock()
			none := l.tools == nil
			if err == nil {
				l.tools, l.older = tools, older
			}
			again := l.stale && !l.ended
			l.stale, l.listing = false, again
			l.mu.Unlock()
			if err != nil {
				l.bridge.opts.Logger.Warn("the extension's tools could not be listed", "profile", l.name(), "error", err)
			} else {
				l.bridge.notify()
			}
			if none && err != nil && !again { // no client could use this link; the extension connects again
				l.conn.CloseWith(1011, "its tools could not be listed")
			}
			if none && err == nil {
				l.spawn(func() { l.bridge.watchAll(ctx, l) })
			}
			if !again {
				return
			}
		}
	})
}

// list returns one tools/list result with the definitions of all pages, and another one for the versions before
// 2026-07-28. If they are too large, the first ones are left out: the browser's own tools come last.
func (l *link) list(ctx context.Context) (tools, older json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	var all, forOlder [][]byte
	size, left, params := 0, 0, json.RawMessage(`{}`)
	for page := 0; ; page++ {
		raw, err := l.request(ctx, "tools/list", params)
		if err != nil {
			return nil, nil, err
		}
		var result struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &result); err != nil {
			return nil, nil, fmt.Errorf("read the list: %w", err)
		}
		for _, tool := range result.Tools {
			tool = repaired(tool, ofTool)
			size += len(tool)
			all, forOlder = append(all, tool), append(forOlder, repaired(tool, ofOlderTool))
			for ; size > l.bridge.listBytes; left++ {
				size -= len(all[0])
				all, forOlder = all[1:], forOlder[1:]
			}
		}
		if result.NextCursor == "" {
			if left > 0 {
				l.bridge.opts.Logger.Warn("the list of tools is too large",
					"profile", l.name(), "bytes", l.bridge.listBytes, "tools left out", left)
			}
			return listOf(all), listOf(forOlder), nil
		}
		if page == maxPages {
			return nil, nil, fmt.Errorf("the list has more than %d pages", maxPages)
		}
		params = encoded(map[string]string{"cursor": result.NextCursor})
	}
}

func listOf(tools [][]byte) json.RawMessage {
	return fmt.Appendf(nil, `{"tools":[%s]}`, bytes.Join(tools, []byte{','}))
}

// listed returns the list, or false while it has not arrived.
func (l *link) listed() (json.RawMessage, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools, l.tools != nil
}
