package parquet_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/importers/parquet"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/schema"
)

// fileOf returns a Parquet file with rows.
func fileOf[T any](t testing.TB, rows []T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquetwriter.NewWriter[T](&b, &parquetwriter.Options{RowGroupRows: 1000})
	if err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns the events of tables.
func read(t testing.TB, in parquet.Tables, o parquet.Options) []*ntconv.Event {
	t.Helper()
	src, err := parquet.New(in, &o)
	if err != nil {
		t.Fatal(err)
	}
	events, err := ntconvtest.Record(src)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// text returns the name and the fields of an event.
func text(e *ntconv.Event) string {
	s := e.Type.Provider + "/" + e.Type.Name
	for f, v := range e.Fields() {
		s += fmt.Sprintf(" %s=%v", f.Name, v)
	}
	return s
}

// A column of type DECIMAL can have every role that a number can have, and is exact to nanoseconds.
func TestDecimals(t *testing.T) {
	type row struct {
		Time     int64  `parquet:"ts,decimal(6:18)"` // seconds
		Duration int32  `parquet:"elapsed_ms,decimal(2:9)"`
		PID      int64  `parquet:"pid,decimal(0:18)"`
		Name     string `parquet:"name"`
		Price    int64  `parquet:"price,decimal(2:18)"`
	}
	file := fileOf(t, []row{{1_790_000_000_123_457, 1234, 42, "pay", -1995}, {1_790_000_001_000_001, 5, 42, "pay", 7}})
	var got []string
	for _, e := range read(t, parquet.File("x", bytes.NewReader(file), int64(len(file))), parquet.Options{Map: parquet.Mapping{"time": "ts:s"}}) {
		if e.Kind == ntconv.KindEvent {
			got = append(got, fmt.Sprint(e.Time, " ", e.Thread.Process.PID, " ", text(e)))
		}
	}
	want := []string{
		"1790000000123457000 42 x/payStart elapsed_ms=12.34 price=-19.95", "1790000000135797000 42 x/payStop", "1790000001000001000 42 x/payStart elapsed_ms=0.05 price=0.07", "1790000001000051000 42 x/payStop",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

type call struct {
	Start    int64  `parquet:"start_us"`
	Duration *int64 `parquet:"elapsed_ms,optional"`
	Name     string `parquet:"operation,dict"`
	PID      int32  `parquet:"pid"`
	TID      int64  `parquet:"tid"`
	Amount   int64  `parquet:"amount"`
}

// TestDurations compares the events of rows in any order with a model: all starts and ends, sorted. It covers sorting
// in memory and in runs of a temporary file, several files, and ends that nest and overlap.
func TestDurations(t *testing.T) {
	const base = 1_790_000_000_000_000
	for _, sorted := range []bool{true, false} {
		for _, size := range []int64{0, 4096} {
			rng := rand.New(rand.NewPCG(1, 2))
			var calls []call
			for i := range 5000 {
				c := call{Start: base + rng.Int64N(3_000_000), Name: fmt.Sprint("op", rng.IntN(3)), PID: int32(rng.IntN(2)), TID: rng.Int64N(3), Amount: int64(i)}
				if rng.IntN(4) > 0 {
					d := rng.Int64N(100)
					c.Duration = &d
				}
				calls = append(calls, c)
			}
			if sorted {
				slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.Start, b.Start) })
			}
			dir := t.TempDir()
			d := directory{"b": fileOf(t, calls[3000:]), "a": fileOf(t, calls[:3000])}
			events := read(t, d, parquet.Options{TempDir: dir, Limits: parquet.Limits{SortBytes: size}})
			checkCalls(t, calls, events)
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("temporary files: %v, %v", left, err)
			}
		}
	}
}

func checkCalls(t *testing.T, calls []call, events []*ntconv.Event) {
	t.Helper()
	want := map[string]int{}
	for _, c := range calls {
		at := c.Start * 1000
		if c.Duration == nil {
			want[fmt.Sprint(at, " a/", c.Name, " amount=", c.Amount, " ", c.PID, "/", c.TID)]++
			continue
		}
		want[fmt.Sprint(at, " a/", c.Name, "Start elapsed_ms=", *c.Duration, " amount=", c.Amount, " ", c.PID, "/", c.TID)]++
		want[fmt.Sprint(at+*c.Duration*1e6, " a/", c.Name, "Stop ", c.PID, "/", c.TID)]++
	}
	last := ntconv.Ticks(0)
	var table schema.Table
	open := map[schema.PairKey]int64{}
	for _, e := range events {
		key := fmt.Sprint(int64(e.Time), " ", text(e), " ", e.Thread.Process.PID, "/", e.Thread.TID)
		if want[key]--; want[key] < 0 {
			t.Fatalf("unexpected event %s", key)
		}
		if e.Time < last {
			t.Fatalf("%s after %d", key, last)
		}
		last = e.Time
		s := table.Of(e)
		for _, p := range s.EndedBy() {
			k, ok := p.KeyOf(e, ntconv.Value{})
			duration, _ := e.Field("elapsed_ms")
			if _, twice := open[k]; !ok || twice {
				t.Fatalf("%s: begins what has begun", key)
			}
			open[k] = int64(e.Time) + duration.Int()*1e6
		}
		for _, p := range s.Ends() {
			k, _ := p.KeyOf(e, ntconv.Value{})
			if at, ok := open[k]; !ok || at != int64(e.Time) {
				t.Fatalf("%s: ends what ends at %d, %v", key, at, ok)
			}
			delete(open, k)
		}
	}
	for key, n := range want {
		if n != 0 {
			t.Fatalf("missing event %s", key)
		}
	}
	if len(open) > 0 {
		t.Errorf("%d rows have no end", len(open))
	}
}

// TestTimes reads one time from columns of all types that can hold it.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 22, 10, 30, 15, 250_000_000, time.UTC)
	type micros struct {
		V int64 `parquet:"ts,timestamp(microsecond)"`
	}
	type nanos struct {
		V int64 `parquet:"ts,timestamp(nanosecond)"`
	}
	type millis struct {
		V int64 `parquet:"when,timestamp(millisecond)"`
	}
	type local struct {
		V int64 `parquet:"ts,timestamp(millisecond:local)"`
	}
	type number struct {
		V int64 `parquet:"ts"`
	}
	type small struct {
		V int32 `parquet:"time"`
	}
	type float struct {
		V float64 `parquet:"time"`
	}
	type named struct {
		V int64 `parquet:"start_ms"`
	}
	type text struct {
		V string `parquet:"timestamp"`
	}
	type day struct {
		V int32 `parquet:"date,date"`
	}
	for _, c := range []struct {
		file []byte
		m    parquet.Mapping
		want int64
		got  string // mapping
	}{
		{fileOf(t, []micros{{at.UnixMicro()}}), nil, at.UnixNano(), "ts"},
		{fileOf(t, []nanos{{at.UnixNano() + 1}}), nil, at.UnixNano() + 1, "ts"},
		{fileOf(t, []millis{{at.UnixMilli()}}), nil, at.UnixNano(), "when"},
		{fileOf(t, []local{{at.UnixMilli()}}), nil, at.UnixNano(), "ts"},
		{fileOf(t, []number{{at.UnixNano()}}), nil, at.UnixNano(), "ts:ns"},
		{fileOf(t, []number{{at.UnixMicro()}}), nil, at.UnixNano(), "ts:us"},
		{fileOf(t, []number{{at.UnixMilli()}}), nil, at.UnixNano(), "ts:ms"},
		{fileOf(t, []number{{at.Unix()}}), nil, at.Unix() * 1e9, "ts:s"},
		{fileOf(t, []number{{1500}}), parquet.Mapping{"time": "ts:us"}, 1_500_000, "ts:us"},
		{fileOf(t, []small{{int32(at.Unix())}}), nil, at.Unix() * 1e9, "time:s"},
		{fileOf(t, []float{{float64(at.UnixMilli()) / 1000}}), nil, at.UnixNano(), "time:s"},
		{fileOf(t, []named{{at.UnixMilli()}}), nil, at.UnixNano(), "start_ms:ms"},
		{fileOf(t, []text{{at.Format(time.RFC3339Nano)}}), nil, at.UnixNano(), "timestamp"},
		{fileOf(t, []text{{"2026-11-22 10:30:15.25"}}), nil, at.UnixNano(), "timestamp"},
		{fileOf(t, []text{{"2026-11-22T12:30:15.25+02:00"}}), nil, at.UnixNano(), "timestamp"},
		{fileOf(t, []day{{20_000}}), nil, 20_000 * 24 * int64(time.Hour), "date"},
	} {
		got := ""
		events := read(t, parquet.File("x", bytes.NewReader(c.file), int64(len(c.file))), parquet.Options{
			Map: c.m, Mapped: func(m parquet.Mapping) { got = m["time"] },
		})
		if len(events) != 1 || int64(events[0].Time) != c.want || got != c.got {
			t.Errorf("%s: %d, want %d; mapping %s, want %s", c.got, events[0].Time, c.want, got, c.got)
		}
	}
}

type wide struct {
	TS     int64             `parquet:"ts,timestamp(microsecond)"`
	Event  string            `parquet:"event,dict,optional"`
	Source string            `parquet:"provider,optional"`
	Count  int64             `parquet:"requests"`
	Big    uint64            `parquet:"big"`
	Ratio  *float64          `parquet:"ratio,optional"`
	Done   bool              `parquet:"done"`
	Note   *string           `parquet:"note,optional"`
	Raw    []byte            `parquet:"raw"`
	Tags   map[string]string `parquet:"tags"`
	List   []int32           `parquet:"list,list"`
	Group  inner             `parquet:"group"`
}

type inner struct {
	Code  int32  `parquet:"code"`
	Words []word `parquet:"words,list"`
}

type word struct {
	Text string `parquet:"text"`
}

// TestFields reads columns of all kinds as fields: the values are those of the rows, and NULL yields no field.
func TestFields(t *testing.T) {
	half, note := 0.5, "a\u00e9"
	rows := []wide{
		{TS: 1e15, Event: "one", Source: "src", Count: -5, Big: 1 << 63, Ratio: &half, Done: true, Note: &note, Raw: []byte{1, 255},
			Tags: map[string]string{"k": "v\"w"}, List: []int32{1, 2}, Group: inner{7, []word{{"x"}, {"y"}}}},
		{TS: 1e15 + 1, Raw: []byte{}},
	}
	b := fileOf(t, rows)
	events := read(t, parquet.File("items", bytes.NewReader(b), int64(len(b))), parquet.Options{})
	want := []string{
		`src/one requests=-5 big=9223372036854775808 ratio=0.5 done=true note=` + note + ` raw=01ff tags={"k":"v\"w"} list=[1,2] group.code=7 group.words.text=["x","y"]`,
		`items/items requests=0 big=0 done=false raw= group.code=0`,
	}
	for i, e := range events {
		got := text(e)
		if i == 0 { // as values of a list print their kind
			got = strings.Replace(got, "raw=list", "raw="+fmt.Sprintf("%x", bytesOf(e, "raw")), 1)
		} else {
			got = strings.Replace(got, "raw=list", "raw=", 1)
		}
		if got != want[i] {
			t.Errorf("row %d:\n%s\nwant\n%s", i, got, want[i])
		}
	}
}

// bytesOf returns a field that is bytes or a list of them.
func bytesOf(e *ntconv.Event, name string) (b []byte) {
	v, _ := e.Field(name)
	if v.Kind() == ntconv.ValueBytes {
		return v.Bytes()
	}
	for elem := range v.Elems() {
		b = append(b, byte(elem.Uint()))
	}
	return b
}

type sampled struct {
	TS    int64    `parquet:"ts,timestamp(microsecond)"`
	Stack []string `parquet:"stack,list"`
	Bytes int64    `parquet:"size"`
}

// TestSamples reads rows with stacks as samples of a profile.
func TestSamples(t *testing.T) {
	rows := []sampled{{1, []string{"leaf", "main"}, 10}, {2, []string{"main"}, 5}, {3, []string{"leaf", "main"}, 7}}
	b := fileOf(t, rows)
	for _, c := range []struct {
		m    parquet.Mapping
		want string
	}{
		{nil, "main 1\nmain;leaf 2\n"},
		{parquet.Mapping{"value": "size:bytes"}, "main 5\nmain;leaf 17\n"},
	} {
		src, err := parquet.New(parquet.File("x", bytes.NewReader(b), int64(len(b))), &parquet.Options{Map: c.m})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		sink := folded.New(&out, src.Info(), nil, nil)
		if _, err := ntconv.Copy(sink, src); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(out.String(), "\n")
		slices.Sort(lines)
		if got := strings.Join(lines, ""); got != c.want {
			t.Errorf("%v: %q, want %q", c.m, got, c.want)
		}
	}
}

// TestMappingErrors checks that errors of a mapping list the available columns.
func TestMappingErrors(t *testing.T) {
	b := fileOf(t, []call{{Start: 1, Name: "x"}})
	for _, c := range []struct {
		m    parquet.Mapping
		want []string
	}{
		{parquet.Mapping{"time": "begin"}, []string{"time=begin: the file has no such column", "start_us (INT64", "operation (BYTE_ARRAY STRING)"}},
		{parquet.Mapping{"time": ""}, []string{"no column is known to hold the time", "start_us"}},
		{parquet.Mapping{"time": "start_us:weeks"}, []string{"unknown unit weeks", "ns, us, ms or s"}},
		{parquet.Mapping{"colour": "pid"}, []string{"unknown role", "duration"}},
		{parquet.Mapping{"pid": "operation"}, []string{"cannot have this role"}},
	} {
		_, err := parquet.New(parquet.File("x", bytes.NewReader(b), int64(len(b))), &parquet.Options{Map: c.m})
		var mapping *parquet.MappingError
		if !errors.As(err, &mapping) {
			t.Errorf("%v: %v", c.m, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: %v, want %s", c.m, err, part)
			}
		}
	}
}

// TestForeignLimits checks that each limit ends a source that exceeds it, after the events before.
func TestForeignLimits(t *testing.T) {
	var calls []call
	long := int64(1000)
	for i := range 100 {
		calls = append(calls, call{Start: 1e15 + int64(i), Duration: &long, Name: fmt.Sprint("op", i)})
	}
	b := fileOf(t, calls)
	for limit, l := range map[string]parquet.Limits{parquet.LimitOpen: {Open: 10}, parquet.LimitNames: {Names: 10}, parquet.LimitTables: {TableBytes: 10_000}} {
		src, err := parquet.New(parquet.File("x", bytes.NewReader(b), int64(len(b))), &parquet.Options{Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		n, err := ntconv.Copy(&ntconvtest.Recorder{}, src)
		var exceeded *ntconv.LimitError
		if !errors.As(err, &exceeded) || exceeded.Limit != limit || n < 9 {
			t.Errorf("%s: %d events, %v", limit, n, err)
		}
		if _, again := src.Next(); !reflect.DeepEqual(again, errors.Unwrap(err)) {
			t.Errorf("%s: then %v", limit, again)
		}
	}
}

// TestDifferentColumns checks that files of a directory must have equal columns.
func TestDifferentColumns(t *testing.T) {
	d := directory{"a": fileOf(t, []call{{Start: 1e15}}), "b": fileOf(t, []sampled{{TS: 1}})}
	if _, err := parquet.New(d, nil); !errors.Is(err, ntconv.ErrUnsupported) || !strings.Contains(err.Error(), "tables a and b") {
		t.Error(err)
	}
	if _, err := parquet.New(directory{}, nil); !errors.Is(err, ntconv.ErrFormat) {
		t.Error(err)
	}
	if _, err := parquet.New(directory{"a": []byte("no parquet")}, nil); !errors.Is(err, ntconv.ErrFormat) || errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
