package schema

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// of returns the schema of an event.
func of(e *ntconv.Event) *Schema { return new(Table).Of(e) }

// show prints a decoded value.
func show(v ntconv.Value) string {
	var out []string
	switch v.Kind() {
	case ntconv.ValueString:
		return strconv.Quote(v.String())
	case ntconv.ValueList:
		for e := range v.Elems() {
			out = append(out, show(e))
		}
		return "[" + strings.Join(out, " ") + "]"
	case ntconv.ValueObject:
		for f, e := range v.Fields() {
			out = append(out, f.Name+"="+show(e))
		}
		return "{" + strings.Join(out, " ") + "}"
	}
	return v.String()
}

// fields prints the fields of an event.
func fields(e *ntconv.Event) string {
	var out []string
	for f, v := range of(e).Values(e) {
		s := show(v)
		if v.Kind() == ntconv.ValueError {
			s = "error"
		}
		out = append(out, f.Name+"="+s)
	}
	return strings.Join(out, " ")
}

// field returns a field of a scalar type.
func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

func utf16z(s string) string {
	b, err := ntconv.AppendFields(nil, []ntconv.Field{field("", ntconv.TypeUTF16String)}, []ntconv.Value{ntconv.StringValue(s)}, 8)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// mapping is a ProcessMapping as one-collect writes it, with its undeclared tail (universal, 9).
const mapping = "\x00\x80\x80\x80\x02\xff\xff\x83\x02\x80\x20\x14\x00/usr/local/bin/myapp\x01\x00\x00\x00\x00"

func TestFieldRules(t *testing.T) {
	count := []ntconv.Field{field("N", ntconv.TypeUint16)}
	pair := utf16z("k") + utf16z("v")
	tracepoint := []ntconv.Field{
		field("common_type", ntconv.TypeUint16), field("common_flags", ntconv.TypeUint8), field("common_preempt_count", ntconv.TypeUint8),
		field("common_pid", ntconv.TypeInt32), field("comm", ntconv.TypeUint8), field("pid", ntconv.TypeInt32),
	}
	legacy := []ntconv.Field{field("Value", ntconv.TypeVarUint), field("Text", ntconv.TypeUTF8Unit), field("N", ntconv.TypeUint16)}
	for _, c := range []struct {
		what    string
		typ     ntconv.Type
		payload string
		want    string
	}{
		{"manifest", ntconv.Type{Provider: clr.Runtime, ID: 2, Version: 1}, "\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00", "Count=1 Depth=2 ClrInstanceID=7"},
		{"manifest, older version", ntconv.Type{Provider: clr.Runtime, ID: 2}, "\x01\x00\x00\x00\x02\x00", "Count=1 Depth=2"},
		{"manifest, no payload", ntconv.Type{Provider: clr.Runtime, ID: 2}, "", ""},
		{"metadata wins", ntconv.Type{Provider: clr.Runtime, ID: 2, Fields: count}, "\x01\x00", "N=1"},
		{"name does not matter for runtime events", ntconv.Type{Provider: clr.Runtime, ID: 2, Name: "Odd"}, "\x01\x00\x00\x00\x02\x00", "Count=1 Depth=2"},
		{"unknown provider", ntconv.Type{Provider: "Shop", ID: 2}, "\x01\x00", ""},
		{"unknown id", ntconv.Type{Provider: clr.Runtime, ID: 5555}, "\x01\x00", ""},
		{"managed, by name", ntconv.Type{Provider: "System.Net.Http", ID: 77, Name: "RequestStop"}, "\x01\x00\x00\x00", "statusCode=1"},
		{"managed, other name under a known id", ntconv.Type{Provider: "System.Net.Http", ID: 2, Name: "EventCounters"}, "\x01\x00\x00\x00", ""},
		{"managed, by id", ntconv.Type{Provider: "System.Net.Http", ID: 2}, "\x01\x00\x00\x00", "statusCode=1"},
		{"managed, neither fields nor payload", ntconv.Type{Provider: "System.Net.Http", ID: 2, Name: "RequestStop"}, "", ""},
		{"activity", ntconv.Type{Provider: clr.DiagnosticSource, ID: 14, Name: "ActivityStop"}, utf16z("s") + utf16z("a") + "\x02\x00" + pair + pair,
			`SourceName="s" ActivityName="a" Arguments=[{Key="k" Value="v"} {Key="k" Value="v"}]`},
		{"event", ntconv.Type{Provider: clr.DiagnosticSource, ID: 2, Name: "Event"}, utf16z("s") + utf16z("e") + "\x00\x00",
			`SourceName="s" EventName="e" Arguments=[]`},
		{"more pairs claimed than there are", ntconv.Type{Provider: clr.DiagnosticSource, ID: 2, Name: "Event"}, utf16z("s") + utf16z("e") + "\xff\xff" + pair,
			`SourceName="s" EventName="e" Arguments=error`},
		{"dynamic event", ntconv.Type{Provider: clr.Runtime, ID: 39}, utf16z("CommittedUsage") + "\x0a\x00\x00\x00\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x07\x00",
			`Name="CommittedUsage" DataSize=10 Data=01000200000000000000 ClrInstanceID=7 Version=1 TotalCommittedInUse=2`},
		{"dynamic event of another kind", ntconv.Type{Provider: clr.Runtime, ID: 39}, utf16z("X") + "\x01\x00\x00\x00\x05\x07\x00", `Name="X" DataSize=1 Data=05 ClrInstanceID=7`},
		{"dynamic event with too large a size", ntconv.Type{Provider: clr.Runtime, ID: 39}, utf16z("X") + "\xff\xff\xff\xff\x05\x07\x00",
			`Name="X" DataSize=4294967295 Data=error ClrInstanceID=error`},
		{"system", ntconv.Type{Provider: clr.UniversalSystem, ID: 3, Fields: legacy}, mapping,
			`Id=0 StartAddress=4194304 EndAddress=4259839 FileOffset=4096 FileName="/usr/local/bin/myapp" MetadataId=1`},
		{"system, unknown id", ntconv.Type{Provider: clr.UniversalSystem, ID: 9, Fields: legacy}, "\x80\x01\x03\x00abc\x05\x00", `Value=128 Text="abc" N=5`},
		{"exit", ntconv.Type{Provider: clr.UniversalSystem, ID: 2}, "", ""},
		{"bare strings", ntconv.Type{Provider: clr.UniversalEvents, ID: 7, Name: "span", Fields: legacy}, "\x01\x09\x00a\x00ü", `Value=1 Text=error N=error`},
		{"bare strings, more", ntconv.Type{Provider: clr.UniversalEvents, ID: 7, Name: "span", Fields: legacy}, "\x01\x04\x00a\x00ü\x05\x00", "Value=1 Text=\"a\\x00ü\" N=5"},
		{"bare strings, cut", ntconv.Type{Provider: clr.UniversalEvents, ID: 7, Name: "span", Fields: legacy}, "\x01", `Value=1`},
		{"cpu without fields", ntconv.Type{Provider: clr.UniversalEvents, ID: 7, Name: "cpu"}, "\x01", `Value=1`},
		{"unnamed without fields", ntconv.Type{Provider: clr.UniversalEvents, ID: 1}, "\x01", ``},
		{"tracepoint", ntconv.Type{Provider: "sched", ID: 300, Name: "sched_wakeup", Fields: tracepoint}, "\x2c\x01\x01\x02\x03\x00\x00\x00loop",
			`common_type=300 common_flags=1 common_preempt_count=2 common_pid=3 data=6c6f6f70`},
		{"tracepoint without more", ntconv.Type{Provider: "sched", Fields: tracepoint}, "\x2c\x01\x01\x02\x03\x00\x00\x00",
			`common_type=300 common_flags=1 common_preempt_count=2 common_pid=3 data=`},
		{"tracepoint, cut", ntconv.Type{Provider: "sched", Fields: tracepoint}, "\x2c\x01\x01\x02\x03\x00",
			`common_type=300 common_flags=1 common_preempt_count=2 common_pid=error data=error`},
	} {
		e := &ntconv.Event{Type: &c.typ, Payload: []byte(c.payload)}
		if got := fields(e); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
		}
	}
	if got := fields(&ntconv.Event{Kind: ntconv.KindMark}); got != "" {
		t.Errorf("a mark has fields: %s", got)
	}
}

// TestVersionLabel checks that the version in a label selects the layout, because one-collect's types of .NET events
// have no version.
func TestVersionLabel(t *testing.T) {
	e := &ntconv.Event{Type: &ntconv.Type{Provider: clr.Runtime, ID: 2}, Payload: []byte("\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00")}
	e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelVersion, Num: 1}})
	if got := fields(e); got != "Count=1 Depth=2 ClrInstanceID=7" {
		t.Error(got)
	}
}

func TestPointerSize(t *testing.T) {
	p := &ntconv.Process{PointerSize: 4}
	e := &ntconv.Event{Type: &ntconv.Type{Provider: clr.Runtime, ID: 208}, Thread: &ntconv.Thread{Process: p}}
	e.Payload = []byte("\x07\x00\x01\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00")
	const want32 = "ClrInstanceID=7 Count=1 Values=[{TimePlan=1 TimeCompact=2 TimeRelocate=3 Padding64=null TotalRefs=4 ZeroRefs=5}]"
	if got := fields(e); got != want32 {
		t.Errorf("%s\nwant %s", got, want32)
	}
	p.PointerSize = 8
	e.Payload = []byte("\x07\x00\x01\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\xff\xff\xff\xff\x04\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00")
	if got := fields(e); got != want32 {
		t.Errorf("%s\nwant %s", got, want32)
	}
}

// TestStopping checks that a loop over values can end at any field.
func TestStopping(t *testing.T) {
	for _, e := range sampleEvents(t) {
		total := 0
		for range of(e).Values(e) {
			total++
		}
		for stop := 1; stop <= total; stop++ {
			n := 0
			for range of(e).Values(e) {
				if n++; n == stop {
					break
				}
			}
			if n != stop {
				t.Errorf("%s: %d fields, want %d", e.Type.Name, n, stop)
			}
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct {
		typ  ntconv.Type
		want string
	}{
		{ntconv.Type{Provider: clr.Runtime, ID: 10, Version: 4}, "GCAllocationTick"},
		{ntconv.Type{Provider: clr.Runtime, ID: 10, Name: "Tick"}, "Tick"},
		{ntconv.Type{Provider: clr.Rundown, ID: 144, Version: 1}, "MethodDCEndVerbose"},
		{ntconv.Type{Provider: clr.Runtime, ID: 144, Version: 2}, "MethodUnloadVerbose"},
		{ntconv.Type{Provider: clr.SampleProfiler}, "ThreadSample"},
		{ntconv.Type{Provider: "System.Runtime", ID: 2}, "ProcessorCount"},
		{ntconv.Type{Provider: clr.UniversalSystem, ID: 4}, "ProcessSymbol"},
		{ntconv.Type{Provider: clr.UniversalEvents, ID: 1}, ""},
		{ntconv.Type{Provider: clr.Runtime, ID: 9999}, ""},
		{ntconv.Type{Provider: "Shop", ID: 1}, ""},
	} {
		if got := of(&ntconv.Event{Type: &c.typ}).Name; got != c.want {
			t.Errorf("%s %d: %q, want %q", c.typ.Provider, c.typ.ID, got, c.want)
		}
	}
	if got := of(&ntconv.Event{Kind: ntconv.KindMark}).Name; got != "" {
		t.Errorf("a mark is called %q", got)
	}
}

// sampleEvents returns events for each decoding, and one or two of every runtime event.
func sampleEvents(t testing.TB) []*ntconv.Event {
	legacy := []ntconv.Field{field("Value", ntconv.TypeVarUint), field("Text", ntconv.TypeUTF8Unit), field("N", ntconv.TypeUint16)}
	tracepoint := []ntconv.Field{
		field("common_type", ntconv.TypeUint16), field("common_flags", ntconv.TypeUint8), field("common_preempt_count", ntconv.TypeUint8),
		field("common_pid", ntconv.TypeInt32),
	}
	own := []ntconv.Field{field("A", ntconv.TypeUTF16String), field("B", ntconv.TypeInt32)}
	events := []*ntconv.Event{
		{Type: &ntconv.Type{Provider: clr.Runtime, ID: 39}, Payload: []byte(utf16z("CommittedUsage") + "\x0a\x00\x00\x00\x01\x00\x02\x00\x00\x00\x00\x00\x00\x00\x07\x00")},
		{Type: &ntconv.Type{Provider: clr.UniversalSystem, ID: 3, Name: "ProcessMapping", Fields: legacy}, Payload: []byte(mapping)},
		{Type: &ntconv.Type{Provider: clr.UniversalEvents, ID: 7, Name: "span", Fields: legacy}, Payload: []byte("\x01\x03\x00abc\x05\x00")},
		{Type: &ntconv.Type{Provider: clr.UniversalEvents, ID: 1, Name: "cpu", Fields: legacy[:1]}, Payload: []byte("\x01")},
		{Type: &ntconv.Type{Provider: "sched", ID: 300, Name: "sched_wakeup", Fields: tracepoint}, Payload: []byte("\x2c\x01\x01\x02\x03\x00\x00\x00loop")},
		{Type: &ntconv.Type{Provider: "Shop", ID: 1, Name: "Own", Fields: own}, Payload: []byte(utf16z("text") + "\x01\x00\x00\x00")},
		{Type: &ntconv.Type{Provider: clr.DiagnosticSource, ID: 14, Name: "ActivityStop"}, Payload: []byte(utf16z("s") + utf16z("a") + "\x01\x00" + utf16z("k") + utf16z("v"))},
	}
	f, err := os.Open("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		ref := refEvent{ptr: 8}
		if err := json.Unmarshal(lines.Bytes(), &ref); err != nil {
			t.Fatal(err)
		}
		events = append(events, ref.event(t))
	}
	return events
}

func TestNoAllocations(t *testing.T) {
	for _, e := range sampleEvents(t) {
		var table Table
		p, missing := table.Of(e).Project(names(table.Of(e).Fields)...)
		if len(missing) > 0 {
			t.Errorf("%s: no fields %q", table.Of(e).Name, missing)
		}
		dst := make([]ntconv.Value, len(table.Of(e).Fields))
		n := testing.AllocsPerRun(100, func() {
			for _, v := range table.Of(e).Values(e) {
				if v.Kind() == ntconv.ValueError {
					t.Errorf("%s %d: %v", e.Type.Provider, e.Type.ID, v)
				}
			}
			p.Read(e, dst)
		})
		if n != 0 {
			t.Errorf("%s %d %s: %v allocations per event", e.Type.Provider, e.Type.ID, table.Of(e).Name, n)
		}
	}
}
