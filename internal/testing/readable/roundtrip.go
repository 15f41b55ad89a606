package readable

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// A Failer is the common part of testing.T and rapid.T.
type Failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Must fails the test if err is not nil.
func Must(t Failer, err error) {
	if err != nil { // Helper costs more than an event, and benchmarks call Must for each
		t.Helper()
		t.Fatalf("%v", err)
	}
}

// Copy writes all events of a source to a sink and closes it.
func Copy(t Failer, sink ntconv.Sink, src ntconv.Source) {
	t.Helper()
	_, err := ntconv.Copy(sink, src)
	Must(t, err)
	Must(t, sink.Close())
}

// ThroughNettrace returns the strict reader's events of a source that was written as a nettrace file, and its symbols.
func ThroughNettrace(t Failer, src ntconv.Source) (ntconv.Source, ntconv.Namer) {
	t.Helper()
	var file bytes.Buffer
	w, err := writer.New(&file, src.Info(), &writer.Options{Ordered: true})
	Must(t, err)
	_, err = ntconv.Copy(symbol.SynthesizeTo(w, nil), src)
	Must(t, err)
	Must(t, w.Close())
	r, err := reader.New(&file, &reader.Options{Strict: true})
	Must(t, err)
	table := symbol.New(nil)
	return symbol.Watch(r, table), table
}

// Trace returns the events of a trace of testdata, and its symbols.
func Trace(t testing.TB, name string) (ntconv.Source, ntconv.Namer) {
	t.Helper()
	src, err := reader.New(bytes.NewReader(corpus.Trace(t, name).Data), nil)
	Must(t, err)
	table := symbol.New(nil)
	return symbol.Watch(src, table), table
}

// Fold returns the samples of a source as folded stacks with processes and threads, sorted.
func Fold(t Failer, src ntconv.Source, names ntconv.Namer) []string {
	t.Helper()
	var out bytes.Buffer
	create := func(sample.Kind) (io.WriteCloser, error) { return file{&out}, nil }
	kinds := []sample.Kind{sample.Wall, sample.CPU, sample.Imported}
	Copy(t, folded.New(nil, src.Info(), names, &folded.Options{
		Options: sample.Options{Create: create, Each: kinds}, ThreadRoot: true, ProcessRoot: true,
	}), src)
	lines := strings.Split(out.String(), "\n")
	slices.Sort(lines)
	return lines
}

// A file is an output in memory.
type file struct{ *bytes.Buffer }

func (file) Close() error { return nil }

// Totals are the totals of samples by thread, sample type and stack, which begins with the root.
type Totals map[string]int64

// Add adds a value.
func (s Totals) Add(thread, typ string, stack []string, n int64) {
	s[fmt.Sprintf("%s %s %q", thread, typ, stack)] += n
}

// String returns a line for each total that is not 0, sorted.
func (s Totals) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if s[k] != 0 {
			fmt.Fprintf(&b, "%s = %d\n", k, s[k])
		}
	}
	return b.String()
}

// PprofTotals returns the totals of the profile that exporters/pprof writes, as google/pprof reads it. thread returns
// the thread of a sample.
func PprofTotals(t Failer, src ntconv.Source, namer ntconv.Namer, thread func(*profile.Sample) string) Totals {
	t.Helper()
	var file bytes.Buffer
	Copy(t, pprof.New(&file, src.Info(), namer, nil), src)
	p, err := profile.Parse(&file)
	Must(t, err)
	out := Totals{}
	for _, s := range p.Sample {
		var stack []string
		for _, l := range slices.Backward(s.Location) {
			for _, line := range slices.Backward(l.Line) {
				stack = append(stack, line.Function.Name)
			}
		}
		for i, v := range s.Value {
			out.Add(thread(s), p.SampleType[i].Type, stack, v)
		}
	}
	return out
}

// CheckTotals compares the totals of a source with those that are wanted: directly and through a nettrace file. open
// opens the source.
func CheckTotals(t Failer, open func() ntconv.Source, want Totals, thread func(*profile.Sample) string) {
	t.Helper()
	if got := PprofTotals(t, open(), nil, thread).String(); got != want.String() {
		t.Fatalf("pprof:\n%s\nwant\n%s", got, want)
	}
	src, names := ThroughNettrace(t, open())
	if got := PprofTotals(t, src, names, thread).String(); got != want.String() {
		t.Fatalf("nettrace:\n%s\nwant\n%s", got, want)
	}
}
