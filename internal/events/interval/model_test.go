package interval_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"pgregory.net/rapid"
)

const runtime = "Microsoft-Windows-DotNETRuntime"

// A step is an event of a generated trace, described for a model that knows no events.
type step struct {
	event  *ntconv.Event
	pair   string
	begins bool
	key    string // shared by begin and end, with the pair and the process
	whole  bool   // the interval covers the process
	lost   bool   // events of the thread were lost here
}

// IDs of the runtime's events.
const (
	gcStart, gcEnd                  = 1, 2
	gcSuspendBegin, gcRestartEnd    = 9, 3
	contentionStart, contentionStop = 81, 91
	typeLoadStart, typeLoadStop     = 73, 74
)

// makeSteps generates events of two processes with two threads each.
func makeSteps(t *rapid.T) (steps []step) {
	types := map[uint32]*ntconv.Type{}
	for _, id := range []uint32{gcSuspendBegin, gcRestartEnd, contentionStart, contentionStop, typeLoadStart, typeLoadStop} {
		types[id] = &ntconv.Type{Provider: runtime, ID: id, Version: map[uint32]uint8{gcSuspendBegin: 1, gcRestartEnd: 1, contentionStart: 2, contentionStop: 1}[id]}
	}
	var threads []*ntconv.Thread
	for pid := range uint64(2) {
		p := &ntconv.Process{PID: pid, PointerSize: 8}
		threads = append(threads, &ntconv.Thread{TID: 10*pid + 1, Process: p}, &ntconv.Thread{TID: 10*pid + 2, Process: p})
	}
	at := ntconv.Ticks(0)
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		at += ntconv.Ticks(rapid.IntRange(0, 2).Draw(t, "later"))
		th := rapid.SampledFrom(threads).Draw(t, "thread")
		s := step{event: &ntconv.Event{Time: at, Thread: th, Capture: th}, begins: rapid.Bool().Draw(t, "begins")}
		id := func(begin, end uint32) uint32 {
			if s.begins {
				return begin
			}
			return end
		}
		number := uint32(rapid.IntRange(1, 2).Draw(t, "number"))
		payload := binary.LittleEndian.AppendUint32(nil, number)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			s.event.Kind, s.event.Lost, s.lost = ntconv.KindLost, 1, true
			steps = append(steps, s)
			continue
		case 1:
			s.pair, s.whole, s.key = "Suspension", true, fmt.Sprint(th.TID)
			s.event.Type, payload = types[id(gcSuspendBegin, gcRestartEnd)], append(payload, make([]byte, 6)...)
		case 2:
			s.pair, s.key = "Contention", fmt.Sprint(th.TID)
			s.event.Type, payload = types[id(contentionStart, contentionStop)], make([]byte, 27)
		case 3:
			s.pair, s.key = "TypeLoad", fmt.Sprint(th.TID, number)
			s.event.Type, payload = types[id(typeLoadStart, typeLoadStop)], append(payload, make([]byte, 40)...)
		}
		s.event.Payload = payload
		steps = append(steps, s)
	}
	return steps
}

// A found is an interval as the model and the Matcher report it.
type found struct {
	pair     string
	from, to ntconv.Ticks
	pid, tid uint64 // tid is 0 if it covers the process
}

// model finds the intervals by searching backwards from each end.
func model(steps []step) (list []found) {
	used := make([]bool, len(steps))
	for i, e := range steps {
		if e.lost || e.begins {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			b := steps[j]
			if b.lost || !b.begins || used[j] || b.pair != e.pair || b.key != e.key || b.event.Thread.Process != e.event.Thread.Process {
				continue
			}
			cut := slices.ContainsFunc(steps[j:i], func(s step) bool { return s.lost && s.event.Capture == b.event.Capture })
			used[j] = true
			if e.pair == "Suspension" { // at most one at a time: earlier ones lost their ends
				for k := range j {
					used[k] = used[k] || steps[k].pair == "Suspension" && steps[k].event.Thread == e.event.Thread
				}
			}
			if cut {
				break
			}
			f := found{e.pair, b.event.Time, e.event.Time, b.event.Thread.Process.PID, 0}
			if !b.whole && b.event.Thread == e.event.Thread {
				f.tid = b.event.Thread.TID
			}
			list = append(list, f)
			break
		}
	}
	return list
}

func compareFound(a, b found) int {
	return cmp.Or(cmp.Compare(a.pair, b.pair), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid))
}

// The intervals and the events during them are those of the model, in a later pass with threads of its own.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := makeSteps(t)
		want := model(steps)
		only := rapid.SampledFrom([]string{"", "Suspension", "Contention", "TypeLoad"}).Draw(t, "only")
		var got []found
		windows := interval.NewWindows()
		info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
		m := interval.New(info, interval.Options{
			Wants: func(*operation.Operation) bool { return true },
			Emit: func(v *interval.Interval) {
				if v.Pair.Name == "GCSuspendEE" || v.Pair.Name == "GCRestartEE" {
					return
				}
				f := found{v.Pair.Name, v.Begin.Time, v.End.Time, v.Begin.Thread.Process.PID, 0}
				if (f.pair == "Contention" || f.pair == "TypeLoad") && v.Begin.Thread == v.End.Thread {
					f.tid = v.Begin.Thread.TID
				}
				got = append(got, f)
				if only == "" || f.pair == only {
					windows.Add(v)
				}
			},
		})
		for _, s := range steps {
			m.Add(s.event)
		}
		m.Finish()
		windows.Finish()
		slices.SortFunc(got, compareFound)
		slices.SortFunc(want, compareFound)
		if !slices.Equal(got, want) {
			t.Fatalf("intervals %v, want %v", got, want)
		}
		last := steps[len(steps)-1].event.Time
		for i := range 4 * (last + 2) {
			p := &ntconv.Process{PID: uint64(i) % 4 / 2, PointerSize: 8}
			e := &ntconv.Event{Time: i / 4, Thread: &ntconv.Thread{TID: 10*p.PID + 1 + uint64(i)%2, Process: p}}
			in := slices.ContainsFunc(want, func(f found) bool {
				return (only == "" || f.pair == only) && f.pid == p.PID && (f.tid == 0 || f.tid == e.Thread.TID) && f.from <= e.Time && e.Time <= f.to
			})
			if windows.During(e) != in {
				t.Fatalf("%d/%d at %d: %v, want %v; intervals %v", p.PID, e.Thread.TID, e.Time, !in, in, want)
			}
		}
	})
}
