package writer_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/writer"
)

// TestLateTypes checks that traces with metadata rows after their events are written without loss in both orders.
func TestLateTypes(t *testing.T) {
	for seed := range uint64(20) {
		for _, v := range []wire.Version{wire.V4, wire.V6} {
			if err := checkRewriting(tracegen.Late{Version: v, Seed: seed}.Build(), &writer.Options{}); err != nil {
				t.Errorf("seed %d, version %d: %v", seed, v, err)
			}
		}
	}
}
