package ntconvtest_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
)

func TestGeneratedTracesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		seq := map[*ntconv.Thread]uint32{}
		var barrier ntconv.Ticks
		for i, e := range tr.Events {
			switch e.Kind {
			case ntconv.KindEvent:
				if e.Type == nil || e.Thread == nil || e.Capture == nil {
					t.Fatalf("event %d: %+v lacks a type or a thread", i, e)
				}
				if e.Time < barrier {
					t.Fatalf("event %d at %d is before the barrier at %d", i, e.Time, barrier)
				}
				if seq[e.Capture]++; e.Seq != seq[e.Capture] {
					t.Fatalf("event %d: sequence number %d after %d", i, e.Seq, seq[e.Capture]-1)
				}
				if e.Flags&ntconv.FlagSorted != 0 {
					for _, later := range tr.Events[i:] {
						if later.Kind == ntconv.KindEvent && later.Time < e.Time {
							t.Fatalf("event %d is flagged as sorted but a later one is earlier", i)
						}
					}
				}
			case ntconv.KindLost:
				seq[e.Capture] += e.Lost
			case ntconv.KindMark:
				barrier = max(barrier, e.Time)
				for _, m := range e.Mark.Threads {
					if seq[m.Thread] != m.Seq {
						t.Fatalf("mark %d says %d for a thread at %d", i, m.Seq, seq[m.Thread])
					}
				}
				if e.Mark.Flags&ntconv.MarkFlushThreads != 0 && e.Mark.Kind == ntconv.MarkSequencePoint {
					clear(seq)
				}
			}
		}
	})
}

// copyOf returns a trace with equal contents and different pointers.
func copyOf(tr *ntconvtest.Trace) *ntconvtest.Trace {
	out := &ntconvtest.Trace{Info: tr.Info}
	types := map[*ntconv.Type]*ntconv.Type{nil: nil}
	threads := map[*ntconv.Thread]*ntconv.Thread{nil: nil}
	procs := map[*ntconv.Process]*ntconv.Process{nil: nil}
	thread := func(th *ntconv.Thread) *ntconv.Thread {
		if n, ok := threads[th]; ok {
			return n
		}
		n := *th
		if _, ok := procs[th.Process]; !ok {
			p := *th.Process
			procs[th.Process] = &p
		}
		n.Process = procs[th.Process]
		threads[th] = &n
		return &n
	}
	for _, e := range tr.Events {
		c := e.Clone()
		if _, ok := types[e.Type]; !ok {
			types[e.Type] = &ntconv.Type{
				Provider: e.Type.Provider, GUID: e.Type.GUID, ID: e.Type.ID, Name: e.Type.Name, Version: e.Type.Version, Level: e.Type.Level,
				Opcode: e.Type.Opcode, HasOpcode: e.Type.HasOpcode, Keywords: e.Type.Keywords, Fields: e.Type.Fields, Message: e.Type.Message,
				Description: e.Type.Description, Attrs: e.Type.Attrs, Extra: e.Type.Extra,
			}
		}
		c.Type, c.Thread, c.Capture, c.Offset = types[e.Type], thread(e.Thread), thread(e.Capture), 4711
		if e.Labels != nil {
			c.Labels = ntconv.NewLabels(append([]ntconv.Label(nil), e.Labels.List()...))
		}
		if e.Mark != nil {
			m := *e.Mark
			m.Threads = nil
			for _, s := range e.Mark.Threads {
				m.Threads = append(m.Threads, ntconv.ThreadSeq{Thread: thread(s.Thread), Seq: s.Seq})
			}
			c.Mark = &m
		}
		out.Events = append(out.Events, c)
	}
	return out
}

func TestEqualStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		if err := ntconvtest.EqualStreams(tr.Source(), copyOf(tr).Source(), nil); err != nil {
			t.Fatalf("a copy differs: %v", err)
		}
		if err := ntconvtest.EqualStreams(ntconvtest.Poison(tr.Source()), ntconvtest.Poison(tr.Source()), nil); err != nil {
			t.Fatalf("poisoned: %v", err)
		}
	})
}

// TestEqualStreamsSeesEveryChange changes one property of a trace at a time.
func TestEqualStreamsSeesEveryChange(t *testing.T) {
	base := func() *ntconvtest.Trace {
		p := &ntconv.Process{PID: 1, PointerSize: 8}
		a, b := &ntconv.Thread{TID: 5, Process: p}, &ntconv.Thread{TID: 5, Process: p}
		ty := &ntconv.Type{Provider: "P", Name: "N", Fields: []ntconv.Field{{Name: "f", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeInt32}}}}}
		unused := &ntconv.Type{Provider: "P", Name: "unused"}
		event := func(th *ntconv.Thread, seq uint32) *ntconv.Event {
			return &ntconv.Event{
				Type: ty, Thread: th, Capture: th, Seq: seq, Time: 10, Payload: []byte{1, 2},
				Stack:  &ntconv.Stack{PCs: []uint64{1}, Frames: []ntconv.Frame{{Func: &ntconv.Function{Name: "f"}, Mapping: &ntconv.Mapping{File: "m"}}}},
				Labels: ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelInt, Key: "k", Num: 1, Unit: "u"}}),
			}
		}
		return &ntconvtest.Trace{
			Info: &ntconv.Info{Clock: ntconv.Clock{Freq: 1000}, PointerSize: 8, Attrs: ntconv.Attrs{{Key: "a", Value: "b"}}},
			Events: []*ntconv.Event{
				event(a, 1), event(b, 1), event(a, 2),
				{Kind: ntconv.KindMark, Time: 10, Mark: &ntconv.Mark{Flags: 1, Threads: []ntconv.ThreadSeq{{Thread: a, Seq: 2}}}},
				{Kind: ntconv.KindLost, Lost: 3, Capture: b},
				{Kind: ntconv.KindOpaque, Seq: 9, Payload: []byte{7}},
				{Kind: ntconv.KindDefine, Type: unused},
			},
		}
	}
	if err := ntconvtest.EqualStreams(base().Source(), base().Source(), nil); err != nil {
		t.Fatalf("the unchanged trace: %v", err)
	}
	changes := map[string]func(tr *ntconvtest.Trace){
		"frequency":    func(tr *ntconvtest.Trace) { tr.Info.Clock.Freq++ },
		"pointer size": func(tr *ntconvtest.Trace) { tr.Info.PointerSize = 4 },
		"info attr":    func(tr *ntconvtest.Trace) { tr.Info.Attrs[0].Value = "c" },
		"aggregate":    func(tr *ntconvtest.Trace) { tr.Info.Aggregate = true },
		"kind":         func(tr *ntconvtest.Trace) { tr.Events[0].Kind = ntconv.KindOpaque },
		"time":         func(tr *ntconvtest.Trace) { tr.Events[0].Time++ },
		"seq":          func(tr *ntconvtest.Trace) { tr.Events[0].Seq++ },
		"cpu":          func(tr *ntconvtest.Trace) { tr.Events[0].CPU-- },
		"sorted":       func(tr *ntconvtest.Trace) { tr.Events[0].Flags |= ntconv.FlagSorted },
		"payload":      func(tr *ntconvtest.Trace) { tr.Events[0].Payload[1]++ },
		"payload end":  func(tr *ntconvtest.Trace) { tr.Events[0].Payload = tr.Events[0].Payload[:1] },
		"stack":        func(tr *ntconvtest.Trace) { tr.Events[1].Stack.PCs[0]++ },
		"no stack":     func(tr *ntconvtest.Trace) { tr.Events[1].Stack = nil },
		"function":     func(tr *ntconvtest.Trace) { tr.Events[1].Stack.Frames[0].Func.Name = "g" },
		"mapping":      func(tr *ntconvtest.Trace) { tr.Events[1].Stack.Frames[0].Mapping = nil },
		"line":         func(tr *ntconvtest.Trace) { tr.Events[1].Stack.Frames[0].Line = 3 },
		"label unit":   func(tr *ntconvtest.Trace) { tr.Events[1].Labels.List()[0].Unit = "" },
		"no labels":    func(tr *ntconvtest.Trace) { tr.Events[1].Labels = nil },
		"threads one": func(tr *ntconvtest.Trace) {
			tr.Events[1].Thread, tr.Events[1].Capture = tr.Events[0].Thread, tr.Events[0].Thread
		},
		"threads three": func(tr *ntconvtest.Trace) { th := *tr.Events[2].Thread; tr.Events[2].Thread = &th },
		"thread name":   func(tr *ntconvtest.Trace) { tr.Events[1].Thread.Name = "x" },
		"thread attr":   func(tr *ntconvtest.Trace) { tr.Events[1].Thread.Attrs = ntconv.Attrs{{Key: "x"}} },
		"process":       func(tr *ntconvtest.Trace) { tr.Events[1].Thread.Process.Host = "h" },
		"processes two": func(tr *ntconvtest.Trace) { p := *tr.Events[1].Thread.Process; tr.Events[1].Thread.Process = &p },
		"type name":     func(tr *ntconvtest.Trace) { tr.Events[0].Type.Name = "x" },
		"type opcode":   func(tr *ntconvtest.Trace) { tr.Events[0].Type.HasOpcode = true },
		"type extra":    func(tr *ntconvtest.Trace) { tr.Events[0].Type.Extra = []byte{1} },
		"field":         func(tr *ntconvtest.Trace) { tr.Events[0].Type.Fields[0].Name = "x" },
		"field element": func(tr *ntconvtest.Trace) { tr.Events[0].Type.Fields[0].Type.Elem.Code = ntconv.TypeInt64 },
		"mark flags":    func(tr *ntconvtest.Trace) { tr.Events[3].Mark.Flags = 3 },
		"mark seq":      func(tr *ntconvtest.Trace) { tr.Events[3].Mark.Threads[0].Seq++ },
		"mark threads":  func(tr *ntconvtest.Trace) { tr.Events[3].Mark.Threads = nil },
		"mark kind":     func(tr *ntconvtest.Trace) { tr.Events[3].Mark.Kind = ntconv.MarkThreadsRemoved },
		"lost":          func(tr *ntconvtest.Trace) { tr.Events[4].Lost++ },
		"opaque":        func(tr *ntconvtest.Trace) { tr.Events[5].Payload[0]++ },
		"defined":       func(tr *ntconvtest.Trace) { tr.Events[6].Type.Name = "other" },
		"not defined":   func(tr *ntconvtest.Trace) { tr.Events = tr.Events[:6] },
		"end":           func(tr *ntconvtest.Trace) { tr.Events = tr.Events[:5] },
	}
	for name, change := range changes {
		tr := base()
		change(tr)
		if err := ntconvtest.EqualStreams(base().Source(), tr.Source(), nil); err == nil {
			t.Errorf("%s: the change goes unseen", name)
		}
		if err := ntconvtest.EqualStreams(tr.Source(), base().Source(), nil); err == nil {
			t.Errorf("%s: the change back goes unseen", name)
		}
	}
}

func TestOptionsOverlookOneThing(t *testing.T) {
	fix := func() *ntconvtest.Trace { return &ntconvtest.Fixtures()[0].Trace }
	ref := fix()
	cases := map[string]struct {
		opts   ntconvtest.Options
		change func(tr *ntconvtest.Trace)
	}{
		"EmptyMarks": {ntconvtest.Options{EmptyMarks: true}, func(tr *ntconvtest.Trace) {
			tr.Events = append(tr.Events, &ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{}})
		}},
		"Sorted": {ntconvtest.Options{Sorted: true}, func(tr *ntconvtest.Trace) { tr.Events[0].Flags = 0 }},
		"Lost": {ntconvtest.Options{Lost: true}, func(tr *ntconvtest.Trace) {
			tr.Events = append(tr.Events, &ntconv.Event{Kind: ntconv.KindLost, Lost: 1})
		}},
		"Frames": {ntconvtest.Options{Frames: true}, func(tr *ntconvtest.Trace) { tr.Events[0].Stack = &ntconv.Stack{PCs: tr.Events[0].Stack.PCs} }},
		"Info":   {ntconvtest.Options{Info: true}, func(tr *ntconvtest.Trace) { tr.Info.Clock.Freq = 1 }},
	}
	for name, c := range cases {
		tr := fix()
		c.change(tr)
		if err := ntconvtest.EqualStreams(ref.Source(), tr.Source(), nil); err == nil {
			t.Errorf("%s: seen as equal without the option", name)
		}
		if err := ntconvtest.EqualStreams(ref.Source(), tr.Source(), &c.opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := fix().Source()
	broken.Err = io.ErrUnexpectedEOF
	if err := ntconvtest.EqualStreams(ref.Source(), broken, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error of a source: got %v", err)
	}
	broken = fix().Source()
	broken.Err = io.ErrUnexpectedEOF
	if err := ntconvtest.EqualStreams(ref.Source(), broken, &ntconvtest.Options{Errors: true}); err != nil {
		t.Errorf("error of a source, overlooked: %v", err)
	}
}

func TestPoisonSpoilsWhatIsKept(t *testing.T) {
	tr := ntconvtest.Fixtures()[1].Trace
	src := ntconvtest.Poison(tr.Source())
	e, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	kept, payload, clone := e, e.Payload, e.Clone()
	if err := ntconvtest.Equal(tr.Events[0], e); err != nil {
		t.Errorf("before the next call: %v", err)
	}
	if _, err := src.Next(); err != nil {
		t.Fatal(err)
	}
	if ntconvtest.Equal(tr.Events[0], kept) == nil || bytes.Equal(payload, tr.Events[0].Payload) {
		t.Error("a kept event is still good")
	}
	if err := ntconvtest.Equal(tr.Events[0], clone); err != nil {
		t.Errorf("a clone: %v", err)
	}
	if err := ntconvtest.Equal(tr.Events[0], ntconvtest.Fixtures()[1].Events[0]); err != nil {
		t.Errorf("the source's own event: %v", err)
	}
}

func TestChopsDeliverEverything(t *testing.T) {
	want := make([]byte, 10000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	for i, r := range ntconvtest.Chops(want) {
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("reader %d: %d bytes, %v", i, len(got), err)
		}
	}
	buf := make([]byte, 100)
	if n, err := ntconvtest.Chop(bytes.NewReader(want), 7).Read(buf); n != 7 || err != nil {
		t.Errorf("Read: %d, %v", n, err)
	}
}

func TestFixturesDecode(t *testing.T) {
	for _, f := range ntconvtest.Fixtures() {
		for i, e := range f.Events {
			if e.Kind != ntconv.KindEvent {
				continue
			}
			for field, v := range e.Fields() {
				if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
					t.Errorf("%s: event %d: %s: %v", f.Name, i, field.Name, v)
				}
			}
		}
	}
	span := ntconvtest.Fixtures()[1].Events[0]
	links, _ := span.Field("links")
	for link := range links.Elems() {
		if id, ok := link.Field("spanId"); !ok || id.String() != "0102030405060708" {
			t.Errorf("link to span %s", id)
		}
	}
	if links.Len() != 1 {
		t.Errorf("%d links", links.Len())
	}
}

func TestRecorderFails(t *testing.T) {
	boom := errors.New("boom")
	r := &ntconvtest.Recorder{FailAfter: 1, Err: boom}
	n, err := ntconv.Copy(r, ntconvtest.Fixtures()[0].Source())
	if n != 1 || err != boom || len(r.Events) != 1 {
		t.Errorf("copied %d, recorded %d, %v", n, len(r.Events), err)
	}
	src := ntconvtest.Fixtures()[0].Source()
	src.Err = boom
	events, err := ntconvtest.Record(src)
	if len(events) != len(ntconvtest.Fixtures()[0].Events) || err != boom {
		t.Errorf("recorded %d, %v", len(events), err)
	}
}
