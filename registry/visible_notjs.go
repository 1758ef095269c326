//go:build !js

package registry

// visible is a text without hidden characters.
func visible(s string) string {
	s, _ = Clean(s)
	return s
}
