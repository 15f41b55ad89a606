package eventtext_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/show/eventtext"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// event returns an event with the given fields and values.
func event(t testing.TB, name string, fields []ntconv.Field, values ...ntconv.Value) *ntconv.Event {
	t.Helper()
	e := &ntconv.Event{Type: &ntconv.Type{Provider: "P", Name: name, ID: 1, Fields: fields}, Thread: &ntconv.Thread{TID: 7}}
	for i, v := range values {
		var err error
		if e.Payload, err = ntconv.AppendValue(e.Payload, &fields[i], v, 8); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func sinkOf(t testing.TB, by, of string, events ...*ntconv.Event) *eventtext.StatsSink {
	t.Helper()
	s := eventtext.NewStats(ntconv.Clock{Freq: 1e9}, options(t, by, of))
	for _, e := range events {
		if err := s.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Fields of different types with one name are one column. Values that are not numbers are reported and do not count.
func TestMixedTypes(t *testing.T) {
	x := func(code ntconv.TypeCode, v ntconv.Value) *ntconv.Event {
		return event(t, v.Kind().String(), []ntconv.Field{field("X", code)}, v)
	}
	s := sinkOf(t, "X", "X",
		x(ntconv.TypeUint8, ntconv.UintValue(5)), x(ntconv.TypeInt64, ntconv.IntValue(5)), x(ntconv.TypeInt64, ntconv.IntValue(-7)),
		x(ntconv.TypeFloat64, ntconv.FloatValue(0.5)), x(ntconv.TypeFloat64, ntconv.FloatValue(math.NaN())),
		x(ntconv.TypeBool8, ntconv.BoolValue(true)), x(ntconv.TypeUint64, ntconv.UintValue(math.MaxUint64)),
		x(ntconv.TypeUTF16String, ntconv.StringValue("5")), x(ntconv.TypeUTF16String, ntconv.StringValue("")),
		event(t, "other", nil), &ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{}},
	)
	r := reportOf(t, s, 0)
	counts := map[string]int64{}
	for _, row := range r.Rows {
		counts[fmt.Sprintf("%T %v", row.By["X"], row.By["X"])] = row.Events
	}
	if want := map[string]int64{
		"json.Number 5": 2, "json.Number -7": 1, "json.Number 0.5": 1, "string NaN": 1, "bool true": 1, "json.Number 18446744073709551615": 1,
		"string 5": 1, "string ": 1, "<nil> <nil>": 1,
	}; !maps.Equal(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
	if r.Total.Events != 10 || r.Total.Values != 6 || r.Total.Min != "-7" || r.Total.Max != "18446744073709551615" || r.Total.Mean != float64(math.MaxUint64+4.5)/6 {
		t.Errorf("total %+v", r.Total)
	}
	if want := []string{
		"1 of 10 events have no value of X", "1 of 10 events have no value of X",
		"2 values omitted that are not numbers: X is a string in P/string", "1 value of X omitted that are NaN",
	}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q", r.Notes)
	}
}

// All elements of a list count, and are one value to group by.
func TestLists(t *testing.T) {
	list := ntconv.Field{Name: "L", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeInt16}}}
	of := func(values ...ntconv.Value) *ntconv.Event {
		return event(t, "E", []ntconv.Field{list}, ntconv.ListValue(values...))
	}
	one, two := ntconv.IntValue(1), ntconv.IntValue(2)
	r := reportOf(t, sinkOf(t, "L", "L", of(one, two), of(one, two), of(one), of()), 0)
	var got []string
	for _, row := range r.Rows {
		got = append(got, fmt.Sprintf("%v: %d events, %d values, sum %s", row.By["L"], row.Events, row.Values, row.Sum))
	}
	if want := []string{
		"1, 2: 2 events, 4 values, sum 6",
		"1: 1 events, 1 values, sum 1",
		"<nil>: 1 events, 0 values, sum ",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The rows are sorted, and the groups after the limit add up in a row of their own.
func TestLimit(t *testing.T) {
	fields := []ntconv.Field{field("K", ntconv.TypeUTF16String), field("V", ntconv.TypeInt32)}
	var events []*ntconv.Event
	for i := range 30 {
		for n := range i%7 + 1 {
			events = append(events, event(t, "E", fields, ntconv.StringValue(fmt.Sprint("k", i)), ntconv.IntValue(int64(n-i))))
		}
	}
	for _, of := range []string{"", "V"} {
		all := reportOf(t, sinkOf(t, "K", of, events...), 0)
		for _, limit := range []int{1, 2, 29, 30, 31} {
			r := reportOf(t, sinkOf(t, "K", of, events...), limit)
			if r.Groups != 30 || len(r.Rows) != min(limit, 30) || fmt.Sprint(r.Total) != fmt.Sprint(all.Total) || (r.More == nil) != (limit >= 30) {
				t.Errorf("limit %d: %d of %d rows, total %+v, more %+v", limit, len(r.Rows), r.Groups, r.Total, r.More)
			}
			count, sum := int64(0), int64(0)
			rows := r.Rows
			if r.More != nil {
				rows = append(rows, *r.More)
			}
			for i, row := range rows {
				count += row.Events
				if of != "" {
					n, err := row.Sum.Int64()
					if err != nil {
						t.Fatal(err)
					}
					sum += n
				}
				if i < len(r.Rows) && fmt.Sprint(row) != fmt.Sprint(all.Rows[i]) {
					t.Errorf("limit %d: row %d is %+v, want %+v", limit, i, row, all.Rows[i])
				}
			}
			if of != "" && fmt.Sprint(sum) != all.Total.Sum.String() || count != int64(len(events)) {
				t.Errorf("limit %d: rows add up to %d events and %d, total %+v", limit, count, sum, all.Total)
			}
		}
		sorted := slices.IsSortedFunc(all.Rows, func(a, b result) int {
			if of == "" {
				return int(b.Events - a.Events)
			}
			x, _ := a.Sum.Int64()
			y, _ := b.Sum.Int64()
			return int(y - x)
		})
		if !sorted {
			t.Errorf("of %q: the rows are not sorted", of)
		}
	}
}

// The text has one line per group and no characters that a terminal could interpret, whatever is in the trace.
func TestTextIsPrintable(t *testing.T) {
	fields := []ntconv.Field{field("K\x1b[2J\n", ntconv.TypeUTF16String), field("V", ntconv.TypeInt32)}
	key := `"K\x1b[2J\n"`
	s := sinkOf(t, key+",$event,$label.x", "V",
		event(t, "E\u202e", fields, ntconv.StringValue("a\x1b]0;x\a\nb\u2028"), ntconv.IntValue(1)),
		event(t, "", fields, ntconv.StringValue(strings.Repeat("long", 100)), ntconv.IntValue(3)),
		event(t, "E", fields, ntconv.StringValue(" "), ntconv.IntValue(2)))
	text := string(s.Table(2).Text())
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q in\n%s", r, text)
		}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines:\n%s", len(lines), text)
	}
	for i, parts := range [][]string{
		{"events", "bytes", "sum", "p50", `K\x1b[2J\n`, "$event"}, {"longlong", "(none)"}, {`" "`}, {"1 more group; -n 0 prints all"}, {"total", "6"},
	} {
		for _, part := range parts {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d has no %s: %s", i, part, lines[i])
			}
		}
	}
}

// lateNames is a Namer that learns names after the events.
type lateNames struct {
	ntconv.Namer
	processes map[*ntconv.Process]string
}

func (n *lateNames) Process(p *ntconv.Process) ntconv.ProcessInfo {
	return ntconv.ProcessInfo{Name: n.processes[p]}
}

func (n *lateNames) ThreadName(t *ntconv.Thread) string { return t.Name }

// Processes with one name are one group, even if the name is known only after the events.
func TestOwners(t *testing.T) {
	a, b, c := &ntconv.Process{PID: 1}, &ntconv.Process{PID: 2, Name: "early"}, &ntconv.Process{PID: 3}
	namer := &lateNames{processes: map[*ntconv.Process]string{}}
	opts := options(t, "$thread,$process", "$size")
	opts.Namer = namer
	s := eventtext.NewStats(ntconv.Clock{Freq: 1e9}, opts)
	for _, thread := range []*ntconv.Thread{
		{Process: a, Name: "x"}, {Process: b, Name: "x"}, {Process: a, Name: "x"}, {Process: b, Name: "y"}, {Process: c}, {Name: "x"}, nil,
	} {
		e := event(t, "E", []ntconv.Field{field("F", ntconv.TypeInt32)}, ntconv.IntValue(1))
		e.Thread = thread
		if err := s.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	namer.processes[a] = "late"
	namer.processes[b] = "late"
	r := reportOf(t, s, 0)
	var got []string
	for _, row := range r.Rows {
		got = append(got, fmt.Sprint(row.By["$thread"], " ", row.By["$process"], " ", row.Events, " ", row.Sum))
	}
	if want := []string{"x late 3 12", "<nil> <nil> 2 8", "x <nil> 1 4", "y late 1 4"}; !slices.Equal(got, want) || r.Groups != 4 {
		t.Errorf("got %q", got)
	}
	if want := []string{"2 of 7 events have no value of $thread", "3 of 7 events have no value of $process"}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q", r.Notes)
	}
	if r := reportOf(t, sinkOf(t, "$process", "", event(t, "E", nil)), 0); len(r.Rows) != 1 {
		t.Errorf("without a Namer: %+v", r)
	}
}

// A table needs a value of each operand, and a number of the last.
func TestProblem(t *testing.T) {
	e := event(t, "E", []ntconv.Field{field("Size", ntconv.TypeInt32), field("Text", ntconv.TypeUTF16String), field("Nul", ntconv.TypeInt32)},
		ntconv.IntValue(1), ntconv.StringValue("x"))
	for by, want := range map[string]string{
		"Size": "", "size": "no event has a field size, but there is Size", "Sise": "no event has a field Sise, but there is Size",
		"Else": "no event has a field Else", "Nul": "", "$tid": "", "$cpu,$label.x": "no event has a label x",
	} {
		if got := sinkOf(t, by, "Size", e).Problem(); got != want {
			t.Errorf("--by %s: got %q, want %q", by, got, want)
		}
	}
	for of, want := range map[string]string{
		"Text": "Text is a string in P/E; --of needs a number", "text": "no event has a field text, but there is Text", "$size": "", "$time": "",
	} {
		if got := sinkOf(t, "Size", of, e).Problem(); got != want {
			t.Errorf("--of %s: got %q, want %q", of, got, want)
		}
	}
	if s := sinkOf(t, "$tid", ""); !s.Empty() || s.Problem() != "" {
		t.Errorf("no events: %t %q", s.Empty(), s.Problem())
	}
}

// trace returns the events of a trace, which stay valid.
func trace(t testing.TB, name string) (list []*ntconv.Event) {
	t.Helper()
	src, err := reader.New(strings.NewReader(string(corpus.Trace(t, name).Data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for e := range ntconv.Events(src) {
		if e != nil && e.Kind == ntconv.KindEvent {
			c := *e
			c.Payload = slices.Clone(e.Payload)
			list = append(list, &c)
		}
	}
	return list
}

var cases = []struct{ name, trace, by, of string }{
	{"types", "alloc-verbose", "$provider,$event", ""},
	{"alloc", "alloc-verbose", "TypeName", "AllocationAmount64"},
	{"counters", "counters", "Payload.Name", "Payload.Mean"},
	{"methods", "jit", "MethodNamespace", "MethodSize"},
	{"threads", "cpu-env", "$pid,$tid,$activity_id", "$time"},
}

// An event of a known group does not allocate, once the group has a histogram.
func TestAllocations(t *testing.T) {
	names := []string{"GCAllocationTick", "EventCounters", "MethodLoadVerbose", "ThreadSample"}
	for _, c := range cases {
		var schemas schema.Table
		events := slices.DeleteFunc(trace(t, c.trace), func(e *ntconv.Event) bool {
			return !slices.Contains(names, schemas.Of(e).Name)
		})
		events = events[:min(40, len(events))]
		s := sinkOf(t, c.by, c.of, events...)
		for range 4096 {
			for _, e := range events {
				_ = s.Write(e)
			}
		}
		if n := testing.AllocsPerRun(5, func() {
			for _, e := range events {
				_ = s.Write(e)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations for %d events", c.name, n, len(events))
		}
	}
}
