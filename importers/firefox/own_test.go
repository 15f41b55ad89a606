package firefox_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// A memoryFile is an output in memory.
type memoryFile struct{ *bytes.Buffer }

func (memoryFile) Close() error { return nil }

// TestOwnExporter reads what exporters/firefox writes for traces: threads, stacks and weights are equal, and every
// slice is restored.
func TestOwnExporter(t *testing.T) {
	fold := func(src ntconv.Source, names ntconv.Namer) []string {
		var out bytes.Buffer
		samples := []sample.Kind{sample.Wall, sample.CPU, sample.Imported}
		create := func(sample.Kind) (io.WriteCloser, error) { return memoryFile{&out}, nil }
		sink := folded.New(nil, src.Info(), names, &folded.Options{
			Options: sample.Options{Create: create, Each: samples}, ThreadRoot: true, ProcessRoot: true,
		})
		_, err := ntconv.Copy(sink, src)
		must(t, err)
		must(t, sink.Close())
		lines := strings.Split(out.String(), "\n")
		slices.Sort(lines)
		return lines
	}
	slicesSeen := 0
	for _, name := range []string{"cpu-default", "cpu-env", "cpu-v6", "cpu-netperf3", "activities", "counters"} {
		f := corpus.Trace(t, name)
		read := func() (ntconv.Source, ntconv.Namer) {
			src, err := reader.New(bytes.NewReader(f.Data), nil)
			must(t, err)
			table := symbol.New(nil)
			return symbol.Watch(src, table), table
		}
		var out bytes.Buffer
		src, names := read()
		sink := export.New(&out, src.Info(), names, nil)
		_, err := ntconv.Copy(sink, src)
		must(t, err)
		must(t, sink.Close())
		if got, want := fold(open(t, out.Bytes(), nil), nil), fold(read()); !slices.Equal(got, want) {
			t.Errorf("%s:\n%.2000s\nwant\n%.2000s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		phases := map[string]int64{}
		for e, err := range ntconv.Events(open(t, out.Bytes(), nil)) {
			must(t, err)
			if phase, ok := chromeevent.Of(e.Type); ok && e.Kind == ntconv.KindEvent {
				phases[phase]++
			}
		}
		counts := sink.Summary().Counts
		if phases["X"] != counts.Slices || phases["C"] != counts.Counters {
			t.Errorf("%s: %v, want %+v", name, phases, counts)
		}
		slicesSeen += int(counts.Slices + counts.Counters)
	}
	if slicesSeen < 20 {
		t.Errorf("%d slices and values of counters in all traces", slicesSeen)
	}
}
