package active_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// A busyTruth is what the program of otel-cpu has recorded about its computing spans.
type busyTruth struct {
	Busy []struct {
		TID                               uint64
		SpanID                            string
		ScanStartQpc, PayStartQpc, EndQpc ntconv.Ticks
	}
	Spans []struct {
		Name, SpanID, ParentSpanID   string
		StartUtcTicks, DurationTicks int64 // of 100 ns
	}
	MainStartQpc ntconv.Ticks
	MainStartUtc time.Time
}

// A sample is linked to a computing span if and only if it was taken while the span computed on that thread, according
// to the program. Only the ends of the spans are recorded.
func TestTruth(t *testing.T) {
	var truth busyTruth
	if err := json.Unmarshal(corpus.Read(t, corpus.Shared(t, "data", "otel", "otel-cpu.truth.json")), &truth); err != nil {
		t.Fatal(err)
	}
	data := corpus.Read(t, corpus.Shared(t, "data", "otel", "otel-cpu.nettrace.zst"))
	x, samples := readSamples(t, data)
	// The program reads the clock before and after the call; the span is in between.
	const margin = ntconv.Ticks(150 * time.Microsecond)
	linked, inside, parents := 0, 0, map[string]string{}
	for _, s := range truth.Spans {
		parents[s.SpanID] = s.ParentSpanID
	}
	for _, e := range samples {
		f, ok := x.Find(e, active.All)
		for _, b := range truth.Busy {
			if b.TID != e.Thread.TID || e.Time < b.ScanStartQpc+margin || e.Time > b.EndQpc-margin {
				continue
			}
			want := "pay"
			switch {
			case e.Time < b.PayStartQpc-margin:
				want = "scan"
			case e.Time < b.PayStartQpc+margin:
				continue
			}
			inside++
			if !ok || f.Name != want || parents[f.ID.String()] != b.SpanID || f.Evidence != active.Thread {
				t.Errorf("tid %d at %d: %q %v, want the %s of %s", e.Thread.TID, e.Time, f.Name, f.ID, want, b.SpanID)
			}
		}
		for _, b := range truth.Busy {
			if of := f.ID.String(); ok && (of == b.SpanID || parents[of] == b.SpanID) {
				linked++
				if e.Thread.TID != b.TID || e.Time < b.ScanStartQpc-margin || e.Time > b.EndQpc+margin {
					t.Errorf("tid %d at %d: linked to %q of %s, which did not compute then", e.Thread.TID, e.Time, f.Name, b.SpanID)
				}
			}
		}
	}
	if inside < 25 || linked < inside {
		t.Errorf("%d samples were taken while spans computed, and %d are linked to them", inside, linked)
	}
}

// readSamples reads a trace twice: for the index and for the samples.
func readSamples(t *testing.T, data []byte) (x *active.Index, samples []*ntconv.Event) {
	t.Helper()
	for pass := range 2 {
		src, err := reader.New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		if pass == 0 {
			x = active.New(src.Info(), nil)
		}
		for e, err := range ntconv.Events(src) {
			switch {
			case err != nil:
				t.Fatal(err)
			case pass == 0:
				x.Add(e)
			case e.Kind == ntconv.KindEvent && meters.IsSample(e.Type):
				samples = append(samples, e.Clone())
			}
		}
		if pass == 0 {
			x.Finish()
		}
	}
	return x, samples
}
