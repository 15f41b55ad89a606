package perf

import (
	"fmt"
	"testing"
)

// The cache of lines has a bound regardless of the number of lines, and a line that was just added is found.
func TestCacheBound(t *testing.T) {
	var c lineCache
	for i := range uint32(200_000) {
		line := fmt.Appendf(nil, "%x work (/opt/shop)", i)
		c.add(line, i)
		if got, ok := c.find(line); !ok || got != i {
			t.Fatalf("line %d: %d, %t", i, got, ok)
		}
		if n := c.lines.Len(); n != len(c.frames) || n*lineBytes > maxCached {
			t.Fatalf("line %d: %d lines and %d frames", i, n, len(c.frames))
		}
	}
}
