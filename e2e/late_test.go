package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/writer"
)

// lateTrace is a trace of two threads that alternately write events flagged as sorted, each in its own block. It ends
// with an event of a third thread that is earlier than all of them.
func lateTrace(t *testing.T) (trace []byte, events int) {
	t.Helper()
	var b bytes.Buffer
	info := &ntconv.Info{PointerSize: 8, Clock: ntconv.Clock{Freq: 1_000_000_000, Tick: 1_000_000_000}}
	w, err := writer.New(&b, info, &writer.Options{BlockEvents: 1}) // written blocks cannot be changed later
	must(t, err)
	process := &ntconv.Process{PID: 42}
	threads := []*ntconv.Thread{{TID: 1, Process: process}, {TID: 2, Process: process}, {TID: 3, Process: process}}
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "Turn"}
	var numbers [3]uint32
	write := func(i int, at ntconv.Ticks) {
		numbers[i]++
		events++
		e := &ntconv.Event{
			Flags: ntconv.FlagSorted, Time: info.Clock.Tick + at*1_000_000, Seq: numbers[i],
			Type: typ, Thread: threads[i], Capture: threads[i], Offset: -1,
		}
		must(t, w.Write(e))
	}
	for at := ntconv.Ticks(10); at < 40; at += 3 {
		write(0, at)
		write(1, at+1)
		write(1, at+2)
	}
	write(2, 5)
	must(t, w.Close())
	return b.Bytes(), events
}

// A rewrite in file order keeps the sorted flags of the recorder, even if a late event contradicts them, so TraceEvent
// finds the same order as in the original. In time order all events are sorted. Neither has losses.
func TestLateEventsAreNoLosses(t *testing.T) {
	tool := traceevent(t)
	data, events := lateTrace(t)
	input := filepath.Join(t.TempDir(), "late.nettrace")
	must(t, os.WriteFile(input, data, 0o600))
	type summary struct{ Events, EventsLost, TimeInversions int }
	var original summary
	decode(t, run(t, tool, "summary", input).stdout, &original)
	for _, order := range []string{"file", "time"} {
		output := filepath.Join(t.TempDir(), order+".nettrace")
		succeed(t, "to", "nettrace", "--order", order, input, "-o", output)
		again := filepath.Join(t.TempDir(), "again.nettrace")
		succeed(t, "to", "nettrace", "--order", order, output, "-o", again)
		succeed(t, "verify", "--order", order, output, again)
		var s summary
		r := run(t, tool, "summary", output)
		if r.code != 0 {
			t.Fatalf("by %s: the reference rejects it: %s", order, r.stderr)
		}
		decode(t, r.stdout, &s)
		inversions := original.TimeInversions
		if order == "time" {
			inversions = 0
		}
		if s.Events != events || s.EventsLost != 0 || s.TimeInversions != inversions {
			t.Errorf("by %s: %d events of %d, %d lost, %d out of order", order, s.Events, events, s.EventsLost, s.TimeInversions)
		}
	}
}
