package reader

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// comparePaths is compareAccepted for traces that the reader must accept.
func comparePaths(data []byte, opts Options) error {
	accepted, err := compareAccepted(data, opts)
	if err == nil && !accepted {
		err = errors.New("the reader refuses the trace")
	}
	return err
}

// compareAccepted checks that the fast paths yield the same as the slow path, from a stream and from memory: the same
// events, each after its definitions, the same error and the same report. It reports whether the reader accepts the
// trace; otherwise there is nothing to compare.
func compareAccepted(data []byte, opts Options) (accepted bool, err error) {
	open := func(slow, memory bool) (*Reader, *ntconv.Report, error) {
		o := opts
		o.Report = &ntconv.Report{}
		r, err := New(bytes.NewReader(data), &o)
		if memory {
			o.Report = &ntconv.Report{}
			r, err = NewBytes(data, &o)
		}
		if err == nil {
			r.slowPathOnly = slow
		}
		return r, o.Report, err
	}
	for _, memory := range []bool{false, true} {
		r, report, err := open(false, memory)
		slow, want, refused := open(true, memory)
		switch {
		case fmt.Sprint(err) != fmt.Sprint(refused):
			return false, fmt.Errorf("memory %v: error %v, slow path %v", memory, err, refused)
		case err != nil:
			return false, nil
		}
		if err := sameEvents(r, slow); err != nil {
			return true, fmt.Errorf("memory %v: %w", memory, err)
		}
		if a, b := report.Entries(), want.Entries(); !reflect.DeepEqual(a, b) {
			return true, fmt.Errorf("memory %v: report %v, slow path %v", memory, a, b)
		}
	}
	return true, nil
}

// sameEvents reads two readers to the end.
func sameEvents(r, other *Reader) error {
	defined := map[*ntconv.Thread]bool{}
	for n := 0; ; n++ {
		fast, err := r.Next()
		slow, want := other.Next()
		switch {
		case fmt.Sprint(err) != fmt.Sprint(want):
			return fmt.Errorf("event %d: error %v, slow path %v", n, err, want)
		case err != nil:
			return nil
		case laws.Hash(fast) != laws.Hash(slow) || (fast.Type == nil) != (slow.Type == nil):
			return fmt.Errorf("event %d: %+v, slow path %+v", n, fast, slow)
		case fast.Kind == ntconv.KindDefine && fast.Thread != nil:
			defined[fast.Thread] = true
		case fast.Kind == ntconv.KindEvent && fast.Flags&ntconv.FlagPlaceholder == 0 && !defined[fast.Thread]:
			return fmt.Errorf("event %d of thread %d comes before the thread is defined", n, fast.Thread.TID)
		}
	}
}

// pathOptions returns all options that affect the choice of paths, with small windows among them.
func pathOptions() (list []Options) {
	for _, order := range []Order{FileOrder, ByTime} {
		for _, strict := range []bool{false, true} {
			for _, l := range []Limits{{}, {WindowEvents: 1}, {WindowEvents: 3}, {WindowEvents: 17}, {WindowBytes: 100}} {
				list = append(list, Options{Order: order, Strict: strict, Limits: l, AllowPrerelease: true})
			}
		}
	}
	return list
}

// TestFastPaths calls compareAccepted for real and generated traces. TestMutations does so for corrupt traces.
func TestFastPaths(t *testing.T) {
	files := corpus.Traces(t)
	if !testing.Short() && len(files) > 0 {
		t.Run("shared", func(t *testing.T) {
			for _, f := range corpus.SharedTraces(t) {
				for _, o := range []Options{{Order: FileOrder}, {}, {Limits: Limits{WindowEvents: 1000}}} {
					if err := comparePaths(f.Data, o); err != nil {
						t.Errorf("%s, %+v: %v", f.Name, o, err)
					}
				}
			}
		})
	}
	for _, f := range files {
		for i, o := range pathOptions() {
			if testing.Short() && i%5 != 0 {
				continue // skip small windows
			}
			if accepted, err := compareAccepted(f.Data, o); err != nil || !accepted && !o.Strict {
				t.Errorf("%s, %+v: accepted %v, %v", f.Name, o, accepted, err)
			}
		}
	}
	n := 2000
	if testing.Short() {
		n = 100
	} else if !corpus.Nightly() {
		n = 500
	}
	options := pathOptions()
	r := rand.New(rand.NewPCG(1, 0))
	for seed := range n {
		program := make([]byte, r.IntN(400))
		for i := range program {
			program[i] = byte(r.Uint32())
		}
		for _, v := range []wire.Version{wire.V4, wire.V6} {
			if err := comparePaths(perform(v, program), options[seed%len(options)]); err != nil {
				t.Errorf("program %d, version %d: %v", seed, v, err)
			}
			if seed%5 != 0 {
				continue
			}
			if err := comparePaths(longBlocks(v, uint64(seed)), options[seed/5%len(options)]); err != nil {
				t.Errorf("long blocks %d, version %d: %v", seed, v, err)
			}
		}
	}
}

// longBlocks returns a trace of blocks with many events for the fast paths and a few for the slow path.
func longBlocks(v wire.Version, seed uint64) []byte {
	var out bytes.Buffer
	r := rand.New(rand.NewPCG(seed, 2))
	s := wirestream.New(&out, v)
	threads := []uint64{0, 1, 2, 3, 1 << 40}[:1+r.IntN(5)]
	twin := uint64(4)
	for cacheIndex(twin) != cacheIndex(threads[0]) {
		twin++
	}
	threads = append(threads, twin)
	h := wire.EventHeader{MetadataID: 1, Time: 1_000_000_000_000}
	seq := map[uint64]uint32{}
	for range 1 + r.IntN(4) {
		s.Types(wirestream.Type{ID: 1 + r.Uint32N(2), Provider: "P", Event: r.Uint32N(2), Name: "E"}, wirestream.Type{ID: 1 << 20, Provider: "P", Name: "F"})
		s.Stacks(1, wirestream.Addresses(1), nil, wirestream.Addresses(2, 3))
		if v == wire.V6 {
			s.Threads(wire.Thread{Index: threads[r.IntN(len(threads))]}, wire.Thread{Index: threads[0]}, wire.Thread{Index: twin})
			s.Labels(1, []wire.Label{{Kind: wire.LabelOpcode, Value: wire.Value{Num: 7}}})
		}
		b := s.Events()
		for range r.IntN(150) {
			change(r, 4, &h.Thread, threads...)
			change(r, 4, &h.CaptureThread, threads...)
			change(r, 3, &h.StackID, 0, 1, 2, 3)
			change(r, 8, &h.MetadataID, 1, 2)
			change(r, 8, &h.PayloadSize, 0, 1, 100)
			seq[h.CaptureThread]++
			now := h.Time
			if r.IntN(20) == 0 { // in some cases an event that must take the slow path
				change(r, 4, &h.MetadataID, 0, 3, 1<<20, math.MaxUint32)
				change(r, 4, &h.StackID, 9, 1<<20, math.MaxUint32)
				change(r, 4, &h.CPU, 1, wire.NoCPU)
				n := seq[h.CaptureThread]
				change(r, 4, &n, 0, 1, n-1, n+1, n+1<<31)
				seq[h.CaptureThread] = n
				change(r, 4, &h.Time, 0, now-100, now+100, now+1<<62)
				if v == wire.V6 {
					change(r, 4, &h.LabelList, 0, 1, 2)
				} else {
					change(r, 4, &h.Activity[0], 0, 1)
				}
			}
			h.Sequence, h.Sorted = seq[h.CaptureThread], r.IntN(3) == 0
			b.Add(&h, make([]byte, h.PayloadSize))
			h.Time = now + r.Uint64N(3)
		}
		b.Flush()
		if r.IntN(3) == 0 {
			s.SequencePoint(h.Time, r.Uint32N(4))
		}
	}
	s.End()
	return out.Bytes()
}

// change sets *v to one of the values in one of n cases.
func change[T any](r *rand.Rand, n int, v *T, values ...T) {
	if r.IntN(n) == 0 {
		*v = values[r.IntN(len(values))]
	}
}

// stream returns a trace of events without payload. Each has a time in ticks, a thread and whether it is sorted. An
// event without a thread ends a block.
func stream(v wire.Version, events []timed) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, v)
	s.Types(wirestream.Type{ID: 1, Provider: "P", Event: 1, Name: "E"})
	if v == wire.V6 {
		s.Threads(wire.Thread{Index: 1, TID: 1, Has: 1 << wire.ThreadTID})
	}
	seq := map[uint64]uint32{}
	b := s.Events()
	for _, e := range events {
		if e.thread == 0 {
			b.Flush()
			continue
		}
		seq[e.thread]++
		b.Add(&wire.EventHeader{MetadataID: 1, Thread: e.thread, CaptureThread: e.thread, Time: e.time, Sequence: seq[e.thread], Sorted: e.sorted}, nil)
	}
	b.Flush()
	s.End()
	return out.Bytes()
}

// TestPaddedNumbers checks that numbers in event headers with more bytes than necessary have the same value on every
// path.
func TestPaddedNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: one goroutine reads many streams")
	}
	for _, v := range []wire.Version{wire.V4, wire.V6} {
		plain, padded := numbered(v, false), numbered(v, true)
		if len(padded) < len(plain)+10_000 {
			t.Fatalf("version %d: %d bytes, of %d without padding", v, len(padded), len(plain))
		}
		for _, o := range pathOptions() {
			if err := comparePaths(padded, o); err != nil {
				t.Errorf("version %d, %+v: %v", v, o, err)
			}
			if o.Limits.WindowBytes > 0 {
				continue // the window is full earlier
			}
			if a, b := contents(t, plain, o), contents(t, padded, o); !slices.Equal(a, b) || len(a) < 3000 {
				t.Errorf("version %d, %+v: %d events, %d or different ones when padded", v, o, len(a), len(b))
			}
		}
	}
}

// numbered returns a trace of 3,000 events in blocks of 500, with numbers of all lengths.
func numbered(v wire.Version, pad bool) []byte {
	var out bytes.Buffer
	s := wirestream.New(&out, v)
	s.Types(wirestream.Type{ID: 1, Provider: "P", Event: 1, Name: "E"}, wirestream.Type{ID: 300, Provider: "P", Event: 2, Name: "F"})
	s.Stacks(1, wirestream.Addresses(1, 2), wirestream.Addresses(3))
	s.Stacks(200, wirestream.Addresses(4), wirestream.Addresses(5))
	ids := []uint64{1, 127, 128, 1 << 20, 1 << 40}
	if v == wire.V6 {
		for _, id := range ids {
			s.Threads(wire.Thread{Index: id, TID: id, Has: 1 << wire.ThreadTID})
		}
	}
	r := rand.New(rand.NewPCG(7, 0))
	seq := map[uint64]uint32{}
	h := wire.EventHeader{Time: 1_000_000_000, MetadataID: 1, Thread: 1, CaptureThread: 1}
	b := s.Events()
	for i := range 3000 {
		if i%500 == 499 {
			b.Flush()
		}
		switch r.IntN(4) { // most events differ little from the one before
		case 0:
			h.Thread = ids[r.IntN(len(ids))]
			h.CaptureThread = h.Thread
		case 1:
			h.StackID = []uint32{0, 1, 2, 200, 201}[r.IntN(5)]
		case 2:
			h.MetadataID, h.CPU = []uint32{1, 300}[r.IntN(2)], uint32(r.IntN(300))
			h.Activity[0] = byte(r.IntN(2) * 0x80) // of version 4
		}
		h.Time += uint64(r.IntN(1 << r.IntN(24)))
		h.Sorted, h.PayloadSize = r.IntN(8) > 0, uint32(r.IntN(3)*70)
		seq[h.CaptureThread]++
		h.Sequence = seq[h.CaptureThread]
		if more := r.IntN(12) - 3; pad {
			b.Pad = max(0, more)
		}
		b.Add(&h, make([]byte, h.PayloadSize))
	}
	b.Flush()
	s.End()
	return out.Bytes()
}

// contents returns the events of a trace without their offsets.
func contents(t *testing.T, data []byte, o Options) (list []string) {
	r, err := New(bytes.NewReader(data), &o)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range ntconv.Events(r) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			list = append(list, fmt.Sprint(e.Time, e.Seq, e.CPU, e.Flags, e.Thread.TID, e.Capture.TID, e.Type.Name, e.Stack, e.Labels, e.Payload))
		}
	}
	return list
}

type timed struct {
	thread, time uint64
	sorted       bool
}

// TestLongNumbers checks that a number with too many bytes in a header ends the block on the fast paths as on the slow
// path, even if its last bytes happen to encode the previous event's number.
func TestLongNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: one goroutine reads many streams")
	}
	first := wire.EventHeader{MetadataID: 1, Time: 1_000_000_000, Sequence: 1, Sorted: true}
	for _, v := range []wire.Version{wire.V4, wire.V6} {
		for flags := range 256 {
			for before := range 9 { // numbers before it
				if corpus.IsOmitted(before, 4) {
					continue
				}
				var out bytes.Buffer
				s := wirestream.New(&out, v)
				s.Types(wirestream.Type{ID: 0, Provider: "P", Event: 1, Name: "E"}, wirestream.Type{ID: 1, Provider: "P", Event: 1, Name: "E"})
				if v == wire.V6 {
					s.Threads(wire.Thread{TID: 1, Has: 1 << wire.ThreadTID})
				}
				block := s.EventBlock(&wire.EventBlockHeader{Flags: wire.FlagCompressed, Max: math.MaxUint64})
				block.Add(&first, nil)
				block.Raw(append([]byte{byte(flags)}, make([]byte, before)...))
				block.Raw([]byte("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"))
				block.Raw(make([]byte, 2*maxFastHeader))
				block.Flush()
				s.End()
				for _, o := range []Order{FileOrder, ByTime} {
					if err := comparePaths(out.Bytes(), Options{Order: o, AllowPrerelease: true}); err != nil {
						t.Fatalf("version %d, flags %#x, %d numbers before, order %d: %v", v, flags, before, o, err)
					}
				}
			}
		}
	}
}

// TestRuns checks that overlapping runs of all lengths, with many equal times, are merged into a stable sort.
func TestRuns(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		bound := uint64(1_000_000_000)
		var events []timed
		for range 2 + r.IntN(12) {
			time := bound + r.Uint64N(30)
			for range r.IntN(1 << r.IntN(8)) {
				time += r.Uint64N(4) / 3
				e := timed{thread: 1, time: time, sorted: r.IntN(200) == 0}
				if e.sorted {
					bound = time // later events are not earlier than this
				}
				if events = append(events, e); r.IntN(40) == 0 {
					events = append(events, timed{})
				}
			}
		}
		if err := compareSorted(stream(wire.V6, events)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
