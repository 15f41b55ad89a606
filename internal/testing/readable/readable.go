// Package readable has small inputs of every format that can be read, and opens inputs in memory. It takes the formats
// from the table, so tests that use it have every format without naming it.
package readable

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
	"github.com/spf13/pflag"
)

// An Example is a small input.
type Example struct {
	Name   string
	Format *formats.Format
	Data   []byte // decompressed
}

// An input is a formats.Input of one stream. data is nil if the content is not in memory.
type input struct {
	r    io.Reader
	data []byte
}

func (i input) Name() string                         { return "input" }
func (i input) Stream() (io.Reader, error)           { return i.r, nil }
func (i input) Rereadable() bool                     { return false }
func (i input) Members() ([]string, error)           { return nil, errors.ErrUnsupported }
func (i input) Member(string) (formats.Input, error) { return nil, errors.ErrUnsupported }

func (i input) At() (io.ReaderAt, int64, error) {
	if i.data == nil {
		return nil, 0, errors.ErrUnsupported
	}
	return bytes.NewReader(i.data), int64(len(i.data)), nil
}

// Open opens data as an input of a format with the default values of its flags. Nil options select the defaults.
func Open(f *formats.Format, data []byte, o *formats.ReadOptions) (ntconv.Source, error) {
	if data == nil {
		data = []byte{}
	}
	return open(f, input{bytes.NewReader(data), data}, o)
}

// OpenStream opens what r returns. The error wraps errors.ErrUnsupported if the format needs random access.
func OpenStream(f *formats.Format, r io.Reader, o *formats.ReadOptions) (ntconv.Source, error) {
	return open(f, input{r: r}, o)
}

func open(f *formats.Format, in formats.Input, o *formats.ReadOptions) (ntconv.Source, error) {
	if o == nil {
		o = &formats.ReadOptions{Report: new(ntconv.Report)}
	}
	return new(formats.Openers).Open(f, in, o)
}

// Close closes a source if it has files.
func Close(src ntconv.Source) error {
	if c, ok := src.(ntconv.SourceCloser); ok {
		return c.Close()
	}
	return nil
}

// Examples returns inputs of all formats that can be read: the files for the tests of the importers, and traces of
// testdata as they are and as all formats that can be written hold them. It fails the test if a format has none.
func Examples(tb testing.TB) []Example {
	tb.Helper()
	var list []Example
	has := map[string]bool{}
	add := func(name string, data []byte) {
		f, err := formats.Detect(formats.Readable(), name, data[:min(len(data), formats.HeadSize)])
		if err == nil {
			has[f.Name] = true
			list = append(list, Example{name, f, data})
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(corpus.Path("")), "importers", "*", "testdata", "*"))
	if err != nil || len(files) == 0 {
		tb.Fatal("no files: ", err)
	}
	for _, path := range append(files, corpus.Path("go-cpu.pb.gz")) {
		if info, err := os.Stat(path); err != nil || !info.IsDir() && !strings.HasSuffix(path, ".md") {
			add(filepath.Base(path), read(tb, path))
		}
	}
	for _, name := range []string{"activities", "counters", "cpu-netperf3", "gcdump"} {
		trace := corpus.Trace(tb, name)
		add(name, trace.Data)
		for _, f := range formats.Writable() {
			for _, ext := range f.Exts {
				add(name+ext, write(tb, f, trace.Data, filepath.Join(tb.TempDir(), "out"+ext)))
			}
		}
	}
	for _, f := range formats.Readable() {
		if !has[f.Name] {
			tb.Errorf("no example of %s: it cannot be written, and importers/*/testdata has no file of it", f.Name)
		}
	}
	return list
}

// read returns the decompressed content of a file.
func read(tb testing.TB, path string) []byte {
	tb.Helper()
	in, err := fileio.Open(path, fileio.InputOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	r, err := in.Stream()
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(path, err)
	}
	return data
}

// write returns a trace in a format, decompressed.
func write(tb testing.TB, f *formats.Format, trace []byte, path string) []byte {
	tb.Helper()
	names := symbol.New(nil)
	src, err := reader.New(bytes.NewReader(trace), nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := names.Scan(src); err != nil {
		tb.Fatal(err)
	}
	if src, err = reader.New(bytes.NewReader(trace), nil); err != nil {
		tb.Fatal(err)
	}
	out, err := fileio.CreateOutputs(path, fileio.OutputsOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	settings := f.Out.Bind(pflag.NewFlagSet("", pflag.ContinueOnError))
	sink, err := f.Output(settings, path, false).Create(out, src.Info(), &formats.Target{Namer: names, Report: new(ntconv.Report)})
	if err == nil {
		_, err = ntconv.Copy(sink, src)
		err = errors.Join(err, sink.Close(), out.Commit())
	}
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return read(tb, path)
}
