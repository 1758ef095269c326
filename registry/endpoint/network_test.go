package endpoint

import (
	"encoding/json"
	"os"
	"testing"
)

func TestNetworkOf(t *testing.T) {
	text, err := os.ReadFile("../../testdata/endpoints/networks.json")
	if err != nil {
		t.Fatal(err)
	}
	var hosts map[string][]string
	if err := json.Unmarshal(text, &hosts); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Network{"public": Public, "private": Private, "loopback": Loopback, "misread": Private} {
		if len(hosts[name]) == 0 {
			t.Errorf("no hosts are %s", name)
		}
		for _, host := range hosts[name] {
			if got := NetworkOf(host); got != want {
				t.Errorf("NetworkOf(%q) = %d, want %d", host, got, want)
			}
		}
	}
}

func FuzzNetworkOf(f *testing.F) {
	f.Add("[::1]")
	f.Add("127.0.0.1")
	f.Fuzz(func(_ *testing.T, host string) { NetworkOf(host) })
}
