package pprof_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/testing/eventgen"
)

// generated draws a profile with features that are rare in real ones: no mappings or overlapping ones, no functions,
// inlining, address 0, negative values, many labels.
func generated(t *rapid.T) *profile.Profile {
	n := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
	text := eventgen.Text(12)
	p := &profile.Profile{
		TimeNanos:     rapid.SampledFrom([]int64{0, 1, 1772366400_123456789}).Draw(t, "time"),
		DurationNanos: rapid.Int64Range(0, 1e12).Draw(t, "duration"),
		Period:        rapid.Int64Range(-1, 1e9).Draw(t, "period"),
		DropFrames:    text.Draw(t, "drop"), KeepFrames: text.Draw(t, "keep"), DocURL: text.Draw(t, "doc"),
	}
	p.PeriodType = &profile.ValueType{Type: text.Draw(t, "period type"), Unit: text.Draw(t, "period unit")}
	for range n("comments", 3) {
		p.Comments = append(p.Comments, text.Draw(t, "comment"))
	}
	for range 1 + n("types", 3) {
		p.SampleType = append(p.SampleType, &profile.ValueType{
			Type: text.Draw(t, "type"), Unit: rapid.SampledFrom([]string{"nanoseconds", "bytes", "count", "", "seconds", "ms"}).Draw(t, "unit"),
		})
	}
	if rapid.Bool().Draw(t, "has default") {
		p.DefaultSampleType = p.SampleType[n("default", len(p.SampleType)-1)].Type
	}
	generateTables(t, p)
	for i := range n("samples", 8) {
		p.Sample = append(p.Sample, generatedSample(t, p, i))
	}
	return p
}

func generateTables(t *rapid.T, p *profile.Profile) {
	n := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
	text := eventgen.Text(12)
	address := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0xf00, 0x5100), rapid.Uint64())
	for i := range n("mappings", 3) {
		start := rapid.Uint64Range(0, 4).Draw(t, "start") << 12
		p.Mapping = append(p.Mapping, &profile.Mapping{
			ID: uint64(i)*7 + 1, Start: start, Limit: start + rapid.SampledFrom([]uint64{0, 1, 0x1000, 0x2000, 1 << 63}).Draw(t, "size"),
			// Compact would move equal files at different places onto each other, in an order that depends on that of
			// the samples.
			Offset: uint64(n("offset", 2)) << 12, File: fmt.Sprint(i, text.Draw(t, "file")), BuildID: rapid.SampledFrom([]string{"", fmt.Sprintf("00f%x", i)}).Draw(t, "build id"),
			HasFunctions: rapid.Bool().Draw(t, "functions"), HasFilenames: rapid.Bool().Draw(t, "files"),
			HasLineNumbers: rapid.Bool().Draw(t, "lines"), HasInlineFrames: rapid.Bool().Draw(t, "inlined"),
		})
	}
	for i := range n("functions", 4) {
		p.Function = append(p.Function, &profile.Function{
			ID: uint64(i)<<40 + 3, Name: text.Draw(t, "name"), SystemName: text.Draw(t, "system name"), Filename: text.Draw(t, "source"),
			StartLine: int64(rapid.Int32().Draw(t, "start line")),
		})
	}
	for i := range n("locations", 6) {
		l := &profile.Location{ID: uint64(i) + 1, Address: address.Draw(t, "address"), IsFolded: rapid.Bool().Draw(t, "folded")}
		if len(p.Mapping) > 0 && rapid.Bool().Draw(t, "mapped") {
			l.Mapping = p.Mapping[n("mapping", len(p.Mapping)-1)]
		}
		for range n("lines", 3) {
			if len(p.Function) > 0 {
				l.Line = append(l.Line, profile.Line{
					Function: p.Function[n("function", len(p.Function)-1)], Line: int64(rapid.Int32().Draw(t, "line")), Column: int64(n("column", 3)),
				})
			}
		}
		p.Location = append(p.Location, l)
	}
}

func generatedSample(t *rapid.T, p *profile.Profile, i int) *profile.Sample {
	text := eventgen.Text(8)
	s := &profile.Sample{Label: map[string][]string{}, NumLabel: map[string][]int64{}, NumUnit: map[string][]string{}}
	for range p.SampleType {
		s.Value = append(s.Value, rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-1<<61, 1<<61)).Draw(t, "value"))
	}
	for range rapid.IntRange(0, 5).Draw(t, "depth") {
		if len(p.Location) > 0 {
			s.Location = append(s.Location, p.Location[rapid.IntRange(0, len(p.Location)-1).Draw(t, "location")])
		}
	}
	key := rapid.OneOf(rapid.SampledFrom([]string{"pid", "tid", "thread id", "thread", "process", "timestamp_ns", "Error", "x", "x#unit"}), text)
	labels := rapid.SampledFrom([]int{0, 1, 4, 100}).Draw(t, "labels")
	for l := range labels {
		k := key.Draw(t, "key")
		if labels == 100 {
			k = fmt.Sprint("key", l)
		}
		if rapid.Bool().Draw(t, "numeric") {
			s.NumLabel[k] = append(s.NumLabel[k], rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64(), rapid.Just(int64(1772366400_000000000+int64(i)))).Draw(t, "number"))
			s.NumUnit[k] = append(s.NumUnit[k], rapid.SampledFrom([]string{"bytes", "id", "nanoseconds"}).Draw(t, "unit"))
		} else {
			s.Label[k] = append(s.Label[k], "v"+text.Draw(t, "text"))
		}
	}
	return s
}

func TestGeneratedProfilesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := generated(t)
		var b bytes.Buffer
		if err := p.WriteUncompressed(&b); err != nil {
			t.Fatalf("%v", err)
		}
		checkRoundTrip(t, b.Bytes())
	})
}
