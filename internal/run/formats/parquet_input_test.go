package formats

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/spf13/pflag"
)

// TestParquetMembers: the tables of a trace are all in one directory, and what begins with an underscore or a dot is
// not data.
func TestParquetMembers(t *testing.T) {
	for _, c := range []struct{ members, want []string }{
		{[]string{"readme.txt"}, nil},
		{[]string{"events.parquet", "old/events.parquet", "threads.parquet", "x.csv"}, []string{"events.parquet", "threads.parquet"}},
		{[]string{"_temporary/a.parquet", "day=1/a.parquet", "day=1/.b.parquet", "day=2/A.PARQUET"}, []string{"day=1/a.parquet", "day=2/A.PARQUET"}},
	} {
		if got := parquetMembers(c.members); !slices.Equal(got, c.want) || parquetIn().SniffDir(c.members) != (len(c.want) > 0) {
			t.Errorf("%q: %q, want %q", c.members, got, c.want)
		}
	}
}

// A parquetInput is a file or directory as the command opens it.
type parquetInput struct{ *fileio.Input }

func (p parquetInput) Stream() (io.Reader, error) { return p.Input.Stream() }

func (p parquetInput) Member(name string) (Input, error) {
	m, err := p.Input.Member(name)
	return parquetInput{m}, err
}

// openParquet opens a path with flags, and returns the number of events and the notes.
func openParquet(t *testing.T, path string, args ...string) (n int, notes []string, err error) {
	t.Helper()
	in, err := fileio.Open(path, fileio.InputOptions{Dir: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	opener := parquetIn().Bind(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	src, err := opener.Open(parquetInput{in}, &ReadOptions{Report: &ntconv.Report{}})
	if err != nil {
		return 0, nil, err
	}
	for _, err := range ntconv.Events(src) {
		if err != nil {
			return n, nil, err
		}
		n++
	}
	return n, opener.Notes(), nil
}

// TestParquetInput opens foreign tables as a file, as a directory and with flags, and what cannot be read with an error
// that says what to do.
func TestParquetInput(t *testing.T) {
	type row struct {
		Start int64  `parquet:"began,timestamp(microsecond)"`
		Took  int64  `parquet:"ms"`
		What  string `parquet:"what"`
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "part=1", "calls.parquet")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	must(err)
	w := parquetwriter.NewWriter[row](f, &parquetwriter.Options{})
	must(errors.Join(w.Write([]row{{1, 5, "a"}, {2, 6, "b"}}), w.Close(), f.Close()))

	for _, c := range []struct {
		path string
		args []string
		n    int
		note string
	}{
		{path, nil, 2, "--map time=began"},
		{dir, nil, 2, "--map time=began"},
		{path, []string{"--map", "duration=ms:ms,name=what"}, 4, "--map time=began,duration=ms:ms,name=what"},
		{path, []string{"--map", "time=began,name=what"}, 2, ""},
	} {
		n, notes, err := openParquet(t, c.path, c.args...)
		if err != nil || n != c.n || !strings.HasSuffix(strings.Join(notes, "\n"), c.note) || c.note == "" && notes != nil {
			t.Errorf("%v: %d events, %q, %v", c.args, n, notes, err)
		}
	}
	_, _, err = openParquet(t, path, "--map", "name=which")
	var flag *FlagError
	if !errors.As(err, &flag) || !strings.Contains(err.Error(), "--map name=which: the file has no such column; columns: began (") {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	must(err)
	packed, err := os.Create(filepath.Join(dir, "calls.parquet.gz"))
	must(err)
	z := gzip.NewWriter(packed)
	_, err = z.Write(data)
	must(errors.Join(err, z.Close(), packed.Close()))
	if _, _, err := openParquet(t, packed.Name()); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "decompress it first") {
		t.Error(err)
	}
}
