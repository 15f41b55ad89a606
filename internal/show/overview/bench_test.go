package overview_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// copies returns copies of the events of a trace.
func copies(tb testing.TB, name string) (*ntconv.Info, []*ntconv.Event) {
	tb.Helper()
	src, err := reader.NewBytes(corpus.Trace(tb, name).Data, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var list []*ntconv.Event
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, e.Clone())
	}
	return src.Info(), list
}

// Events of known types, threads and names allocate nothing.
func TestAllocations(t *testing.T) {
	for _, name := range []string{"cpu-env", "waits", "exceptions", "alloc-verbose"} {
		info, list := copies(t, name)
		s := overview.New(info, overview.Options{})
		shift := ntconv.Ticks(0)
		last := list[len(list)-1].Time - list[0].Time + 1
		c := new(ntconv.Event)
		write := func() {
			for _, e := range list {
				*c = *e
				c.Time += shift
				if err := s.Write(c); err != nil {
					t.Fatal(err)
				}
			}
			shift += last
		}
		for range 5 {
			write()
		}
		if n := testing.AllocsPerRun(5, write) / float64(len(list)); n > 0.02 {
			t.Errorf("%s: %.3f allocations per event", name, n)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"cpu-env", "waits", "alloc-verbose"} {
		b.Run(name, func(b *testing.B) {
			info, list := copies(b, name)
			b.ReportAllocs()
			for n := 0; n < b.N; {
				s := overview.New(info, overview.Options{})
				for _, e := range list {
					if n++; n > b.N {
						break
					}
					_ = s.Write(e) // it returns no error
				}
			}
		})
	}
}
