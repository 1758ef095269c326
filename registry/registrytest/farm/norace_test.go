//go:build !race

package farm_test

import "regexp"

const slowness = 1

var leftOut = regexp.MustCompile(`^$`)
