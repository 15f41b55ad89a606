package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// chromeFile returns the absolute path of a file of importers/chrome.
func chromeFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "importers", "chrome", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Every command reads files of Chrome's trace event format, compressed or not, and says where one is damaged.
func TestChromeInputs(t *testing.T) {
	dir := t.TempDir()
	phases, err := os.ReadFile(chromeFile(t, "phases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	_, _ = gz.Write(phases)
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "phases.json.gz", packed.Bytes())
	write(t, dir, "cut.json", phases[:1000])
	write(t, dir, "damaged.json", bytes.Replace(phases, []byte(`"ts":153`), []byte(`"ts":x`), 1))
	for _, c := range []struct {
		args string
		code int
		want string // in either output
	}{
		{"info phases.json.gz", exitOK, "shop"},
		{"print --where items==3 phases.json.gz", exitOK, "10/11  work/scan items=3"},
		{"top " + chromeFile(t, "v8.json"), exitOK, "(anonymous)"},
		{"top " + chromeFile(t, "own.cpuprofile"), exitOK, "550us"},
		{"to pprof " + chromeFile(t, "v8.json") + " -o v8.pb.gz", exitOK, "3 distinct samples from 4 of 7 events"},
		{"to otlp phases.json.gz -o spans.jsonl", exitOK, " spans from 41 events"},
		{"to parquet phases.json.gz -o tables", exitOK, "41 events"},
		{"to pprof phases.json.gz -o events.pb.gz", exitOK, "events profile"},
		{"to pprof --kind wall phases.json.gz -o none.pb.gz", exitEmpty, ""},
		{"to nettrace cut.json -o cut.nettrace", exitIncomplete, "line 13, column 30: input is truncated"},
		{"to nettrace damaged.json -o damaged.nettrace", exitIncomplete, "line 11, column 60: input is corrupt: invalid JSON: want a value, got 'x'"},
	} {
		r := invoke(t, dir, nil, strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.stderr+r.stdout, c.want) {
			t.Errorf("%s: code %d: %s%s", c.args, r.code, r.stdout, r.stderr)
		}
	}
}

// chromeEvents returns what the events of a file are but for their times, threads and order; without those that
// describe threads or hold samples.
func chromeEvents(t *testing.T, text []byte) (list []string) {
	t.Helper()
	var f struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.TraceEvents {
		if ph := e["ph"]; ph == "M" || ph == "P" {
			continue
		}
		if e["cat"] == "" {
			delete(e, "cat")
		}
		for _, name := range []string{"ts", "pid", "tid", "sf", "stack"} {
			delete(e, name)
		}
		if s, ok := e["dur"].(string); ok {
			e["dur"] = json.RawMessage(s)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	slices.Sort(list)
	return list
}

// Chrome -> nettrace -> Chrome keeps every event.
func TestChromeRoundTrip(t *testing.T) {
	paths := []string{chromeFile(t, "phases.json")}
	if sample, err := corpus.Find("reference", "consumers", "chrome-sample.json"); err == nil {
		paths = append(paths, sample)
	}
	for _, path := range paths {
		dir := t.TempDir()
		for _, args := range [][]string{{"to", "nettrace", path, "-o", "trace.nettrace"}, {"to", "chrome", "trace.nettrace", "-o", "again.json"}} {
			if r := invoke(t, dir, nil, args...); r.code != exitOK {
				t.Fatalf("%s: code %d: %s", args, r.code, r.stderr)
			}
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(filepath.Join(dir, "again.json"))
		if err != nil {
			t.Fatal(err)
		}
		got, want := chromeEvents(t, after), chromeEvents(t, before)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", filepath.Base(path), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
