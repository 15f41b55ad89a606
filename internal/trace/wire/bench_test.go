package wire_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// BenchmarkCompressed decodes the event headers of version 6 files. Compare it with BenchmarkPlainLoop in package
// legacy.
func BenchmarkCompressed(b *testing.B) {
	parse := func(b []byte, h *wire.EventHeader) int { return h.ParseCompressed(b) }
	for _, name := range []string{"nettrace/onecollect-3windows-v6.nettrace", "nettrace/roslyn-compile-v6.nettrace"} {
		b.Run(name, func(b *testing.B) { wiretest.BenchEvents(b, name, parse) })
	}
}
