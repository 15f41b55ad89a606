package profile_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// pairedKinds are the kinds that are computed from pairs of events of the runtime and the framework.
func pairedKinds() (list []sample.Kind) {
	for _, c := range cycles() {
		list = append(list, c.kind)
	}
	return list
}

// The time of a type that is loaded while another one is loaded belongs to it alone, also if both have the same name,
// and if the outer load ends first because the trace lacks the end of the inner one.
func TestNestedLoads(t *testing.T) {
	start, stop := runtimeType(73, 0), runtimeType(74, 0)
	type load struct {
		begin  bool
		id     uint32
		thread int
		name   string
	}
	for _, c := range []struct {
		name     string
		loads    []load
		want     []string
		unpaired uint64
	}{
		{"nested", []load{{true, 1, 0, ""}, {true, 2, 0, ""}, {true, 3, 0, ""}, {false, 3, 0, "C"}, {false, 2, 0, "B"}, {false, 1, 0, "A"}},
			[]string{"[1 1000] type=C level=4", "[1 2000] type=A level=4", "[1 2000] type=B level=4"}, 0},
		{"recursive", []load{{true, 1, 0, ""}, {true, 1, 0, ""}, {false, 1, 0, "A"}, {false, 1, 0, "A"}}, []string{"[2 3000] type=A level=4"}, 0},
		{"two after each other", []load{{true, 1, 0, ""}, {true, 2, 0, ""}, {false, 2, 0, "A"}, {true, 3, 0, ""}, {false, 3, 0, "A"}, {false, 1, 0, "A"}},
			[]string{"[3 5000] type=A level=4"}, 0},
		{"other thread", []load{{true, 1, 0, ""}, {true, 2, 1, ""}, {false, 2, 1, "A"}, {false, 1, 0, "A"}}, []string{"[1 1000] type=A level=4", "[1 3000] type=A level=4"}, 0},
		{"inner end is missing", []load{{true, 1, 0, ""}, {true, 2, 0, ""}, {false, 1, 0, "A"}}, []string{"[1 2000] type=A level=4"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, p := new(ntconv.Report), newPlayer()
			b := profile.New(testInfo(), nil, &profile.Options{
				Kind: sample.TypeLoad, Report: report, KindOptions: sample.KindOptions{SubjectAs: sample.SubjectLabel},
			})
			for _, l := range c.loads {
				s := step{start, l.thread, fields(l.id, uint16(0)), false}
				if !l.begin {
					s.typ, s.payload = stop, fields(l.id, uint16(0), uint16(4), uint64(1), l.name)
				}
				b.Add(p.event(&s))
			}
			got := samplesOf(b.Finish())
			slices.Sort(got)
			if n := report.Count(ntconv.CodeUnpaired); !slices.Equal(got, c.want) || n != c.unpaired {
				t.Errorf("%q, want %q; %d unpaired", got, c.want, n)
			}
		})
	}
}

// A profile of a trace in file order is the one in time order, or OrderMatters reports that it may differ.
func TestOrderOfRealPairs(t *testing.T) {
	same, matters := 0, 0
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		for _, name := range []string{"own/async-tpl", "own/waits", "own/net-http", "own/jit", "own/alloc-sampled", "nettrace/diagnostics-truncated"} {
			files = append(files, corpus.SharedTrace(t, name))
		}
	}
	for _, f := range files {
		for _, k := range pairedKinds() {
			var profiles [2][]string
			reported := false
			for i, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
				src := open(t, f.Data, order)
				b := profile.New(src.Info(), nil, &profile.Options{Kind: k})
				for e, err := range ntconv.Events(src) {
					if err == nil {
						b.Add(e)
					}
				}
				reported = b.OrderMatters()
				profiles[i] = samplesOf(b.Finish())
				slices.Sort(profiles[i])
			}
			switch {
			case slices.Equal(profiles[0], profiles[1]):
				if len(profiles[0]) > 0 {
					same++
				}
			case reported:
				matters++
			default:
				t.Errorf("%s, %v: %q in time order, %q in file order", f.Name, k, profiles[0], profiles[1])
			}
		}
	}
	if t.Log(same, "equal,", matters, "reported"); same == 0 {
		t.Error("no profile was compared")
	}
}
