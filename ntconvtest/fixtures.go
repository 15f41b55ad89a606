package ntconvtest

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// A Fixture is a small trace that shows how the model represents the content of another format.
type Fixture struct {
	Name string // for the names of subtests
	Doc  string // what the fixture shows
	Trace
}

// Fixtures returns new copies of all fixtures. A format that can represent the content of a fixture must reproduce it.
func Fixtures() []Fixture {
	return []Fixture{
		{"pprof", "a sample is one event with one field per sample type; labels with units; inlined lines", samples()},
		{
			"otlp",
			"a span is one event at its end; its payload has attributes, events, links, resource and scope",
			spans(),
		},
		{"chrome", "a slice is a start and a stop with the same ID, or one event with a duration", asyncSlices()},
		{"machines", "several machines with equal process and thread IDs", machines()},
	}
}

var fixtureWall = time.Date(2026, 2, 28, 23, 59, 58, 250e6, time.UTC)

// Constructors of fields, and below of values, for fixtures.

func scalar(name string, c ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: c}}
}

func arrayOf(name string, elem ntconv.FieldType) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &elem}}
}

func object(fields ...ntconv.Field) ntconv.FieldType {
	return ntconv.FieldType{Code: ntconv.TypeObject, Fields: fields}
}

func text(name string) ntconv.Field {
	return arrayOf(name, ntconv.FieldType{Code: ntconv.TypeUTF8Unit})
}

func str(s string) ntconv.Value           { return ntconv.StringValue(s) }
func num(n int64) ntconv.Value            { return ntconv.IntValue(n) }
func uns(n uint64) ntconv.Value           { return ntconv.UintValue(n) }
func obj(m ...ntconv.Value) ntconv.Value  { return ntconv.ObjectValue(m...) }
func list(m ...ntconv.Value) ntconv.Value { return ntconv.ListValue(m...) }

// payload encodes values, which must fit the fields of t.
func payload(t *ntconv.Type, values ...ntconv.Value) []byte {
	b, err := ntconv.AppendFields(nil, t.Fields, values, 8)
	if err != nil {
		panic("fixture: " + t.Name + ": " + err.Error())
	}
	return b
}

// samples returns a trace like that of an importer of pprof profiles.
func samples() Trace {
	sample := &ntconv.Type{
		Provider: "Universal.Events", ID: 1, Name: "cpu",
		Fields: []ntconv.Field{
			scalar("Value", ntconv.TypeVarUint), // the weight; the sample types of the profile follow
			scalar(
				"alloc_objects",
				ntconv.TypeVarInt,
			), scalar("alloc_space", ntconv.TypeVarInt), scalar("inuse_space", ntconv.TypeVarInt),
		},
		Attrs: ntconv.Attrs{
			{Key: "pprof.sample_types", Value: "3"},
			{Key: "pprof.sample_type.0", Value: "alloc_objects"}, {Key: "pprof.sample_unit.0", Value: "count"},
			{Key: "pprof.sample_type.1", Value: "alloc_space"}, {Key: "pprof.sample_unit.1", Value: "bytes"},
			{Key: "pprof.sample_type.2", Value: "inuse_space"}, {Key: "pprof.sample_unit.2", Value: "bytes"},
			{
				Key:   "pprof.period_type",
				Value: "space",
			}, {Key: "pprof.period_unit", Value: "bytes"}, {Key: "pprof.period", Value: "524288"},
			{Key: "pprof.comment.0", Value: "a"}, {Key: "pprof.comment.1", Value: "b"},
		},
	}
	proc := &ntconv.Process{PID: 1, Name: "shop", PointerSize: 8}
	thread := &ntconv.Thread{TID: ntconv.TIDUnknown, Process: proc}
	event := func(seq uint32, s *ntconv.Stack, l []ntconv.Label, values ...ntconv.Value) *ntconv.Event {
		return &ntconv.Event{
			Flags: ntconv.FlagSorted, CPU: 0, Seq: seq, Offset: -1, Type: sample, Thread: thread, Capture: thread,
			Stack: s, Labels: ntconv.NewLabels(l), Payload: payload(sample, values...),
		}
	}
	stacks := inlinedStacks()
	return Trace{
		Info: &ntconv.Info{
			Format: "pprof", Clock: ntconv.Clock{Freq: 1e9, Wall: fixtureWall}, PointerSize: 8, Aggregate: true,
			Attrs: ntconv.Attrs{{Key: "HardwareThreadCount", Value: "1"}},
		},
		Events: []*ntconv.Event{
			event(1, stacks[0], []ntconv.Label{
				{Kind: ntconv.LabelString, Key: "handler", Str: "/käse"},
				{Kind: ntconv.LabelInt, Key: "bytes", Num: 4096, Unit: "bytes"},
				{Kind: ntconv.LabelInt, Key: "latency", Num: -3, Unit: "milliseconds"},
				{Kind: ntconv.LabelInt, Key: "latency", Num: 1 << 40, Unit: "milliseconds"},
			}, uns(0), num(3), num(12288), num(-4096)),
			event(
				2,
				stacks[1],
				[]ntconv.Label{{Kind: ntconv.LabelInt, Key: "plain", Num: 300}},
				uns(0),
				num(1),
				num(1<<62),
				num(0),
			),
			event(3, stacks[0], nil, uns(1), num(0), num(0), num(1)),
		},
	}
}

// inlinedStacks returns two stacks that share their outer frames. The leaf of the first one has three lines because of
// inlined functions.
func inlinedStacks() [2]*ntconv.Stack {
	exe := &ntconv.Mapping{Start: 0x400000, Limit: 0x480000, Offset: 0, File: "/srv/shop", BuildID: "5f1e0c9a77b2d4e3"}
	inner := &ntconv.Function{Name: "math.Abs", SystemName: "math.Abs", File: "/go/src/math/abs.go", StartLine: 12}
	middle := &ntconv.Function{Name: "shop.price", File: "/src/price.go", StartLine: 30}
	outer := &ntconv.Function{Name: "shop.(*Cart).Total", File: "/src/cart.go", StartLine: 7}
	start := &ntconv.Function{Name: "main.main", File: "/src/main.go"}
	root := ntconv.Frame{Func: start, Mapping: exe, PC: 0x401100, Line: 22, Column: 3}
	return [2]*ntconv.Stack{
		{
			PCs: []uint64{0x402345, 0x401100},
			Frames: []ntconv.Frame{
				{Func: inner, Mapping: exe, PC: 0x402345, Line: 14, Flags: ntconv.FrameInlined},
				{Func: middle, Mapping: exe, PC: 0x402345, Line: 31, Column: 9, Flags: ntconv.FrameInlined},
				{Func: outer, Mapping: exe, PC: 0x402345, Line: 9},
				root,
			},
		},
		{
			PCs:    []uint64{0x402400, 0x401100},
			Frames: []ntconv.Frame{{Func: outer, Mapping: exe, PC: 0x402400, Line: 11}, root},
		},
	}
}

// spans returns a trace like that of an importer of OTLP traces.
func spans() Trace {
	const start = 1_772_323_198_250_000_000
	proc := &ntconv.Process{PID: 4711, Host: "shop-7f9c", Name: "shop", PointerSize: 8}
	thread := &ntconv.Thread{TID: ntconv.TIDUnknown, Process: proc}
	attr := func(key, value string) span.Attribute { return span.Attribute{Key: key, Value: span.String(value)} }
	resource := &span.Resource{
		SchemaURL:  "https://opentelemetry.io/schemas/1.26.0",
		Attributes: []span.Attribute{attr("service.name", "shop"), attr("host.name", "shop-7f9c")},
	}
	scope := &span.Scope{Name: "shop.cart", Version: "1.4"}
	traceID := span.TraceID{
		0x4b,
		0xf9,
		0x2f,
		0x35,
		0x77,
		0xb3,
		0x4d,
		0xa6,
		0xa3,
		0xce,
		0x92,
		0x9d,
		0x0e,
		0x0e,
		0x47,
		0x36,
	}
	parent := span.ID{0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}
	list := []*span.Span{
		{
			Context: span.Context{
				TraceID: traceID,
				ID:      span.ID{0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb8},
			}, ParentID: parent,
			Name: "SELECT cart", Kind: span.KindClient, TraceState: "rojo=00f067aa0ba902b7", Flags: span.FlagSampled | span.FlagRemoteKnown,
			Start: start + 1_000_000, End: start + 3_500_001,
			Attributes: []span.Attribute{
				attr("db.system", "sqlite"),
				{Key: "rows", Value: span.Int(2)},
			}, DroppedAttributes: 1,
			Events: []span.Event{
				{Time: start + 2_000_000, Name: "retry", Attributes: []span.Attribute{attr("reason", "locked")}},
			},
			Links: []span.Link{{
				Context: span.Context{
					TraceID: traceID,
					ID:      span.ID{1, 2, 3, 4, 5, 6, 7, 8},
				}, Attributes: []span.Attribute{attr("why", "batch")},
			}},
			Status: span.StatusError, StatusMessage: "database is locked", Scope: scope, Resource: resource,
		},
		{
			Context: span.Context{
				TraceID: traceID,
				ID:      parent,
			}, Name: "GET /cart/{id}", Kind: span.KindServer, Flags: span.FlagSampled,
			Start: start, End: start + 5_000_000, Attributes: []span.Attribute{attr("http.route", "/cart/{id}")}, Scope: scope, Resource: resource,
		},
	}
	tr := Trace{
		Info: &ntconv.Info{
			Format:      "otlp",
			Clock:       ntconv.Clock{Freq: 1e9, Tick: start, Wall: fixtureWall},
			PointerSize: 8,
		},
	}
	enc := stored.NewEncoder(stored.Spans)
	for _, s := range list {
		enc.Encode(s, &ntconv.Event{
			Flags: ntconv.FlagSorted, CPU: ntconv.CPUUnknown, Time: ntconv.Ticks(s.End), Offset: -1, Thread: thread, Capture: thread,
		})
		for e := enc.Next(); e != nil; e = enc.Next() {
			e.Seq = uint32(len(tr.Events) + 1)
			tr.Events = append(tr.Events, e.Clone())
		}
	}
	return tr
}

// asyncSlices returns a trace like that of an importer of Chrome's JSON.
func asyncSlices() Trace {
	args := arrayOf("args", object(text("key"), text("json")))
	begin := &ntconv.Type{
		Provider:  "chrome",
		ID:        1,
		Name:      "b",
		Opcode:    1,
		HasOpcode: true,
		Fields:    []ntconv.Field{text("cat"), text("name"), text("id"), args},
	}
	end := &ntconv.Type{Provider: "chrome", ID: 2, Name: "e", Opcode: 2, HasOpcode: true, Fields: begin.Fields}
	complete := &ntconv.Type{
		Provider: "chrome",
		ID:       3,
		Name:     "X",
		Fields:   []ntconv.Field{text("cat"), text("name"), scalar("dur", ntconv.TypeVarUint), args},
	}
	counter := &ntconv.Type{
		Provider: "chrome",
		ID:       4,
		Name:     "C",
		Fields: []ntconv.Field{
			text("name"),
			arrayOf("series", object(text("key"), scalar("value", ntconv.TypeFloat64))),
		},
	}
	proc := &ntconv.Process{PID: 1, Name: "Browser", PointerSize: 8}
	main := &ntconv.Thread{
		TID:     1,
		Name:    "CrBrowserMain",
		Process: proc,
		Attrs:   ntconv.Attrs{{Key: "sort_index", Value: "-1"}},
	}
	io := &ntconv.Thread{TID: 2, Name: "Chrome_IOThread", Process: proc}
	event := func(seq uint32, at ntconv.Ticks, th *ntconv.Thread, t *ntconv.Type, values ...ntconv.Value) *ntconv.Event {
		return &ntconv.Event{
			Flags:   ntconv.FlagSorted,
			CPU:     ntconv.CPUUnknown,
			Seq:     seq,
			Time:    at,
			Offset:  -1,
			Type:    t,
			Thread:  th,
			Capture: th,
			Payload: payload(t, values...),
		}
	}
	none := list()
	return Trace{
		Info: &ntconv.Info{Format: "chrome", Clock: ntconv.Clock{Freq: 1e9, Tick: 1_000_000_000}, PointerSize: 8},
		Events: []*ntconv.Event{
			{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown, Offset: -1, Thread: main},
			{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown, Offset: -1, Thread: io},
			event(
				1,
				1_000_001_000,
				main,
				begin,
				str("net"),
				str("request"),
				str("0x1f"),
				list(obj(str("url"), str(`"https://example.org/"`))),
			),
			event(1, 1_000_002_000, io, begin, str("net"), str("request"), str("0x20"), none),
			event(2, 1_000_002_500, main, complete, str("ipc"), str("Send"), uns(1_250), none),
			event(2, 1_000_003_000, io, counter, str("heap"), list(obj(str("used"), ntconv.FloatValue(1.5e6)))),
			event(3, 1_000_004_000, main, end, str("net"), str("request"), str("0x20"), none),
			event(3, 1_000_005_000, io, end, str("net"), str("request"), str("0x1f"), none),
		},
	}
}

// machines returns a trace like that of a merge of traces of three machines; one machine has 4-byte pointers.
func machines() Trace {
	tick := &ntconv.Type{
		Provider: "Shop",
		ID:       7,
		Name:     "Tick",
		Level:    4,
		Keywords: 1 << 63,
		Version:  2,
		Fields:   []ntconv.Field{scalar("n", ntconv.TypeInt32)},
	}
	var threads []*ntconv.Thread
	for _, host := range []string{"alpha", "beta", "gamma"} {
		p := &ntconv.Process{PID: 42, Host: host, Name: "shop", PointerSize: 8}
		if host == "gamma" {
			p.PointerSize = 4
		}
		threads = append(
			threads,
			&ntconv.Thread{TID: 43, Process: p},
			&ntconv.Thread{TID: 44, Name: "worker", Process: p},
		)
	}
	tr := Trace{
		Info: &ntconv.Info{
			Format:      "merged",
			Clock:       ntconv.Clock{Freq: 10_000_000, Tick: 77, Wall: fixtureWall},
			PointerSize: 8,
		},
	}
	for n := range 4 {
		for i, th := range threads {
			tr.Events = append(tr.Events, &ntconv.Event{
				Flags: ntconv.FlagSorted, CPU: int32(i), Seq: uint32(n + 1), Time: ntconv.Ticks(100*n + i), Offset: -1,
				Type: tick, Thread: threads[(i+n)%len(threads)], Capture: th, Payload: payload(tick, num(int64(n-2))),
				Stack: &ntconv.Stack{PCs: []uint64{0x7000 + uint64(i), 0x7100}},
			})
		}
	}
	return tr
}
