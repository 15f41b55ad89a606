package profile_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// A refEvent is a line of TraceEvent's dump of a trace.
type refEvent struct {
	Ticks    int64
	PID, TID uint64
	Provider string
	ID       uint32
	Opcode   int
	Name     string
	Activity string `json:"activity_id"`
	Payload  json.RawMessage
}

// refFields are the fields that pairs need.
type refFields struct {
	Reason, Count, MethodID, TypeLoadStartID, WorkID, TaskID uint64
	DurationNs                                               *float64
}

// A refTotal is the number of intervals of a kind and their total time.
type refTotal struct {
	n     int
	nanos float64
}

// A refKey is what the events of an interval share.
type refKey struct {
	kind         sample.Kind
	pid, tid, id uint64
	activity     string
}

// A refPairs computes intervals from TraceEvent's events by the simplest rules: a map of open begins, without selection
// and losses. Of the intervals of a thread that lie in each other, the time of the outermost one is the total.
type refPairs struct {
	freq   float64
	open   map[refKey]int64
	outer  map[refKey]int64 // begin of the outermost interval, and the number of open ones, by kind and thread
	depth  map[refKey]int
	totals [sample.Count]refTotal
	last   int64 // time of the latest event
}

func (p *refPairs) begin(k refKey, e *refEvent) { p.open[k] = e.Ticks }

// end ends an interval and returns its duration.
func (p *refPairs) end(k refKey, e *refEvent) (nanos float64, ok bool) {
	begin, ok := p.open[k]
	if ok {
		delete(p.open, k)
		nanos = float64(e.Ticks-begin) * 1e9 / p.freq
		p.totals[k.kind].n++
		p.totals[k.kind].nanos += nanos
	}
	return nanos, ok
}

// nested begins or ends an interval that may contain others of its thread.
func (p *refPairs) nested(k refKey, begins bool, e *refEvent) {
	thread := k
	thread.id = 0
	if begins {
		if p.depth[thread]++; p.depth[thread] == 1 {
			p.outer[thread] = e.Ticks
		}
		p.begin(k, e)
		return
	}
	nanos, ok := p.end(k, e)
	if !ok {
		return
	}
	p.totals[k.kind].nanos -= nanos
	if p.depth[thread]--; p.depth[thread] == 0 {
		p.totals[k.kind].nanos += float64(e.Ticks-p.outer[thread]) * 1e9 / p.freq
	}
}

func (p *refPairs) event(e *refEvent) {
	var f refFields
	json.Unmarshal(e.Payload, &f)
	switch e.Provider {
	case clr.Runtime:
		p.runtime(e, &f)
	case "System.Threading.Tasks.TplEventSource":
		k := refKey{kind: sample.Tasks, pid: e.PID, id: f.TaskID}
		switch _, known := p.open[k]; {
		case e.ID == 7, e.ID == 8 && !known:
			p.begin(k, e)
		case e.ID == 9:
			p.end(k, e)
		}
	case "System.Net.Http", "Microsoft.AspNetCore.Hosting":
		k := refKey{kind: sample.Requests, pid: e.PID, activity: e.Activity}
		switch e.Name {
		case "Request/Start":
			p.begin(k, e)
		case "Request/Stop":
			p.end(k, e)
		}
	}
}

func (p *refPairs) runtime(e *refEvent, f *refFields) {
	thread := refKey{pid: e.PID, tid: e.TID}
	key := func(k sample.Kind, id uint64) refKey {
		return refKey{kind: k, pid: e.PID, tid: e.TID, id: id}
	}
	switch e.ID {
	case 81:
		p.begin(key(sample.Contention, 0), e)
	case 91:
		if nanos, ok := p.end(key(sample.Contention, 0), e); ok && f.DurationNs != nil {
			p.totals[sample.Contention].nanos += *f.DurationNs - nanos
		}
	case 301:
		p.begin(key(sample.Wait, 0), e)
	case 302:
		p.end(key(sample.Wait, 0), e)
	case 145, 141, 143:
		p.nested(key(sample.JIT, f.MethodID), e.ID == 145, e)
	case 73, 74:
		p.nested(key(sample.TypeLoad, f.TypeLoadStartID), e.ID == 73, e)
	case 61:
		p.begin(refKey{kind: sample.ThreadPool, pid: e.PID, id: f.WorkID}, e)
	case 62:
		p.end(refKey{kind: sample.ThreadPool, pid: e.PID, id: f.WorkID}, e)
	case 1:
		p.begin(refKey{kind: sample.GC, pid: e.PID, id: f.Count}, e)
	case 2:
		nanos, _ := p.end(refKey{kind: sample.GC, pid: e.PID, id: f.Count}, e)
		p.totals[sample.GC].nanos -= nanos
	case 9: // pauses of the collector have a key without a kind
		if delete(p.open, thread); f.Reason == 1 || f.Reason == 6 {
			p.begin(thread, e)
		}
	case 3:
		if nanos, ok := p.end(thread, e); ok {
			p.totals[sample.GC].nanos += nanos
		}
	}
}

// Numbers of pairs, and their total time, are those of TraceEvent's events for all traces.
func TestPairsOfTraceEvent(t *testing.T) {
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
			src := open(t, f.Data, reader.ByTime)
			p := refPairs{freq: float64(src.Info().Clock.Freq), open: map[refKey]int64{}, outer: map[refKey]int64{}, depth: map[refKey]int{}}
			for line := range bytes.Lines(corpus.Read(t, path)) {
				var e refEvent
				if !bytes.Contains(line, []byte(clr.Runtime+`"`)) && !bytes.Contains(line, []byte(`"System.`)) &&
					!bytes.Contains(line, []byte(`"Microsoft.AspNetCore`)) {
					continue // decoding all lines takes most of the time
				}
				if err := json.Unmarshal(line, &e); err != nil {
					t.Fatal(err)
				}
				p.event(&e)
				p.last = max(p.last, e.Ticks)
			}
			kinds := []sample.Kind{
				sample.Contention, sample.Wait, sample.GC, sample.JIT, sample.TypeLoad, sample.ThreadPool, sample.Tasks, sample.Requests,
			}
			var builders []*profile.Builder
			for _, k := range kinds {
				builders = append(builders, profile.New(src.Info(), nil, &profile.Options{Kind: k}))
			}
			for e, err := range ntconv.Events(src) {
				// TraceEvent drops the last events of a truncated trace, see docs/differences.md.
				if err != nil || int64(e.Time) > p.last && e.Kind == ntconv.KindEvent {
					break
				}
				for _, b := range builders {
					b.Add(e)
				}
			}
			for i, k := range kinds {
				got := totalOf(builders[i].Finish())
				want := p.totals[k]
				if want.n == 0 && got.n == 0 {
					continue
				}
				compared[k]++
				if got.n != want.n || math.Abs(got.nanos-want.nanos) > float64(got.n) {
					t.Errorf("%v: %d intervals of %.0f ns, want %d of %.0f ns", k, got.n, got.nanos, want.n, want.nanos)
				}
			}
		})
	}
	for _, k := range []sample.Kind{sample.Contention, sample.GC, sample.JIT} {
		if corpus.Nightly() && compared[k] < 3 || compared[sample.JIT] == 0 { // other tests read a part of the traces
			t.Errorf("%v: %d traces compared", k, compared[k])
		}
	}
}

// totalOf returns the number of intervals with a known duration, and their total.
func totalOf(p *profile.Profile) (t refTotal) {
	if p.Main == 0 {
		return t
	}
	for s := range p.Samples() {
		t.n += int(s.Values[0])
		for _, v := range s.Values[1:] {
			t.nanos += float64(v)
		}
	}
	return t
}
