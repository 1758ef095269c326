//go:build !js

package proxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDialSeesTheConnectedAddress(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "::ffff:127.0.0.1"} {
		address := net.JoinHostPort(host, port)
		_, err := Transport(false).DialContext(context.Background(), "tcp4", address)
		var refused *addressError
		if !errors.As(err, &refused) || refused.code != "address_loopback" {
			t.Errorf("%s: %v, want address_loopback", address, err)
		}
		conn, err := Transport(true).DialContext(context.Background(), "tcp4", address)
		if err != nil {
			t.Errorf("%s, private: %v", address, err)
			continue
		}
		conn.Close()
	}
}

func TestDialChecksEachAddress(t *testing.T) {
	for address, want := range map[string]string{
		"[fe80::1%eth0]:443":  "address_link_local",
		"169.254.169.254:80":  "address_metadata",
		"[::ffff:8.8.8.8]:80": "address_mapped",
		"/run/docker.sock":    "address_reserved",
		"8.8.8.8:443":         "",
		"[2606:4700::1]:443":  "",
	} {
		var refused *addressError
		if err := publicOnly("tcp", address, nil); errors.As(err, &refused) != (want != "") || want != "" &&
			refused.code != want {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestFaultsOfHTTPS checks that a bad certificate and a port without TLS are different faults.
func TestFaultsOfHTTPS(t *testing.T) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	for url, want := range map[string]string{
		"https://" + plain.Listener.Addr().String(): "not_https",
		secure.URL: "tls",
	} {
		req, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Transport(true).RoundTrip(req)
		if got := faultOf(err); got != want || faults[got].code != want {
			t.Errorf("%s: %q (%v), want %q", url, got, err, want)
		}
	}
}
