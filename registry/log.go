//go:build !js

package registry

import (
	"context"
	"log/slog"
)

// Logger is what [Options.Logger] takes.
type Logger = *slog.Logger

// log writes one debug record. Names and errors only: no headers, arguments or results.
func (r *Registry) log(msg string, args ...any) {
	if r.opts.Logger != nil {
		r.opts.Logger.DebugContext(context.Background(), msg, args...)
	}
}
