package timelines

import (
	"errors"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/stacksums"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// Traces calls f for every real trace, in short mode for those in testdata.
func Traces(t *testing.T, f func(t *testing.T, file corpus.File)) {
	for _, file := range stacksums.Files(t) {
		t.Run(file.Name, func(t *testing.T) { f(t, file) })
	}
}

// SmallTraces is Traces without the traces of more than 1 MiB.
func SmallTraces(t *testing.T, f func(t *testing.T, file corpus.File)) {
	Traces(t, func(t *testing.T, file corpus.File) {
		if len(file.Data) <= 1<<20 {
			f(t, file)
		}
	})
}

// Open returns the events of a trace up to the first error in it, and a Namer. It overwrites events after their use.
func Open(tb testing.TB, data []byte) (ntconv.Source, *symbol.Table) {
	tb.Helper()
	r, err := reader.NewBytes(data, nil)
	if err != nil {
		tb.Skip(err) // a test of package reader says which
	}
	names := symbol.New(nil)
	return undamaged{ntconvtest.Poison(symbol.Watch(r, names))}, names
}

// undamaged is a source that ends where another one fails because of its input.
type undamaged struct{ ntconv.Source }

func (u undamaged) Next() (*ntconv.Event, error) {
	e, err := u.Source.Next()
	if errors.Is(err, ntconv.ErrTruncated) || errors.Is(err, ntconv.ErrCorrupt) || errors.Is(err, ntconv.ErrUnsupported) {
		return nil, io.EOF
	}
	return e, err
}

// Write writes all events of a source to sinks and closes them.
func Write(tb testing.TB, src ntconv.Source, sinks ...ntconv.Sink) {
	tb.Helper()
	for e, err := range ntconv.Events(src) {
		for _, s := range sinks {
			if err == nil {
				err = s.Write(e)
			}
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, s := range sinks {
		if err := s.Close(); err != nil {
			tb.Fatal(err)
		}
	}
}

// Events returns copies of the events of a trace in testdata.
func Events(tb testing.TB, name string) (list []*ntconv.Event) {
	src, _ := Open(tb, corpus.Trace(tb, name).Data)
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			list = append(list, e.Clone())
		}
	}
	return list
}
