package command

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// Losses of the rundown are stated with what they cost, and other losses without.
func TestLossesOfRundown(t *testing.T) {
	const says = "all lost events belong to the rundown, in which .NET writes symbols, so symbols may be missing"
	webapp := corpus.SharedTrace(t, "nettrace/dotnetdiag-webapp-net5").Data
	for _, args := range [][]string{{"info", "-"}, {"info", "--json", "-"}, {"top", "-"}, {"to", "pprof", "-", "-o", "x.pb.gz"}} {
		for _, in := range []struct {
			data []byte
			want bool
		}{{webapp, true}, {unpacked(t, "stress-drop"), false}} {
			if args[0] != "info" && !in.want {
				continue // it has no samples
			}
			r := invoke(t, t.TempDir(), in.data, args...)
			if text := r.stdout + r.stderr; r.code != exitOK || strings.Contains(text, says) != in.want || !strings.Contains(text, "lost by the recorder") {
				t.Errorf("%q: code %d, note %v: %s", args, r.code, !in.want, r.stderr)
			}
		}
	}
}

// info counts no thread 0, no scopes as messages, and no heap dump in traces without one.
func TestInfoCounts(t *testing.T) {
	truncated := corpus.SharedTrace(t, "nettrace/diagnostics-truncated").Data
	for _, c := range []struct {
		data []byte
		want []string
		not  string
	}{
		{corpus.SharedTrace(t, "nettrace/onecollect-small-v6").Data, []string{
			"Processes (2 threads):\n  4242  2 threads  21 events  myapp\n  4300  0 threads   3 events  child\n", "4242/0  12 events  (no thread)\n",
		}, ""},
		{corpus.SharedTrace(t, "own/logging").Data, []string{"\n  12  log messages "}, ""},
		{corpus.SharedTrace(t, "own/logging-formatted").Data, []string{"\n  6   log messages "}, ""},
		{unpacked(t, "gcdump"), []string{"  4   events of heap dumps            ntconv print --event 'GCBulkNode,GCBulkEdge,GCBulkRoot*' -\n"}, "GCBulk*'"},
		{truncated, []string{"error: 1 input ends before the trace does\n", "GCBulkMovedObjectRanges"}, "heap dumps"},
	} {
		r := invoke(t, t.TempDir(), c.data, "info", "--all", "-")
		for _, want := range c.want {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("no %q in\n%s", want, r.stdout)
			}
		}
		if c.not != "" && strings.Contains(r.stdout, c.not) {
			t.Errorf("%q in\n%s", c.not, r.stdout)
		}
	}
}
