package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scrubbedTraces are the traces that are checked without -rewrite-all: every version, all types of fields, spans, logs,
// native symbols, and a missing end.
var scrubbedTraces = []string{
	"sources", "sources-netperf3", "cpu-env", "logging", "spans-implicit", "onecollect-small-v6", "stress-cut",
}

// otherNumbers are the traces in which TraceEvent shows texts as numbers, or numbers that scrub replaces, and why.
var otherNumbers = map[string]string{
	"countercow-aspnet-net9":            "TraceEvent decodes a payload of Kestrel with another layout",
	"perfview-dotnetcore5.0-arraytypes": "arrays of 16-bit integers in events of programs may be texts",
}

// TraceEvent reads a scrubbed trace without a complaint: the same number of events as from the original, in the same
// order, of the same types and at the same times, and the same numbers in their fields.
func TestScrubbedTraces(t *testing.T) {
	tool := shared(t, "oracle", "traceevent")
	if r := run(t, tool, "summary", shared(t, "data", "vectors", "ParseMinimalTraceV6.nettrace")); r.code != 0 {
		t.Skipf("the reference reader cannot be run: %s", r.stderr)
	}
	for _, tr := range sharedTraces(t) {
		if exitCode(tr.name) == unreadable || !*rewriteAll && !slices.Contains(scrubbedTraces, tr.name) {
			continue
		}
		t.Run(tr.name, func(t *testing.T) {
			dir := t.TempDir()
			before := filepath.Join(dir, "before.nettrace")
			if isNetperf(tr) {
				before = filepath.Join(dir, "before.netperf")
			}
			must(t, os.WriteFile(before, unzstd(t, tr.path), 0o600))
			plain, clean := filepath.Join(dir, "plain.nettrace"), filepath.Join(dir, "clean.nettrace")
			for _, args := range [][]string{{"to", "nettrace", before, "-o", plain}, {"scrub", before, clean}} {
				if r := run(t, command, args...); r.code != exitCode(tr.name) {
					t.Fatalf("%q: exit code %d, want %d: %s", args, r.code, exitCode(tr.name), r.stderr)
				}
			}
			want, got := run(t, tool, "events", plain), run(t, tool, "events", clean)
			if got.code != want.code || !bytes.Equal(got.stderr, want.stderr) {
				t.Errorf("exit code %d, want %d: %s", got.code, want.code, got.stderr)
			}
			sameEvents(t, want.stdout, got.stdout, otherNumbers[tr.name] == "")
		})
	}
}

// sameEvents compares the events that TraceEvent shows for a trace and its scrubbed form.
func sameEvents(t *testing.T, want, got []byte, numbers bool) {
	t.Helper()
	a, b := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	if len(a) != len(b) {
		t.Fatalf("%d lines of events, want %d", len(b), len(a))
	}
	for i := range a {
		if len(a[i]) == 0 {
			continue
		}
		var x, y map[string]any
		decode(t, a[i], &x)
		decode(t, b[i], &y)
		if where := differs(x, y); where != "" && (numbers || !strings.HasPrefix(where, "payload.")) {
			t.Fatalf("line %d: %s: %s became %s", i+1, where, a[i], b[i])
		}
	}
}

// differs returns the path of the first member that differs and is not a text, or "".
func differs(a, b any) string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return "members"
		}
		if _, ok := x["common_pid"]; ok {
			return "" // TraceEvent shows bytes of texts of the kernel's tracepoints as numbers
		}
		for key, v := range x {
			w, ok := y[key]
			if !ok {
				return key
			}
			if where := differs(v, w); where != "" {
				return key + "." + where
			}
		}
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return "elements"
		}
		for i := range x {
			if where := differs(x[i], y[i]); where != "" {
				return where
			}
		}
	case string:
		if _, ok := b.(string); !ok {
			return "kind"
		}
	default:
		if a != b {
			return "value"
		}
	}
	return ""
}
