//go:build !js

package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// probe sends the probes of a diagnosis.
func (x *exchange) probe() []Finding {
	ctx, cancel := context.WithTimeout(x.r.Context(), x.d.FirstByte)
	defer cancel()
	findings := make([]Finding, len(x.d.Probes))
	var all sync.WaitGroup
	for i, probe := range x.d.Probes {
		all.Go(func() {
			defer func() {
				if recover() != nil {
					findings[i] = Finding{Fault: "unreachable"}
				}
			}()
			findings[i] = x.probeOnce(ctx, probe)
		})
	}
	all.Wait()
	return findings
}

func (x *exchange) probeOnce(ctx context.Context, probe Probe) Finding {
	req, err := http.NewRequestWithContext(ctx, probe.Method, probe.URL, bytes.NewReader(probe.Body))
	if err != nil {
		return Finding{Fault: "unreachable"}
	}
	for _, h := range probe.Header {
		req.Header.Set(h.Name, h.Value)
	}
	res, err := x.upstream.RoundTrip(req)
	if err != nil {
		return Finding{Fault: faultOf(err)}
	}
	res.Body.Close()
	return Finding{Status: res.StatusCode, Header: pairs(res.Header, res.ContentLength)}
}

func faultOf(err error) string {
	var dns *net.DNSError
	var address *addressError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &address):
		return "address"
	case errors.As(err, &dns):
		return "dns"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "not_https"
	case errors.As(err, &certificate), errors.As(err, &alert):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "unreachable"
}
