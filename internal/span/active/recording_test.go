package active_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
)

// The traces of these tests have a clock of 1 GHz. Times are in microseconds after the start.
const us = ntconv.Ticks(time.Microsecond)

var (
	wall = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	sampleType = &ntconv.Type{Provider: "Microsoft-DotNETCore-SampleProfiler", ID: 0}
	workStart  = &ntconv.Type{Provider: "Shop", ID: 1, Name: "WorkStart", Opcode: 1, HasOpcode: true}
	workStop   = &ntconv.Type{Provider: "Shop", ID: 2, Name: "WorkStop", Opcode: 2, HasOpcode: true}
	noteType   = &ntconv.Type{Provider: "Shop", ID: 3, Name: "Note"}

	activityStart = activityType(11, "ActivityStart", 1)
	activityStop  = activityType(12, "ActivityStop", 2)
)

func activityType(id uint32, name string, opcode uint8) *ntconv.Type {
	text := ntconv.FieldType{Code: ntconv.TypeUTF16String}
	pair := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "Key", Type: text}, {Name: "Value", Type: text}}}
	return &ntconv.Type{
		Provider: "Microsoft-Diagnostics-DiagnosticSource", ID: id, Name: name, Opcode: opcode, HasOpcode: true,
		Fields: []ntconv.Field{
			{Name: "SourceName", Type: text}, {Name: "ActivityName", Type: text},
			{Name: "Arguments", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &pair}},
		},
	}
}

// A recording is a trace built by a test.
type recording struct {
	t      testing.TB
	info   *ntconv.Info
	events []*ntconv.Event
	skew   time.Duration // difference of the wall clock from the header
	late   ntconv.Ticks  // delay of the event at the end of an Activity
}

func record(t testing.TB) *recording {
	return &recording{t: t, info: &ntconv.Info{Format: "test 1", Clock: ntconv.Clock{Freq: 1e9, Tick: 5000, Wall: wall}, PointerSize: 8}}
}

func thread(p *ntconv.Process, tid uint64) *ntconv.Thread {
	return &ntconv.Thread{TID: tid, Process: p}
}

func process(pid uint64) *ntconv.Process { return &ntconv.Process{PID: pid, PointerSize: 8} }

func (r *recording) at(micros int64) ntconv.Ticks { return r.info.Clock.Tick + ntconv.Ticks(micros)*us }

func (r *recording) add(th *ntconv.Thread, at ntconv.Ticks, typ *ntconv.Type, payload []byte, labels ...ntconv.Label) *ntconv.Event {
	e := &ntconv.Event{Time: at, Type: typ, Thread: th, Capture: th, CPU: ntconv.CPUUnknown, Offset: -1, Payload: payload}
	if len(labels) > 0 {
		e.Labels = ntconv.NewLabels(labels)
	}
	r.events = append(r.events, e)
	return e
}

// sample adds a sample and returns it.
func (r *recording) sample(th *ntconv.Thread, micros int64, labels ...ntconv.Label) *ntconv.Event {
	return r.add(th, r.at(micros), sampleType, binary.LittleEndian.AppendUint32(nil, 2), labels...)
}

// An activity is an Activity with small numbers as IDs.
type activity struct {
	trace, id, parent uint64
	name              string
	from, to          int64 // microseconds
	unrecorded        bool
}

func (r *recording) payload(typ *ntconv.Type, a activity, duration int64) []byte {
	var args []ntconv.Value
	arg := func(key, value string) {
		args = append(args, ntconv.ObjectValue(ntconv.StringValue(key), ntconv.StringValue(value)))
	}
	flags := "Recorded"
	if a.unrecorded {
		flags = "None"
	}
	const epoch = 621355968000000000
	start := wall.Add(r.skew + time.Duration(a.from)*time.Microsecond)
	arg("TraceId", fmt.Sprintf("%032x", a.trace))
	arg("SpanId", fmt.Sprintf("%016x", a.id))
	arg("ParentSpanId", fmt.Sprintf("%016x", a.parent))
	arg("ActivityTraceFlags", flags)
	arg("DisplayName", a.name)
	arg("StartTimeTicks", strconv.FormatInt(epoch+start.UnixNano()/100, 10))
	arg("DurationTicks", strconv.FormatInt(duration*10, 10))
	b, err := ntconv.AppendFields(nil, typ.Fields, []ntconv.Value{ntconv.StringValue("Shop"), ntconv.StringValue(a.name), ntconv.ListValue(args...)}, 8)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *recording) start(th *ntconv.Thread, a activity) {
	r.add(th, r.at(a.from)+r.late, activityStart, r.payload(activityStart, a, 0))
}

func (r *recording) stop(th *ntconv.Thread, a activity) {
	r.add(th, r.at(a.to)+r.late, activityStop, r.payload(activityStop, a, a.to-a.from))
}

// work adds the Start and the Stop of an operation of an event source.
func (r *recording) work(th *ntconv.Thread, from, to int64, labels ...ntconv.Label) {
	r.add(th, r.at(from), workStart, nil, labels...)
	r.add(th, r.at(to), workStop, nil, labels...)
}

// index returns the index of the trace.
func (r *recording) index(o *active.Options) *active.Index {
	slices.SortStableFunc(r.events, func(a, b *ntconv.Event) int { return cmp.Compare(a.Time, b.Time) })
	x := active.New(r.info, o)
	for _, e := range r.events {
		x.Add(e)
	}
	x.Finish()
	return x
}

// found returns the name of the active span on a thread at a time, or "". It uses a thread of another pass.
func found(x *active.Index, r *recording, th *ntconv.Thread, micros int64) string {
	e := copyOf(r, th, micros)
	f, ok := x.Find(e, active.Thread)
	if ok && f.Evidence != active.Thread {
		r.t.Errorf("evidence %v", f.Evidence)
	}
	return f.Name
}

// copyOf returns a sample with a thread that is equal but not identical to th, as in another pass over the trace.
func copyOf(r *recording, th *ntconv.Thread, micros int64) *ntconv.Event {
	p := *th.Process
	other := *th
	other.Process = &p
	return &ntconv.Event{Time: r.at(micros), Type: sampleType, Thread: &other}
}

func spanID(n uint64) (id span.ID) {
	binary.BigEndian.PutUint64(id[:], n)
	return id
}

func traceID(n uint64) (id span.TraceID) {
	binary.BigEndian.PutUint64(id[8:], n)
	return id
}

func spanLabel(n uint64) ntconv.Label {
	l := ntconv.Label{Kind: ntconv.LabelSpanID}
	id := spanID(n)
	copy(l.ID[:], id[:])
	return l
}

func traceLabel(n uint64) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelTraceID, ID: traceID(n)}
}

func activityLabel(id ntconv.GUID) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelActivityID, ID: id}
}

// pathID returns the activity ID of a path of small numbers: one nibble per number, and a checksum without a process
// ID.
func pathID(steps ...byte) (id ntconv.GUID) {
	for i, s := range steps {
		id[i/2] |= s << (4 - 4*(i%2))
	}
	sum := uint32(0x599D99AD)
	for i := 0; i < 12; i += 4 {
		sum += binary.LittleEndian.Uint32(id[i:])
	}
	binary.LittleEndian.PutUint32(id[12:], sum)
	return id
}
