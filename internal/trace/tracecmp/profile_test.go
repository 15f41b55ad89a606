package tracecmp_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/testing/members"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A sample is a sample of a profile for tests.
type sample struct {
	leaf   string
	labels []ntconv.Label
	values [2]int64
}

// profileOf returns a profile like that of an importer. Equal parts of samples share a pointer at random.
func profileOf(r *rand.Rand, samples []sample) *ntconvtest.Trace {
	o := imported.Origin{Columns: imported.Columns{Types: []imported.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}}
	w := imported.NewWeight(1, "nanoseconds")
	for _, s := range samples {
		w.Try(s.values[1])
	}
	w.Choose()
	typ := imported.SampleType(1, &o, &w)
	var th *ntconv.Thread
	var main *ntconv.Function
	tr := &ntconvtest.Trace{Info: &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, Aggregate: true}, Events: []*ntconv.Event{{Kind: ntconv.KindDefine, Type: typ}}}
	for i, s := range samples {
		if i == 0 || r.IntN(2) == 0 {
			a, b := &ntconv.Mapping{File: "a", Flags: ntconv.MappingMain}, &ntconv.Mapping{File: "b"}
			list := []*ntconv.Mapping{a, b, b}
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			th = &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1, Mappings: list}}
			main = &ntconv.Function{Name: "main"}
		}
		tr.Events = append(tr.Events, &ntconv.Event{
			Type: typ, Thread: th, Capture: th, Seq: uint32(i + 1), Time: ntconv.Ticks(i), Offset: int64(i), Labels: ntconv.NewLabels(s.labels),
			Stack:   &ntconv.Stack{Frames: []ntconv.Frame{{Func: &ntconv.Function{Name: s.leaf}}, {Func: main}}},
			Payload: w.AppendTo(nil, s.values[:]),
		})
	}
	return tr
}

// drawSamples returns random samples of few stacks and labels.
func drawSamples(r *rand.Rand, n int) (list []sample) {
	for range n {
		s := sample{leaf: string(rune('a' + r.IntN(3))), values: [2]int64{r.Int64N(9) - 4, r.Int64() >> r.IntN(60)}}
		for i := range r.IntN(3) {
			s.labels = append(s.labels, ntconv.Label{Kind: ntconv.LabelString, Key: fmt.Sprint("k", i), Str: fmt.Sprint(r.IntN(2))})
		}
		list = append(list, s)
	}
	return list
}

// TestProfilesAreTotals checks that a profile equals one whose samples are in another order, divided or added up, with
// labels in another order. It differs from a profile in which any value, name or label of a sample differs.
func TestProfilesAreTotals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := drawSamples(r, 1+r.IntN(20))
		var b []sample
		for _, s := range a {
			half := s
			for i := range half.values {
				half.values[i] = r.Int64N(1000)
				s.values[i] -= half.values[i]
			}
			if len(half.labels) == 2 {
				half.labels = []ntconv.Label{half.labels[1], half.labels[0]}
			}
			b = append(b, s, half)
		}
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		opts := &tracecmp.Options{Profiles: true}
		n, err := tracecmp.Streams(profileOf(r, a).Source(), profileOf(r, b).Source(), opts)
		if err != nil || n < 1 || n > int64(len(a)) {
			t.Fatalf("%+v and %+v: %d, %v", a, b, n, err)
		}
		changed := &b[r.IntN(len(b))]
		switch r.IntN(3) {
		case 0:
			changed.values[r.IntN(2)]++
		case 1:
			changed.leaf += "x"
			changed.values[0] += 100
		case 2:
			changed.labels = append(changed.labels, ntconv.Label{Kind: ntconv.LabelInt, Key: "n", Num: 1})
			changed.values[1]++
		}
		_, err = tracecmp.Streams(profileOf(r, a).Source(), profileOf(r, b).Source(), opts)
		var d *tracecmp.Difference
		if !errors.As(err, &d) {
			t.Fatalf("a changed sample is not seen: %+v and %+v: %v", a, b, err)
		}
		checkReadable(t, "profiles", d)
	}
}

// TestProfileDifferences checks that a difference names the value, both totals, and the sample.
func TestProfileDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	label := []ntconv.Label{{Kind: ntconv.LabelString, Key: "user", Str: "eve"}}
	base := func() []sample {
		return []sample{{"a", nil, [2]int64{1, 10}}, {"b", label, [2]int64{1, 20}}, {"b", label, [2]int64{2, 20}}}
	}
	for what, c := range map[string]struct {
		change func(tr *ntconvtest.Trace)
		more   []sample
		want   string
	}{
		"value": {nil, []sample{{"b", label, [2]int64{0, 5}}}, `1 of 2 distinct samples: total of cpu/nanoseconds: 40 and 45
  first: event 2 at byte 1: sample of thread 1 of process 1, 2 frames, leaf b, "user"="eve"
  second: event 2 at byte 1: sample of thread 1 of process 1, 2 frames, leaf b, "user"="eve"`},
		"sample": {nil, []sample{{"c", nil, [2]int64{3, 0}}}, `1 of 3 distinct samples: total of samples/count: 0 and 3
  second: event 4 at byte 3: sample of thread 1 of process 1, 2 frames, leaf c`},
		"unit": {func(tr *ntconvtest.Trace) { tr.Events[0].Type.Attrs[2].Value = "bytes" }, nil, `type: attribute "pprof.sample_unit.0": "count" and "bytes"`},
		"mapping": {func(tr *ntconvtest.Trace) {
			for _, e := range tr.Events[1:] {
				e.Thread.Process.Mappings = append(e.Thread.Process.Mappings, &ntconv.Mapping{Start: 0x10, Limit: 0x20, File: "c"})
			}
		}, nil, `process 1: only the second has mapping 0x10-0x20 of "c", flags none`},
		"value and start": {func(tr *ntconvtest.Trace) { tr.Info.Clock.Tick++ }, []sample{{"c", nil, [2]int64{3, 0}}}, `1 of 3 distinct samples: total of samples/count: 0 and 3
  second: event 4 at byte 3: sample of thread 1 of process 1, 2 frames, leaf c`},
		"time": {func(tr *ntconvtest.Trace) { tr.Info.Aggregate = false }, nil, "trace: only the first is a profile without times"},
	} {
		tr := profileOf(r, append(base(), c.more...))
		if c.change != nil {
			c.change(tr)
		}
		_, err := tracecmp.Streams(profileOf(r, base()).Source(), tr.Source(), &tracecmp.Options{Profiles: true})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v\nwant %s", what, err, c.want)
		}
	}
}

// overlookedOfProfiles lists the members that only a comparison of profiles ignores, with the reason.
var overlookedOfProfiles = map[string]string{
	"Event.Flags": "the order of samples has no meaning", "Event.Seq": "the importer numbers samples", "Event.Time": "times are synthetic",
	"Event.Lost": "events that are not of KindLost", "Event.Mark": "a profile has no order", "Mark.Kind": "as Event.Mark", "Mark.Flags": "as Event.Mark", "Mark.Threads": "as Event.Mark",
	"ThreadSeq.Thread": "as Event.Mark", "ThreadSeq.Seq": "as Event.Mark",
}

// TestEveryMemberOfProfiles is TestEveryMember for profiles, which have no marks or losses.
func TestEveryMemberOfProfiles(t *testing.T) {
	samplesOnly := func() *ntconvtest.Trace {
		tr := members.Trace()
		tr.Events = tr.Events[:1]
		return tr
	}
	for i, m := range members.Of(samplesOnly()) {
		if m.IsStruct() {
			continue // its members are changed
		}
		changed := samplesOnly()
		members.Change(members.Of(changed)[i])
		_, err := tracecmp.Streams(samplesOnly().Source(), changed.Source(), &tracecmp.Options{Profiles: true})
		reason := overlookedIn(&m)
		if reason == "" {
			reason = overlookedOfProfiles[m.Name]
		}
		var d *tracecmp.Difference
		switch {
		case reason != "" && err != nil:
			t.Errorf("%s is overlooked (%s), but: %v", m.Path, reason, err)
		case reason == "" && !errors.As(err, &d):
			t.Errorf("%s (%s): a change is not seen: %v", m.Path, m.Name, err)
		case d != nil && strings.ContainsAny(d.Error(), "{}"):
			t.Errorf("%s: %v", m.Path, d)
		}
	}
}
