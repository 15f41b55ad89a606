package profile_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// The intervals of a trace are those that its parts have, each read alone, and those that the division cuts.
func TestDivision(t *testing.T) {
	all := uint64(0)
	for _, f := range corpus.Traces(t) {
		src, err := reader.NewBytes(f.Data, nil)
		if err != nil {
			continue // TestCorpus of package reader tells
		}
		info, total := src.Info(), [sample.Count]uint64{}
		count := func(of *[sample.Count]uint64) *profile.Stream[struct{}] {
			return profile.NewStream(info, func(w *profile.Weighed[struct{}]) {
				if w.Source == 0 { // begin and end are known
					of[w.Kind] += w.Count
				}
			}, &profile.StreamOptions{Kinds: []sample.Kind{sample.GC, sample.JIT, sample.TypeLoad, sample.Contention, sample.Wait}})
		}
		whole, division := count(&total), profile.NewDivision(info)
		var inParts [sample.Count]uint64
		part, stream := -1, (*profile.Stream[struct{}])(nil)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				break
			}
			if n := int(info.Clock.Nanos(e.Time) / 2e6); e.Kind == ntconv.KindEvent && n > part {
				part = n
				if stream != nil {
					stream.Finish()
				}
				stream = count(&inParts)
			}
			whole.Add(e, struct{}{})
			division.Add(e, part)
			if stream != nil {
				stream.Add(e, struct{}{})
			}
		}
		if stream == nil {
			continue
		}
		whole.Finish()
		stream.Finish()
		cut := division.Cut()
		for k, n := range total {
			all += cut[k]
			sum := inParts[k] + cut[k]
			if sample.Kind(k) == sample.GC && inParts[k] <= n { // a collection of which only the pause is cut is also in its part
				sum = min(sum, n)
			}
			if n != sum && (n > 0 || inParts[k] > 0) {
				t.Errorf("%s: %d intervals of kind %v, %d in %d parts and %d cut", f.Name, n, sample.Kind(k), inParts[k], part, cut[k])
			}
		}
	}
	if all < 10 {
		t.Errorf("%d intervals are cut, which shows nothing", all)
	}
}
