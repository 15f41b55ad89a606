package sample_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ntconv/ntconv/sample"
)

// Every kind has a name that Parse accepts, a description and nouns, and is in both lists.
func TestKinds(t *testing.T) {
	for k := range sample.Count {
		if got, err := sample.Parse(k.String()); got != k || err != nil {
			t.Errorf("Parse(%q) = %v, %v", k, got, err)
		}
		if k.Doc() == "" || k.Noun(1) == "" || k.Noun(2) == "" || k.Noun(1) == k.Noun(2) {
			t.Errorf("%v: %q, %q, %q", k, k.Doc(), k.Noun(1), k.Noun(2))
		}
	}
	all, preferred := sample.All(), sample.Preferred()
	slices.Sort(preferred)
	if !slices.Equal(all, preferred) || len(all) != int(sample.Count)-1 {
		t.Errorf("all kinds %v, preferred %v", all, preferred)
	}
	if got := sample.Kind(99).String(); got != "unknown(99)" {
		t.Error(got)
	}
	if k, err := sample.Parse("walls"); k != sample.Auto || !errors.Is(err, sample.ErrUnknown) {
		t.Errorf("walls: %v, %v", k, err)
	}
}

func TestWeightOf(t *testing.T) {
	for _, c := range []struct{ weight, path, unit string }{
		{"Size", "Size", "count"}, {"Size:bytes", "Size", "bytes"}, {"Payload.Mean:ms", "Payload.Mean", "ms"},
		{"", "", ""}, {":bytes", "", ""}, {"Size:", "", ""}, {"Size:a:b", "", ""},
	} {
		path, unit, err := sample.WeightOf(c.weight)
		if path != c.path || unit != c.unit || (err == nil) != (c.path != "") {
			t.Errorf("%q: %q, %q, %v", c.weight, path, unit, err)
		}
	}
}
