package split_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/internal/trace/split"
	"pgregory.net/rapid"
)

// A subset without symbols contains the selected events, and its marks contain only threads with an event in it.
func TestSubsetOfGeneratedTraces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		n, modulus := 0, rapid.IntRange(1, 4).Draw(t, "modulus")
		want := int64(0)
		f := split.NewFilter(split.FilterOptions{})
		src := f.Source(ntconv.Filter(tr.Source(), func(e *ntconv.Event) bool {
			n++
			selected := e.Kind == ntconv.KindMark || n%modulus == 0
			if e.Kind == ntconv.KindEvent && selected {
				want++
			}
			return f.Keep(e, selected)
		}))
		got := int64(0)
		used := map[*ntconv.Thread]bool{}
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Kind {
			case ntconv.KindEvent:
				got++
				used[e.Capture] = true
			case ntconv.KindLost:
				used[e.Capture] = true
			case ntconv.KindDefine:
				t.Fatal("a definition in a subset, where definitions follow use")
			case ntconv.KindMark:
				for _, th := range e.Mark.Threads {
					if !used[th.Thread] {
						t.Fatalf("a mark mentions thread %v, which has no event", th.Thread)
					}
				}
			}
		}
		if got != want || f.Counts() != (split.FilterCounts{Selected: want, Opaque: f.Counts().Opaque}) {
			t.Fatalf("%d events and counts %+v, want %d", got, f.Counts(), want)
		}
	})
}
