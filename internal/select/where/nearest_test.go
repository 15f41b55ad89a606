package where

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"ExceptionThrown", "exceptionthrow", "ExceptionCatchStart", "GCStart", "GCEnd", "GCStart"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"ExceptionThrow", []string{"exceptionthrow", "ExceptionThrown"}},
		{"GCStrat", []string{"GCStart"}},
		{"GC", nil},
		{"Contention", nil},
	} {
		if got := Nearest(c.word, names, 3); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}
