package tracker_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// all contains the sources of every kind of span.
const all = operation.Default | operation.GC | operation.JIT | operation.Contention | operation.Waits | operation.Exceptions | operation.Requests

// track returns the spans of a source and the counts of the tracker.
func track(t testing.TB, src ntconv.Source, o *tracker.Options) (spans []*span.Span, counts tracker.Counts) {
	t.Helper()
	tr := tracker.New(src.Info(), func(s *span.Span) { spans = append(spans, spangen.Clone(s)) }, o)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		tr.Add(e)
	}
	tr.Finish()
	if err := tr.CheckEmpty(); err != nil {
		t.Errorf("after Finish: %v", err)
	}
	return spans, tr.Counts()
}

func open(t testing.TB, f corpus.File, order reader.Order) ntconv.Source {
	t.Helper()
	src, err := reader.New(bytes.NewReader(f.Data), &reader.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// rewrite returns a nettrace 6 file with the events of a source.
func rewrite(t testing.TB, name string, src ntconv.Source) corpus.File {
	t.Helper()
	var out bytes.Buffer
	w, err := writer.New(&out, src.Info(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ntconv.Copy(w, src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Name: name, Data: out.Bytes()}
}

// A trace builds a stream of labeled events.
type trace struct {
	t       testing.TB
	info    *ntconv.Info
	events  []*ntconv.Event
	types   map[[2]string]*ntconv.Type
	seq     map[*ntconv.Thread]uint32
	process *ntconv.Process
}

var wall = time.Date(2026, 11, 21, 6, 52, 58, 0, time.UTC)

// at converts a time of a trace to a time of a span.
func at(ticks int64) uint64 { return uint64(wall.UnixNano() + ticks) }

func newTrace(t testing.TB) *trace {
	return &trace{
		t: t, types: make(map[[2]string]*ntconv.Type), seq: make(map[*ntconv.Thread]uint32),
		info:    &ntconv.Info{Format: "test", Clock: ntconv.Clock{Freq: 1e9, Wall: wall}, PointerSize: 8},
		process: &ntconv.Process{PID: 42, PointerSize: 8},
	}
}

func (tr *trace) thread(tid uint64) *ntconv.Thread {
	return &ntconv.Thread{TID: tid, Process: tr.process}
}

// typ returns the type of events with a name. It has the field "id"; its opcode depends on the name.
func (tr *trace) typ(provider, name string) *ntconv.Type {
	key := [2]string{provider, name}
	if tr.types[key] == nil {
		tr.types[key] = &ntconv.Type{
			Provider: provider, Name: name, ID: uint32(len(tr.types) + 1), Level: 4,
			Fields: []ntconv.Field{{Name: "id", Type: ntconv.FieldType{Code: ntconv.TypeInt32}}},
		}
	}
	return tr.types[key]
}

// add appends an event of the provider Shop.
func (tr *trace) add(ticks int64, th *ntconv.Thread, name string, id int32, labels ...ntconv.Label) *ntconv.Event {
	return tr.addType(ticks, th, tr.typ("Shop", name), id, labels...)
}

func (tr *trace) addType(ticks int64, th *ntconv.Thread, typ *ntconv.Type, id int32, labels ...ntconv.Label) *ntconv.Event {
	tr.t.Helper()
	var payload []byte
	if len(typ.Fields) > 0 {
		payload = numbers(id)
	}
	tr.seq[th]++
	e := &ntconv.Event{
		Time: ntconv.Ticks(ticks), CPU: ntconv.CPUUnknown, Offset: -1, Seq: tr.seq[th],
		Type: typ, Thread: th, Capture: th, Payload: payload,
	}
	if labels != nil {
		e.Labels = ntconv.NewLabels(labels)
	}
	tr.events = append(tr.events, e)
	return e
}

func (tr *trace) source() ntconv.Source { return ntconvtest.NewSource(tr.info, tr.events...) }

// spans returns the spans of the trace. It checks that they are equal for poisoned events and for events from a
// nettrace 6 file.
func (tr *trace) spans(o *tracker.Options) ([]*span.Span, tracker.Counts) {
	tr.t.Helper()
	spans, counts := track(tr.t, ntconvtest.Poison(tr.source()), o)
	again, recount := track(tr.t, open(tr.t, rewrite(tr.t, "built", tr.source()), reader.FileOrder), o)
	if a, b := describeAll(spans), describeAll(again); a != b {
		tr.t.Errorf("spans of the events and of a nettrace 6 file with them differ:\n%s\n%s", a, b)
	}
	if counts != recount {
		tr.t.Errorf("counts of the events and of a nettrace 6 file with them differ: %+v, %+v", counts, recount)
	}
	return spans, counts
}

// Labels.

func traceLabel(n byte) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelTraceID, ID: [16]byte{0x0a, 0xf7, 0x65, 15: n}}
}

func spanLabel(n byte) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelSpanID, ID: [16]byte{0xb7, 0xad, 0x6b, 7: n}}
}

func opcodeLabel(n int64) ntconv.Label { return ntconv.Label{Kind: ntconv.LabelOpcode, Num: n} }

func activityLabel(id ntconv.GUID) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelActivityID, ID: id}
}

func relatedLabel(id ntconv.GUID) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelRelatedActivityID, ID: id}
}

func idsOf(trace, id byte) (c span.Context) {
	return span.Context{TraceID: span.TraceID{0x0a, 0xf7, 0x65, 15: trace}, ID: span.ID{0xb7, 0xad, 0x6b, 7: id}}
}
