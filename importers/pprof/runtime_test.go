package pprof_test

import (
	"bytes"
	"errors"
	"testing"

	export "github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/sample"
)

// Profiles that ntconv builds from .NET traces also round-trip.
func TestExportedTracesComeBack(t *testing.T) {
	for _, f := range corpus.Traces(t) {
		t.Run(f.Name, func(t *testing.T) { checkExported(t, f) })
	}
}

func TestSharedTracesComeBack(t *testing.T) {
	for _, f := range corpus.SharedTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			if testing.Short() && len(f.Data) > 8<<20 {
				t.Skip("large traces are left out in short mode")
			}
			checkExported(t, f)
		})
	}
}

func checkExported(t *testing.T, f corpus.File) {
	t.Helper()
	r, err := reader.New(bytes.NewReader(f.Data), nil)
	if errors.Is(err, ntconv.ErrUnsupported) {
		return // the format of a preview
	}
	if err != nil {
		t.Fatal(err)
	}
	table := symbol.New(nil)
	var out bytes.Buffer
	s := export.New(&out, r.Info(), table, &export.Options{Options: sample.Options{Comments: []string{"a comment"}}})
	_, _ = ntconv.Copy(s, symbol.Watch(r, table)) // truncated traces have samples before their end
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkRoundTrip(t, out.Bytes())
}
