package profile_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// A refPoints adds up TraceEvent's events of allocations and exceptions.
type refPoints struct {
	exceptions map[string]int64 // by type
	bytes      map[string]int64 // of GCAllocationTick, by type
	ticks      uint64
	sampled    float64 // bytes of AllocationSampled, each divided by its probability
	samples    uint64
	last       int64 // time of the latest event
}

func (p *refPoints) event(e *refEvent) {
	p.last = max(p.last, e.Ticks)
	if e.Provider != clr.Runtime {
		return
	}
	var f struct {
		ExceptionType, TypeName        string
		AllocationAmount64, ObjectSize int64
		AllocationAmount               int64
	}
	json.Unmarshal(e.Payload, &f)
	switch e.ID {
	case 80:
		p.exceptions[f.ExceptionType]++
	case 10:
		if f.AllocationAmount64 == 0 {
			f.AllocationAmount64 = f.AllocationAmount
		}
		p.ticks++
		p.bytes[f.TypeName] += f.AllocationAmount64
	case 303:
		p.samples++
		p.sampled += float64(f.ObjectSize) / (1 - math.Exp(-float64(f.ObjectSize)/102400))
	}
}

// readPoints adds up the lines of a dump.
func readPoints(t *testing.T, path string) *refPoints {
	p := &refPoints{exceptions: map[string]int64{}, bytes: map[string]int64{}}
	for line := range bytes.Lines(corpus.Read(t, path)) {
		var e refEvent
		if bytes.Contains(line, []byte(clr.Runtime+`"`)) {
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			p.event(&e)
		}
	}
	return p
}

// Exceptions and allocated bytes by type are those of TraceEvent's events for all traces.
func TestPointsOfTraceEvent(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: this reads TraceEvent's events of all traces")
	}
	corpus.Shared(t, "oracle", "events")
	compared := map[sample.Kind]int{}
	for _, f := range corpus.SharedTraces(t) {
		path, err := corpus.Find("oracle", "events", f.Name+".jsonl.zst")
		if err != nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			want := readPoints(t, path)
			read := func(k sample.Kind) *profile.Profile {
				src := open(t, f.Data, reader.ByTime)
				b := profile.New(src.Info(), symbol.New(&symbol.Options{Names: symbol.NamesRaw}), &profile.Options{Kind: k})
				for e, err := range ntconv.Events(src) {
					// TraceEvent drops the last events of a truncated trace, see docs/differences.md.
					if err != nil || e.Kind == ntconv.KindEvent && e.Type.Provider == clr.Runtime && int64(e.Time) > want.last {
						break
					}
					b.Add(e)
				}
				return b.Finish()
			}
			if len(want.exceptions) > 0 {
				compared[sample.Exceptions]++
				sameTotals(t, valueBy(read(sample.Exceptions), 0, byLabel(meters.LabelExceptionType)), want.exceptions)
			}
			if want.ticks+want.samples > 0 {
				compared[sample.Alloc]++
				compareAllocations(t, read(sample.Alloc), want)
			}
		})
	}
	if compared[sample.Exceptions] < 2 || compared[sample.Alloc] < 7 {
		t.Errorf("traces compared: %v", compared)
	}
}

func compareAllocations(t *testing.T, p *profile.Profile, want *refPoints) {
	bytes := valueBy(p, 1, byLabel(meters.LabelType))
	var total, wantTotal float64
	for _, n := range bytes {
		total += float64(n)
	}
	for _, n := range want.bytes {
		wantTotal += float64(n)
	}
	switch _, untyped := want.bytes[""]; {
	case want.samples > 0:
		if p.Events != want.samples || math.Abs(total-want.sampled) > 1 {
			t.Errorf("%d samples of %.0f bytes, want %d of %.0f", p.Events, total, want.samples, want.sampled)
		}
	case untyped: // TraceEvent reads the layout of a version, although the metadata declares other fields
		if total != wantTotal {
			t.Errorf("%.0f bytes, want %.0f", total, wantTotal)
		}
	default:
		sameTotals(t, bytes, want.bytes)
	}
}

func sameTotals(t *testing.T, got, want map[string]int64) {
	t.Helper()
	for key, n := range want {
		if got[key] != n {
			t.Errorf("%q: %d, want %d", key, got[key], n)
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("TraceEvent has no %v", got)
	}
}
