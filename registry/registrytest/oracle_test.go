package registrytest_test

import (
	"testing"

	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// TestOracle runs the groups that are about the protocol alone. The others ask for what
// the official client leaves to its host: bounds, typed errors, falling back to HTTP+SSE,
// dropping single tools, digits of large integers, expiry and prompt closing. It hands
// progress to a goroutine that a call does not wait for.
func TestOracle(t *testing.T) {
	registrytest.RunSessionSuite(t, registrytest.Oracle, "Versions", "Cancel", "Requests", "Offers", "Following", "Older")
}
