package parquetreader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// fill sets all fields of v to random values, many of them zero or repeated.
func fill(rng *rand.Rand, v reflect.Value) {
	if v.Kind() != reflect.Struct && rng.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rng, v.Elem())
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(int32(rng.Uint32())) >> rng.IntN(32))
	case reflect.Float64:
		v.SetFloat(rng.NormFloat64())
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.String:
		v.SetString(strings.Repeat(string(rune('a'+rng.IntN(20))), rng.IntN(9)))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(fmt.Sprint(rng.IntN(9))))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(6), 6))
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range 1 + rng.IntN(4) {
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("key", i)), reflect.ValueOf(fmt.Sprint(rng.IntN(99))))
		}
	default:
		panic(v.Kind())
	}
}

func random[T any](n int) []T {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	rows := make([]T, n)
	for i := range rows {
		fill(rng, reflect.ValueOf(&rows[i]).Elem())
	}
	return rows
}

// testTable: written rows are read back, in batches of any size, over row groups and pages.
func testTable[T any](t *testing.T) {
	t.Run(tables.Of[T]().Name, func(t *testing.T) {
		rows := random[T](3000)
		data := write(t, rows, &parquetwriter.Options{RowGroupRows: 1100})
		for _, n := range []int{1, 999, 5000} {
			got := readAll[T](t, data, n)
			if len(got) != len(rows) {
				t.Fatalf("%d rows, want %d", len(got), len(rows))
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], rows[i]) {
					t.Fatalf("batches of %d: row %d is\n%+v, want\n%+v", n, i, got[i], rows[i])
				}
			}
		}
	})
}

func TestTables(t *testing.T) {
	testTable[tables.TraceInfo](t)
	testTable[tables.Attribute](t)
	testTable[tables.Process](t)
	testTable[tables.Thread](t)
	testTable[tables.Module](t)
	testTable[tables.EventType](t)
	testTable[tables.Event](t)
	testTable[tables.Loss](t)
	testTable[tables.Mark](t)
	testTable[tables.Stack](t)
	testTable[tables.Frame](t)
	testTable[tables.Label](t)
	testTable[tables.Sample](t)
	testTable[tables.Span](t)
	testTable[tables.Interval](t)
	testTable[tables.Counter](t)
}

// TestOwnership: a batch does not change when later batches are read.
func TestOwnership(t *testing.T) {
	rows := random[tables.Span](5000)
	data := write(t, rows, &parquetwriter.Options{RowGroupRows: 700})
	f, _ := Open(bytes.NewReader(data), int64(len(data)), nil)
	r, err := NewReader[tables.Span](f)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]tables.Span, 100)
	if _, err := r.Read(first); err != nil {
		t.Fatal(err)
	}
	buf := make([]tables.Span, 1000)
	for err == nil {
		_, err = r.Read(buf)
	}
	if err != io.EOF || !reflect.DeepEqual(first, rows[:100]) {
		t.Errorf("the first batch changed, or %v", err)
	}
	if n, err := r.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("%d and %v after the end", n, err)
	}
	r.Close()
	if n, err := r.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("%d and %v after Close at the end", n, err)
	}
}

// TestOtherColumns: fields without a column are zero, columns without a field are ignored, and a column of another type
// causes an error with both types.
func TestOtherColumns(t *testing.T) {
	type written struct {
		A int64    `parquet:"a"`
		B string   `parquet:"b"`
		L []int64  `parquet:"l,list"`
		T int64    `parquet:"t,timestamp(millisecond)"`
		P []string `parquet:"p"`
	}
	rows := []written{{1, "x", []int64{5, 6}, 9, []string{"u", ""}}, {2, "y", nil, 8, nil}}
	data := write(t, rows, &parquetwriter.Options{})
	type other struct {
		Missing     []int32           `parquet:"missing,list"`
		B           string            `parquet:"b"`
		MissingMap  map[string]string `parquet:"m"`
		MissingText string            `parquet:"z"`
		P           []string          `parquet:"p"`
	}
	if got, want := readAll[other](t, data, 9), []other{{B: "x", P: []string{"u", ""}}, {B: "y"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	f, _ := Open(bytes.NewReader(data), int64(len(data)), nil)
	refused(t, f, struct {
		A string `parquet:"a"`
	}{}, "column a has type INT64, want BYTE_ARRAY")
	refused(t, f, struct {
		A []int64 `parquet:"a,list"`
	}{}, "column a has type INT64, want a list")
	refused(t, f, struct {
		L []int32 `parquet:"l,list"`
	}{}, "column l has type INT64, want INT32")
	refused(t, f, struct {
		L int64 `parquet:"l"`
	}{}, "column l has type a group, want INT64")
	refused(t, f, struct {
		T int64 `parquet:"t,timestamp(microsecond)"`
	}{}, "column t has type INT64 TIMESTAMP in milliseconds, want INT64 TIMESTAMP in microseconds")
	refused(t, f, struct {
		B map[string]string `parquet:"b"`
	}{}, "column b has type BYTE_ARRAY STRING, want a map of strings")
}

// A field also reads the column that had its name before, unless the file has one with the name of today.
func TestFormerColumns(t *testing.T) {
	type today struct {
		N int64 `parquet:"id" former:"event_number"`
	}
	type former struct {
		N int64 `parquet:"event_number"`
	}
	type both struct {
		Old int64 `parquet:"event_number"`
		New int64 `parquet:"id"`
	}
	want := []today{{7}, {8}}
	for _, data := range [][]byte{
		write(t, []former{{7}, {8}}, &parquetwriter.Options{}), write(t, []today{{7}, {8}}, &parquetwriter.Options{}),
		write(t, []both{{1, 7}, {2, 8}}, &parquetwriter.Options{}),
	} {
		if got := readAll[today](t, data, 9); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func refused[T any](t *testing.T, f *File, _ T, want string) {
	t.Helper()
	if _, err := NewReader[T](f); !errors.Is(err, ntconv.ErrUnsupported) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A failingInput fails from an offset on.
type failingInput struct {
	io.ReaderAt
	from int64
}

var errInput = errors.New("the disk is on fire")

func (f failingInput) ReadAt(b []byte, at int64) (int, error) {
	if at < f.from && at+int64(len(b)) > f.from {
		return 0, errInput
	}
	return f.ReaderAt.ReadAt(b, at)
}

// TestInputError: an error of the input is reported unchanged, not as corruption.
func TestInputError(t *testing.T) {
	data := write(t, eventRows(5000), &parquetwriter.Options{})
	for _, from := range []int64{2, int64(len(data)) / 2, int64(len(data)) - 4, int64(len(data)) - 20} {
		f, err := Open(failingInput{bytes.NewReader(data), from}, int64(len(data)), nil)
		if err == nil {
			_, err = drain(f)
		}
		if !errors.Is(err, errInput) || errors.Is(err, ntconv.ErrCorrupt) {
			t.Errorf("%v, want %v", err, errInput)
		}
	}
}

// TestConcurrentReaders: readers of one file are independent.
func TestConcurrentReaders(t *testing.T) {
	rows := random[tables.Span](2000)
	data := write(t, rows, &parquetwriter.Options{RowGroupRows: 700})
	f, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r, err := NewReader[tables.Span](f)
			if err != nil {
				t.Error(err)
				return
			}
			got := make([]tables.Span, len(rows)+1)
			if n, err := r.Read(got); n != len(rows) || err != io.EOF || !reflect.DeepEqual(got[:n], rows) {
				t.Errorf("%d rows and %v", n, err)
			}
		})
	}
	wg.Wait()
}

// TestReaderAllocations: the number of allocations depends on the number of pages, not of rows.
func TestReaderAllocations(t *testing.T) {
	data := write(t, eventRows(20_000), &parquetwriter.Options{})
	rows := make([]tables.Event, 4096)
	if n := testing.AllocsPerRun(3, func() {
		f, _ := Open(bytes.NewReader(data), int64(len(data)), nil)
		r, _ := NewReader[tables.Event](f)
		for err := error(nil); err == nil; {
			_, err = r.Read(rows)
		}
	}); n > 1500 {
		t.Errorf("%v allocations for 20,000 rows", n)
	}
}

// eventRows returns rows like those of an exporter of traces: sorted, with few distinct names.
func eventRows(n int) []tables.Event {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"ThreadSample", "GC/AllocationTick", "Method/JittingStarted", "Contention/Start"}
	rows := make([]tables.Event, n)
	for i := range rows {
		ns := 1_700_000_000_000_000_000 + int64(i)*1234
		id := int32(rng.IntN(24))
		rows[i] = tables.Event{EventID: int64(i + 1), TS: ns / 1000, TSNanos: ns, ProcessID: 1, PID: 4242, ThreadID: id, TID: int64(id) * 17, CPU: id % 8,
			TypeID: id % 4, Provider: "Microsoft-Windows-DotNETRuntime", Event: names[id%4], Level: 4, StackID: int64(rng.IntN(5000)), Sequence: int64(i / 24)}
		if id%4 == 1 {
			rows[i].Payload = fmt.Sprintf(`{"AllocationAmount64":%d,"TypeName":"System.String"}`, rng.IntN(1<<20))
			rows[i].TraceID = fmt.Sprintf("%032x", id)
		}
	}
	return rows
}
