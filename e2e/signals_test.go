package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A sentSignal is how the items of a signal are sent and read.
type sentSignal struct {
	name   string // of --signals
	first  string // with which its lines of JSON begin
	traces []string
	least  int                        // items of each trace
	flags  []string                   // that select the signal, unless it is one of the default
	file   func(*collector) string    // what the collector has received
	proto  func(b []byte) []string    // the items of a protobuf message, sorted texts with what is around each
	json   func(line []byte) []string // those of a line of JSON
}

// lines returns the items of the complete lines of a file, sorted.
func (s *sentSignal) lines(t *testing.T, name string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte(s.first)) && bytes.HasSuffix(line, []byte("\n")) {
			list = append(list, s.json(line)...)
		}
	}
	slices.Sort(list)
	return list
}

// signalAtCollector sends a signal of traces to a collector in every way, and compares what it received, and what files
// contain, with the protobuf file as the collector's library reads it.
func signalAtCollector(t *testing.T, s *sentSignal) {
	c := newCollector(t)
	for _, trace := range s.traces {
		file := filepath.Join(t.TempDir(), "a.binpb")
		if r := run(t, command, "to", "otlp", trace, "--signals", s.name, "-o", file); r.code != 0 {
			t.Fatalf("%s: %s", trace, r.stderr)
		}
		b, err := os.ReadFile(file)
		must(t, err)
		want := s.proto(b)
		if len(want) < s.least {
			t.Fatalf("%s: %d items", trace, len(want))
		}
		text := filepath.Join(t.TempDir(), "a.jsonl")
		if r := run(t, command, append([]string{"to", "otlp", trace, "-o", text}, s.flags...)...); r.code != 0 || !slices.Equal(s.lines(t, text), want) {
			t.Errorf("%s: JSON lines differ from protobuf: %s", trace, r.stderr)
		}
		for _, args := range [][]string{
			{"--endpoint", c.grpc}, {"--endpoint", c.grpc, "--compression", "gzip", "--batch", "3"}, {"--endpoint", c.http},
			{"--endpoint", c.http, "--protocol", "http/json", "--batch-bytes", "1KiB"},
		} {
			if r := run(t, command, slices.Concat([]string{"to", "otlp", trace}, args, s.flags)...); r.code != 0 {
				t.Fatalf("%s %s: exit code %d: %s", trace, args, r.code, r.stderr)
			}
			eventually(t, "the collector has all "+s.name, func() bool { return len(s.lines(t, s.file(c))) >= len(want) })
			if got := s.lines(t, s.file(c)); !slices.Equal(got, want) {
				t.Errorf("%s %s: received %d items, want %d:\n%s\n%s", trace, args, len(got), len(want), got[0], want[0])
			}
			must(t, os.Truncate(s.file(c), 0))
		}
	}
}
