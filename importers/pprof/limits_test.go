package pprof_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"reflect"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
)

// rich returns a profile with two of everything that Limits bound.
func rich() *profile.Profile {
	p := simple(1, 2)
	p.SampleType = append(p.SampleType, &profile.ValueType{Type: "samples", Unit: "count"})
	p.Mapping = append(p.Mapping, &profile.Mapping{ID: 2, Start: 0xa000, Limit: 0xb000, File: "/lib/libc.so"})
	p.Function = append(p.Function, &profile.Function{ID: 2, Name: "main.work"})
	p.Location = append(p.Location, &profile.Location{ID: 2, Mapping: p.Mapping[1], Address: 0xa234, Line: []profile.Line{{Function: p.Function[1], Line: 9}}})
	p.Comments = []string{"a", "b"}
	for _, s := range p.Sample {
		s.Location = p.Location
		s.Value = append(s.Value, 1)
		s.Label = map[string][]string{"key": {"v", "w"}}
	}
	return p
}

// Every member of Limits either causes an error with the constant named after it, or no error at all.
func TestLimitNames(t *testing.T) {
	data := raw(t, rich())
	limits := map[string]struct {
		name  string // empty: no error
		asked int64
	}{
		"Bytes":     {pprof.LimitBytes, 2},
		"Strings":   {pprof.LimitStrings, 2},
		"Samples":   {pprof.LimitSamples, 2},
		"Locations": {pprof.LimitLocations, 2},
		"Lines":     {pprof.LimitLines, 2},
		"Mappings":  {pprof.LimitMappings, 2},
		"Types":     {pprof.LimitTypes, 2},
		"Comments":  {pprof.LimitComments, 2},
		"Labels":    {pprof.LimitLabels, 2},
		"LabelText": {pprof.LimitLabelText, 8},
		"Stack":     {"", 0},
		"Frames":    {pprof.LimitFrames, 2},
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[pprof.Limits]()) {
		want, known := limits[f.Name]
		if !known {
			t.Errorf("no case for Limits.%s", f.Name)
			continue
		}
		var o pprof.Options
		reflect.ValueOf(&o.Limits).Elem().FieldByIndex(f.Index).SetInt(1)
		_, err := pprof.New(bytes.NewReader(data), &o)
		var l *ntconv.LimitError
		switch {
		case want.name == "" && err != nil:
			t.Errorf("Limits.%s = 1: %v", f.Name, err)
		case want.name != "" && (!errors.As(err, &l) || l.Limit != want.name || l.Value != 1 || l.Asked != want.asked || !errors.Is(err, ntconv.ErrLimit)):
			t.Errorf("Limits.%s = 1: %v, want %q and %d", f.Name, err, want.name, want.asked)
		}
	}
	// Limits.Locations also bounds the functions.
	p := rich()
	p.Location = p.Location[:1]
	for _, s := range p.Sample {
		s.Location = p.Location
	}
	_, err := pprof.New(bytes.NewReader(raw(t, p)), &pprof.Options{Limits: pprof.Limits{Locations: 1}})
	if l := (*ntconv.LimitError)(nil); !errors.As(err, &l) || *l != (ntconv.LimitError{Limit: pprof.LimitFunctions, Value: 1, Asked: 2}) {
		t.Errorf("functions: %v", err)
	}
}

// TestDecompressionLimits checks that a profile compressed beyond the default ratio is rejected, and accepted with a
// higher limit.
func TestDecompressionLimits(t *testing.T) {
	p := simple(1, 2)
	p.Comments = []string{string(make([]byte, 80<<20))} // zeros
	data := gzipped(t, raw(t, p))
	_, err := pprof.New(bytes.NewReader(data), nil)
	var l *ntconv.LimitError
	if !errors.As(err, &l) || l.Limit != pprof.LimitRatio {
		t.Errorf("%v, want the limit %s", err, pprof.LimitRatio)
	}
	if _, err := pprof.New(bytes.NewReader(data), &pprof.Options{Decompression: ntconv.DecompressionLimits{Ratio: -1}}); err != nil {
		t.Error(err)
	}
}

// gzipped returns data compressed with gzip.
func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
