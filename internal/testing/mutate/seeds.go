package mutate

import (
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// MaxSeed is the maximum size of a seed in bytes. In larger files, an edit changes relatively less.
const MaxSeed = 8 << 10

// minSeed is larger than a stream header and an end.
const minSeed = 200

// Traces returns small traces of all versions, which are excerpts of those in testdata.
func Traces(tb testing.TB) (seeds []*Seed) {
	tb.Helper()
	cuts := []Cut{
		{PerType: 1, Bytes: 1200, Frames: 10},
		{PerType: 3, Skip: 40, Bytes: 2000, Frames: 6},
		{PerType: 8, Skip: 200, Bytes: 600, Frames: 3},
	}
	for _, f := range corpus.Traces(tb) {
		for _, c := range cuts {
			data, err := c.Of(f.Data)
			if err != nil {
				tb.Fatalf("%s: %v", f.Name, err)
			}
			if len(data) >= minSeed && len(data) <= MaxSeed {
				seeds = append(seeds, &Seed{Name: f.Name, Form: Trace, Data: data})
			}
		}
	}
	return seeds
}
