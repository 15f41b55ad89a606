package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	icetable "github.com/apache/iceberg-go/table"
	"github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv/fleet/objectstore"
	"github.com/ntconv/ntconv/internal/run/command"
	"github.com/ntconv/ntconv/internal/tables/catalog"
	"github.com/ntconv/ntconv/internal/tables/dataset"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// TestMain is the command if an environment variable is set, so that tests can run it with the catalogs of this package.
func TestMain(m *testing.M) {
	Register()
	objectstore.Register()
	if os.Getenv("NTCONV_FLEET") != "" {
		command.Main()
	}
	os.Exit(m.Run())
}

// invoke runs the command in a directory.
func invoke(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problems
	cmd.Env = append(os.Environ(), "NTCONV_FLEET=1")
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), problems.String()
}

// succeed runs the command, which must succeed, and returns its output.
func succeed(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, stdout, stderr := invoke(t, dir, args...)
	if code != 0 {
		t.Fatalf("ntconv %s: code %d: %s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// addTraces adds traces of the module's testdata to a dataset, with flags.
func addTraces(t *testing.T, set string, args ...string) {
	t.Helper()
	for i, arg := range args {
		if name := corpus.Path(arg + ".nettrace.zst"); !strings.HasPrefix(arg, "-") && exists(name) {
			args[i] = name
		}
	}
	succeed(t, "", append([]string{"to", "parquet", "-q", "--jobs", "1", "--dataset", set}, args...)...)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// stateOf reads the state of a dataset.
func stateOf(t *testing.T, set string) *catalog.State {
	t.Helper()
	d, err := dataset.Open(set)
	must(t, err)
	s, err := catalog.Of(d)
	must(t, err)
	return s
}

// openLake opens a catalog.
func openLake(t *testing.T, at *place) *lake {
	t.Helper()
	c, err := catalog.Open(context.Background(), at.address, at.properties)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c.(*lake)
}

// publish publishes a dataset in the namespace ns without the command.
func publish(l *lake, set string) ([]catalog.Result, error) {
	d, err := dataset.Open(set)
	if err != nil {
		return nil, err
	}
	var results []catalog.Result
	err = l.Publish(context.Background(), "ns", func() (*catalog.State, error) { return catalog.Of(d) }, func(r catalog.Result) {
		results = append(results, r)
	})
	return results, err
}

// tableOf loads a table of the namespace ns.
func tableOf(t *testing.T, l *lake, name string) *icetable.Table {
	t.Helper()
	table, err := l.cat.LoadTable(t.Context(), icetable.Identifier{"ns", name})
	must(t, err)
	return table
}

// A sum identifies the values of a column, whatever their order.
type sum struct {
	values int64
	hash   uint64
	total  int64 // of the values that are decimal numbers, modulo 2^64
}

// sums are those of the columns of a table, by name. A column without values is not there.
type sums map[string]sum

func (s sums) add(column, value string) {
	h := fnv.New64a()
	io.WriteString(h, value)
	n, _ := strconv.ParseInt(value, 10, 64)
	s[column] = sum{s[column].values + 1, s[column].hash + h.Sum64(), s[column].total + n}
}

// compare compares all tables of a dataset with those of a catalog.
func compare(t *testing.T, l *lake, set string) {
	t.Helper()
	s := stateOf(t, set)
	names := make(map[string]bool)
	for ident, err := range l.cat.ListTables(t.Context(), icetable.Identifier{"ns"}) {
		must(t, err)
		names[ident[len(ident)-1]] = true
	}
	rows := int64(0)
	for i := range s.Tables {
		want := &s.Tables[i]
		if !names[want.Name] {
			t.Errorf("no table %s", want.Name)
			continue
		}
		table := tableOf(t, l, want.Name)
		if table.CurrentSnapshot() == nil && len(want.Files) == 0 {
			continue
		}
		n, got := icebergSums(t, table)
		if n != want.Rows() {
			t.Errorf("%s: %d rows, want %d", want.Name, n, want.Rows())
		}
		rows += n
		for column, sum := range parquetSums(t, want.Files) {
			if got[column] != sum {
				t.Errorf("%s: column %s: %d values %x, want %d values %x", want.Name, column, got[column].values, got[column].hash, sum.values, sum.hash)
			}
			delete(got, column)
		}
		for column := range got {
			t.Errorf("%s: column %s has values", want.Name, column)
		}
	}
	if rows == 0 {
		t.Error("no rows")
	}
}

// parquetSums reads files with the library that wrote them, which is not that of iceberg-go.
func parquetSums(t *testing.T, files []catalog.File) sums {
	t.Helper()
	s := make(sums)
	for _, f := range files {
		in, err := os.Open(filepath.FromSlash(f.Location))
		must(t, err)
		p, err := parquet.OpenFile(in, f.Size)
		must(t, err)
		var names []string
		for _, path := range p.Schema().Columns() {
			names = append(names, strings.Join(slices.DeleteFunc(slices.Clone(path), isLevel), "."))
		}
		for _, group := range p.RowGroups() {
			rows := group.Rows()
			buf := make([]parquet.Row, 100)
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					for _, v := range row {
						if !v.IsNull() {
							s.add(names[v.Column()], parquetText(v))
						}
					}
				}
				if err == io.EOF {
					break
				}
				must(t, err)
			}
			must(t, rows.Close())
		}
		must(t, in.Close())
	}
	return s
}

// isLevel reports whether a name is that of a level between a list or map and its elements.
func isLevel(name string) bool { return name == "list" || name == "key_value" || name == "element" }

func parquetText(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Boolean:
		return fmt.Sprint(v.Boolean())
	case parquet.Int32:
		return fmt.Sprint(v.Int32())
	case parquet.Int64:
		return fmt.Sprint(v.Int64())
	case parquet.Double:
		return fmt.Sprint(v.Double())
	}
	return string(v.ByteArray())
}

// icebergSums scans a table with iceberg-go.
func icebergSums(t *testing.T, table *icetable.Table, options ...icetable.ScanOption) (rows int64, s sums) {
	t.Helper()
	s = make(sums)
	_, batches, err := table.Scan(options...).ToArrowRecords(t.Context())
	must(t, err)
	for batch, err := range batches {
		must(t, err)
		rows += batch.NumRows()
		for i, column := range batch.Columns() {
			addArray(t, s, batch.ColumnName(i), column)
		}
		batch.Release()
	}
	return rows, s
}

// addArray adds the values of an array and of those in it.
func addArray(t *testing.T, s sums, name string, a arrow.Array) {
	t.Helper()
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			addArray(t, s, name+"."+a.DataType().(*arrow.StructType).Field(i).Name, a.Field(i))
		}
		return
	case *array.Map:
		from, to := a.Offsets()[0], a.Offsets()[a.Len()]
		addArray(t, s, name+".key", array.NewSlice(a.Keys(), int64(from), int64(to)))
		addArray(t, s, name+".value", array.NewSlice(a.Items(), int64(from), int64(to)))
		return
	case *array.List:
		addArray(t, s, name, array.NewSlice(a.ListValues(), int64(a.Offsets()[0]), int64(a.Offsets()[a.Len()])))
		return
	}
	for i := range a.Len() {
		if a.IsValid(i) {
			s.add(name, arrowText(t, a, i))
		}
	}
}

func arrowText(t *testing.T, a arrow.Array, i int) string {
	t.Helper()
	switch a := a.(type) {
	case *array.Boolean:
		return fmt.Sprint(a.Value(i))
	case *array.Int32:
		return fmt.Sprint(a.Value(i))
	case *array.Int64:
		return fmt.Sprint(a.Value(i))
	case *array.Float64:
		return fmt.Sprint(a.Value(i))
	case *array.Date32:
		return fmt.Sprint(int32(a.Value(i)))
	case *array.Timestamp:
		if unit := a.DataType().(*arrow.TimestampType).Unit; unit != arrow.Microsecond {
			t.Fatalf("timestamps in %s", unit)
		}
		return fmt.Sprint(int64(a.Value(i)))
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.LargeBinary:
		return string(a.Value(i))
	}
	t.Fatalf("array of type %s", a.DataType())
	return ""
}
