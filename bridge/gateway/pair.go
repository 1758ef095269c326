package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

const (
	pairTime = 3 * time.Minute // for the person

	maxSockets = 10 // that pages have open to be paired
)

// servePair pairs the page that opens this WebSocket (handshake). Its token is the key
// that both sides agree on, as base64url. A page of any origin may ask, because pages that
// are not admitted cannot read a response of HTTP.
func (g *Gateway) servePair(w http.ResponseWriter, req *http.Request) {
	origin, _, denied := loopback.SingleHeader(req, "Origin")
	if denied == nil && !validOrigin(origin) {
		denied = loopback.Deny(http.StatusForbidden, "only pages and extensions can be paired")
	}
	if denied == nil && !g.mayAsk("") {
		denied = loopback.Deny(http.StatusTooManyRequests, "too many requests in a second")
	}
	if denied != nil {
		denied.Write(w)
		return
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		loopback.Deny(http.StatusServiceUnavailable, "too many pages want to be paired").Write(w)
		return
	}
	g.sockets.Add(1)
	defer g.sockets.Done()
	ws, below, err := loopback.Upgrade(w, req)
	if err != nil {
		return
	}
	c := socket.New(ws, below, socket.Limits{Frame: handshake.MaxMessage, Depth: 4, PerSecond: 10})
	defer c.Close()
	ctx, cancel := context.WithTimeout(req.Context(), pairTime)
	defer cancel()
	err = g.pair(ctx, c, req, origin)
	refusal, refused := errors.AsType[*handshake.Refusal](err)
	switch {
	case err == nil:
		c.CloseWith(websocket.StatusNormalClosure, "paired")
	case refused:
		g.opts.Logger.Info("a pairing was refused", "origin", origin, "reason", refusal.Error())
		handshake.Refuse(req.Context(), c, err)
		c.CloseWith(websocket.StatusPolicyViolation, refusal.Code)
	}
}

func refuse(code, message string) error { return &handshake.Refusal{Code: code, Message: message} }

// pair runs one attempt. There is one at a time, and an origin whose attempts failed has
// to wait.
func (g *Gateway) pair(ctx context.Context, c *socket.Conn, req *http.Request, origin string) error {
	first, err := handshake.First(ctx, c)
	if err != nil {
		return err
	}
	if !loopback.IsDialled(first.Address, req) {
		return refuse(handshake.CodeWrongTarget, "the address that was dialled is not this gateway's")
	}
	if g.opts.Pair == nil {
		return refuse(handshake.CodeNotPairing, "this gateway has no terminal: start it with --allow "+origin)
	}
	// All origins share a limit, so that pages cannot take turns to fill the terminal.
	for _, name := range []string{"pair " + origin, "pair"} {
		if wait := g.wrong.Wait(name, time.Now()); wait > 0 {
			return refuse(handshake.CodeTooMany, "too many attempts failed; try again in "+wait.Round(time.Second).String())
		}
	}
	select {
	case g.pairing <- struct{}{}:
		defer func() { <-g.pairing }()
	default:
		return refuse(handshake.CodeTooMany, "another page is being paired")
	}
	profile := handshake.Profile{InstallID: first.InstallID, Label: first.Label, Origin: origin, Address: first.Address}
	err = handshake.AcceptPair(ctx, c, first, profile,
		func(ctx context.Context, digits string, confirmed <-chan struct{}) error {
			return g.opts.Pair(ctx, origin, digits, confirmed)
		},
		func(key []byte) error {
			err := g.origins.change(func(all *grants) error {
				all.add(origin, tokenOf(key))
				return nil
			})
			if g.opts.Paired != nil {
				g.opts.Paired(origin, err)
			}
			return err
		})
	for _, name := range []string{"pair " + origin, "pair"} {
		if err != nil {
			g.wrong.Fail(name, time.Now())
		} else {
			g.wrong.Reset(name)
		}
	}
	return err
}
