//go:build !js

package blackbox

import (
	"regexp"
	"strconv"
	"testing"
)

// uploadBudget bounds the deployed files, in KiB of gzip. Workers Free accepts 3 MB.
const uploadBudget = 1620

var upload = regexp.MustCompile(`Total Upload: .* gzip: ([0-9.]+) KiB`)

// TestDeploy runs wrangler's deployment except for the upload.
func TestDeploy(t *testing.T) {
	skipWithoutSoak(t)
	out, err := wrangler(t, "deploy", "--dry-run", "--outdir", t.TempDir()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := upload.FindSubmatch(out)
	if m == nil {
		t.Fatalf("no size in\n%s", out)
	}
	t.Logf("%s", m[0])
	if size, err := strconv.ParseFloat(string(m[1]), 64); err != nil || size > uploadBudget {
		t.Errorf("%s KiB are over the budget of %d", m[1], uploadBudget)
	}
}
