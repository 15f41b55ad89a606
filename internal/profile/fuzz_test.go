package profile_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// fuzzSteps are the events that FuzzKinds chooses from: those of all kinds.
func fuzzSteps() (steps []step) {
	for _, c := range append(cycles(), pointCycles()...) {
		steps = append(steps, c.steps...)
	}
	return steps
}

// begins counts the selected events that begin or are samples of kinds whose events each give one sample or one report.
type begins struct{ contentions, waits, exceptions, events int64 }

func (n *begins) add(t *ntconv.Type) {
	n.events++
	switch t.ID {
	case 81:
		n.contentions++
	case 301:
		n.waits++
	case 80:
		n.exceptions++
	}
}

// fuzzEvent returns the event of 4 bytes: which type and payload, which thread, the time since the previous event, and
// what else is special. It is borrowed until the next call.
func (p *player) fuzzEvent(steps []step, b []byte) *ntconv.Event {
	s := steps[int(b[0])%len(steps)]
	s.thread = int(b[1]) % len(p.threads)
	e := p.event(&s)
	e.Time += ntconv.Ticks(int8(b[2])) // events may be out of time order
	switch {
	case b[3] >= 250:
		*e = ntconv.Event{Kind: ntconv.KindLost, Capture: e.Capture, Lost: 1, Time: e.Time}
	case b[3] >= 245:
		*e = ntconv.Event{Kind: ntconv.KindMark, Time: e.Time, Mark: &ntconv.Mark{
			Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: e.Thread}},
		}}
	case b[3] >= 200 && len(e.Payload) > 0:
		e.Payload = e.Payload[:int(b[3])%len(e.Payload)]
	}
	return e
}

// Random events of all kinds never panic. Every begin is in a sample or in the report, and the profile has the samples
// of a Stream.
func FuzzKinds(f *testing.F) {
	steps := fuzzSteps()
	for i := range steps {
		f.Add([]byte{byte(i), 0, 0, 0, byte(i + 1), 1, 200, 255, byte(i), 1, 3, 210}, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, watch bool) {
		for _, k := range append(sample.All(), sample.Auto) {
			report := new(ntconv.Report)
			o := &profile.Options{Kind: k, Report: report, KindOptions: sample.KindOptions{Weight: "Price", Labels: []string{"Customer", "MethodName"}}}
			b, player := profile.New(testInfo(), nil, o), newPlayer()
			var streamed int64
			kinds := []sample.Kind{k}
			if k == sample.Auto {
				kinds = sample.All()
			}
			stream := profile.NewStream(testInfo(), func(*profile.Weighed[int]) { streamed++ },
				&profile.StreamOptions{Kinds: kinds, Options: o.KindOptions})
			var n begins
			for rest := data; len(rest) >= 4; rest = rest[4:] {
				e := player.fuzzEvent(steps, rest)
				if watch {
					b.Watch(e)
					stream.Watch(e)
				}
				if !watch || rest[1] < 128 {
					b.Add(e)
					stream.Add(e, 0)
					if e.Kind == ntconv.KindEvent {
						n.add(e.Type)
					}
				}
			}
			b.OrderMatters()
			p := b.Finish()
			stream.Finish()
			if k != sample.Auto { // which does not count events that only describe
				checkBegins(t, p, &n, watch, report)
			}
			if !watch && k >= sample.Alloc && k != sample.Auto && p.Estimate.Unused == nil && uint64(streamed) != p.Events {
				t.Errorf("%v: %d samples, and %d of a stream", k, p.Events, streamed)
			}
		}
	})
}

func checkBegins(t *testing.T, p *profile.Profile, n *begins, watch bool, report *ntconv.Report) {
	var total int64
	for s := range p.Samples() {
		total += s.Values[0]
	}
	cuts := int64(report.Count(ntconv.CodeUnpaired))
	switch p.Kind {
	case sample.Events:
		if total != n.events {
			t.Errorf("%d events, want %d", total, n.events)
		}
	case sample.Exceptions:
		if !watch && total != n.exceptions || total < n.exceptions {
			t.Errorf("%d exceptions, want %d", total, n.exceptions)
		}
	case sample.Contention:
		if total+cuts < n.contentions {
			t.Errorf("%d contentions and %d cuts of %d", total, cuts, n.contentions)
		}
	case sample.Wait:
		if total+cuts < n.waits {
			t.Errorf("%d waits and %d cuts of %d", total, cuts, n.waits)
		}
	}
}
