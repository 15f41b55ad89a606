package html

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/sample"
)

// However many samples there are, few are in memory, and their totals by stack are exact until stacks are left out.
func TestSamplesAreBounded(t *testing.T) {
	s, random := newSamples(), rand.New(rand.NewPCG(1, 2))
	s.max = 1000
	want := map[int64]int64{}
	const n = 100_000
	for i := range n {
		row := tables.Sample{TSNanos: int64(i) * 1000, ThreadID: int32(random.IntN(4)), StackID: int64(1 + random.IntN(20)), Subject: fmt.Sprint("S", i%3)}
		if i%5 == 0 {
			row.TraceID, row.SpanID = "", fmt.Sprintf("%016x", i+1)
		}
		v := int64(random.IntN(1000))
		want[row.StackID] += v
		s.add(&profile.Weighed[tables.Sample]{
			Kind: sample.Wall, Counts: sample.Type{Type: "samples", Unit: "count"}, Counted: 1, Types: []sample.Type{{Type: "wall", Unit: "nanoseconds"}},
			Values: []int64{v}, Subject: row,
		})
		if s.rows > s.max {
			t.Fatalf("%d rows after %d samples", s.rows, i)
		}
	}
	s.finish()
	k := s.kinds()[0]
	got, count, samples := map[int64]int64{}, int64(0), int64(0)
	for i, r := range k.rows {
		got[r.stack] += k.values[1][i]
		count += r.count
		samples += k.values[0][i]
	}
	if count != n || samples != n || k.used != n {
		t.Errorf("%d and %d samples, %d used, want %d", count, samples, k.used, n)
	}
	for stack, v := range want {
		if got[stack] != v {
			t.Errorf("stack %d has %d, want %d", stack, got[stack], v)
		}
	}
	if k.bin == 0 || k.detail == noStacks {
		t.Errorf("bins of %d ns, detail %d", k.bin, k.detail)
	}
}

// If there are too many intervals, the longest of each kind stay, and the others are counted.
func TestActivitiesAreBounded(t *testing.T) {
	a := newActivities()
	a.max = 100
	total := int64(0)
	for i := range int64(1000) {
		kind := "many"
		if i%50 == 0 {
			kind = "few"
		}
		total += i
		a.addInterval(&tables.Interval{Kind: kind, TSNanos: -i, DurationNanos: &i, Attributes: map[string]string{"n": fmt.Sprint(i)}})
		if len(a.rows) >= a.max+a.max/2 {
			t.Fatalf("%d rows", len(a.rows))
		}
	}
	a.finish()
	kept, few := int64(0), 0
	for i, r := range a.rows {
		kept += r.duration
		if a.texts.at(r.kind) == "few" {
			few++
		} else if r.duration < 900 {
			t.Errorf("an interval of %d ns stays", r.duration)
		}
		if i > 0 && r.time < a.rows[i-1].time {
			t.Error("not sorted")
		}
		if set := a.sets[r.attributes]; a.texts.at(set[0].value) != fmt.Sprint(r.duration) {
			t.Errorf("an interval of %d ns has other attributes", r.duration)
		}
	}
	if len(a.rows) != 100 || few != 20 || len(a.sets) != 100 || a.omitted.rows != 900 || a.omitted.nanos != total-kept {
		t.Errorf("%d rows, %d of few, %d sets, omitted %+v of %d", len(a.rows), few, len(a.sets), a.omitted, total)
	}
}

// Values of counters are thinned, with the same distance in each series.
func TestSeriesAreBounded(t *testing.T) {
	s := newSeries()
	s.max = 100
	for i := range 1000 {
		s.add(seriesKey{name: fmt.Sprint(i % 2)}, int64(i), float64(i))
		if len(s.values) > s.max {
			t.Fatalf("%d values", len(s.values))
		}
	}
	if len(s.values)+int(s.omitted) != 1000 || len(s.values) < s.max/4 {
		t.Errorf("%d values, %d omitted", len(s.values), s.omitted)
	}
}

// Losses are added up.
func TestLossesAreBounded(t *testing.T) {
	var l losses
	for i := range 3 * maxLosses {
		l.add(&tables.Loss{TSNanos: int64(i), Lost: 2, ThreadID: 1})
	}
	sum := int64(0)
	for _, r := range l.rows {
		sum += r.lost
	}
	if len(l.rows) >= maxLosses || sum != l.total || sum != 6*maxLosses {
		t.Errorf("%d rows with %d of %d", len(l.rows), sum, l.total)
	}
}

func TestBinned(t *testing.T) {
	for _, c := range []struct{ t, width, want int64 }{{5, 0, 5}, {5, 4, 4}, {8, 4, 8}, {-1, 4, -4}, {-4, 4, -4}, {0, 4, 0}} {
		for _, start := range []int64{0, 1000, -7} {
			k := &kindSamples{bin: c.width, start: start}
			if got := k.binned(start + c.t); got != start+c.want {
				t.Errorf("bins of %d: %d is in the bin of %d, want %d", c.width, c.t, got-start, c.want)
			}
		}
	}
}
