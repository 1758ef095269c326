package registry_test

import (
	"testing"

	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func TestMain(m *testing.M) { registrytest.Main(m) }
