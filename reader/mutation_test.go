package reader

import (
	"bytes"
	"flag"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/laws"
	"github.com/ntconv/ntconv/internal/testing/mutate"
)

var (
	mutations    = flag.Uint64("mutations", 2500, "number of corrupt traces of TestMutations")
	mutationSeed = flag.Uint64("mutation-seed", 1, "seed of TestMutations")
)

// TestMutations compares the events of corrupt traces with those of a simple reader, and the fast paths with the slow
// path. Package mutate has the properties that hold for every input.
func TestMutations(t *testing.T) {
	m, options := mutate.New(mutate.Traces(t)), pathOptions()
	accepted := uint64(0)
	for n := range *mutations {
		data := m.Mutant(*mutationSeed, n)
		err := protect(func() error { return comparePlain(data) })
		if err == nil {
			err = protect(func() error {
				ok, err := compareAccepted(data, options[n%uint64(len(options))])
				if ok {
					accepted++
				}
				return err
			})
		}
		if err != nil {
			t.Fatalf("mutant %d of seed %d (%s): %v", n, *mutationSeed, m.Name(), err)
		}
	}
	if accepted < *mutations/2 {
		t.Errorf("only %d of %d mutants were accepted and compared", accepted, *mutations)
	}
}

// protect turns a panic into an error.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// newLaws returns the properties that hold for every input, for this reader.
func newLaws() *laws.Checker {
	return laws.New(func(data []byte, how laws.Reading, report *ntconv.Report) (ntconv.Source, error) {
		o := &Options{Strict: how.Strict, Report: report}
		if !how.ByTime {
			o.Order = FileOrder
		}
		return New(bytes.NewReader(data), o)
	})
}
