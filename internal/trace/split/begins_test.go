package split_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// addTotals adds the number of samples and the values of the profiles of a trace, by kind.
func addTotals(src ntconv.Source, kinds []sample.Kind, into map[string]int64) {
	var list []*profile.Builder
	for _, k := range kinds {
		list = append(list, profile.New(src.Info(), symbol.New(nil), &profile.Options{Kind: k}))
	}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		for _, b := range list {
			b.Add(e)
		}
	}
	for i, b := range list {
		for s := range b.Finish().Samples() {
			for column, v := range s.Values {
				into[fmt.Sprint(kinds[i], "/", column)] += v
			}
		}
	}
}

// The waits, collections, compilations, tasks and other intervals of all windows are those of the trace, also those that begin
// in one window and end in another. Estimated numbers of objects are rounded in each window. The own time of a span lacks
// that of its children only if they ended in the same window.
func TestWindowsHaveIntervals(t *testing.T) {
	kinds := slices.DeleteFunc(sample.All(), func(k sample.Kind) bool {
		return k == sample.Wall || k == sample.Events // see TestWindowsAddUp; windows have events of their own
	})
	crossing, compared := 0, map[string]bool{}
	for i, tr := range corpus.Traces(t) {
		if corpus.IsOmitted(i, 3) {
			continue
		}
		for _, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
			open := readTrace(tr.Data, order)
			length := traceLength(open(t))
			if length < time.Millisecond {
				continue
			}
			t.Run(fmt.Sprint(tr.Name, "/", order), func(t *testing.T) {
				whole, sums := map[string]int64{}, map[string]int64{}
				addTotals(readTrace(tr.Data, reader.ByTime)(t), kinds, whole)
				built := windows(t, open(t), nil, max(time.Millisecond, length/13))
				for _, b := range built {
					part := readTrace(b.Bytes(), reader.ByTime)
					addTotals(part(t), kinds, sums)
					for e, err := range ntconv.Events(part(t)) {
						if err == nil && e.Kind == ntconv.KindEvent && e.Time < b.Begin {
							crossing++
						}
					}
				}
				for _, totals := range []map[string]int64{sums, whole} {
					delete(totals, "slices/1")
				}
				objects := func(totals map[string]int64) (n int64) { n = totals["alloc/0"]; delete(totals, "alloc/0"); return n }
				if a, b := objects(sums), objects(whole); max(a-b, b-a) > int64(len(built)) {
					t.Errorf("windows have %d objects, want %d", a, b)
				}
				if !maps.Equal(sums, whole) {
					t.Errorf("windows have %v, want %v", sums, whole)
				}
				for kind := range whole {
					compared[kind] = true
				}
			})
		}
	}
	if crossing == 0 || len(compared) < 5 || corpus.Nightly() && len(compared) < 8 {
		t.Errorf("%d events are in a later window, %v were compared", crossing, compared)
	}
}
