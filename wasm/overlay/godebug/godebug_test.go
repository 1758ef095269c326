//go:build !js

package godebug

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// surface returns the exported functions and methods of a file, with their types.
func surface(t *testing.T, file string) []string {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range parsed.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() {
			continue
		}
		if fn.Recv != nil && !ast.IsExported(strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*")) {
			continue
		}
		var text bytes.Buffer
		fn.Body, fn.Doc = nil, nil
		if fn.Recv != nil {
			fn.Recv.List[0].Names = nil
		}
		if err := printer.Fprint(&text, fset, fn); err != nil {
			t.Fatal(err)
		}
		found = append(found, text.String())
	}
	slices.Sort(found)
	return found
}

// TestSurfaceIsTheToolchains fails when the Go toolchain's package offers
// something that this one does not: then build.sh must not use the overlay.
func TestSurfaceIsTheToolchains(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(strings.TrimSpace(string(goroot)), "src/internal/godebug/godebug.go")
	if diff := cmp.Diff(surface(t, real), surface(t, "godebug.go")); diff != "" {
		t.Errorf("exported functions (-toolchain +overlay):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	for name, want := range map[string]string{"asynctimerchan": "asynctimerchan=", "#hidden": "hidden="} {
		s := New(name)
		s.IncNonDefault()
		if s.Value() != "" || s.String() != want || s.Undocumented() != (name[0] == '#') {
			t.Errorf("%s: %q %q %v", name, s.Value(), s.String(), s.Undocumented())
		}
	}
}
