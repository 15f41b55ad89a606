package timeline_test

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A slice of a compilation has the name of the method that was compiled: the program of the trace lists the methods
// that it compiled on purpose.
func TestCompilationsAreNamed(t *testing.T) {
	names := map[string]int{}
	for _, it := range collect(t, build(t, corpus.Trace(t, "jit").Data, nil)) {
		if it.Kind == timeline.SliceBegin && it.Category == timeline.CategoryJIT {
			names[it.Name]++
			if name, ok := strings.CutPrefix(it.Name, "JIT "); ok && (name == "" || strings.HasSuffix(name, ")")) || it.Name == "JIT" {
				t.Errorf("a slice has the name %q", it.Name)
			}
		}
	}
	// Hot is compiled again for higher tiers.
	for name, least := range map[string]int{"Shop.Jit.Hot": 2, "Shop.Jit.Full": 1, "Shop.Jit.None": 1, "Shop.Jit.Loop": 1} {
		if got := names["JIT "+name]; got < least {
			t.Errorf("%d compilations of %s, want at least %d", got, name, least)
		}
	}
}
