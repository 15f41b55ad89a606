package legacy_test

import (
	"testing"

	"github.com/ntconv/ntconv/internal/testing/wiretest"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// benchTraces lists traces with small events on many threads, with small events on few threads, and with large
// payloads.
var benchTraces = []string{
	"nettrace/perfview-dotnetcore3.0-win-x64.nettrace", "nettrace/perfview-only-managed-samples.nettrace", "nettrace/roslyn-compile-net10.nettrace",
	"nettrace/perfview-heartratemonitor-arm32.nettrace",
}

// BenchmarkPlainLoop is the reference for all code that reads events: it decodes the compressed headers of a version 4
// file in file order, with a decoder that trusts its input and resolves nothing. The cost of a reader is a ratio to
// this benchmark on the same machine and file.
func BenchmarkPlainLoop(b *testing.B) {
	for _, name := range benchTraces {
		b.Run(name, func(b *testing.B) { wiretest.BenchEvents(b, name, plain) })
	}
}

// BenchmarkCompressed is the same loop with ParseCompressed.
func BenchmarkCompressed(b *testing.B) {
	for _, name := range benchTraces {
		b.Run(name, func(b *testing.B) { wiretest.BenchEvents(b, name, legacy.ParseCompressed) })
	}
}

// plain decodes a compressed header without checking the end of the input.
func plain(b []byte, h *wire.EventHeader) int {
	i := 1
	number := func() (v uint64) {
		for shift := 0; ; shift += 7 {
			c := b[i]
			i++
			v |= uint64(c&0x7f) << (shift & 63)
			if c < 0x80 {
				return v
			}
		}
	}
	flags := b[0]
	h.Sorted = flags&wire.IsSorted != 0
	if flags&wire.HasMetadataID != 0 {
		h.MetadataID = uint32(number())
	}
	if flags&wire.HasCapture != 0 {
		h.Sequence += uint32(number()) + 1
		h.CaptureThread = number()
		h.CPU = uint32(number())
	} else if h.MetadataID != 0 {
		h.Sequence++
	}
	if flags&wire.HasThread != 0 {
		h.Thread = number()
	}
	if flags&wire.HasStackID != 0 {
		h.StackID = uint32(number())
	}
	h.Time += number()
	if flags&wire.HasActivity != 0 {
		i += copy(h.Activity[:], b[i:])
	}
	if flags&wire.HasRelated != 0 {
		i += copy(h.Related[:], b[i:])
	}
	if flags&wire.HasPayloadSize != 0 {
		h.PayloadSize = uint32(number())
	}
	return i
}

// TestPlainLoop checks that plain and ParseCompressed decode the same headers.
func TestPlainLoop(t *testing.T) {
	for _, events := range wiretest.Events(t, benchTraces[0]) {
		var fast, slow wire.EventHeader
		for len(events) > 0 {
			n := legacy.ParseCompressed(events, &fast)
			m := plain(events, &slow)
			slow.Flags = fast.Flags
			if n <= 0 || n != m || fast != slow {
				t.Fatalf("%d: %+v, plain %d: %+v", n, fast, m, slow)
			}
			events = events[n+int(fast.PayloadSize):]
		}
	}
}
