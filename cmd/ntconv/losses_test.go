package main

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

// The error line and the summary do not state the same problem twice.
func TestProblemsAreStatedOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "cut.nettrace", unpacked(t, "cpu-env")[:180_000])
	write(t, dir, "deep.pb.gz", testProfile(t, "shop"))
	for _, c := range []struct {
		args  []string
		words string // of the problem
	}{
		{[]string{"to", "pprof", "cut.nettrace"}, "truncated"},
		{[]string{"to", "nettrace", "-o", "x.nettrace", "cut.nettrace"}, "truncated"},
		{[]string{"to", "folded", "--max-stack", "1", "-o", "x.folded", "deep.pb.gz"}, "stack-cut"},
		{[]string{"filter", "--fail-on-loss", trace(t, "stress-drop"), "y.nettrace"}, "lost by the recorder"},
	} {
		r := invoke(t, dir, nil, c.args...)
		if n := strings.Count(r.stderr, c.words); r.code != exitIncomplete || n != 1 || strings.Count(r.stderr, "\n") != 2 {
			t.Errorf("%q: code %d, %d times %q: %s", c.args, r.code, n, c.words, r.stderr)
		}
		// Programs get all of it.
		r = invoke(t, dir, nil, append(c.args, "-f", "--report", "json")...)
		if r.code != exitIncomplete || !strings.Contains(r.stderr, `"report":[{"code"`) {
			t.Errorf("%q: code %d: %s", c.args, r.code, r.stderr)
		}
	}
}

// A profile of one kind mentions the samples of the others, with the flag that shows them.
func TestOtherKinds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pb.gz", testProfile(t, "shop"))
	if r := invoke(t, dir, nil, "to", "nettrace", trace(t, "cpu-env"), "a.pb.gz", "-o", "both.nettrace"); r.code != exitOK {
		t.Fatalf("code %d: %s", r.code, r.stderr)
	}
	const says = "the trace also has 2 imported samples (--kind imported)"
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"top", "both.nettrace"}, true},
		{[]string{"to", "pprof", "both.nettrace", "-o", "x.pb.gz"}, true},
		{[]string{"to", "folded", "both.nettrace", "-o", "x.folded"}, true},
		{[]string{"top", "--kind", "wall", "both.nettrace"}, false},
		{[]string{"top", "--kind", "imported", "both.nettrace"}, false},
		{[]string{"top", trace(t, "cpu-env")}, false},
	} {
		if r := invoke(t, dir, nil, c.args...); r.code != exitOK || strings.Contains(r.stderr, says) != c.want {
			t.Errorf("%q: code %d, want %v: %s", c.args, r.code, c.want, r.stderr)
		}
	}
}

// info reads in file order, also from a pipe: a window that is too large to be sorted is none of its problems.
func TestInfoHoldsNoWindows(t *testing.T) {
	threads := unpacked(t, "threads")
	for _, in := range []struct {
		stdin []byte
		name  string
	}{{threads, "-"}, {nil, trace(t, "threads")}} {
		r := invoke(t, t.TempDir(), in.stdin, "info", "--max-window-events", "10", in.name)
		if r.code != exitOK || strings.Contains(r.stdout, "windows") {
			t.Errorf("%s: code %d: %s", in.name, r.code, r.stdout)
		}
		sorted := invoke(t, t.TempDir(), in.stdin, "info", "--order", "time", "--max-window-events", "10", in.name)
		if sorted.code != exitOK || !strings.Contains(sorted.stdout, "windows exceeded a limit") {
			t.Errorf("%s, in time order: code %d: %s", in.name, sorted.code, sorted.stdout)
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
