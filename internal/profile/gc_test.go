package profile_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// gcEvents are the events of collections by short names: B and E begin and end a suspension (B is for a collection, P
// prepares one, O has another reason), R and F begin and end the restart, T requests a collection, S and X begin and
// end one.
func gcEvent(name byte, number, generation, typ uint32) step {
	switch name {
	case 'B', 'P', 'O':
		reason := map[byte]uint32{'B': 1, 'P': 6}[name]
		return step{runtimeType(9, 1), 0, fields(reason, uint32(0), uint16(0)), false}
	case 'E':
		return step{runtimeType(8, 1), 0, fields(uint16(0)), true}
	case 'R':
		return step{runtimeType(7, 1), 0, fields(uint16(0)), true}
	case 'F':
		return step{runtimeType(3, 1), 0, fields(uint16(0)), true}
	case 'T':
		return step{runtimeType(35, 0), 0, fields(uint32(0), uint16(0)), false}
	case 'S':
		return step{runtimeType(1, 2), 0, fields(number, generation, uint32(0), typ, uint16(0), uint64(0)), false}
	}
	return step{runtimeType(2, 1), 0, fields(number, generation, uint16(0)), true}
}

// A gcStep is an event 10 ticks (1 µs) after the previous one.
type gcStep struct {
	name               byte
	thread             int
	number, generation uint32
	typ                uint32 // 1 is a background collection, 2 a foreground one
	bare               bool
}

// gcSamples plays steps and returns the samples, without the reason.
func gcSamples(steps []gcStep) (samples []string, unpaired uint64, estimate string) {
	types := map[uint32]*ntconv.Type{}
	report, p := new(ntconv.Report), newPlayer()
	b := profile.New(testInfo(), nil, &profile.Options{
		Kind: sample.GC, DropLabels: []string{"dotnet.gc.reason", "tid"}, Report: report,
	})
	for _, s := range steps {
		e := gcEvent(s.name, s.number, s.generation, s.typ)
		if known := types[e.typ.ID]; known != nil {
			e.typ = known
		}
		types[e.typ.ID] = e.typ
		e.thread, e.bare = s.thread, e.bare || s.bare
		b.Add(p.event(&e))
	}
	profile := b.Finish()
	samples = samplesOf(profile)
	slices.Sort(samples)
	return samples, report.Count(ntconv.CodeUnpaired), profile.Estimate.String()
}

// The second pause of a background collection that has ended before it adds to the time, and is no other collection.
func TestCollectionWithTwoPausesIsOne(t *testing.T) {
	totals, p := profile.NewTotals(sample.GC), newPlayer()
	info := testInfo()
	stream := profile.NewStream(info, func(w *profile.Weighed[struct{}]) {
		totals.Add(w.Count, w.Types, w.Values, w.Variances, w.Source)
	}, &profile.StreamOptions{Kinds: []sample.Kind{sample.GC}})
	b := profile.New(info, nil, &profile.Options{Kind: sample.GC})
	for _, s := range []gcStep{
		{name: 'B'}, {name: 'E'}, {name: 'S', number: 1, generation: 2, typ: 1}, {name: 'R'}, {name: 'F'}, // 4 µs
		{name: 'X', number: 1, generation: 2},
		{name: 'P'}, {name: 'E'}, {name: 'R'}, {name: 'F'}, // 3 µs
	} {
		e := gcEvent(s.name, s.number, s.generation, s.typ)
		event := p.event(&e)
		b.Add(event)
		stream.Add(event, struct{}{})
	}
	stream.Finish()
	if n, sums := totals.Sums(); n != 1 || sums[0].Value != 7000 {
		t.Errorf("%d collections with %+v", n, sums)
	}
	if n := b.Finish().Events; n != 1 {
		t.Errorf("the profile has %d collections", n)
	}
}

// A pause belongs to the collection that ran in it, and no time belongs to two.
func TestPausesOfCollections(t *testing.T) {
	const (
		gen0 = " dotnet.gc.heap.generation=gen0 dotnet.gc.type=NonConcurrentGC"
		gen2 = " dotnet.gc.heap.generation=gen2 dotnet.gc.type=BackgroundGC"
		fore = " dotnet.gc.heap.generation=gen0 dotnet.gc.type=ForegroundGC"
	)
	for _, c := range []struct {
		name  string
		steps []gcStep
		want  []string
	}{
		{"one", []gcStep{{name: 'B'}, {name: 'E'}, {name: 'S'}, {name: 'X'}, {name: 'R'}, {name: 'F'}}, []string{"[1 5000]" + gen0}},
		{"the profiler suspends the runtime too", []gcStep{
			{name: 'O'}, {name: 'E'}, {name: 'R'}, {name: 'F'}, {name: 'B'}, {name: 'E'}, {name: 'S'}, {name: 'X'}, {name: 'R'}, {name: 'F'},
		}, []string{"[1 5000]" + gen0}},
		{"the profiler waits, and ends late", []gcStep{
			{name: 'O', thread: 1}, {name: 'E', thread: 1}, {name: 'B'}, {name: 'R', thread: 1}, {name: 'E'}, {name: 'F', thread: 1},
			{name: 'S'}, {name: 'O', thread: 1}, {name: 'X'}, {name: 'R'}, {name: 'F'}, {name: 'E', thread: 1},
		}, []string{"[1 8000]" + gen0}},
		{"the profiler does not announce itself", []gcStep{
			{name: 'B'}, {name: 'E', thread: 1}, {name: 'R', thread: 1}, {name: 'F', thread: 1}, {name: 'E'}, {name: 'S'}, {name: 'X'}, {name: 'R'}, {name: 'F'},
		}, []string{"[1 8000]" + gen0}},
		{"background with two pauses, and a foreground collection between", []gcStep{
			{name: 'B'}, {name: 'E'}, {name: 'S', number: 1, generation: 2, typ: 1}, {name: 'R', thread: 1}, {name: 'F', thread: 1}, // 4 µs
			{name: 'B'}, {name: 'E'}, {name: 'S', number: 2, typ: 2}, {name: 'X', number: 2}, {name: 'R'}, {name: 'F'}, // 5 µs
			{name: 'P', thread: 1}, {name: 'E', thread: 1}, {name: 'R', thread: 1}, {name: 'F', thread: 1}, // 3 µs
			{name: 'X', number: 1, generation: 2},
		}, []string{"[1 5000]" + fore, "[1 7000]" + gen2}},
		{"background begins with a collection of gen0", []gcStep{
			{name: 'B'}, {name: 'E'}, {name: 'S', number: 1, generation: 2, typ: 1}, {name: 'S', number: 2}, // 3 µs
			{name: 'X', number: 2},                                          // 1 µs of gen0
			{name: 'R'}, {name: 'F'}, {name: 'X', number: 1, generation: 2}, // 2 µs
		}, []string{"[1 1000]" + gen0, "[1 5000]" + gen2}},
		{"background ends in its last pause", []gcStep{
			{name: 'B'}, {name: 'E'}, {name: 'S', generation: 2, typ: 1}, {name: 'R'}, {name: 'F'},
			{name: 'P', thread: 1}, {name: 'E', thread: 1}, {name: 'X', generation: 2}, {name: 'R', thread: 1}, {name: 'F', thread: 1},
		}, []string{"[1 8000]" + gen2}},
		{"a pause without a collection", []gcStep{{name: 'B'}, {name: 'E'}, {name: 'R'}, {name: 'F'}}, []string{"[0 3000]"}},
		{"the stack of the thread that requested a collection", []gcStep{
			{name: 'T', thread: 1}, {name: 'B', bare: true}, {name: 'E'}, {name: 'S', bare: true}, {name: 'X'}, {name: 'R'}, {name: 'F'},
		}, []string{"[1 5000]" + gen0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, unpaired, estimate := gcSamples(c.steps)
			if !slices.Equal(got, c.want) || unpaired != 0 || estimate != "" {
				t.Errorf("%q, want %q; %d unpaired, %q", got, c.want, unpaired, estimate)
			}
		})
	}
}

// A trace without suspensions states how many collections there were, but not how long they paused the program.
func TestCollectionsWithoutPause(t *testing.T) {
	const gen0 = " dotnet.gc.heap.generation=gen0 dotnet.gc.type=NonConcurrentGC"
	alone := []gcStep{{name: 'S'}, {name: 'X'}}
	got, _, estimate := gcSamples(alone)
	if want := []string{"[1 0]" + gen0}; !slices.Equal(got, want) || estimate != "" {
		t.Errorf("%q, %q", got, estimate)
	}
	whole := []gcStep{{name: 'B'}, {name: 'E'}, {name: 'S', number: 7}, {name: 'X', number: 7}, {name: 'R'}, {name: 'F'}}
	got, _, estimate = gcSamples(append(alone, whole...))
	if want := []string{"[2 5000]" + gen0}; !slices.Equal(got, want) || estimate != "" {
		t.Errorf("%q, %q", got, estimate)
	}
}

// A collection counts if it began and ended, and a pause if it did, regardless of each other.
func TestCollectionsAndPausesInPart(t *testing.T) {
	const gen0 = " dotnet.gc.heap.generation=gen0 dotnet.gc.type=NonConcurrentGC"
	for _, c := range []struct {
		name     string
		steps    []gcStep
		want     []string
		unpaired uint64
	}{
		{"no end of the pause", []gcStep{{name: 'B'}, {name: 'E'}, {name: 'S'}, {name: 'X'}}, []string{"[1 0]" + gen0}, 1},
		{"no end of the collection", []gcStep{{name: 'B'}, {name: 'E'}, {name: 'S'}, {name: 'R'}, {name: 'F'}}, []string{"[0 4000]" + gen0}, 1},
		{"no end of either", []gcStep{{name: 'B'}, {name: 'E'}, {name: 'S'}}, nil, 2},
	} {
		if got, unpaired, _ := gcSamples(c.steps); !slices.Equal(got, c.want) || unpaired != c.unpaired {
			t.Errorf("%s: %q, want %q; %d unpaired, want %d", c.name, got, c.want, unpaired, c.unpaired)
		}
	}
}
