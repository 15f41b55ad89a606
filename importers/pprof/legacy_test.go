package pprof_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
)

// The library compares each address of an older profile with each mapping, so a profile with many of both is rejected.
func TestLookupLimit(t *testing.T) {
	legacy := func(n int) []byte {
		var b bytes.Buffer
		b.WriteString("heap profile: 1: 1 [1: 1] @ heap/1048576\n")
		for i := range n {
			fmt.Fprintf(&b, "1: 1 [1: 1] @ %#x\n", i+1)
		}
		b.WriteString("\nMAPPED_LIBRARIES:\n")
		for i := range n {
			fmt.Fprintf(&b, "%x-%x r-xp 0 0:0 0 /a\n", i, i+1)
		}
		return b.Bytes()
	}
	if _, err := pprof.New(bytes.NewReader(legacy(1000)), nil); err != nil {
		t.Error(err)
	}
	_, err := pprof.New(bytes.NewReader(legacy(33_000)), nil)
	var limit *ntconv.LimitError
	if !errors.As(err, &limit) || limit.Limit != pprof.LimitLookups || limit.Asked < 33_000*33_000 {
		t.Errorf("error %v, want that of a limit of %s", err, pprof.LimitLookups)
	}
}
