package profile_test

import (
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

// TestImportedUnion adds up samples of profiles with different sample types: each keeps its values, also those that were
// added before the other profile began. Separate keeps them apart.
func TestImportedUnion(t *testing.T) {
	cpu, heap := sample.Type{Type: "cpu", Unit: "nanoseconds"}, sample.Type{Type: "heap", Unit: "bytes"}
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	stack := &ntconv.Stack{Frames: []ntconv.Frame{{Func: &ntconv.Function{Name: "Main"}}}}
	add := func(b *profile.Builder, at ntconv.Ticks, s *imported.Samples, values ...int64) {
		e := s.Event(&imported.Sample{Time: at, Thread: thread, Stack: stack, Values: values})
		b.Watch(e)
		b.Add(e)
	}
	build := func(separate bool) *profile.Profile {
		samplesOf := func(types ...sample.Type) *imported.Samples {
			o := &imported.Origin{Columns: imported.Columns{Types: types}}
			w := imported.NewWeight(0, types[0].Unit)
			w.Choose()
			s := imported.NewSamples("test", o, w, time.Time{}, nil)
			return &s
		}
		first, second := samplesOf(cpu), samplesOf(heap, cpu)
		b := profile.New(first.Info(), nil, &profile.Options{Kind: sample.Imported})
		if separate {
			b.Separate()
		}
		add(b, 1, first, 5)
		add(b, 2, second, 100, 7)
		add(b, 3, first, 1)
		return b.Finish()
	}
	for _, tt := range []struct {
		separate bool
		want     [][3]int64 // source, cpu and heap of each sample
	}{{false, [][3]int64{{0, 13, 100}}}, {true, [][3]int64{{0, 6, 0}, {1, 7, 100}}}} {
		p := build(tt.separate)
		if len(p.Types) != 2 || p.Types[0] != cpu || p.Types[1] != heap {
			t.Fatalf("types %v", p.Types)
		}
		var got [][3]int64
		for s := range p.Samples() {
			got = append(got, [3]int64{int64(s.Source), s.Values[0], s.Values[1]})
		}
		if len(got) != len(tt.want) {
			t.Fatalf("separate %v: %v, want %v", tt.separate, got, tt.want)
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("separate %v: %v, want %v", tt.separate, got, tt.want)
			}
		}
	}
}
