package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/parquet"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/schema"
	"github.com/ntconv/ntconv/symbol"
)

// single writes a trace as one file of events.
func single(t testing.TB, data []byte, names *symbol.Table) directory {
	t.Helper()
	for _, err := range ntconv.Events(symbol.Watch(open(t, data), names)) {
		if err != nil {
			break
		}
	}
	src := open(t, data)
	var b bytes.Buffer
	sink, err := export.NewSingle(&b, src.Info(), names, &export.Options{Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, sink, src)
	return directory{"trace": b.Bytes()}
}

// named returns what a file of events contains for an event.
func named(e *ntconv.Event, s *schema.Schema, frames []ntconv.Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s level %d opcode %d, process %d, thread %d, CPU %d:", s.Provider, s.Name, e.Level(), s.OpcodeOf(e), e.Thread.Process.PID, int64(e.Thread.TID), e.CPU)
	for _, f := range frames {
		b.WriteString(" " + f.Func.Name)
	}
	for _, kind := range []ntconv.LabelKind{ntconv.LabelActivityID, ntconv.LabelTraceID, ntconv.LabelSpanID} {
		if id, ok := e.Labels.ID(kind); ok {
			fmt.Fprintf(&b, " %v=%x", kind, id)
		}
	}
	return b.String()
}

// TestSortedFileOfEvents checks that a file of events gives the same events after another program has written its rows
// in another order.
func TestSortedFileOfEvents(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	want := single(t, data, symbol.New(nil))
	got := directory{"trace": edited(t, want["trace"], func(rows []tables.SingleEvent) []tables.SingleEvent { slices.Reverse(rows); return rows })}
	describe := func(d directory) (list []string) {
		last := ntconv.Ticks(0)
		for _, e := range read(t, d, parquet.Options{}) {
			if e.Time < last {
				t.Fatalf("time %d after %d", e.Time, last)
			}
			last = e.Time
			list = append(list, fmt.Sprint(e.Time, e.Thread.TID, e.Type.Name))
		}
		return list
	}
	a, b := describe(want), describe(got)
	if len(a) != 1786 {
		t.Errorf("%d events", len(a))
	}
	slices.Sort(a) // events of the same time are in either order
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Error("the events differ")
	}
}

// TestFileOfEvents reads the file of --single of all traces: each event has its time, name, thread, labels, the names
// of its stack, and fields with the names that it had.
func TestFileOfEvents(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		t.Run(f.Name, func(t *testing.T) {
			names := symbol.New(nil)
			d := single(t, f.Data, names)
			report := &ntconv.Report{}
			opened, err := parquet.New(d, &parquet.Options{Report: report})
			if err != nil {
				t.Fatal(err)
			}
			src := ntconvtest.Poison(opened)
			var before, after schema.Table
			original := open(t, f.Data)
			for e, err := range ntconv.Events(original) {
				if err != nil {
					break
				}
				if e.Kind != ntconv.KindEvent {
					continue
				}
				got, err := src.Next()
				if err != nil {
					t.Fatal(err)
				}
				var frames, gotFrames []ntconv.Frame
				if e.Stack != nil {
					frames = names.AppendFrames(nil, e.Thread.Process, e.Stack, e.Time)
				}
				if got.Stack != nil {
					gotFrames = got.Stack.Frames
				}
				s, gotSchema := before.Of(e), after.Of(got)
				if x, y := named(e, s, frames), named(got, gotSchema, gotFrames); x != y {
					t.Fatalf("%s\nwant\n%s", y, x)
				}
				wall := original.Info().Clock
				if x, y := wall.Time(e.Time).UnixNano(), int64(got.Time); x != y && !wall.Wall.IsZero() {
					t.Fatalf("time %d, want %d", y, x)
				}
				checkFields(t, s, e, gotSchema, got)
			}
			if e, err := src.Next(); err == nil {
				t.Errorf("one more event: %v", e)
			}
			if report.Count(ntconv.CodePayload) > 0 {
				t.Error(report.Entries())
			}
		})
	}
}

// checkFields compares the fields of events. A field that is not in the JSON, because the payload ends before it, is
// not a field of the event that was read.
func checkFields(t *testing.T, s *schema.Schema, e *ntconv.Event, gotSchema *schema.Schema, got *ntconv.Event) {
	t.Helper()
	var want, have []string
	for f, v := range s.Values(e) {
		if x := v.Float(); math.IsInf(x, 0) || math.IsNaN(x) { // strings in JSON
			continue
		}
		if f.Type.Code == ntconv.TypeFloat32 { // JSON has the shortest digits
			want = append(want, fmt.Sprintf("%s=%v", f.Name, float32(v.Float())))
			continue
		}
		switch v.Kind() {
		case ntconv.ValueBool, ntconv.ValueInt, ntconv.ValueUint, ntconv.ValueFloat, ntconv.ValueString, ntconv.ValueGUID:
			want = append(want, fmt.Sprintf("%s=%v", f.Name, strings.ReplaceAll(v.String(), "\x00", "\uFFFD")))
		}
	}
	for f, v := range gotSchema.Values(got) {
		have = append(have, fmt.Sprintf("%s=%v", f.Name, v))
	}
	for _, w := range want {
		name, _, _ := strings.Cut(w, "=")
		if !slices.Contains(have, w) && !strings.Contains(w, "\uFFFD") && slices.IndexFunc(want, func(x string) bool { return strings.HasPrefix(x, name+"=") }) == slices.Index(want, w) {
			t.Fatalf("%s/%s: fields %q, want %s", s.Provider, s.Name, have, w)
		}
	}
}

// TestInferredTypes checks the types that the fields of payloads get.
func TestInferredTypes(t *testing.T) {
	rows := []tables.SingleEvent{
		{Payload: `{"a":1,"b":"x"}`},
		{Payload: `{"a":2,"b":"y"}`},
		{Payload: `{"a":2.5,"b":"y"}`},              // wider
		{Payload: `{"a":3,"b":"y"}`},                // of the wider type
		{Payload: `{"a":null,"b":"y"}`},             // no field
		{Payload: `{"a":18446744073709551615}`},     // unsigned
		{Payload: `{"a":-1}`},                       // with the one before: a float
		{Payload: `{"a":true}`},                     // and with it: text
		{Payload: `{"l":[1, 2],"o":{"x":"y"}}`},     // text
		{Payload: `{"s":"a\u0000b\"\ud83d\ude00"}`}, // without the character of code 0
		{Payload: ``},
		{Payload: `no object`},
	}
	for i := range rows {
		rows[i].EventID, rows[i].Provider, rows[i].Event = int64(i+1), "p", "e"
	}
	var got []string
	ids := map[uint32]bool{}
	for _, e := range read(t, directory{"x": fileOf(t, rows)}, parquet.Options{}) {
		s := ""
		for f, v := range e.Fields() {
			s += fmt.Sprintf("%s=%v:%v ", f.Name, v.Kind(), v)
		}
		got = append(got, strings.TrimSpace(s))
		ids[e.Type.ID] = true
	}
	want := []string{
		"a=int:1 b=string:x", "a=int:2 b=string:y", "a=float:2.5 b=string:y", "a=float:3 b=string:y", "b=string:y", "a=uint:18446744073709551615",
		"a=float:-1", "a=string:true", `l=string:[1, 2] o=string:{"x":"y"}`, "s=string:a\uFFFDb\"\U0001F600", "", "payload=string:no object",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(ids) != 10 {
		t.Errorf("%d types", len(ids))
	}
}

// TestUnsortedFileOfEvents reads a file of events in file order, as queries and --order file write them: its events
// come in time order, those of each thread with increasing numbers.
func TestUnsortedFileOfEvents(t *testing.T) {
	in := openOrder(t, corpus.Trace(t, "threads").Data, false)
	var b bytes.Buffer
	sink, err := export.NewSingle(&b, in.Info(), symbol.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	var times []int64
	for e, err := range ntconv.Events(in) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			times = append(times, in.Info().Clock.Time(e.Time).UnixNano())
		}
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if slices.IsSorted(times) {
		t.Fatal("the trace is in time order already")
	}
	slices.Sort(times)
	src, err := parquet.New(directory{"trace": b.Bytes()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if wall := src.Info().Clock.Wall.UnixNano(); wall > times[0] || times[0]-wall >= 1e6 {
		t.Errorf("the clock starts at %d, the first event is at %d", wall, times[0])
	}
	var got []int64
	seq := map[*ntconv.Thread]uint32{}
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int64(e.Time))
		if seq[e.Thread]++; e.Seq != seq[e.Thread] {
			t.Fatalf("event %d: sequence number %d, want %d", len(got), e.Seq, seq[e.Thread])
		}
	}
	if !slices.Equal(got, times) {
		t.Errorf("%d events are not the %d of the trace in time order", len(got), len(times))
	}
}

// TestFileOfEventsLimit checks that types that a source infers count as definitions: a row can widen any of many
// fields.
func TestFileOfEventsLimit(t *testing.T) {
	var rows []tables.SingleEvent
	for wide := range 50 {
		fields := make([]string, 50)
		for i := range fields {
			fields[i] = fmt.Sprintf(`"field%d":1`, i)
			if i < wide {
				fields[i] += ".5"
			}
		}
		rows = append(rows, tables.SingleEvent{EventID: int64(wide + 1), TSNanos: int64(wide), Provider: "p", Event: "e", Payload: "{" + strings.Join(fields, ",") + "}"})
	}
	d := directory{"trace": fileOf(t, rows)}
	src, err := parquet.New(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := ntconv.Copy(&ntconvtest.Recorder{}, src); n != 50 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
	src, err = parquet.New(d, &parquet.Options{Limits: parquet.Limits{TableBytes: 100_000}})
	if err != nil {
		t.Fatal(err)
	}
	var limit *ntconv.LimitError
	if n, err := ntconv.Copy(&ntconvtest.Recorder{}, src); !errors.As(err, &limit) || limit.Limit != parquet.LimitTables || n == 0 {
		t.Errorf("%d events, %v", n, err)
	}
}

// TestFilesOfEvents checks that files of events in a directory are not mistaken for one foreign table.
func TestFilesOfEvents(t *testing.T) {
	one := single(t, corpus.Trace(t, "jit").Data, symbol.New(nil))["trace"]
	_, err := parquet.New(directory{"a": one, "b": one}, nil)
	var advice *ntconv.AdviceError
	if !errors.Is(err, ntconv.ErrUnsupported) || !errors.As(err, &advice) || !strings.Contains(err.Error(), "2 files of events") {
		t.Error(err)
	}
}
