package profile_test

import (
	"bytes"
	"maps"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

func open(t *testing.T, data []byte, order reader.Order) ntconv.Source {
	t.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// realSelections are selections of a trace of managed threads by content, thread and time; the last three are windows.
func realSelections(t *testing.T, data []byte) []predicate {
	var first, last ntconv.Ticks
	var some *ntconv.Thread
	for e := range ntconv.Events(open(t, data, reader.ByTime)) {
		if e.Kind == ntconv.KindEvent && anything.selects(e) {
			if some == nil {
				some, first = e.Thread, e.Time
			}
			last = e.Time
		}
	}
	a, b := first+(last-first)/3, first+(last-first)*2/3
	tid := some.TID
	return []predicate{
		{"managed", func(e *ntconv.Event) bool { return e.Payload[0] == managed }},
		{"one thread", func(e *ntconv.Event) bool { return e.Thread.TID == tid }},
		{"every third microsecond", func(e *ntconv.Event) bool { return e.Time/1000%3 == 0 }},
		between(0, a), between(a, b), between(b, last+1),
	}
}

// The properties of generated traces hold for real ones: selections add up to the whole, in both orders, and files keep
// the weights.
func TestWeightsOfRealTraces(t *testing.T) {
	files := []corpus.File{corpus.Trace(t, "cpu-default"), corpus.Trace(t, "cpu-env"), corpus.Trace(t, "cpu-netperf3"), corpus.Trace(t, "threads-reused")}
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		for _, name := range []string{"nettrace/roslyn-compile-net10", "nettrace/dotnetdiag-webapp-net5", "own/cpu-sampleronly"} {
			files = append(files, corpus.SharedTrace(t, name))
		}
	}
	for _, f := range files {
		t.Run(f.Name, func(t *testing.T) {
			b := profile.New(open(t, f.Data, reader.ByTime).Info(), &fakeNamer{}, &profile.Options{DropLabels: []string{"process"}})
			for e := range ntconv.Events(open(t, f.Data, reader.ByTime)) {
				b.Add(e)
			}
			p := b.Finish()
			whole := weights(p)
			checkThreadTimes(t, p, open(t, f.Data, reader.ByTime).Info().Clock)
			var windows []map[string][2]int64
			for i, p := range realSelections(t, f.Data) {
				part := weights(profileOf(open(t, f.Data, reader.ByTime), p))
				if i >= 3 {
					windows = append(windows, part)
				}
				if rest := weights(profileOf(open(t, f.Data, reader.FileOrder), p.not())); !near(sum(part, rest), whole) {
					t.Errorf("%s and the rest do not add up to the whole", p.text)
				}
				file := selectionFile(t, open(t, f.Data, reader.FileOrder), p)
				for _, order := range []reader.Order{reader.FileOrder, reader.ByTime} {
					if got := weights(profileOf(open(t, file, order), anything)); !maps.Equal(got, part) || len(part) == 0 {
						t.Errorf("%s: a file has other weights than the selection", p.text)
					}
				}
			}
			if !near(sum(windows...), whole) {
				t.Error("three windows do not add up to the whole")
			}
		})
	}
}

// checkThreadTimes checks that no thread has more time than the recording: from the start of the session, or the first
// event, to the last event but those of rundown.
func checkThreadTimes(t *testing.T, p *profile.Profile, clock ntconv.Clock) {
	t.Helper()
	times := map[uint64]int64{}
	for s := range p.Samples() {
		times[s.Thread.TID] += s.Values[1]
	}
	if len(times) == 0 {
		t.Error("no samples")
	}
	for tid, ns := range times {
		if total := clock.Since(p.Start, p.End); ns > int64(total) {
			t.Errorf("thread %d has %d ns of %d", tid, ns, int64(total))
		}
	}
}

// near reports whether weights are equal except for the nanoseconds that the conversion from ticks rounds off.
func near(a, b map[string][2]int64) bool {
	return maps.EqualFunc(a, b, func(x, y [2]int64) bool { return x[0] == y[0] && max(x[1]-y[1], y[1]-x[1]) <= 3 })
}

func selectionFile(t *testing.T, src ntconv.Source, p predicate) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := writer.New(&b, src.Info(), &writer.Options{Renumber: true})
	if err == nil {
		_, err = ntconv.Copy(w, rounds.NewWeights(src, p.selects, nil))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
