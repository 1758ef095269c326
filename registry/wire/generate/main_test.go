package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedFileIsFresh(t *testing.T) {
	got, err := os.ReadFile("../" + output)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(typescript()), string(got)); diff != "" {
		t.Errorf("run go generate ./registry/wire (-want +got):\n%s", diff)
	}
}
