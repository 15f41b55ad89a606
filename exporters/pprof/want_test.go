package pprof_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// TestWantChangesNothing checks that a table that knows the wanted stacks gives the same profile as one that keeps all
// symbols.
func TestWantChangesNothing(t *testing.T) {
	files := corpus.Traces(t)
	check := func(t *testing.T, files []corpus.File) {
		for _, f := range files {
			wanted, missed := wantProfile(t, f, false)
			if whole, _ := wantProfile(t, f, true); !bytes.Equal(wanted, whole) {
				t.Errorf("%s: the profiles differ", f.Name)
			}
			if missed != 0 {
				t.Errorf("%s: %d addresses were wanted too late", f.Name, missed)
			}
		}
	}
	check(t, files)
	t.Run("shared", func(t *testing.T) { check(t, corpus.SharedTraces(t)) })
}

// A hiding is a Namer that does not learn which stacks are wanted.
type hiding struct{ ntconv.Namer }

func (hiding) Want(*ntconv.Process, *ntconv.Stack) {}

// wantProfile converts a trace. With hide, the table does not learn which stacks are wanted.
func wantProfile(t *testing.T, f corpus.File, hide bool) ([]byte, int) {
	t.Helper()
	r, err := reader.New(bytes.NewReader(f.Data), nil)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	table := symbol.New(nil)
	var namer ntconv.Namer = table
	if hide {
		namer = hiding{table}
	}
	var out bytes.Buffer
	sink := pprof.New(&out, r.Info(), namer, &pprof.Options{Uncompressed: true})
	_, _ = ntconv.Copy(sink, symbol.Watch(r, table)) // truncated traces end with an error
	if err := sink.Close(); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return out.Bytes(), table.Missed()
}
