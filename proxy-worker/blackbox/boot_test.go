//go:build !js

package blackbox

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// written writes a text to a file.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "module.mjs")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLazyBoot checks that the first request starts Go if the start in global scope failed.
func TestLazyBoot(t *testing.T) {
	r := workerdWith(t, map[string]string{"policy.mjs": written(t, `
		import { start as real } from './real.mjs'
		export function start(global) {
			if (global) throw new Error('no')
			return real(false)
		}`)})
	u := newUpstream(t)
	for range 2 {
		res, err := call{target: u.URL + "/echo"}.do(t.Context(), r, "")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Error(res.Status)
		}
	}
}

// TestEndedPolicy ends Go during a request. The answer is an internal error, and the next
// request starts Go again.
func TestEndedPolicy(t *testing.T) {
	r := workerdWith(t, map[string]string{"policy.mjs": written(t, `
		import { start as real } from './real.mjs'
		export function start(global) {
			const policy = real(global)
			if (global) policy.respond = () => {
				policy.ended = true
				throw new WebAssembly.RuntimeError('unreachable')
			}
			return policy
		}`)})
	u := newUpstream(t)
	for _, want := range []int{500, 200, 200} {
		c := call{target: u.URL + "/echo"}
		res, err := c.do(t.Context(), r, "")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Errorf("%s %s, %v", res.Status, body, err)
		}
		if want == 500 {
			refusal(t, res, string(body), "internal", c)
		}
	}
}
