package proxy

import (
	"encoding/json"
	"os"
	"testing"
)

// The table is that of registry/endpoint, which decides for metadata of sign-in.
func TestNetworks(t *testing.T) {
	text, err := os.ReadFile("../../testdata/endpoints/networks.json")
	if err != nil {
		t.Fatal(err)
	}
	var hosts map[string][]string
	if err := json.Unmarshal(text, &hosts); err != nil {
		t.Fatal(err)
	}
	for network, list := range hosts {
		for _, text := range list {
			host, ip, ok := parseHost(text)
			refused := !ok || ip.IsValid() && addressRefusal(ip) != nil || !ip.IsValid() && isLocal(host)
			if refused != (network != "public") {
				t.Errorf("%s host %q: refused %v (%q, %v, %v)", network, text, refused, host, ip, ok)
			}
		}
	}
}
