//go:build race

package farm_test

import "regexp"

// Under the race detector all is several times slower; cases of mere weight are left out.
const slowness = 4

var leftOut = regexp.MustCompile(`MB|million|0,000|bomb|resumed`)
