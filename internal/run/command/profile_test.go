package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// testProfile returns a profile as a file: two samples of a program, with labels.
func testProfile(t *testing.T, program string) []byte {
	t.Helper()
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x500000, File: "/srv/" + program, HasFunctions: true}
	main := &profile.Function{ID: 1, Name: "main.main", SystemName: "main.main", Filename: "main.go", StartLine: 3}
	work := &profile.Function{ID: 2, Name: program + ".work", SystemName: program + ".work", Filename: "work.go"}
	leaf := &profile.Location{ID: 1, Mapping: m, Address: 0x401234, Line: []profile.Line{{Function: work, Line: 9}}}
	root := &profile.Location{ID: 2, Mapping: m, Address: 0x402345, Line: []profile.Line{{Function: main, Line: 5}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7, TimeNanos: 1772366400_000000000, DurationNanos: 1e9,
		Comments: []string{"a comment of " + program},
		Mapping:  []*profile.Mapping{m}, Function: []*profile.Function{main, work}, Location: []*profile.Location{leaf, root},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{leaf, root}, Value: []int64{3, 3e7}, Label: map[string][]string{"endpoint": {"/cart"}}},
			{Location: []*profile.Location{root}, Value: []int64{1, 1e7}, NumLabel: map[string][]int64{"bytes": {4096}}, NumUnit: map[string][]string{"bytes": {"bytes"}}},
		},
	}
	var b bytes.Buffer
	must(t, p.Write(&b))
	return b.Bytes()
}

// The number of strings of a profile is limited.
func TestManyStrings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bad.pb.gz", gzipped(t, append([]byte("\x0a\x04\x08\x01\x10\x02"), bytes.Repeat([]byte("\x32\x00"), 10_000_000)...)))
	r := invoke(t, dir, nil, "to", "nettrace", "bad.pb.gz", "-o", "bad.nettrace")
	if r.code != exitLimit || !strings.Contains(r.stderr, "bad.pb.gz: ") || !strings.Contains(r.stderr, "string table: too many strings: limit 4000000, got 4000001\n") {
		t.Errorf("code %d: %s", r.code, r.stderr)
	}
}
