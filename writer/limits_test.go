package writer_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/writer"
)

// one returns a valid event.
func one() *ntconv.Event {
	e, _ := ticks(1, 0).Next()
	return e
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	small := &ntconv.Info{Clock: ntconv.Clock{Freq: 1}, PointerSize: 4}
	cases := []struct {
		name   string
		info   *ntconv.Info
		change func(e *ntconv.Event)
		err    error  // nil: accepted
		says   string // the limit that the error names
		large  error  // with AllowLarge
	}{
		{"payload", nil, func(e *ntconv.Event) { e.Payload = make([]byte, 65535) }, nil, "", nil},
		{"large payload", nil, func(e *ntconv.Event) { e.Payload = make([]byte, 65536) }, ntconv.ErrLimit, "65535", nil},
		{"payload beyond a block", nil, func(e *ntconv.Event) { e.Payload = make([]byte, 1<<24) }, ntconv.ErrLimit, "65535", ntconv.ErrLimit},
		{"stack", nil, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: make([]uint64, 8190)} }, nil, "", nil},
		{"large stack", nil, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: make([]uint64, 8191)} }, ntconv.ErrLimit, "8190", nil},
		{"stack beyond a block", nil, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: make([]uint64, 1<<21)} }, ntconv.ErrLimit, "8190", ntconv.ErrLimit},
		{"stack of short addresses", small, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: make([]uint64, 16381)} }, nil, "", nil},
		{"large stack of short addresses", small, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: make([]uint64, 16382)} }, ntconv.ErrLimit, "16381", nil},
		{"long address", small, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{PCs: []uint64{1 << 32}} }, ntconv.ErrUnsupported, "4-byte", ntconv.ErrUnsupported},
		{"names without addresses", nil, func(e *ntconv.Event) { e.Stack = &ntconv.Stack{Frames: make([]ntconv.Frame, 1)} }, ntconv.ErrUnsupported, "addresses", ntconv.ErrUnsupported},
		{"event name", nil, func(e *ntconv.Event) { e.Type = &ntconv.Type{Name: long} }, ntconv.ErrLimit, "metadata row", ntconv.ErrLimit},
		{"field name", nil, func(e *ntconv.Event) {
			e.Type = &ntconv.Type{Fields: []ntconv.Field{{Name: long, Type: ntconv.FieldType{Code: ntconv.TypeInt8}}}}
		}, ntconv.ErrLimit, "field", ntconv.ErrLimit},
		{"type attribute", nil, func(e *ntconv.Event) { e.Type = &ntconv.Type{Attrs: ntconv.Attrs{{Key: long}}} }, ntconv.ErrLimit, "optional", ntconv.ErrLimit},
		{"thread name", nil, func(e *ntconv.Event) { e.Capture = &ntconv.Thread{Name: long} }, ntconv.ErrLimit, "thread row", ntconv.ErrLimit},
		{"label", nil, func(e *ntconv.Event) {
			e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelString, Str: long}})
		}, nil, "", nil},
		{"label beyond a block", nil, func(e *ntconv.Event) {
			e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelString, Str: strings.Repeat(long, 256)}})
		}, ntconv.ErrLimit, "limit 16777215 bytes", ntconv.ErrLimit},
		{"label of no kind", nil, func(e *ntconv.Event) { e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: 11}}) }, ntconv.ErrUnsupported, "kind 11", ntconv.ErrUnsupported},
		{"type of a manifest", nil, func(e *ntconv.Event) {
			e.Type = &ntconv.Type{Fields: []ntconv.Field{{Name: "p", Type: ntconv.FieldType{Code: ntconv.TypePointer}}}}
		}, ntconv.ErrUnsupported, "pointer", ntconv.ErrUnsupported},
		{"array of nothing", nil, func(e *ntconv.Event) {
			e.Type = &ntconv.Type{Fields: []ntconv.Field{{Name: "p", Type: ntconv.FieldType{Code: ntconv.TypeArray}}}}
		}, ntconv.ErrUnsupported, "element", ntconv.ErrUnsupported},
		{"opaque block of a known kind", nil, func(e *ntconv.Event) { *e = ntconv.Event{Kind: ntconv.KindOpaque, Seq: 2, Offset: 7} }, ntconv.ErrUnsupported, "kind 2", ntconv.ErrUnsupported},
		{"opaque block of no kind", nil, func(e *ntconv.Event) { *e = ntconv.Event{Kind: ntconv.KindOpaque, Seq: 256, Offset: 7} }, ntconv.ErrUnsupported, "kind 256", ntconv.ErrUnsupported},
		{"large opaque block", nil, func(e *ntconv.Event) {
			*e = ntconv.Event{Kind: ntconv.KindOpaque, Seq: 9, Offset: 7, Payload: make([]byte, 1<<24)}
		}, ntconv.ErrLimit, "got 16 MiB", ntconv.ErrLimit},
		{"unknown kind", nil, func(e *ntconv.Event) { *e = ntconv.Event{Kind: 77, Offset: 7} }, ntconv.ErrUnsupported, "77", ntconv.ErrUnsupported},
		{"unknown mark", nil, func(e *ntconv.Event) {
			*e = ntconv.Event{Kind: ntconv.KindMark, Offset: 7, Mark: &ntconv.Mark{Kind: 9}}
		}, ntconv.ErrUnsupported, "9", ntconv.ErrUnsupported},
	}
	for _, c := range cases {
		for _, allow := range []bool{false, true} {
			info := c.info
			if info == nil {
				info = ntconvtest.NewSource(nil).Info()
			}
			var buf bytes.Buffer
			w, err := writer.New(&buf, info, &writer.Options{AllowLarge: allow})
			if err != nil {
				t.Fatal(err)
			}
			good, odd := one(), one()
			c.change(odd)
			if odd.Offset < 0 {
				odd.Offset = 7
			}
			want := c.err
			if allow {
				want = c.large
			}
			if err := w.Write(good); err != nil {
				t.Fatalf("%s: before: %v", c.name, err)
			}
			err = w.Write(odd)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s (allow large: %v): %v, want %v", c.name, allow, err, want)
			}
			if l := (*ntconv.LimitError)(nil); errors.Is(err, ntconv.ErrLimit) && (!errors.As(err, &l) || l.Limit == "" || l.Asked <= l.Value || l.Value <= 0) {
				t.Errorf("%s: %v has no data", c.name, err)
			}
			if err != nil && !allow && !(strings.Contains(err.Error(), c.says) && strings.Contains(err.Error(), "event 2 (byte 7 of the input)")) {
				t.Errorf("%s: the error does not contain %q and the position: %v", c.name, c.says, err)
			}
			// The writer continues as if the rejected event had not been written.
			good.Seq, good.Time = 2, good.Time+1
			if err != nil {
				if err := w.Write(good); err != nil {
					t.Errorf("%s: after: %v", c.name, err)
				}
			}
			if err := w.Close(); err != nil {
				t.Errorf("%s: Close: %v", c.name, err)
			}
			if r := parse(t, buf.Bytes()); err != nil && len(r.events) != 2 {
				t.Errorf("%s: %d events", c.name, len(r.events))
			}
		}
	}
}

func TestEventsThatLackSomething(t *testing.T) {
	for name, change := range map[string]func(e *ntconv.Event){
		"type":    func(e *ntconv.Event) { e.Type = nil },
		"thread":  func(e *ntconv.Event) { e.Thread = nil },
		"capture": func(e *ntconv.Event) { e.Capture = nil },
		"mark":    func(e *ntconv.Event) { e.Kind = ntconv.KindMark },
	} {
		w, err := writer.New(io.Discard, ntconvtest.NewSource(nil).Info(), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := one()
		change(e)
		if err := w.Write(e); err == nil {
			t.Errorf("an event without a %s is accepted", name)
		}
	}
	if _, err := writer.New(io.Discard, &ntconv.Info{}, nil); err == nil {
		t.Error("a clock without a frequency is accepted")
	}
}

// TestBlocksStayBelow16MiB checks that no kind of block exceeds the format's limit with the largest block size.
func TestBlocksStayBelow16MiB(t *testing.T) {
	var buf bytes.Buffer
	w, err := writer.New(&buf, ntconvtest.NewSource(nil).Info(), &writer.Options{BlockBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	e := one()
	const n = 600
	for i := range uint32(n) {
		e.Seq = i + 1
		e.Payload = make([]byte, 60_000)
		e.Stack = &ntconv.Stack{PCs: make([]uint64, 8000)}
		e.Stack.PCs[0] = uint64(i)
		e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelInt, Key: strings.Repeat("k", 60_000), Num: int64(i)}})
		e.Type = &ntconv.Type{Provider: strings.Repeat("p", 60_000), ID: i}
		e.Thread = &ntconv.Thread{TID: uint64(i), Name: strings.Repeat("t", 60_000), Process: e.Capture.Process}
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := parse(t, buf.Bytes())
	if len(r.events) != n || r.stacks != n || len(r.labels) != n || len(r.metadata) != n || len(r.threads) != n+1 {
		t.Errorf("%d events, %d stacks, %d label lists, %d types, %d threads", len(r.events), r.stacks, len(r.labels), len(r.metadata), len(r.threads))
	}
	for _, k := range []wire.Kind{wire.KindStack, wire.KindEvent} {
		if size := r.blockSize[k]; size < 15e6 {
			t.Errorf("%v blocks have at most %d bytes: the test does not reach the limit", k, size)
		}
	}
}

// A failing writer writes half of the bytes and fails, from its n-th call on.
type failing struct {
	left  int
	short bool // return no error
}

var errDisk = errors.New("disk full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left--; f.left >= 0 {
		return len(b), nil
	}
	if f.short {
		return len(b) / 2, nil
	}
	return len(b) / 2, errDisk
}

func TestErrorsOfTheDestinationStay(t *testing.T) {
	tr := ntconvtest.Fixtures()[3]
	for _, short := range []bool{false, true} {
		want := errDisk
		if short {
			want = io.ErrShortWrite
		}
		calls := 0
		for ; ; calls++ {
			w, err := writer.New(&failing{calls, short}, tr.Info, &writer.Options{BlockEvents: 5})
			if err == nil {
				_, err = ntconv.Copy(w, tr.Source())
				if err != nil {
					if again := w.Write(one()); again != err {
						t.Fatalf("call %d: Write after %v: %v", calls, err, again)
					}
					if again := w.Flush(); again != err {
						t.Fatalf("call %d: Flush after %v: %v", calls, err, again)
					}
				}
				if closed := w.Close(); err == nil {
					err = closed
				} else if closed != err {
					t.Fatalf("call %d: Close after %v: %v", calls, err, closed)
				}
			}
			if err == nil {
				break
			}
			if err != want {
				t.Fatalf("call %d: %v", calls, err)
			}
		}
		if calls < 10 {
			t.Errorf("only %d calls of Write", calls)
		}
	}
}

func TestAfterClose(t *testing.T) {
	var buf bytes.Buffer
	w, err := writer.New(&buf, ntconvtest.NewSource(nil).Info(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := buf.Len()
	if w.Write(one()) == nil {
		t.Error("Write after Close is accepted")
	}
	if err := w.Close(); err != nil || buf.Len() != n {
		t.Errorf("second Close: %v, %d more bytes", err, buf.Len()-n)
	}
	if r := parse(t, buf.Bytes()); len(r.kinds) != 2 {
		t.Errorf("an empty trace has blocks %v", r.kinds)
	}
}

// A buffered destination needs to be flushed.
type buffered struct {
	bytes.Buffer
	flushed int
	err     error
}

func (b *buffered) Flush() error { b.flushed = b.Len(); return b.err }

// TestFlush checks that a reader gets every event that was written before Flush.
func TestFlush(t *testing.T) {
	var out buffered
	w, err := writer.New(&out, ntconvtest.NewSource(nil).Info(), nil)
	if err != nil {
		t.Fatal(err)
	}
	events, _ := ntconvtest.Record(ticks(3, 0))
	for i, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		got, err := ntconvtest.Record(read(t, out.Bytes()[:out.flushed]))
		n := 0
		for _, e := range got {
			if e.Kind == ntconv.KindEvent {
				n++
			}
		}
		if n != i+1 || !errors.Is(err, ntconv.ErrTruncated) {
			t.Errorf("after %d events: read %d, %v", i+1, n, err)
		}
	}
	before := out.Len()
	if err := w.Flush(); err != nil || out.Len() != before {
		t.Errorf("nothing to flush: %v, %d bytes", err, out.Len()-before)
	}
	out.err = errDisk
	if err := w.Flush(); err != errDisk {
		t.Errorf("Flush: %v", err)
	}
}
