package pprof_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/zstd"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
	"github.com/ntconv/ntconv/ntconvtest"
)

// simple returns a profile with one sample per value of its only type, which is cpu in nanoseconds.
func simple(values ...int64) *profile.Profile {
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x9000, File: "/srv/shop"}
	f := &profile.Function{ID: 1, Name: "main.main"}
	l := &profile.Location{ID: 1, Mapping: m, Address: 0x1234, Line: []profile.Line{{Function: f, Line: 7}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, TimeNanos: 1772366400_000000000, DurationNanos: 1000,
		Mapping: []*profile.Mapping{m}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
	}
	for _, v := range values {
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{v}})
	}
	return p
}

func raw(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// events returns the events of a profile after their definition.
func events(t *testing.T, data []byte, o *pprof.Options) (*ntconv.Info, []*ntconv.Event) {
	t.Helper()
	src, err := pprof.New(bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ntconvtest.Record(ntconvtest.Poison(src))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 || got[0].Kind != ntconv.KindDefine {
		t.Fatalf("%d events, the first is not a definition", len(got))
	}
	if _, err := src.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	return src.Info(), got[1:]
}

func field(t *testing.T, e *ntconv.Event, name string) ntconv.Value {
	t.Helper()
	for f, v := range e.Fields() {
		if f.Name == name {
			return v
		}
	}
	t.Fatalf("no field %s", name)
	return ntconv.Value{}
}

// The content determines the compression, and the sizes of reads do not matter.
func TestPacking(t *testing.T) {
	plain := raw(t, simple(1e7, 2e7))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"raw": plain, "gzip": packed(plain), "zstd": z.EncodeAll(plain, nil)} {
		for _, r := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data))} {
			src, err := pprof.New(r, nil)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := ntconvtest.Record(src); err != nil || len(got) != 3 {
				t.Errorf("%s: %d events, %v", name, len(got), err)
			}
		}
	}
}

func TestTimesAreSpread(t *testing.T) {
	info, got := events(t, raw(t, simple(1, 2, 3, 4)), nil)
	var times []time.Duration
	for _, e := range got {
		times = append(times, info.Clock.Time(e.Time).Sub(time.Unix(0, 1772366400_000000000)))
	}
	if want := []time.Duration{0, 250, 500, 750}; !slices.Equal(times, want) || !info.Aggregate {
		t.Errorf("times %v, want %v; aggregate %v", times, want, info.Aggregate)
	}
}

func TestTimestamps(t *testing.T) {
	p := simple(1, 2, 3, 4)
	stamp := func(i int, key string, at int64, unit string) {
		p.Sample[i].NumLabel, p.Sample[i].NumUnit = map[string][]int64{key: {at}}, map[string][]string{key: {unit}}
	}
	stamp(0, "end_timestamp_ns", p.TimeNanos+900, "")
	stamp(1, "timestamp", p.TimeNanos-50, "nanoseconds") // before the start of the profile
	stamp(3, "timestamp", 12, "")                        // not a time: 1970 is too far away
	info, got := events(t, raw(t, p), nil)
	var order []string
	for _, e := range got {
		order = append(order, fmt.Sprint(field(t, e, "cpu"), "@", info.Clock.Time(e.Time).Sub(time.Unix(0, p.TimeNanos)).Nanoseconds()))
	}
	if want := "[2@-50 3@500 4@750 1@900]"; fmt.Sprint(order) != want || info.Aggregate {
		t.Errorf("%v, want %s; aggregate %v", order, want, info.Aggregate)
	}
}

func TestWeights(t *testing.T) {
	for _, c := range []struct {
		unit       string
		values     []int64
		want       []uint64
		weightUnit string
	}{
		{"nanoseconds", []int64{1e7, 0, -5e6, 3e7 + 1}, []uint64{10, 0, 0, 30}, "milliseconds"},
		{"nanoseconds", []int64{1e7, 400_000}, []uint64{10_000, 400}, "microseconds"},
		{"nanoseconds", []int64{7, 12}, []uint64{7, 12}, "nanoseconds"},
		{"microseconds", []int64{10_000}, []uint64{10}, "milliseconds"},
		{"seconds", []int64{2}, []uint64{2000}, "milliseconds"},
		{"seconds", []int64{math.MaxInt64, 1 << 53}, []uint64{math.MaxUint64, 1000 << 53}, "milliseconds"},
		{"ms", []int64{5}, []uint64{5}, "milliseconds"},
		{"bytes", []int64{4096, -4096}, []uint64{4096, 0}, "bytes"},
		{"", []int64{3}, []uint64{3}, ""},
	} {
		p := simple(c.values...)
		p.SampleType[0].Unit = c.unit
		_, got := events(t, raw(t, p), nil)
		for i, e := range got {
			if w := field(t, e, "Value").Uint(); w != c.want[i] || field(t, e, "cpu").Int() != c.values[i] {
				t.Errorf("%d %s: weight %d, want %d", c.values[i], c.unit, w, c.want[i])
			}
		}
		if u, _ := got[0].Type.Attrs.Get("pprof.weight_unit"); u != c.weightUnit {
			t.Errorf("%v %s: weights in %q, want %q", c.values, c.unit, u, c.weightUnit)
		}
	}
}

func TestSampleType(t *testing.T) {
	p := simple(1e7)
	p.SampleType = append(p.SampleType, &profile.ValueType{Type: "samples", Unit: "count"}, &profile.ValueType{Type: "bytes", Unit: "bytes"})
	p.Sample[0].Value = []int64{1e7, 3, 99}
	for _, c := range []struct {
		shown, asked string
		want         uint64
	}{{"", "", 99}, {"samples", "", 3}, {"samples", "cpu", 10}} {
		p.DefaultSampleType = c.shown
		_, got := events(t, raw(t, p), &pprof.Options{SampleType: c.asked})
		if w := field(t, got[0], "Value").Uint(); w != c.want {
			t.Errorf("default %q, asked for %q: weight %d, want %d", c.shown, c.asked, w, c.want)
		}
	}
	if _, err := pprof.New(bytes.NewReader(raw(t, p)), &pprof.Options{SampleType: "wall"}); err == nil || !strings.Contains(err.Error(), "cpu, samples, bytes") {
		t.Errorf("a type that is not there: %v", err)
	}
}

func TestOwners(t *testing.T) {
	p := simple(1, 2, 3, 4)
	label := func(i int, key string, n int64) {
		s := p.Sample[i]
		if s.NumLabel == nil {
			s.NumLabel, s.NumUnit = map[string][]int64{}, map[string][]string{}
		}
		s.NumLabel[key], s.NumUnit[key] = []int64{n}, []string{"id"}
	}
	label(0, "pid", 42)
	label(0, "thread id", 43) // as profiles of former versions of ntconv spell it
	p.Sample[0].Label = map[string][]string{"thread": {"till"}}
	label(1, "pid", 42)
	p.Sample[2].Label = map[string][]string{"thread_id": {"77"}}
	_, got := events(t, raw(t, p), nil)
	var who []string
	for _, e := range got {
		who = append(who, fmt.Sprintf("%d/%d %s %s", e.Thread.Process.PID, e.Thread.TID, e.Thread.Name, e.Thread.Process.Name))
		if e.Capture != got[0].Capture || e.CPU != 0 || e.Flags != ntconv.FlagSorted {
			t.Errorf("event %+v", e)
		}
	}
	if want := "42/43 till shop|42/42  shop|1/77  shop|1/1  shop"; strings.Join(who, "|") != want {
		t.Errorf("%q, want %q", who, want)
	}
}

// Threads that have only names get IDs that no other thread has. Their labels stay unchanged, as the round trip
// requires.
func TestNamedThreads(t *testing.T) {
	p := simple(1, 1, 1, 1, 1, 1)
	for i, name := range []string{"main", "worker", "", "main", "gc", "main"} {
		if name != "" {
			p.Sample[i].Label = map[string][]string{"thread": {name}}
		}
	}
	p.Sample[4].NumLabel = map[string][]int64{"tid": {3}}
	p.Sample[5].NumLabel = map[string][]int64{"pid": {42}}
	data := raw(t, p)
	_, got := events(t, data, nil)
	var who []string
	for _, e := range got {
		who = append(who, fmt.Sprintf("%d/%d %s", e.Thread.Process.PID, e.Thread.TID, e.Thread.Name))
	}
	// 1 is the thread of samples without labels, and 3 is gc.
	if want := "1/2 main|1/4 worker|1/1 |1/2 main|1/3 gc|42/5 main"; strings.Join(who, "|") != want {
		t.Errorf("%q, want %q", strings.Join(who, "|"), want)
	}
	checkRoundTrip(t, data)

	p.Sample = slices.Delete(p.Sample, 2, 3)
	if _, got = events(t, raw(t, p), nil); got[0].Thread.TID != 1 {
		t.Errorf("the first thread has id %d", got[0].Thread.TID)
	}
}

func TestProcessNames(t *testing.T) {
	for _, c := range []struct {
		files []string // of the mappings; a sample is in each
		label string
		want  string
	}{
		{[]string{"/srv/shop", "/usr/lib/libfoo.so"}, "", "shop"}, // equal counts
		{[]string{"/srv/shop", "/lib/libc.so.6"}, "", "shop"},
		{[]string{"/lib/libc-2.15.so"}, "till", "till"},
		{[]string{`C:\srv\shop.exe`}, "", "shop.exe"},
		{[]string{"/usr/share/dotnet/System.Private.CoreLib.dll"}, "shop", "shop"}, // pool threads begin there
		{[]string{`C:\srv\shop.exe`}, "till", "till"},
		{[]string{""}, "", "process"},
	} {
		p := simple(slices.Repeat([]int64{1}, len(c.files))...)
		p.Mapping, p.Location = nil, nil
		for i, file := range c.files {
			m := &profile.Mapping{ID: uint64(i + 1), Start: uint64(i+1) << 16, Limit: uint64(i+2) << 16, File: file}
			l := &profile.Location{ID: uint64(i + 1), Mapping: m, Address: m.Start + 8}
			p.Mapping, p.Location = append(p.Mapping, m), append(p.Location, l)
			p.Sample[i].Location = []*profile.Location{l}
			if c.label != "" {
				p.Sample[i].Label = map[string][]string{"process": {c.label}}
			}
		}
		_, got := events(t, raw(t, p), nil)
		if name := got[0].Thread.Process.Name; name != c.want {
			t.Errorf("%q: process %q, want %q", c.files, name, c.want)
		}
	}
}

func TestLabelFrames(t *testing.T) {
	p := simple(1, 2)
	p.Sample[0].Label = map[string][]string{"endpoint": {"/cart"}, "thread": {"till"}}
	p.Sample[1].NumLabel, p.Sample[1].NumUnit = map[string][]int64{"endpoint": {3}}, map[string][]string{"endpoint": {"id"}}
	_, got := events(t, raw(t, p), &pprof.Options{LabelFrames: []string{"thread", "endpoint"}})
	var stacks []string
	for _, e := range got {
		var names []string
		for _, f := range e.Stack.Frames {
			names = append(names, f.Func.Name)
			if label := f.Flags&ntconv.FrameLabel != 0; label != strings.Contains(f.Func.Name, "=") || f.Mapping == nil || label && f.Mapping.File != "/labels/shop" {
				t.Errorf("frame %+v in %+v", f, f.Mapping)
			}
		}
		stacks = append(stacks, strings.Join(names, "<"))
	}
	if want := "main.main<endpoint=/cart<thread=till|main.main<endpoint=3 id"; strings.Join(stacks, "|") != want {
		t.Errorf("stacks %q, want %q", stacks, want)
	}
}

// Profilers for .NET write a function with ID 0 and refer to it.
func TestReservedFunctionID(t *testing.T) {
	build := func(functions ...[]byte) []byte {
		sample := message(2, message(1, []byte{1}), message(2, []byte{5}))
		location := message(4, number(1, 1), message(4, number(2, 9)), message(4, number(1, 7), number(2, 8)))
		tables := slices.Concat(message(1, number(1, 1), number(2, 2)), sample, location, bytes.Join(functions, nil))
		for _, s := range []string{"", "cpu", "nanoseconds", "Zero", "Seven"} {
			tables = append(tables, message(6, []byte(s))...)
		}
		return tables
	}
	zero, seven := message(5, number(2, 3)), message(5, number(1, 7), number(2, 4))
	report := new(ntconv.Report)
	_, got := events(t, build(zero, seven), &pprof.Options{Report: report})
	frames := got[0].Stack.Frames
	if len(frames) != 2 || frames[0].Func.Name != "Zero" || frames[0].Line != 9 || frames[1].Func.Name != "Seven" {
		t.Errorf("frames %+v", frames)
	}
	if report.Count(ntconv.CodeRepaired) != 1 {
		t.Errorf("report %v", report.Entries())
	}
	for _, bad := range [][]byte{build(seven), build(zero), build(zero, zero, seven)} {
		if _, err := pprof.New(bytes.NewReader(bad), nil); !errors.Is(err, ntconv.ErrCorrupt) {
			t.Errorf("% x: %v", bad, err)
		}
	}
}

// Errors contain the location and the reason.
func TestErrors(t *testing.T) {
	good := raw(t, simple(1, 2))
	with := func(change func(*profile.Profile)) []byte {
		p := simple(1, 2)
		change(p)
		return raw(t, p)
	}
	for _, c := range []struct {
		name   string
		data   []byte
		limits pprof.Limits
		is     error
		want   string
	}{
		{"nothing", nil, pprof.Limits{}, ntconv.ErrFormat, "byte 0"},
		{"cut", good[:len(good)-1], pprof.Limits{}, ntconv.ErrTruncated, "field"},
		{"cut in a sample", good[:20], pprof.Limits{}, ntconv.ErrTruncated, "byte "},
		{"a group", []byte("\x0b\x0c"), pprof.Limits{}, ntconv.ErrCorrupt, "wire type 3"},
		{"a number for a sample", []byte("\x10\x01"), pprof.Limits{}, ntconv.ErrCorrupt, "field 2"},
		{"text", []byte("some text\n"), pprof.Limits{}, nil, "byte "},
		{"no types", with(func(p *profile.Profile) { p.SampleType = nil }), pprof.Limits{}, ntconv.ErrCorrupt, "samples without sample types"},
		{"values", with(func(p *profile.Profile) { p.Sample[1].Value = []int64{1, 2} }), pprof.Limits{}, ntconv.ErrCorrupt, "sample 1: input is corrupt: 2 values for 1 types"},
		{"location", with(func(p *profile.Profile) { p.Sample[1].Location = []*profile.Location{{ID: 99}} }), pprof.Limits{}, ntconv.ErrCorrupt, "sample 1: input is corrupt: unknown location 99"},
		{"function", with(func(p *profile.Profile) { p.Location[0].Line[0].Function = &profile.Function{ID: 5} }), pprof.Limits{}, ntconv.ErrCorrupt, "location 0/line: input is corrupt: unknown function 5"},
		{"location 0", with(func(p *profile.Profile) { p.Location[0].ID = 0 }), pprof.Limits{}, ntconv.ErrCorrupt, "location 0: input is corrupt: ID 0"},
		{"twice", with(func(p *profile.Profile) { p.Location = append(p.Location, p.Location[0]) }), pprof.Limits{}, ntconv.ErrCorrupt, "location 1: input is corrupt: duplicate ID 1"},
		{"concatenated", append(slices.Clone(good), good...), pprof.Limits{}, ntconv.ErrCorrupt, "duplicate ID 1"},
		{"bytes", good, pprof.Limits{Bytes: 10}, ntconv.ErrLimit, "profile too large: limit 10 bytes, got 11 bytes"},
		{"labels", with(func(p *profile.Profile) { p.Sample[0].Label = map[string][]string{"a": {"b", "c"}} }), pprof.Limits{Labels: 1}, ntconv.ErrLimit, "too many labels of a sample: limit 1, got 2"},
	} {
		_, err := pprof.New(bytes.NewReader(c.data), &pprof.Options{Limits: c.limits})
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.is, c.want)
			continue
		}
		if located := new(ntconv.FormatError); !errors.As(err, &located) || located.Offset < 0 || located.Offset > int64(len(c.data)) {
			t.Errorf("%s: %v has no place", c.name, err)
		}
	}
}

// Contents that the model cannot represent are reported.
func TestNotCarried(t *testing.T) {
	p := simple(1)
	p.Comments = []string{"short", strings.Repeat("long ", 10_000)}
	p.Location[0].Line[0].Line = 1 << 40
	deep := slices.Repeat(p.Sample[0].Location, 11_000)
	p.Sample[0].Location = deep
	report := new(ntconv.Report)
	_, got := events(t, raw(t, p), &pprof.Options{Report: report})
	if n := len(got[0].Stack.Frames); n != 10_000 {
		t.Errorf("%d frames", n)
	}
	if c, ok := got[0].Type.Attrs.Get("pprof.comment.0"); !ok || c != "short" {
		t.Errorf("comment %q", c)
	}
	if report.Count(ntconv.CodeNotCarried) != 2 || report.Count(ntconv.CodeStackCut) != 1 {
		t.Errorf("report %v", report.Entries())
	}
}
