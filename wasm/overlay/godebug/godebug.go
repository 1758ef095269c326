// Package godebug stands in for the standard library's internal/godebug in the
// modules that build.sh makes, by go build -overlay. A browser sets no GODEBUG,
// and the real package links the runtime's metrics: 39 KB gzip of the module.
// Every setting has its default.
package godebug

// A Setting is one setting of GODEBUG, at its default.
type Setting struct{ name string }

// New returns the setting of that name; a leading # marks one without a metric.
func New(name string) *Setting { return &Setting{name} }

// Name returns the setting's name, without a leading #.
func (s *Setting) Name() string {
	if s.Undocumented() {
		return s.name[1:]
	}
	return s.name
}

// Undocumented reports whether the setting was made with a leading #.
func (s *Setting) Undocumented() bool { return s.name != "" && s.name[0] == '#' }

// String returns name=value.
func (s *Setting) String() string { return s.Name() + "=" }

// IncNonDefault would count a use of another value than the default.
func (s *Setting) IncNonDefault() {}

// Value returns the empty string, which means the default.
func (s *Setting) Value() string { return "" }
