package parquetwriter

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

type joinPair struct {
	Name string `parquet:"name"`
	Note string `parquet:"note,optional"`
}

// A joinRow has columns of every form that the tables have.
type joinRow struct {
	ID    int64             `parquet:"id,delta"`
	Kind  string            `parquet:"kind,dict"`
	Text  string            `parquet:"text,optional"`
	Share float64           `parquet:"share,optional"`
	Frame []int32           `parquet:"frames,list"`
	Pairs []joinPair        `parquet:"pairs,list"`
	Attrs map[string]string `parquet:"attrs"`
	Raw   []byte            `parquet:"raw,optional"`
	OK    bool              `parquet:"ok"`
}

// A joinedRow is a joinRow with constants.
type joinedRow struct {
	joinRow
	Trace string `parquet:"trace,optional,dict"`
	Day   int32  `parquet:"day,optional,date"`
	Null  string `parquet:"empty,optional,dict"`
	Root  string `parquet:"joinRow,optional,dict"` // as the schema is called
	Note  string `parquet:"note,optional,dict"`    // as a member of pairs is called
}

func drawRows(t *rapid.T, label string) []joinRow {
	rows := make([]joinRow, rapid.IntRange(0, 3000).Draw(t, label))
	every := rapid.IntRange(1, 5).Draw(t, label+" values")
	for i := range rows {
		r := joinRow{ID: int64(i), Kind: fmt.Sprint("kind", i%3), OK: i%7 == 0}
		if i%every == 0 {
			r.Text, r.Share, r.Raw = fmt.Sprint("text ", i), float64(i)/2, []byte{byte(i), 0}
			r.Frame = make([]int32, i%5)
			r.Pairs = []joinPair{{Name: "a"}, {"b", fmt.Sprint(i)}}[:i%3]
			r.Attrs = map[string]string{"k": fmt.Sprint(i)}
		}
		rows[i] = r
	}
	return rows
}

func writeJoinRows(t *rapid.T, rows []joinRow) []byte {
	var b bytes.Buffer
	w := NewWriter[joinRow](&b, &Options{Sort: "id", RowGroupRows: 700, Metadata: map[string]string{"k": "v"}})
	if err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readRows(t *rapid.T, data []byte) []joinedRow {
	rows, err := parquet.Read[joinedRow](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func expected(rows []joinRow, trace string) (list []joinedRow) {
	for _, r := range rows {
		list = append(list, joinedRow{r, trace, 20_000, "", "root", "note"})
	}
	return list
}

// equalRows compares rows as a reader sees them: it does not distinguish empty lists, maps and texts from those that are nil.
func equalRows(t *rapid.T, got, want []joinedRow) {
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if a, b := fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", want[i]); a != b {
			t.Fatalf("row %d: %s\nwant %s", i, a, b)
		}
	}
}

func constants(trace string) []Constant {
	return []Constant{
		{Name: "trace", Kind: KindString, Text: trace}, {Name: "day", Kind: KindDate, Int: 20_000},
		{Name: "empty", Kind: KindString, Null: true}, {Name: "joinRow", Kind: KindString, Text: "root"},
		{Name: "note", Kind: KindString, Text: "note"}, {Name: "ID", Kind: KindString, Text: "the file has it"},
	}
}

// The rows of files with constants added, and of joined parts of files, are those that were written.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRows(t, "a"), drawRows(t, "b")
		fileA, fileB := writeJoinRows(t, a), writeJoinRows(t, b)

		path := filepath.Join(os.TempDir(), fmt.Sprintf("join-%d.parquet", os.Getpid()))
		defer os.Remove(path)
		if err := os.WriteFile(path, fileA, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		size, err := AddConstants(f, int64(len(fileA)), constants("aa"))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil || int64(len(whole)) != size {
			t.Fatalf("%d bytes, want %d: %v", len(whole), size, err)
		}
		equalRows(t, readRows(t, whole), expected(a, "aa"))

		fa, err := OpenFile(bytes.NewReader(fileA), int64(len(fileA)))
		if err != nil {
			t.Fatal(err)
		}
		fb, err := OpenFile(bytes.NewReader(fileB), int64(len(fileB)))
		if err != nil {
			t.Fatal(err)
		}
		from := int64(rapid.IntRange(0, len(b)).Draw(t, "from"))
		to := int64(rapid.IntRange(int(from), len(b)).Draw(t, "to"))
		parts := []Part{{fa, 0, fa.Rows(), constants("aa")}, {fb, from, to, constants("bb")}, {fa, 0, fa.Rows(), constants("cc")}}
		// Files that have the constants as columns are joined with those that do not, in any order.
		fw, err := OpenFile(bytes.NewReader(whole), size)
		if err != nil {
			t.Fatal(err)
		}
		for _, mixed := range [][]Part{{{fw, 0, fw.Rows(), nil}, parts[1]}, {parts[1], {fw, 0, fw.Rows(), nil}}} {
			var out bytes.Buffer
			if err := Join(&out, mixed, &Options{}); err != nil {
				t.Fatal(err)
			}
			want := slices.Concat(expected(a, "aa"), expected(b[from:to], "bb"))
			if mixed[1].File == fw {
				want = slices.Concat(expected(b[from:to], "bb"), expected(a, "aa"))
			}
			equalRows(t, readRows(t, out.Bytes()), want)
		}
		var out bytes.Buffer
		if err := Join(&out, parts, &Options{RowGroupRows: int64(rapid.IntRange(100, 5000).Draw(t, "group"))}); err != nil {
			t.Fatal(err)
		}
		want := slices.Concat(expected(a, "aa"), expected(b[from:to], "bb"), expected(a, "cc"))
		equalRows(t, readRows(t, out.Bytes()), want)

		// What was joined can be divided by its constants again. A file with constants joins one whose constants were appended.
		joined, err := OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := joined.Runs("trace")
		if err != nil {
			t.Fatal(err)
		}
		var found []Run
		for _, r := range []Run{{"aa", 0, int64(len(a))}, {"bb", int64(len(a)), int64(len(a)) + to - from}, {"cc", int64(len(a)) + to - from, int64(len(want))}} {
			if r.From < r.To {
				found = append(found, r)
			}
		}
		if to == from && len(a) > 0 { // two parts without a third between them
			found = slices.DeleteFunc(found, func(r Run) bool { return r.Value == "bb" })
		}
		if !reflect.DeepEqual(runs, found) {
			t.Fatalf("%v, want %v", runs, found)
		}
		appended, err := OpenFile(bytes.NewReader(whole), size)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := Join(&again, []Part{{File: appended, To: appended.Rows()}, {File: joined, From: int64(len(a)), To: joined.Rows()}}, &Options{}); err != nil {
			t.Fatal(err)
		}
		equalRows(t, readRows(t, again.Bytes()), want)
	})
}

// BenchmarkJoin joins 100 small files, as a dataset does with the tables of small traces.
func BenchmarkJoin(b *testing.B) {
	const files, rows = 100, 2000
	var parts []Part
	stored := 0
	for i := range files {
		list := make([]joinRow, rows)
		for k := range list {
			list[k] = joinRow{ID: int64(k), Kind: fmt.Sprint("kind", k%3), Text: fmt.Sprint("text ", i*k), Frame: []int32{1, 2, int32(k)}}
		}
		var out bytes.Buffer
		w := NewWriter[joinRow](&out, &Options{})
		if err := w.Write(list); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		stored += out.Len()
		f, err := OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, Part{f, 0, f.Rows(), constants(fmt.Sprint("trace", i))})
	}
	b.SetBytes(int64(stored))
	b.ReportAllocs()
	for b.Loop() {
		if err := Join(io.Discard, parts, &Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files/rows, "ns/row")
}

// BenchmarkAddConstants adds columns to a file of a million rows, whose size does not matter.
func BenchmarkAddConstants(b *testing.B) {
	list := make([]joinRow, 1_000_000)
	for k := range list {
		list[k].ID = int64(k)
	}
	var out bytes.Buffer
	w := NewWriter[joinRow](&out, &Options{})
	if err := w.Write(list); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		if _, err := f.WriteAt(out.Bytes(), 0); err != nil {
			b.Fatal(err)
		}
		if _, err := AddConstants(f, int64(out.Len()), constants("trace")); err != nil {
			b.Fatal(err)
		}
	}
}
