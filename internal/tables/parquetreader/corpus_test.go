package parquetreader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/parquet-go/parquet-go"
)

// parquetFiles returns the directory of the test files of parquet-go. They come from Apache's parquet-testing and from bug
// reports.
var parquetFiles = sync.OnceValue(func() string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/parquet-go/parquet-go").Output()
	if err != nil {
		return ""
	}
	return filepath.Join(strings.TrimSpace(string(out)), "testdata")
})

// corpusFiles returns the paths of files in the corpus. It skips the test if the corpus is absent.
func corpusFiles(t testing.TB, pattern string) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(parquetFiles(), pattern))
	if len(files) == 0 {
		t.Skip("the module cache has no test files of parquet-go")
	}
	return files
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// drain reads all values of all columns and returns the number of rows.
func drain(f *File) (rows int64, err error) {
	columns := make([]int, len(f.Columns()))
	for i := range columns {
		columns[i] = i
	}
	r := NewColumnsReader(f, columns)
	defer r.Close()
	for batch := (Columns{}); ; {
		err := r.Read(&batch, 1000)
		rows += int64(batch.Rows)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for c := range columns {
			for i := range batch.Rows {
				if len(batch.Row(c, i)) == 0 {
					return rows, fmt.Errorf("column %d has no value in a row", c)
				}
			}
		}
	}
}

// values returns all values of a column, printed with their levels.
func values(f *File, column int) (list []string, err error) {
	r := NewColumnsReader(f, []int{column})
	defer r.Close()
	for batch := (Columns{}); ; {
		err := r.Read(&batch, 7)
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		for i := range batch.Rows {
			for _, v := range batch.Row(0, i) {
				text := "NULL"
				if !v.IsNull() {
					switch f.Columns()[column].Physical {
					case Boolean, Int32, Int64:
						text = fmt.Sprint(v.Int64())
					case Float, Double:
						text = fmt.Sprintf("%x", math.Float64bits(v.Float64()))
					default:
						text = fmt.Sprintf("%q", v.Text())
					}
				}
				list = append(list, fmt.Sprint(v.Repetition(), v.Definition(), text))
			}
		}
	}
}

// reference returns the values that parquet-go reads from a column, in the same form.
func reference(f *parquet.File, column int) (list []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet-go: %v", p)
		}
	}()
	for _, g := range f.RowGroups() {
		r := parquet.NewColumnChunkValueReader(g.ColumnChunks()[column])
		defer r.Close()
		buf := make([]parquet.Value, 100)
		for {
			n, err := r.ReadValues(buf)
			for _, v := range buf[:n] {
				list = append(list, fmt.Sprint(v.RepetitionLevel(), v.DefinitionLevel(), referenceText(v)))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return list, err
			}
		}
	}
	return list, nil
}

func referenceText(v parquet.Value) string {
	switch {
	case v.IsNull():
		return "NULL"
	case v.Kind() == parquet.Boolean && v.Boolean():
		return "1"
	case v.Kind() == parquet.Boolean:
		return "0"
	case v.Kind() == parquet.Int32:
		return fmt.Sprint(v.Int32())
	case v.Kind() == parquet.Int64:
		return fmt.Sprint(v.Int64())
	case v.Kind() == parquet.Float:
		return fmt.Sprintf("%x", math.Float64bits(float64(v.Float())))
	case v.Kind() == parquet.Double:
		return fmt.Sprintf("%x", math.Float64bits(v.Double()))
	case v.Kind() == parquet.Int96:
		var b []byte
		for _, w := range v.Int96() {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q", v.ByteArray())
}

// misread maps files to the correct first value of a column that parquet-go misreads, as parquet-testing documents it.
var misread = map[string]string{
	"lz4_raw_compressed_larger.parquet": `0 0"c7ce6bef-d5b0-4863-b199-8ea8c7fb117b"`,
}

// TestCorpusValues compares all values of valid files of many writers with what parquet-go reads.
func TestCorpusValues(t *testing.T) {
	for i, path := range append(corpusFiles(t, "*.parquet"), corpusFiles(t, "shredded_variant/*.parquet")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data := readFile(t, path)
			if corpus.IsOmitted(i, 3) && len(data) > 20_000 || testing.Short() && len(data) > 200_000 {
				return
			}
			f, err := Open(bytes.NewReader(data), int64(len(data)), nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			rows := int64(0)
			for i, g := range want.RowGroups() {
				rows += g.NumRows()
				if f.RowGroupRows(i) != g.NumRows() {
					t.Errorf("row group %d has %d rows, want %d", i, f.RowGroupRows(i), g.NumRows())
				}
			}
			if f.Rows() != rows || f.RowGroups() != len(want.RowGroups()) {
				t.Errorf("%d rows in %d row groups, want %d in %d", f.Rows(), f.RowGroups(), rows, len(want.RowGroups()))
			}
			if rows, err := drain(f); err != nil || rows != f.Rows() {
				t.Fatalf("%d rows and %v, want %d", rows, err, f.Rows())
			}
			for i, c := range f.Columns() {
				compareColumn(t, f, want, i, c)
			}
		})
	}
}

func compareColumn(t *testing.T, f *File, want *parquet.File, i int, c Column) {
	t.Helper()
	leaf, ok := want.Schema().Lookup(c.Path...)
	if !ok || leaf.ColumnIndex != i || leaf.MaxDefinitionLevel != c.MaxDefinition || leaf.MaxRepetitionLevel != c.MaxRepetition || leaf.Node.Optional() != c.Optional {
		t.Errorf("column %+v, want %+v", c, leaf)
	}
	if kind := leaf.Node.Type().Kind(); kind >= 0 && kind.String() != c.Physical.String() {
		t.Errorf("column %s has type %v, want %v", c.Name(), c.Physical, kind)
	}
	got, err := values(f, i)
	if err != nil {
		t.Errorf("column %s: %v", c.Name(), err)
	}
	if first, ok := misread[filepath.Base(t.Name())]; ok {
		if got[0] != first {
			t.Errorf("column %s begins with %s, want %s", c.Name(), got[0], first)
		}
		return
	}
	list, err := reference(want, i)
	if err != nil {
		t.Logf("column %s is read, and not by parquet-go: %v", c.Name(), err)
		return
	}
	if len(got) != len(list) {
		t.Errorf("column %s has %d values, want %d", c.Name(), len(got), len(list))
		return
	}
	for k := range got {
		if got[k] != list[k] {
			t.Errorf("column %s (%s): value %d is %s, want %s", c.Name(), c.TypeName(), k, got[k], list[k])
			return
		}
	}
}

// TestCorpusMalformed: files that are known to be malformed give an error that says so.
func TestCorpusMalformed(t *testing.T) {
	for _, path := range corpusFiles(t, "malformed/*.parquet") {
		data := readFile(t, path)
		f, err := Open(bytes.NewReader(data), int64(len(data)), nil)
		if err == nil {
			_, err = drain(f)
		}
		if !errors.Is(err, ntconv.ErrCorrupt) {
			t.Errorf("%s: %v, want an error that wraps %v", filepath.Base(path), err, ntconv.ErrCorrupt)
		}
		t.Log(err)
	}
}
