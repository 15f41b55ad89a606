package firefox_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

// TestOwnExporter reads what exporters/firefox writes for traces: threads, stacks and weights are equal, and every
// slice is restored.
func TestOwnExporter(t *testing.T) {
	slicesSeen := 0
	for _, name := range []string{"cpu-default", "cpu-env", "cpu-v6", "cpu-netperf3", "activities", "counters"} {
		var out bytes.Buffer
		src, names := readable.Trace(t, name)
		sink := export.New(&out, src.Info(), names, nil)
		readable.Copy(t, sink, src)
		src, names = readable.Trace(t, name)
		if got, want := readable.Fold(t, open(t, out.Bytes(), nil), nil), readable.Fold(t, src, names); !slices.Equal(got, want) {
			t.Errorf("%s:\n%.2000s\nwant\n%.2000s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		phases := map[string]int64{}
		for e, err := range ntconv.Events(open(t, out.Bytes(), nil)) {
			readable.Must(t, err)
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
