package profile_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// A waitSpan is the time for which a thread had no CPU.
type waitSpan struct{ begin, end ntconv.Ticks }

// switches returns random spans of a thread, and events of these spans and of CPU samples between them. The time of a
// context switch is the end of its span, or its begin.
func switches(r *rand.Rand, t *ntconv.Thread, atEnd bool) (spans []waitSpan, events []*ntconv.Event) {
	at := ntconv.Ticks(1000)
	for range 200 {
		for range r.IntN(3) {
			at += ntconv.Ticks(1 + r.IntN(50))
			events = append(events, &ntconv.Event{Type: cpuSample, Thread: t, Time: at, Payload: []byte{1}})
		}
		s := waitSpan{begin: at + ntconv.Ticks(1+r.IntN(20))}
		s.end = s.begin + ntconv.Ticks(1+r.IntN(500))
		at = s.end
		e := &ntconv.Event{Type: switchType, Thread: t, Time: s.begin, Stack: stepStack, Payload: binary.AppendUvarint(nil, uint64(s.end-s.begin))}
		if atEnd {
			e.Time = s.end
		}
		spans, events = append(spans, s), append(events, e)
	}
	return spans, events
}

// Both meanings of the time of a context switch give the same profile, also of a part of the time, where only complete
// spans count.
func TestMeaningsOfSwitches(t *testing.T) {
	for seed := range uint64(20) {
		thread := newPlayer().threads[0]
		for _, atEnd := range []bool{true, false} {
			spans, events := switches(rand.New(rand.NewPCG(seed, 1)), thread, atEnd)
			middle := spans[len(spans)/2].begin
			for name, window := range map[string]func(ntconv.Ticks) bool{
				"all": nil, "second half": func(at ntconv.Ticks) bool { return at >= middle },
			} {
				report := new(ntconv.Report)
				b := profile.New(testInfo(), nil, &profile.Options{Kind: sample.OffCPU, Window: window, Report: report})
				for _, e := range events {
					if b.Watch(e); window == nil || window(e.Time) {
						b.Add(e)
					}
				}
				var n, ticks int64
				for _, s := range spans {
					if window == nil || window(s.begin) && window(s.end) {
						n, ticks = n+1, ticks+int64(s.end-s.begin)
					}
				}
				for s := range b.Finish().Samples() {
					n, ticks = n-s.Values[0], ticks-s.Values[1]/(1e9/freq)
				}
				if n != 0 || ticks != 0 {
					t.Errorf("seed %d, end %v, %s: %d samples and %d ticks are missing", seed, atEnd, name, n, ticks)
				}
			}
		}
	}
}
