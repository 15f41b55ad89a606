package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/testing/corpus"
)

// linkedSamples returns how many rows of the samples of a directory of tables have a span, and how many labels there
// are.
func linkedSamples(t *testing.T, dir string) (linked, labels int) {
	t.Helper()
	samples, err := parquet.ReadFile[tables.Sample](filepath.Join(dir, "samples.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if s.SpanID != "" && s.TraceID != "" {
			linked++
		}
	}
	list, err := parquet.ReadFile[tables.Label](filepath.Join(dir, "labels.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return linked, len(list)
}

// The samples that ntconv to parquet links to spans are those that ntconv to pprof links. The labels of the events stay
// as recorded.
func TestParquetLinksSamples(t *testing.T) {
	path, dir := spanTrace(t), t.TempDir()
	input := corpus.Read(t, path)
	labels := -1
	for _, c := range []struct {
		args   []string
		linked int
		note   string
	}{
		{[]string{path}, 21, "; 21 of 100 samples linked to spans"},
		{[]string{"--span-link", "thread", path}, 21, "; 21 of 100 samples linked to spans"},
		{[]string{"--span-link", "label", path}, 0, "; 0 of 100 samples linked to spans"},
		{[]string{"--span-link", "off", path}, 0, ""},
		{[]string{"--span-link", "auto", "-"}, 21, "; 21 of 100 samples linked to spans"},
		{[]string{"-"}, 0, ""}, // it can be read only once
	} {
		out := filepath.Join(dir, "out.parquet") + "/"
		r := invoke(t, dir, input, append([]string{"to", "parquet", "-f", "-o", out}, c.args...)...)
		if r.code != 0 || !strings.Contains(r.stderr, c.note) || strings.Contains(r.stderr, "linked") != (c.note != "") {
			t.Errorf("%v: code %d: %s, want %s", c.args, r.code, r.stderr, c.note)
			continue
		}
		linked, n := linkedSamples(t, out)
		if linked != c.linked || labels >= 0 && n != labels {
			t.Errorf("%v: %d samples are linked, want %d; %d labels, want %d", c.args, linked, c.linked, n, labels)
		}
		labels = n
	}
}
