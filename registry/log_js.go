package registry

// log does nothing in a browser: log/slog would add 165 KB to the module, and
// subscribers hear of the same changes.
func (r *Registry) log(string, ...any) {}
