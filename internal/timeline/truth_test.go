package timeline_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// A recording is a trace as a timeline, with the records of its program.
type recording struct {
	*timeline.Timeline
	clock ntconv.Clock
	items []timeline.Item // with the args of testArgs, without weights
}

// record reads the recording of a program, and the program's own records.
func record(t *testing.T, name string, truth any) *recording {
	t.Helper()
	data, err := os.ReadFile(corpus.Shared(t, "data", "own", name+".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, truth); err != nil {
		t.Fatal(err)
	}
	src, names := open(t, corpus.SharedTrace(t, "own/"+name).Data)
	tl := buildFrom(t, src, names, &timeline.Options{Args: spanArgs})
	return &recording{tl, src.Info().Clock, collect(t, tl)}
}

// spanArgs appends as args the ID and the parent of a span, or the attributes of an interval.
func spanArgs(dst []byte, s *timeline.Source) []byte {
	if s.Span == nil {
		return testArgs(dst, s)
	}
	dst = fmt.Appendf(dst, "%s %s", s.Span.ID, s.Span.ParentID)
	for _, a := range s.Span.Attributes {
		dst = fmt.Appendf(dst, " %s=%s%d", a.Key, a.Value.Str(), a.Value.Int())
	}
	return dst
}

// collect returns copies of all items.
func collect(t *testing.T, tl *timeline.Timeline) (items []timeline.Item) {
	t.Helper()
	if err := tl.Each(func(it *timeline.Item) error {
		c := *it
		c.Encoded, c.Weight = append([]byte(nil), it.Encoded...), nil
		items = append(items, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return items
}

// at converts a tick to nanoseconds of the timeline.
func (r *recording) at(qpc int64) int64 {
	return r.clock.Time(ntconv.Ticks(qpc)).Sub(r.Start()).Nanoseconds()
}

// The spans of a program are slices with the program's names, and exact times and durations. Arrows lead from parents
// that are open on another track.
func TestSpansTruth(t *testing.T) {
	for _, name := range []string{"spans-stop", "spans-both"} {
		t.Run(name, func(t *testing.T) {
			var truth struct {
				Spans []struct {
					DisplayName, SpanID, ParentSpanID string
					StartUTCTicks, DurationTicks      int64
					Stopped                           bool
				}
			}
			r := record(t, name, &truth)
			slices := map[string]*timeline.Item{}
			for i := range r.items {
				if it := &r.items[i]; it.Kind == timeline.SliceBegin && it.Category == timeline.CategorySpan {
					slices[string(it.Encoded[:16])] = it
				}
			}
			checked := 0
			for _, s := range truth.Spans {
				it := slices[s.SpanID]
				if it == nil {
					if s.Stopped && strings.Trim(s.SpanID, "0") != "" {
						t.Errorf("no slice of span %q", s.DisplayName)
					}
					continue
				}
				if got := string(it.Encoded[17:33]); got != s.ParentSpanID || it.Name != s.DisplayName && s.DisplayName != "" {
					t.Errorf("slice %q with parent %s, want %q with %s", it.Name, got, s.DisplayName, s.ParentSpanID)
				}
				const epoch = 621355968000000000 // ticks of 100 ns from the year 1 to 1970
				at := r.Start().Add(time.Duration(it.Time)).UnixNano()
				if want := (s.StartUTCTicks - epoch) * 100; at != want && s.DisplayName != "explicit times" {
					t.Errorf("slice %q begins at %d, want %d", it.Name, at, want)
				}
				if s.Stopped && it.Duration != s.DurationTicks*100 && s.DisplayName != "explicit times" || it.Unfinished == s.Stopped {
					t.Errorf("slice %q has %d ns, unfinished %t, want %d", it.Name, it.Duration, it.Unfinished, s.DurationTicks*100)
				}
				checked++
			}
			if checked < 20 || r.Counts().Moved == 0 {
				t.Errorf("only %d slices are checked; %d were moved, want those with times in another year", checked, r.Counts().Moved)
			}
		})
	}
}

// The collections that a program induced are slices with their generation and times, and the pauses have the duration
// that the runtime states.
func TestGCTruth(t *testing.T) {
	for _, name := range []string{"alloc-verbose", "alloc-gccollect"} {
		t.Run(name, func(t *testing.T) {
			var truth struct {
				Induced []struct {
					What             string
					Gen              int
					StartQpc, EndQpc int64
				}
				Collections  map[string]int
				TotalPauseUs int64
			}
			r := record(t, name, &truth)
			var collections, pauses []timeline.Item
			paused := int64(0)
			for _, it := range r.items {
				switch {
				case it.Kind != timeline.SliceBegin || it.Category != timeline.CategoryGC:
				case strings.HasPrefix(it.Name, "GC gen "):
					collections = append(collections, it)
				case strings.HasPrefix(it.Name, "GC pause gen "):
					pauses = append(pauses, it)
					paused += it.Duration
					if it.Track.Kind != timeline.GCTrack || !strings.Contains(string(it.Encoded), "dotnet.gc.reason=") {
						t.Errorf("pause %q is on track %q with args %s", it.Name, it.Track.Name, it.Encoded)
					}
				case it.Name != "GC finalizers":
					t.Errorf("slice %q", it.Name)
				}
			}
			if len(collections) != truth.Collections["gen0+"] || len(pauses) < len(collections) {
				t.Errorf("%d collections and %d pauses, want %v", len(collections), len(pauses), truth.Collections)
			}
			if want := truth.TotalPauseUs * 1000; math.Abs(float64(paused-want)) > 0.1*float64(want) {
				t.Errorf("pauses of %d ns, the runtime states %d", paused, want)
			}
			for _, i := range truth.Induced {
				found := 0
				for _, it := range collections {
					if it.Time >= r.at(i.StartQpc) && it.Time <= r.at(i.EndQpc) && it.Name == fmt.Sprintf("GC gen %d", i.Gen) {
						found++
					}
				}
				if found != 1 {
					t.Errorf("%d slices of the collection %q, which was induced at %d", found, i.What, r.at(i.StartQpc))
				}
			}
		})
	}
}

// Each exception that a program throws is an instant with its type, during its test case. The program states the type
// as the runtime does, outputs as C# does.
func TestExceptionsTruth(t *testing.T) {
	var truth struct {
		Cases []struct {
			What, Type       string
			Events           int
			StartQpc, EndQpc int64
		}
	}
	r := record(t, "exceptions", &truth)
	spelling := strings.NewReplacer("`1[System.Int32]", "<int>")
	for _, c := range truth.Cases {
		n, other := 0, ""
		for _, it := range r.items {
			if it.Kind == timeline.Instant && it.Category == timeline.CategoryException && it.Time >= r.at(c.StartQpc) && it.Time <= r.at(c.EndQpc) {
				n++
				if other = it.Name; it.Track.Kind != timeline.ThreadTrack || it.Stack == timeline.NoStack {
					t.Errorf("exception %q is on track %q, stack %d", it.Name, it.Track.Name, it.Stack)
				}
			}
		}
		if n != c.Events || n == 1 && other != spelling.Replace(c.Type) {
			t.Errorf("%s: %d exceptions (%s), want %d of %s", c.What, n, other, c.Events, c.Type)
		}
	}
}

// The bytes of allocations add up to the total of a profile, exactly, and to the bytes that the program has allocated.
func TestAllocationsTruth(t *testing.T) {
	for name, tolerance := range map[string]float64{"alloc-verbose": 0.2, "alloc-sampled": 0.3} {
		t.Run(name, func(t *testing.T) {
			var truth struct{ AllocatedBytes int64 }
			r := record(t, name, &truth)
			sum := int64(0)
			for _, it := range r.items {
				sum += it.Bytes
			}
			if want := allocatedBytes(t, name); sum != want || sum == 0 {
				t.Errorf("allocations of %d bytes, those of the profile are %d", sum, want)
			}
			if d := math.Abs(float64(sum)/float64(truth.AllocatedBytes) - 1); d > tolerance {
				t.Errorf("allocations of %d bytes, the program's are %d", sum, truth.AllocatedBytes)
			}
		})
	}
}

// allocatedBytes returns the total of the profile of kind Alloc.
func allocatedBytes(t *testing.T, name string) int64 {
	src, _ := open(t, corpus.SharedTrace(t, "own/"+name).Data)
	totals := profile.NewTotals(kind.Alloc)
	s := profile.NewStream(src.Info(), func(w *profile.Weighed[struct{}]) {
		totals.Add(w.Count, w.Types, w.Values, w.Variances, w.Source)
	}, &profile.StreamOptions{Kinds: []kind.Kind{kind.Alloc}})
	for {
		e, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Add(e, struct{}{})
	}
	s.Finish()
	_, sums := totals.Sums()
	for _, sum := range sums {
		if sum.Type == "alloc_space" {
			return sum.Value
		}
	}
	t.Fatal("the profile has no bytes")
	return 0
}

// Values of counters add up to the program's own counts, on tracks with the program's names and units.
func TestCountersTruth(t *testing.T) {
	var truth struct {
		Shop struct {
			Latency struct{ Count, Sum float64 } `json:"latency (EventCounter)"`
			Queue   float64                      `json:"queue (PollingCounter)"`
		} `json:"Shop-Counters"`
	}
	r := record(t, "counters", &truth)
	var mean, sum, count float64
	units := map[string]string{}
	for _, it := range r.items {
		if it.Kind == timeline.Instant && it.Name == "EventCounters" {
			t.Errorf("an event with a value of a counter is an instant, too, at %d", it.Time)
		}
		if it.Kind != timeline.Counter {
			continue
		}
		units[it.Name] = it.Track.Unit
		switch it.Name {
		case "Shop-Counters/latency":
			mean = it.Value
		case "Shop-Counters/latency count":
			count += it.Value
			sum += it.Value * mean
		case "Shop-Counters/queue":
			if it.Value != truth.Shop.Queue {
				t.Errorf("the queue has a length of %v", it.Value)
			}
		}
	}
	// The program ends during an interval, for which the trace has no values.
	if l := truth.Shop.Latency; count > l.Count || count < 0.6*l.Count || sum/count < 0.8*l.Sum/l.Count || sum/count > 1.2*l.Sum/l.Count {
		t.Errorf("latency: %v values with the sum %v, want %v", count, sum, l)
	}
	if u, ok := units["Shop-Counters/latency"]; !ok || u != "ms" {
		t.Errorf("units are %v", units)
	}
}
