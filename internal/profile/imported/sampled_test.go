package imported_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestOrder adds samples of two threads and records in any order, and frames last. The source yields all of them in
// time order.
func TestOrder(t *testing.T) {
	report := &ntconv.Report{}
	b := imported.New(imported.Options{Report: report, Limits: imported.Limits{Stack: 2}})
	p := &ntconv.Process{PID: 1}
	one := must[uint32](t)(b.AddThread(&ntconv.Thread{TID: 1, Process: p}, nil))
	two := must[uint32](t)(b.AddThread(&ntconv.Thread{TID: 2, Process: p}, nil))
	count := must[int](t)(b.Column(sample.Type{Type: "samples", Unit: "count"}))
	size := must[int](t)(b.Column(sample.Type{Type: "space", Unit: "bytes"}))
	node := imported.NoStack
	for i := range 3 {
		node = must[imported.Node](t)(b.Child(node, uint32(i)))
	}
	if again := must[imported.Node](t)(b.Child(imported.NoStack, 0)); again != b.Caller(b.Caller(node)) {
		t.Errorf("equal stacks are %d and %d", again, b.Caller(b.Caller(node)))
	}
	for _, err := range []error{
		b.Sample(30, one, node, []imported.Value{{Column: size, N: 7}}), b.Sample(-5, two, imported.NoStack, []imported.Value{{Column: count, N: 1}}), b.Record(10, []byte("x")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	functions := []*ntconv.Function{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	var src *imported.Source
	src, err := b.Source(imported.Profile{
		Frame: func(n uint32) ntconv.Frame { return ntconv.Frame{Func: functions[n], Flags: ntconv.FrameInlined} },
		Event: func(at ntconv.Ticks, data []byte) (*ntconv.Event, error) {
			if data == nil {
				return nil, nil
			}
			return &ntconv.Event{Time: at, Type: &ntconv.Type{Name: string(data)}, Thread: src.Thread(one)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var got []string
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != ntconv.KindEvent {
			continue
		}
		line := fmt.Sprint(src.Info().Clock.Nanos(e.Time), " ", e.Thread.TID, " ", e.Type.Name, " ", e.Seq)
		for _, v := range e.Fields() {
			line += fmt.Sprint(" ", v)
		}
		if e.Stack != nil {
			for _, f := range e.Stack.Frames {
				line += fmt.Sprint(" ", f.Func.Name, f.Flags)
			}
		}
		got = append(got, line)
	}
	want := []string{"0 2 cpu 1 0 1 0", "15 1 x 2", "35 1 cpu 3 7 0 7 c1 b0"}
	if fmt.Sprint(got) != fmt.Sprint(want) || report.Count(ntconv.CodeStackCut) != 1 {
		t.Errorf("got %q, want %q; %v", got, want, report.Entries())
	}
}

// TestBounds checks the limits of a Builder.
func TestBounds(t *testing.T) {
	b := imported.New(imported.Options{Limits: imported.Limits{Threads: 1, Tables: 1 << 20}})
	_, err := b.AddNode(1, 0)
	if !errors.Is(err, ntconv.ErrCorrupt) {
		t.Errorf("a stack that calls itself: %v", err)
	}
	if err := b.Sample(imported.MaxTime+1, 0, imported.NoStack, nil); !errors.Is(err, ntconv.ErrCorrupt) {
		t.Errorf("a time beyond the maximum: %v", err)
	}
	if _, err = b.AddThread(nil, nil); err != nil {
		t.Error(err)
	}
	if _, err = b.AddThread(nil, nil); !errors.Is(err, ntconv.ErrLimit) {
		t.Errorf("a second thread: %v", err)
	}
	for i := 0; err == nil || i < 200; i++ {
		_, err = b.Column(sample.Type{Type: fmt.Sprint(i)})
	}
	if !errors.Is(err, ntconv.ErrLimit) {
		t.Errorf("many columns: %v", err)
	}
	for err = nil; err == nil; {
		_, err = b.AddNode(imported.NoStack, 0)
	}
	if !errors.Is(err, ntconv.ErrLimit) || b.Nodes() > 1<<20 {
		t.Errorf("%d nodes: %v", b.Nodes(), err)
	}
}
