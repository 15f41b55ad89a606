package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
)

var (
	typedInfo   = &ntconv.Info{Format: "test", Clock: ntconv.Clock{Freq: 1e9, Wall: time.Unix(1_700_000_000, 0).UTC()}, PointerSize: 8}
	typedThread = &ntconv.Thread{TID: 7, Process: &ntconv.Process{PID: 42, PointerSize: 8}}
)

func fieldOf(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// typedEvent returns an event of a type with these values.
func typedEvent(t testing.TB, typ *ntconv.Type, at int64, values ...ntconv.Value) *ntconv.Event {
	t.Helper()
	payload, err := ntconv.AppendFields(nil, typ.Fields, values, 8)
	if err != nil {
		t.Fatal(err)
	}
	return &ntconv.Event{Type: typ, Thread: typedThread, Capture: typedThread, CPU: 3, Time: ntconv.Ticks(at), Payload: payload}
}

// exportTyped exports events to typed tables of all types.
func exportTyped(t testing.TB, events ...*ntconv.Event) *typedExport {
	t.Helper()
	x := newTypedExport(t, typedInfo, "all")
	x.write(t, events...)
	x.close(t)
	return x
}

// Versions of an event share a table with the columns of all of them.
func TestTypedVersions(t *testing.T) {
	const provider = "My.Shop"
	v0 := &ntconv.Type{Provider: provider, ID: 1, Name: "Order", Version: 0, Fields: []ntconv.Field{
		fieldOf("Id", ntconv.TypeInt32), fieldOf("Note", ntconv.TypeUTF16String), fieldOf("Old", ntconv.TypeBool8)}}
	v2 := &ntconv.Type{Provider: provider, ID: 1, Name: "Order", Version: 2, Fields: []ntconv.Field{
		fieldOf("Id", ntconv.TypeInt64), fieldOf("Note", ntconv.TypeInt32), fieldOf("New", ntconv.TypeFloat64)}}
	x := exportTyped(t,
		typedEvent(t, v2, 1, ntconv.IntValue(math.MinInt64), ntconv.IntValue(9), ntconv.FloatValue(1.5)),
		typedEvent(t, v0, 2, ntconv.IntValue(-5), ntconv.StringValue("é\x00"[:2]), ntconv.BoolValue(true)),
	)
	table := x.table(t, "event_My_Shop_Order")
	if got, want := table.columns[typedtable.Fixed:], []string{"Id", "Note", "Old", "Note_v2", "New"}; !slices.Equal(got, want) {
		t.Fatalf("columns %q, want %q", got, want)
	}
	want := []rowText{
		{"Id": "-9223372036854775808", "Note": "null", "Old": "null", "Note_v2": "9", "New": "1.5", "version": "2", "event_id": "1", "ts_ns": "1700000000000000001"},
		{"Id": "-5", "Note": "é", "Old": "true", "Note_v2": "null", "New": "null", "version": "0", "event_id": "2", "ts": "1700000000000000"},
	}
	checkRows(t, table, want)
}

// checkRows compares the columns that are named in want.
func checkRows(t *testing.T, table *tableText, want []rowText) {
	t.Helper()
	if len(table.rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(table.rows), len(want))
	}
	for i, row := range want {
		for column, text := range row {
			if got := table.rows[i][column]; got != text {
				t.Errorf("row %d: %s = %q, want %q", i, column, got, text)
			}
		}
	}
}

// Names of columns differ not only in case, regardless of the names of the fields.
func TestTypedColumnNames(t *testing.T) {
	names := []string{"pid", "TS_NS", "Size", "size", "Size", "size_2", "", "", "a.b", "a,b \"c\"", "\xff"}
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
	var values []ntconv.Value
	for i, name := range names {
		typ.Fields = append(typ.Fields, fieldOf(name, ntconv.TypeInt32))
		values = append(values, ntconv.IntValue(int64(100+i)))
	}
	table := exportTyped(t, typedEvent(t, typ, 1, values...)).table(t, "event_P_E")
	want := []string{"pid_2", "TS_NS_2", "Size", "size_2", "Size_3", "size_2_2", "unnamed", "unnamed_2", "a.b", "a,b \"c\"", "\uFFFD"}
	if got := table.columns[typedtable.Fixed:]; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	for i, column := range want {
		if got := table.rows[0][column]; got != fmt.Sprint(100+i) {
			t.Errorf("%s = %s, want %d", column, got, 100+i)
		}
	}
}

// Each type of a field has a column that holds its value.
func TestTypedValues(t *testing.T) {
	list := func(code ntconv.TypeCode) ntconv.FieldType {
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: code}}
	}
	guid, err := ntconv.ParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	if err != nil {
		t.Fatal(err)
	}
	point := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{fieldOf("X", ntconv.TypeInt32), fieldOf("Y", ntconv.TypeUTF16String)}}
	when := time.Date(2026, 11, 21, 1, 2, 3, 456_789_100, time.UTC)
	cases := []struct {
		typ   ntconv.FieldType
		value ntconv.Value
		want  string
	}{
		{ntconv.FieldType{Code: ntconv.TypeUint64}, ntconv.UintValue(math.MaxUint64), "-1"},
		{ntconv.FieldType{Code: ntconv.TypeUint32}, ntconv.UintValue(math.MaxUint32), "4294967295"},
		{ntconv.FieldType{Code: ntconv.TypeUint8}, ntconv.UintValue(200), "200"},
		{ntconv.FieldType{Code: ntconv.TypeInt8}, ntconv.IntValue(-128), "-128"},
		{ntconv.FieldType{Code: ntconv.TypePointer}, ntconv.UintValue(1 << 63), "-9223372036854775808"},
		{ntconv.FieldType{Code: ntconv.TypeVarInt}, ntconv.IntValue(-3), "-3"},
		{ntconv.FieldType{Code: ntconv.TypeFloat32}, ntconv.FloatValue(0.25), "0.25"},
		{ntconv.FieldType{Code: ntconv.TypeGUID}, ntconv.GUIDValue(guid), guid.String()},
		{ntconv.FieldType{Code: ntconv.TypeDateTime}, ntconv.TimeValue(when), fmt.Sprint(when.UnixMicro())},
		{ntconv.FieldType{Code: ntconv.TypeUTF16String}, ntconv.StringValue(""), ""},
		{list(ntconv.TypeUint8), ntconv.BytesValue([]byte{1, 0xff}), "\x01\xff"},
		{list(ntconv.TypeUTF16Unit), ntconv.StringValue("text"), "text"},
		{list(ntconv.TypeInt32), ntconv.ListValue(ntconv.IntValue(1), ntconv.IntValue(-2)), "[1;-2]"},
		{list(ntconv.TypeUint64), ntconv.ListValue(), "[]"},
		{list(ntconv.TypeUTF16String), ntconv.ListValue(ntconv.StringValue("a"), ntconv.StringValue("")), "[a;]"},
		{list(ntconv.TypeGUID), ntconv.ListValue(ntconv.GUIDValue(guid)), "[" + guid.String() + "]"},
		{list(ntconv.TypeFloat64), ntconv.ListValue(ntconv.FloatValue(0.5)), "[0.5]"},
		{list(ntconv.TypeDateTime), ntconv.ListValue(ntconv.TimeValue(when)), "[" + fmt.Sprint(when.UnixMicro()) + "]"},
		{list(ntconv.TypeBool8), ntconv.ListValue(ntconv.BoolValue(true), ntconv.BoolValue(false)), "[true;false]"},
		{point, ntconv.ObjectValue(ntconv.IntValue(1), ntconv.StringValue("\"")), `{"X":1,"Y":"\""}`},
		{ntconv.FieldType{Code: ntconv.TypeArray, Elem: &point}, ntconv.ListValue(ntconv.ObjectValue(ntconv.IntValue(2), ntconv.StringValue("b"))), `[{"X":2,"Y":"b"}]`},
		{ntconv.FieldType{Code: ntconv.TypeUTF16String}, ntconv.StringValue("after the JSON"), "after the JSON"},
	}
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
	var values []ntconv.Value
	for i, c := range cases {
		typ.Fields = append(typ.Fields, ntconv.Field{Name: fmt.Sprint("f", i), Type: c.typ})
		values = append(values, c.value)
	}
	e := typedEvent(t, typ, 1, values...)
	table := exportTyped(t, e, e).table(t, "event_P_E")
	for i, c := range cases {
		for _, row := range table.rows {
			if got := row[fmt.Sprint("f", i)]; got != c.want {
				t.Errorf("%s: %q, want %q", c.typ.Code, got, c.want)
			}
		}
	}
}

// IDs of labels are columns, and without labels they are NULL.
func TestTypedLabels(t *testing.T) {
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{fieldOf("N", ntconv.TypeInt32)}}
	a, b := typedEvent(t, typ, 1, ntconv.IntValue(1)), typedEvent(t, typ, 2, ntconv.IntValue(2))
	a.Labels = ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelTraceID, ID: [16]byte{0xab, 15: 1}}, {Kind: ntconv.LabelSpanID, ID: [16]byte{0xcd}}, {Kind: ntconv.LabelActivityID, ID: [16]byte{1}},
	})
	table := exportTyped(t, a, b).table(t, "event_P_E")
	checkRows(t, table, []rowText{
		{"trace_id": "ab000000000000000000000000000001", "span_id": "cd00000000000000", "activity_id": "00000001-0000-0000-0000-000000000000", "cpu": "3", "stack_id": "null"},
		{"trace_id": "null", "span_id": "null", "activity_id": "null"},
	})
}

// A payload that ends early or cannot be decoded yields NULL from there on and is counted.
func TestTypedDamagedPayload(t *testing.T) {
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{
		fieldOf("A", ntconv.TypeInt32), {Name: "L", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF16String}}}, fieldOf("B", ntconv.TypeInt32)}}
	whole := typedEvent(t, typ, 1, ntconv.IntValue(7), ntconv.ListValue(ntconv.StringValue("x")), ntconv.IntValue(8))
	short, cut := *whole, *whole
	short.Payload, cut.Payload = whole.Payload[:4], whole.Payload[:7]
	x := exportTyped(t, whole, &short, &cut)
	checkRows(t, x.table(t, "event_P_E"), []rowText{
		{"A": "7", "L": "[x]", "B": "8"}, {"A": "7", "L": "null", "B": "null"}, {"A": "7", "L": "null", "B": "null"},
	})
	if n := x.report.Count(ntconv.CodePayload); n != 1 {
		t.Errorf("%d payloads are counted, want 1: a payload that ends before a field is an older version", n)
	}
}

// The fields that a dynamic event names itself are JSON.
func TestTypedDynamic(t *testing.T) {
	typ := &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntime", ID: 39}
	payload := []byte{}
	for _, u := range "CommittedUsage\x00" {
		payload = binary.LittleEndian.AppendUint16(payload, uint16(u))
	}
	data := binary.LittleEndian.AppendUint16(nil, 1)
	for i := range 5 {
		data = binary.LittleEndian.AppendUint64(data, uint64(i+10))
	}
	payload = binary.LittleEndian.AppendUint32(payload, uint32(len(data)))
	payload = append(append(payload, data...), 9, 0)
	e := &ntconv.Event{Type: typ, Thread: typedThread, Capture: typedThread, Payload: payload}
	x := exportTyped(t, e)
	row := x.table(t, x.dir.names[0]).rows[0]
	if row["Name"] != "CommittedUsage" || !strings.HasPrefix(row["data_json"], `{"`) || !strings.Contains(row["data_json"], ":10") {
		t.Errorf("%v", row)
	}
}

// With thousands of types few files are open and memory is bounded, and each table has its rows in order.
func TestTypedManyTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it writes 2,000 files")
	}
	const (
		types, events = 2000, 30
		limit         = 4 << 20
	)
	x := newTypedExport(t, typedInfo, "all")
	x.part.spill.limit = limit
	filler := ntconv.StringValue(strings.Repeat("x", 200))
	list := make([]*ntconv.Event, types)
	for i := range list {
		typ := &ntconv.Type{Provider: "P", ID: uint32(i), Name: fmt.Sprint("E", i), Fields: []ntconv.Field{fieldOf("N", ntconv.TypeInt32), fieldOf("S", ntconv.TypeUTF16String)}}
		list[i] = typedEvent(t, typ, 0, ntconv.IntValue(0), filler)
	}
	before := heap()
	for n := range events {
		for i, e := range list {
			binary.LittleEndian.PutUint32(e.Payload, uint32(n*types+i))
			x.write(t, e)
		}
		if x.part.spill.used > limit+chunkBytes {
			t.Fatalf("%d bytes are in memory", x.part.spill.used)
		}
	}
	if grown := heap() - before; grown > 2*limit+4<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if x.part.spill.file == nil {
		t.Error("nothing was spilled")
	}
	x.close(t)
	if len(x.dir.names) != types || x.dir.most > 2 {
		t.Errorf("%d tables, %d at a time; want %d, at most 2", len(x.dir.names), x.dir.most, types)
	}
	for i := 0; i < types; i += 97 {
		table := x.table(t, fmt.Sprint("event_P_E", i))
		if len(table.rows) != events {
			t.Fatalf("%d rows, want %d", len(table.rows), events)
		}
		for n, row := range table.rows {
			if row["N"] != fmt.Sprint(n*types+i) {
				t.Fatalf("row %d: N = %s, want %d", n, row["N"], n*types+i)
			}
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The bytes of the files depend neither on what is spilled nor on which table is finished first.
func TestTypedDeterministic(t *testing.T) {
	files := make([]map[string][]byte, 3)
	for i, limit := range []int{spillBytes, 0, 100 << 10} {
		x := newTypedExport(t, typedInfo, "all")
		x.part.spill.limit = limit
		r := uint64(1)
		types := make([]*ntconv.Type, 20)
		for j := range types {
			types[j] = &ntconv.Type{Provider: "P", ID: uint32(j), Name: fmt.Sprint("E", j%15), Version: uint8(j), Fields: []ntconv.Field{fieldOf("N", ntconv.TypeInt64), fieldOf("S", ntconv.TypeUTF16String)}}
		}
		for n := range 20_000 {
			r = r*6364136223846793005 + 1442695040888963407
			typ := types[r>>60]
			text := strings.Repeat("s", int(r>>50&0x3f))
			if n%5000 == 77 {
				text = strings.Repeat("long", chunkBytes)
			}
			x.write(t, typedEvent(t, typ, int64(n), ntconv.IntValue(int64(r)), ntconv.StringValue(text)))
		}
		x.close(t)
		files[i] = make(map[string][]byte)
		for name, f := range x.dir.files {
			files[i][name] = f.Bytes()
		}
	}
	for i := 1; i < len(files); i++ {
		if !maps.EqualFunc(files[0], files[i], bytes.Equal) {
			t.Errorf("export %d differs from the first one", i)
		}
	}
}

// By default only frequent events have tables; otherwise those that are requested.
func TestTypedChoice(t *testing.T) {
	var events []*ntconv.Event
	for _, name := range []string{"Often", "Rare", "Bare"} {
		typ := &ntconv.Type{Provider: "My.Shop", ID: 10, Name: name, Fields: []ntconv.Field{fieldOf("N", ntconv.TypeInt32)}}
		n := 5
		switch name {
		case "Often":
			n = defaultTypedRows
		case "Bare":
			typ.Fields = nil
		}
		for i := range n {
			e := &ntconv.Event{Type: typ, Thread: typedThread, Capture: typedThread, Time: ntconv.Ticks(i), Payload: make([]byte, 4)}
			events = append(events, e)
		}
	}
	for _, c := range []struct {
		typed     []string
		want      []string
		unmatched []string
	}{
		{nil, []string{"event_My_Shop_Often"}, nil},
		{[]string{"all"}, []string{"event_My_Shop_Often", "event_My_Shop_Rare"}, nil},
		{[]string{"none"}, nil, nil},
		{[]string{"my.*/rARE"}, []string{"event_My_Shop_Rare"}, nil},
		{[]string{"x, *Shop/O?ten"}, []string{"event_My_Shop_Often"}, []string{"x"}},
		{[]string{"*Shop/10", "10"}, []string{"event_My_Shop_Often", "event_My_Shop_Rare"}, nil},
		{[]string{"Other/Rare"}, nil, []string{"Other/Rare"}},
		{[]string{"Bare"}, nil, []string{"Bare"}},
	} {
		x := newTypedExport(t, typedInfo, c.typed...)
		x.write(t, events...)
		x.close(t)
		if !slices.Equal(x.dir.names, c.want) || x.sink.Summary().TypedTables != len(c.want) {
			t.Errorf("%q: tables %q and summary %+v, want %q", c.typed, x.dir.names, x.sink.Summary(), c.want)
		}
		if got := x.sink.Summary().Unmatched; !slices.Equal(got, c.unmatched) {
			t.Errorf("%q: %q match no event, want %q", c.typed, got, c.unmatched)
		}
		for _, e := range events {
			if got := x.part.Tables()[e.Type]; got != "" && got != "event_My_Shop_"+e.Type.Name {
				t.Errorf("%q: the table of %s is %q", c.typed, e.Type.Name, got)
			}
		}
	}
	for _, typed := range [][]string{{""}, {"a,,b"}, {"none", "all"}, {"none,a"}} {
		if _, err := newTypedChoice(&Options{Typed: typed}); err == nil {
			t.Errorf("%q: no error", typed)
		}
	}
	if _, err := newTypedChoice(&Options{TypedRows: -1}); err == nil {
		t.Error("-1 rows: no error")
	}
}

// Files declare an order only if they are sorted.
func TestTypedSorted(t *testing.T) {
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{fieldOf("N", ntconv.TypeInt32)}}
	a, b := typedEvent(t, typ, 1, ntconv.IntValue(1)), typedEvent(t, typ, 2, ntconv.IntValue(2))
	for _, c := range []struct {
		events []*ntconv.Event
		want   int
	}{{[]*ntconv.Event{a, b, b}, 1}, {[]*ntconv.Event{b, a}, 0}} {
		table := exportTyped(t, c.events...).table(t, "event_P_E")
		if got := len(table.file.Metadata().RowGroups[0].SortingColumns); got != c.want {
			t.Errorf("%d sorting columns, want %d", got, c.want)
		}
		if name, _ := table.file.Lookup("ntconv.table"); name != "event_P_E" {
			t.Errorf("metadata name the table %q", name)
		}
	}
}

// Fields beyond the maximum number of columns are counted, not written.
func TestTypedManyFields(t *testing.T) {
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E"}
	for i := range typedtable.MaxFields + 10 {
		typ.Fields = append(typ.Fields, fieldOf(fmt.Sprint("f", i), ntconv.TypeUint8))
	}
	e := &ntconv.Event{Type: typ, Thread: typedThread, Capture: typedThread, Payload: bytes.Repeat([]byte{7}, len(typ.Fields))}
	x := exportTyped(t, e)
	table := x.table(t, "event_P_E")
	if len(table.columns) != typedtable.Fixed+typedtable.MaxFields || table.rows[0]["f1999"] != "7" {
		t.Errorf("%d columns", len(table.columns))
	}
	if n := x.report.Count(ntconv.CodeNotCarried); n != 10 {
		t.Errorf("%d fields are counted, want 10", n)
	}
}

// Errors of files are returned, all files are closed and the temporary file is removed.
func TestTypedErrors(t *testing.T) {
	x := newTypedExport(t, typedInfo, "all")
	x.part.spill.limit = 0
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{fieldOf("S", ntconv.TypeUTF16String)}}
	for i := range 1000 {
		x.write(t, typedEvent(t, typ, int64(i), ntconv.StringValue(strings.Repeat("y", 1000))))
	}
	full := errors.New("disk full")
	x.sink.files.create = func(string) (io.WriteCloser, error) { return nil, full }
	if err := x.sink.Close(); !errors.Is(err, full) {
		t.Errorf("Close returns %v, want %v", err, full)
	}
	entries, err := os.ReadDir(x.part.spill.dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("%v, %v are left", entries, err)
	}
}

// Writing an event does not allocate, except for chunks.
func TestTypedAllocations(t *testing.T) {
	x := newTypedExport(t, typedInfo, "all")
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{fieldOf("N", ntconv.TypeInt32)}}
	e := typedEvent(t, typ, 1, ntconv.IntValue(1))
	if n := testing.AllocsPerRun(20_000, func() { x.write(t, e) }); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
	x.close(t)
}

// A record is read as it was written, regardless of its contents and its position in a chunk.
func FuzzTypedRecord(f *testing.F) {
	f.Add([]byte("payload"), int64(math.MinInt64), int64(math.MaxInt64), uint8(0xff))
	f.Add([]byte{}, int64(0), int64(-1), uint8(0))
	f.Fuzz(func(t *testing.T, payload []byte, a, b int64, flags uint8) {
		want := []record{
			{variant: int(flags), fixed: fixedValues{a, b, b, a, 0, a}, flags: recordFlags(flags & 0xf), payload: payload},
			{fixed: fixedValues{b, a}, payload: payload},
		}
		for i := range want {
			if r := &want[i]; r.flags&recordTrace != 0 {
				binary.LittleEndian.PutUint64(r.trace[8:], uint64(a))
			}
		}
		var chunk []byte
		var last fixedValues
		for i := range want {
			chunk = want[i].append(chunk, &last)
		}
		var r record
		for i := range want {
			var err error
			if chunk, err = r.read(chunk); err != nil {
				t.Fatal(err)
			}
			if r.variant != want[i].variant || r.fixed != want[i].fixed || r.flags != want[i].flags || !bytes.Equal(r.payload, payload) ||
				r.flags&recordTrace != 0 && r.trace != want[i].trace {
				t.Errorf("record %d: got %+v, want %+v", i, r, want[i])
			}
		}
		if len(chunk) != 0 {
			t.Errorf("%d bytes are left", len(chunk))
		}
		for rest := payload; len(rest) > 0; { // bytes of a damaged file
			next, err := r.read(rest)
			if err != nil || len(next) >= len(rest) {
				break
			}
			rest = next
		}
	})
}

// Types with one name and different fields do not yield a table of NULLs: its size is within a factor of the size of
// the fields.
func TestTypedSparseColumns(t *testing.T) {
	var events []*ntconv.Event
	for i := range 3000 {
		typ := &ntconv.Type{Provider: "P", ID: 1, Name: "E", Fields: []ntconv.Field{fieldOf(fmt.Sprint("f", i), ntconv.TypeUint8)}}
		events = append(events, &ntconv.Event{Type: typ, Thread: typedThread, Capture: typedThread, Payload: []byte{7}})
	}
	x := exportTyped(t, events...)
	columns := len(x.table(t, "event_P_E").columns) - typedtable.Fixed
	if cells := columns * len(events); cells > anyCells+maxNulls*len(events) || cells < anyCells {
		t.Errorf("%d columns of fields in %d rows", columns, len(events))
	}
	if n := x.report.Count(ntconv.CodeNotCarried); n != uint64(len(events)-columns) {
		t.Errorf("%d fields are counted, want %d", n, len(events)-columns)
	}
}
