//go:build js

package membuf

// calm says that the export under way leaves no goroutine that should run at once.
var calm bool

// Calm tells JavaScript, when the export under way returns, that it need not
// resume the module for it; it will before long, for timers. Resuming costs more
// than all the rest of a crossing.
func Calm() { calm = true }

// Calmed reports, once, whether Calm was called: 1 or 0, for an export to return.
func Calmed() int32 {
	if !calm {
		return 0
	}
	calm = false
	return 1
}
