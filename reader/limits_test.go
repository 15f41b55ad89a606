package reader

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// shape returns a hostile stream.
func shape(t testing.TB, name string, n int) []byte {
	t.Helper()
	for _, s := range tracegen.Shapes() {
		if s.Name == name {
			var b bytes.Buffer
			if err := s.Write(&b, n); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
	}
	t.Fatalf("no shape %q", name)
	return nil
}

func num(limit string, value, asked int64) ntconv.LimitError {
	return ntconv.LimitError{Limit: limit, Value: value, Asked: asked}
}

func size(limit string, value, asked int64) ntconv.LimitError {
	return ntconv.LimitError{Limit: limit, Value: value, Asked: asked, Unit: "bytes"}
}

func levels(value int64) ntconv.LimitError {
	return ntconv.LimitError{Limit: LimitFieldDepth, Value: value, Asked: value + 1, Unit: "levels"}
}

// TestLimits checks that exceeding a limit is an error with the offset, the name of the limit, its value and the value
// that the input needs. Events before that offset are delivered.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		shape  string
		n      int
		limits Limits
		want   ntconv.LimitError // Asked 0: any number above Value
		before int               // minimum number of delivered events
	}{
		{"block-size-max", 1, Limits{}, size(LimitBlockBytes, 64<<20, math.MaxInt32), 1},
		{"no-barrier", 50_000, Limits{BlockBytes: 1000}, size(LimitBlockBytes, 1000, 102_410), 1},
		{"labels", 50_000, Limits{BlockBytes: 1000}, size(LimitBlockBytes, 1000, 300_008), 1},
		{"types", 5000, Limits{Types: 1500}, num(LimitTypes, 1500, 1501), 1500},
		{"types-v4", 5000, Limits{Types: 1500}, num(LimitTypes, 1500, 1501), 1500},
		{"type-redefined", 5000, Limits{Types: 1500}, num(LimitTypes, 1500, 1501), 1500},
		{"fields", 8000, Limits{Fields: 3999}, num(LimitFields, 3999, 4000), 0},
		{"fields-65535", 1, Limits{}, num(LimitFields, 4096, 4097), 0},
		{"fields-v4", 1, Limits{}, num(LimitFields, 4096, 0), 0},
		{"nested-100", 1, Limits{}, levels(32), 0},
		{"nested-100-v4", 1, Limits{FieldDepth: 99}, levels(99), 0},
		{"threads", 5000, Limits{Threads: 1500}, num(LimitThreads, 1500, 1501), 1500},
		{"threads-v4", 5000, Limits{Threads: 1500}, num(LimitThreads, 1500, 1501), 1500},
		{"thread-redefined", 5000, Limits{Threads: 500}, num(LimitThreads, 500, 501), 500},
		{"thread-restart", 50_000, Limits{Threads: 500}, num(LimitThreads, 500, 501), 500},
		{"barrier-threads", 5000, Limits{Threads: 1500}, num(LimitThreads, 1500, 5000), 1},
		{"labels", 50_000, Limits{LabelLists: 1500}, num(LimitLabelLists, 1500, 1501), 1},
		{"labels-redefined", 5000, Limits{LabelLists: 1500}, num(LimitLabelLists, 1500, 1501), 1},
		{"stacks", 5000, Limits{TableBytes: 100_000}, size(LimitTableBytes, 100_000, 0), 0},
		{"stacks-redefined", 5000, Limits{TableBytes: 100_000}, size(LimitTableBytes, 100_000, 0), 0},
		{"types", 5000, Limits{TableBytes: 100_000}, size(LimitTableBytes, 100_000, 0), 0},
		{"threads", 5000, Limits{TableBytes: 100_000}, size(LimitTableBytes, 100_000, 0), 0},
		{"labels-distinct", 50_000, Limits{TableBytes: 100_000}, size(LimitTableBytes, 100_000, 0), 0},
	} {
		data := shape(t, test.shape, test.n)
		for _, order := range []Order{FileOrder, ByTime} {
			n, err := count(data, &Options{Order: order, Limits: test.limits})
			var f *ntconv.FormatError
			if !exceeds(err, test.want) || !errors.As(err, &f) {
				t.Errorf("%s, %+v: %v, want %+v", test.shape, test.limits, err, test.want)
			} else if f.Offset <= 0 || f.Offset > int64(len(data)) || f.Where == "" {
				t.Errorf("%s: %v does not say where", test.shape, err)
			}
			if n < test.before {
				t.Errorf("%s: %d events before %v, want %d", test.shape, n, err, test.before)
			}
		}
	}
}

// exceeds reports whether err has the data of a limit.
func exceeds(err error, want ntconv.LimitError) bool {
	var l *ntconv.LimitError
	if !errors.Is(err, ntconv.ErrLimit) || !errors.As(err, &l) {
		return false
	}
	if want.Asked == 0 && l.Asked > l.Value {
		want.Asked = l.Asked
	}
	return *l == want
}

// TestNameLimit checks that names of 65,536 UTF-16 units are read and that longer ones end the trace.
func TestNameLimit(t *testing.T) {
	const most = 1 << 16
	for _, test := range []struct {
		version wire.Version
		units   int
		limit   int
		unit    string // of the error; none if empty
	}{
		{wire.V3, most, 0, ""},
		{wire.V3, most + 1, 0, "UTF-16 units"},
		{wire.V3, 101, 100, "UTF-16 units"},
		{wire.V4, most, 0, ""},
		{wire.V4, most + 1, 0, "UTF-16 units"},
		{wire.V4, 100, 100, ""},
		{wire.V4, 101, 100, "UTF-16 units"},
		{wire.V6, 65_000, 0, ""},
		{wire.V6, 100, 100, ""},
		{wire.V6, 101, 100, "bytes"},
	} {
		var b bytes.Buffer
		s := wirestream.New(&b, test.version)
		s.Types(wirestream.Type{ID: 1, Provider: "P", Name: "E"}, wirestream.Type{ID: 2, Provider: "P", Name: strings.Repeat("n", test.units)})
		s.End()
		for _, strict := range []bool{false, true} {
			n, err := count(b.Bytes(), &Options{Strict: strict, Limits: Limits{Name: test.limit}})
			switch {
			case test.unit == "" && (err != nil || n != 2):
				t.Errorf("%+v: %d events, %v", test, n, err)
			case test.unit != "" && (!exceeds(err, ntconv.LimitError{
				Limit: LimitName, Value: int64(cmp.Or(test.limit, most)), Asked: int64(test.units), Unit: test.unit}) || n != 1):
				t.Errorf("%+v: %d events, %v", test, n, err)
			}
		}
	}
}

// count reads a trace to its end.
func count(data []byte, opts *Options) (n int, err error) {
	r, err := New(bytes.NewReader(data), opts)
	if err != nil {
		return 0, err
	}
	for _, err := range ntconv.Events(r) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestStackDepth checks that a stack beyond the limit loses its outermost frames and is counted.
func TestStackDepth(t *testing.T) {
	for _, v := range []wire.Version{wire.V3, wire.V4, wire.V6} {
		var b bytes.Buffer
		s := wirestream.New(&b, v)
		s.Stacks(1, wirestream.Addresses(1, 2, 3), wirestream.Addresses(1, 2, 3, 4), wirestream.Addresses(5))
		e := s.Events()
		for i := range uint32(3) {
			e.Add(&wire.EventHeader{MetadataID: 1, Sequence: i + 1, Thread: 1, CaptureThread: 1, StackID: i + 1, Time: 1e9}, nil)
		}
		e.Flush()
		s.End()
		var report ntconv.Report
		r, err := New(&b, &Options{Report: &report, Limits: Limits{StackDepth: 3}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range ntconv.Events(r) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent {
				got = append(got, fmt.Sprint(e.Stack.PCs))
			}
		}
		if want := "[1 2 3] [1 2 3] [5]"; strings.Join(got, " ") != want || report.Count(ntconv.CodeStackCut) != 1 {
			t.Errorf("version %d: stacks %v, %v; want %s and one cut", v, got, report.Entries(), want)
		}
	}
}

// TestWindowLimits checks that a full window is delivered in parts, each in time order, completely and with a note, and
// that it never exceeds its limit.
func TestWindowLimits(t *testing.T) {
	for _, test := range []struct {
		shape  string
		n      int
		limits Limits
	}{
		{"no-barrier", 100_000, Limits{WindowEvents: 1000}},
		{"no-barrier", 100_000, Limits{WindowEvents: 1}},
		{"no-barrier", 100_000, Limits{WindowBytes: 200_000}},
		{"block-per-event", 10_000, Limits{WindowEvents: 1000}},
		{"block-per-event", 10_000, Limits{WindowBytes: 10_000}},
	} {
		data := shape(t, test.shape, test.n)
		want, _ := count(data, &Options{Order: FileOrder})
		var report ntconv.Report
		r, err := New(bytes.NewReader(data), &Options{Limits: test.limits, Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		got, rows, held := 0, 0, 0
		for _, err := range ntconv.Events(r) {
			if err != nil {
				t.Fatal(err)
			}
			got++
			rows, held = max(rows, len(r.window.rows)), max(held, r.window.bytes)
		}
		if got != want || report.Count(ntconv.CodeWindowCap) == 0 {
			t.Errorf("%s, %+v: %d events, want %d and a note: %v", test.shape, test.limits, got, want, report.Entries())
		}
		if max := r.limits.WindowEvents; rows > max {
			t.Errorf("%s, %+v: %d rows held", test.shape, test.limits, rows)
		}
		if max := r.limits.WindowBytes + 128<<10; held > max { // a block comes as a whole
			t.Errorf("%s, %+v: %d bytes held", test.shape, test.limits, held)
		}
	}
}

// TestWindowMemory checks that WindowBytes limits the memory, not the bytes in use: small blocks are read into larger
// pieces of memory.
func TestWindowMemory(t *testing.T) {
	var b bytes.Buffer
	s := wirestream.New(&b, wire.V4)
	payload := make([]byte, 17<<10)
	for i := range 500 {
		e := s.Events()
		e.Add(&wire.EventHeader{
			MetadataID: 1, Sequence: uint32(i + 1), Thread: 1, CaptureThread: 1, Time: 1e9, PayloadSize: uint32(len(payload)),
		}, payload)
		e.Flush()
	}
	s.End()
	const limit = 2 << 20
	data := b.Bytes()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := New(bytes.NewReader(data), &Options{Limits: Limits{WindowBytes: limit}})
	if err != nil {
		t.Fatal(err)
	}
	most := int64(0)
	for i := 0; ; i++ {
		if _, err := r.Next(); err != nil {
			break
		}
		if i%50 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
		}
	}
	if most > 2*limit {
		t.Errorf("%d bytes in use with a window of %d", most, limit)
	}
}

// costs is the memory that reading a stream needs.
type costs struct {
	allocated, objects uint64
	live               int64 // bytes that the reader holds at the end
}

func measure(t *testing.T, data []byte, order Order) (c costs) {
	var before, after, end runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := New(bytes.NewReader(data), &Options{Order: order})
	for err == nil {
		_, err = r.Next()
	}
	if err != io.EOF {
		t.Errorf("%v", err)
	}
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.ReadMemStats(&end)
	runtime.KeepAlive(r)
	return costs{after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs, int64(end.HeapAlloc) - int64(before.HeapAlloc)}
}

// holding lists the shapes for which a reader must hold memory per item, up to a limit (TestLimits).
var holding = map[string]bool{
	"no-barrier": true, "block-per-event": true, "release": true, // events, until a barrier
	"threads": true, "threads-v4": true, "types": true, "types-v4": true, "type-redefined": true, "fields": true,
	"stacks": true, "stacks-redefined": true, "stack-id-jumps": true, "labels-redefined": true,
	"thread-churn-waiting": true, "thread-redefined": true, "thread-restart": true, // threads of events that wait
	"thread-flush": true, "type-flush": true, "thread-flush-same": true, // see TestRetired
	"barrier-threads": true,                                                      // the event that lists them
	"activities":      true, "activities-waiting": true, "labels-distinct": true, // 65,536 of them
}

// TestShapes checks that twice the input needs at most twice the memory, and no more live memory if the reader need not
// hold anything per item.
func TestShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: one goroutine reads many streams")
	}
	const n = 3 * 4096 // the reader clears its placeholders of types at 4,096
	for _, s := range tracegen.Shapes() {
		if !s.Many {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			small, large := shape(t, s.Name, n), shape(t, s.Name, 2*n)
			for _, order := range []Order{FileOrder, ByTime} {
				a, b := measure(t, small, order), measure(t, large, order)
				if b.allocated > 5*a.allocated/2+1<<20 || b.objects > 5*a.objects/2+1000 {
					t.Errorf("order %d: %d bytes in %d objects, but twice the input takes %d in %d", order, a.allocated, a.objects, b.allocated, b.objects)
				}
				if !holding[s.Name] && b.live > a.live*11/10+64<<10 {
					t.Errorf("order %d: %d bytes are held, but %d of twice the input", order, a.live, b.live)
				}
			}
		})
	}
}

// TestWaitingThreads checks that the reader delivers the window before the threads and activities of its events exceed
// their limit, even if no sequence point follows.
func TestWaitingThreads(t *testing.T) {
	for _, test := range []struct {
		shape  string
		limits Limits
	}{
		{"thread-churn-waiting", Limits{Threads: 1000}},
		{"activities-waiting", Limits{LabelLists: maxInterned}},
		{"activities", Limits{}},
	} {
		data := shape(t, test.shape, 200_000)
		var report ntconv.Report
		r, err := New(bytes.NewReader(data), &Options{Limits: test.limits, Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		threads, lists := 0, 0
		for _, err := range ntconv.Events(r) {
			if err != nil {
				t.Fatalf("%s: %v", test.shape, err)
			}
			threads, lists = max(threads, r.threads.size()), max(lists, len(r.labels.list))
		}
		if threads > 1000 || lists > maxInterned+10_000 { // a block comes as a whole
			t.Errorf("%s: %d threads and %d label lists held", test.shape, threads, lists)
		}
	}
}

// TestRetired checks that the memory of flushed rows is bounded.
func TestRetired(t *testing.T) {
	var r retired[int]
	for i := range 200_000 {
		r.put(fmt.Sprint("row ", i), uint64(i), &i)
		r.put("the same", uint64(i), &i)
	}
	if r.bytes > maxRetiredBytes+1<<20 || len(r.rows["the same"]) > maxAlike {
		t.Errorf("%d bytes, %d alike", r.bytes, len(r.rows["the same"]))
	}
	for i := range 200_000 {
		r.take(fmt.Sprint("row ", i), 0, false)
	}
	for r.take("the same", 0, false) != nil {
	}
	if r.bytes != 0 || len(r.rows) != 0 {
		t.Errorf("%d bytes, %d rows after all were taken", r.bytes, len(r.rows))
	}
}

// TestFalseSizes checks that sizes and counts that exceed the input cause no large allocation.
func TestFalseSizes(t *testing.T) {
	l := newLaws()
	for _, s := range tracegen.Shapes() {
		if s.Many {
			continue
		}
		for _, n := range []int{1, 100} {
			data := shape(t, s.Name, n)
			if err := l.Check(data); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	if l.Worst > 4<<20 {
		t.Errorf("%d bytes allocated beyond 8 times the input", l.Worst)
	}
}
