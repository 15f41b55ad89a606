package command

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv/internal/events/clr"
)

// completions returns the completions of a line whose last word is incomplete. Nothing may be printed to standard error
// but cobra's own line, which its scripts discard.
func completions(t *testing.T, dir string, words ...string) []string {
	t.Helper()
	r := invoke(t, dir, nil, append([]string{"__complete"}, words...)...)
	if r.code != exitOK || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "Completion ended with directive") {
		t.Fatalf("%q: code %d: %s", words, r.code, r.stderr)
	}
	list := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	return list[:len(list)-1] // the last line is the directive
}

// Completions of a selection are the names that info reports for the trace on the line, and well-known names without
// one.
func TestCompletionOfTrace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cpu-env", "sources-netperf3", "cpu-v6", "exceptions"} {
		var info struct {
			Processes []struct{ Name string }
			Providers []struct {
				Name  string
				Types []struct {
					Name string `json:"event"`
				}
			}
		}
		decode(t, []byte(invoke(t, dir, nil, "info", "--json", trace(t, name)).stdout), &info)
		var providers, events []string
		for _, p := range info.Providers {
			providers = append(providers, p.Name)
			for _, e := range p.Types {
				if e.Name != "" {
					events = append(events, e.Name)
				}
			}
		}
		slices.Sort(events)
		if got := completions(t, dir, "print", trace(t, name), "--provider", ""); !slices.Equal(got, slices.Sorted(slices.Values(providers))) {
			t.Errorf("%s: providers %q, want %q", name, got, providers)
		}
		if got := completions(t, dir, "to", "pprof", "missing", trace(t, name), "--event", ""); !slices.Equal(got, slices.Compact(events)) {
			t.Errorf("%s: events %q, want %q", name, got, events)
		}
		if got := completions(t, dir, "top", trace(t, name), "--process", ""); len(info.Processes) == 1 && !slices.Contains(got, info.Processes[0].Name) {
			t.Errorf("%s: processes %q, want %q", name, got, info.Processes)
		}
	}
	if got := completions(t, dir, "print", trace(t, "exceptions"), "--event", "GCStart,Exception"); !slices.Contains(got, "GCStart,ExceptionThrown") {
		t.Errorf("%q", got)
	}
	if got := completions(t, dir, "print", trace(t, "exceptions"), "--where", "Exception"); !slices.Contains(got, "ExceptionType") {
		t.Errorf("%q", got)
	}
	if got := completions(t, dir, "print", trace(t, "exceptions"), "--where", "ExceptionType =~ "); len(got) != 0 {
		t.Errorf("in the middle of an expression: %q", got)
	}
	write(t, dir, "noise.nettrace", []byte("Nettrace but not really"))
	for _, file := range []string{"missing.nettrace", "noise.nettrace", ".", "-"} {
		if got := completions(t, dir, "print", file, "--provider", ""); !slices.Equal(got, clr.ProviderNames()) {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// The reading ends when its time is over.
func TestCompletionTime(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "cpu.nettrace")
	write(t, dir, "cpu.nettrace", unpacked(t, "cpu-env"))
	a := newApp(io.Discard, io.Discard)
	if found := a.namesIn([]string{name}, "provider"); len(found) < 3 {
		t.Fatalf("%d providers", len(found))
	}
	if names := a.readNames(name, time.Now()); len(names) > 0 {
		t.Error("reads on after the end of its time")
	}
}
