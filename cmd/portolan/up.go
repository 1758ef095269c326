package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/portolan-mcp/portolan/bridge/loopback"
	corsproxy "github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

// up serves the demo page, the package that the page loads, and a demo MCP server, until
// ctx ends. With --check it drives the page once in a browser instead, and ends with
// that program's exit code.
func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("up")
	listen := flags.String("listen", "", "")
	var origins []string
	listFlag(flags, &origins, "origin")
	check := flags.Bool("check", false, "")
	root := flags.String("root", "", "")
	if err := parseAll(flags, args); err != nil {
		return err
	}
	if *listen != "" {
		if err := loopbackOnly("--listen", *listen); err != nil {
			return err
		}
	}
	if *root == "" {
		index, err := findUpward(filepath.Join("dist", "demo", "index.html"))
		if err != nil {
			return errors.New("there is no dist/demo here; run ./build.sh web first")
		}
		*root = filepath.Dir(index)
	}
	if _, err := os.ReadDir(*root); err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	// Pages reach the plain server only through the proxy: it has another origin and
	// sends no CORS headers.
	// Apps of tools run on an origin of their own, for which another port is enough.
	var listeners [4]net.Listener
	for i, usual := range usualAddresses {
		l, err := listenNear(*listen, usual, i)
		if err != nil {
			return err
		}
		defer l.Close()
		listeners[i] = l
	}
	main, plain, through, apps := listeners[0], listeners[1], listeners[2], listeners[3]
	policy, err := corsproxy.New(corsproxy.Config{
		Origins: append(origins, "http://"+main.Addr().String()), Hosts: []string{"*"}, HTTP: true, Private: true,
		BindingKeys: []string{rand.Text()},
	})
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	settings := pageSettings{
		Proxy: "http://" + through.Addr().String() + "/?url={href}", Plain: "http://" + plain.Addr().String() + "/mcp",
		Sandbox: "http://" + apps.Addr().String() + "/apps-sandbox.html",
	}
	served := make(chan error, 4)
	stop := []func() error{
		serve(ctx, main, site(os.DirFS(*root), settings), served),
		serve(ctx, plain, demoHandler(), served),
		serve(ctx, apps, sandbox(os.DirFS(*root)), served),
		serve(ctx, through, policy.Handler(corsproxy.Transport(true)), served),
	}
	url := "http://" + main.Addr().String() + "/"
	fmt.Fprintf(stdout, "Portolan is at %s\nA demo server is at %smcp\n"+
		"A demo server without CORS is at %s, and the proxy for it at http://%s/\n", url, url, settings.Plain, through.Addr())

	if *check {
		err = runCheck(ctx, url, stdout, stderr)
	} else {
		select {
		case err = <-served:
		case <-ctx.Done():
		}
	}
	for _, end := range stop {
		err = errors.Join(err, end())
	}
	return err
}

// usualAddresses are those of the page, the server without CORS, the proxy, and apps. The
// documentation has them.
var usualAddresses = [...]string{"127.0.0.1:8640", "127.0.0.1:8641", "127.0.0.1:8642", "127.0.0.1:8643"}

// listenNear listens at the usual address, or on any port if another program has that one.
// The page is at chosen instead if that is not empty, and the others at any port then.
func listenNear(chosen, usual string, i int) (net.Listener, error) {
	switch {
	case chosen != "" && i == 0:
		return net.Listen("tcp", chosen)
	case chosen == "":
		if l, err := net.Listen("tcp", usual); err == nil {
			return l, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// serve serves on a listener until the returned function is called. If the server ends
// by itself, served receives the error.
func serve(ctx context.Context, l net.Listener, handler http.Handler, served chan<- error) (stop func() error) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		// Streams have no time limit. They end with the server.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			served <- err
		}
	}()
	return func() error { return loopback.Shutdown(server) }
}

// hostOf returns the host of an address at which to listen.
func hostOf(name, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s: %v", errUsage, name, err)
	}
	return host, nil
}

// loopbackOnly refuses addresses that other machines could reach. The demo server has
// no authentication.
func loopbackOnly(name, address string) error {
	host, err := hostOf(name, address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%w: %s: %s is not a loopback address", errUsage, name, host)
	}
	return nil
}

// runCheck drives the page at url in a browser.
func runCheck(ctx context.Context, url string, stdout, stderr io.Writer) error {
	script, err := findUpward(filepath.Join("web", "demo", "check.mjs"))
	if err != nil {
		return errors.New("--check needs the repository: there is no web/demo/check.mjs")
	}
	repository := filepath.Dir(filepath.Dir(filepath.Dir(script)))
	node := filepath.Join(repository, "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.CommandContext(ctx, node, script, url)
	cmd.Dir, cmd.Stdout, cmd.Stderr = repository, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exitCode(exit.ExitCode())
	}
	return err
}

// findUpward looks for path in the working directory and the directories above it,
// then beside the binary and above that.
func findUpward(path string) (string, error) {
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, dir := range starts {
		for {
			candidate := filepath.Join(dir, path)
			if _, err := os.Stat(candidate); err == nil {
				return candidate, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", fmt.Errorf("find %s: %w", path, os.ErrNotExist)
}
