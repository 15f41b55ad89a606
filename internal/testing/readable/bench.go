package readable

import (
	"testing"

	"github.com/ntconv/ntconv"
)

// Bench measures a source, which open opens, per event. size is the size of its input in bytes.
func Bench(b *testing.B, size int, open func() (ntconv.Source, error)) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		src, err := open()
		Must(b, err)
		events = 0
		for _, err := range ntconv.Events(src) {
			Must(b, err)
			events++
		}
		Must(b, Close(src))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
