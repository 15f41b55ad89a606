package folded_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/sample"
)

var (
	shop    = &ntconv.Process{PID: 42, Name: "shop"}
	till    = &ntconv.Thread{TID: 7, Name: "till", Process: shop}
	idle    = &ntconv.Thread{TID: ntconv.TIDUnknown, Process: shop}
	cpuType = &ntconv.Type{
		Provider: "Universal.Events", ID: 1, Name: "cpu", Fields: []ntconv.Field{{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}},
	}
	info = &ntconv.Info{Format: "test", Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
)

// sample returns n samples of CPU time, of 1 ms each, with a stack of names, leaf first.
func sampled(th *ntconv.Thread, n uint64, names ...string) *ntconv.Event {
	var s *ntconv.Stack
	if len(names) > 0 {
		s = &ntconv.Stack{}
		for _, name := range names {
			s.Frames = append(s.Frames, ntconv.Frame{Func: &ntconv.Function{Name: name}})
		}
	}
	return &ntconv.Event{Type: cpuType, Thread: th, Capture: th, Stack: s, Payload: binary.AppendUvarint(nil, n)}
}

// export returns the lines of some events.
func export(t testing.TB, o folded.Options, events ...*ntconv.Event) []string {
	t.Helper()
	var out bytes.Buffer
	sink := folded.New(&out, info, nil, &o)
	for _, e := range events {
		if err := sink.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if last := lines[len(lines)-1]; last != "" || sink.Summary().Items != len(lines)-1 {
		t.Fatalf("%d lines and %q, summary %+v", len(lines)-1, last, sink.Summary())
	}
	return lines[:len(lines)-1]
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLines(t *testing.T) {
	events := []*ntconv.Event{
		sampled(till, 2, "b", "a"), sampled(idle, 3, "a"), sampled(till, 1, "z", "a b"), sampled(idle, 4, "b", "a"), sampled(till, 5), sampled(till, 0, "zero"),
	}
	want := []string{"[no stack] 5000000", "a 3000000", "a;b 6000000", "a b;z 1000000"}
	for range 24 {
		check(t, export(t, folded.Options{}, events...), want...) // whatever the order
		events = append(events[1:], events[0])
	}
	check(t, export(t, folded.Options{SampleType: "samples"}, events...), "[no stack] 5", "a 3", "a;b 6", "a b;z 1")
	check(t, export(t, folded.Options{ProcessRoot: true, ThreadRoot: true}, events...),
		"shop-42;thread;a 3000000", "shop-42;thread;a;b 4000000", "shop-42;till-7;[no stack] 5000000", "shop-42;till-7;a;b 2000000", "shop-42;till-7;a b;z 1000000")
	check(t, export(t, folded.Options{ThreadRoot: true}, events[0]), "till-7;a;b 2000000")
	check(t, export(t, folded.Options{}))
}

func TestUnits(t *testing.T) {
	report := &ntconv.Report{}
	events := []*ntconv.Event{sampled(till, 1, "a"), sampled(till, 499, "b"), sampled(till, 1500, "c")}
	check(t, export(t, folded.Options{Unit: "microseconds"}, events...), "a 1000", "b 499000", "c 1500000")
	check(t, export(t, folded.Options{Unit: "milliseconds"}, events...), "a 1", "b 499", "c 1500")
	check(t, export(t, folded.Options{Unit: "seconds", Options: sample.Options{Report: report}}, events...), "c 2")
	if report.Count(ntconv.CodeNotCarried) != 2 {
		t.Errorf("report %v", report.Entries())
	}
	for _, o := range []folded.Options{{Unit: "fortnights"}, {Unit: "seconds", SampleType: "samples"}} {
		sink := folded.New(&bytes.Buffer{}, info, nil, &o)
		if err := errors.Join(sink.Write(events[0]), sink.Close()); !errors.Is(err, ntconv.ErrUnsupported) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	sink := folded.New(&bytes.Buffer{}, info, nil, &folded.Options{SampleType: "inuse"})
	var unknown *folded.SampleTypeError
	if err := sink.Close(); !errors.As(err, &unknown) || !slices.Equal(unknown.Has, []string{"samples", "wall"}) {
		t.Errorf("error %v", err)
	}
}

func TestAnnotations(t *testing.T) {
	e := sampled(till, 1, "memcpy", "Inner", "Outer", "libc", "Outer")
	for i, flags := range []ntconv.FrameFlags{ntconv.FrameKernel, ntconv.FrameInlined | ntconv.FrameManaged, ntconv.FrameManaged, 0, ntconv.FrameUnresolved} {
		e.Stack.Frames[i].Flags = flags
	}
	check(t, export(t, folded.Options{Annotate: true}, e), "Outer;libc;Outer_[j];Inner_[i];memcpy_[k] 1000000")
	check(t, export(t, folded.Options{}, e), "Outer;libc;Outer;Inner;memcpy 1000000")
}

// TestNames checks how names are changed that would otherwise be misread.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"Shop.Till.Scan(class System.String, int32)": "Shop.Till.Scan(class System.String, int32)",
		"operator new[](unsigned long)":              "operator new[](unsigned long)",
		"f;g":                                        "f:g",
		"f\ng\r\x00\x1b\u0085\u2028":                 "f_g_____",
		"worker 12":                                  "worker_12",
		"worker 1 12.5":                              "worker 1_12.5",
		"worker 12\u00a034":                          "worker 12_34",
		"worker 12 x":                                "worker 12 x",
		" f ":                                        "_f_",
		"  ":                                         "__",
		"# f":                                        "#_f",
		"#":                                          "#_",
		"#f":                                         "#f",
		"# 5":                                        "#_5",
		"\ufefff":                                    "_f",
		"f\xff\xfeg":                                 "f\ufffdg",
		"":                                           "(no name)",
		"12":                                         "12",
	} {
		report := &ntconv.Report{}
		check(t, export(t, folded.Options{Options: sample.Options{Report: report}}, sampled(till, 1, "leaf", name), sampled(till, 1, name)), sorted(want+" 1000000", want+";leaf 1000000")...)
		if changed := name != want && name != ""; (report.Count(ntconv.CodeNotCarried) == 1) != changed {
			t.Errorf("%q: report %v", name, report.Entries())
		}
	}
}

func sorted(list ...string) []string {
	slices.Sort(list)
	return list
}

// lineOfFlamegraph and lineOfSpeedscope are how these programs recognize a line: the greedy stack, white space, the
// value.
var (
	lineOfFlamegraph = regexp.MustCompile(`^(.*)\s+?(\d+(?:\.\d*)?)$`)
	lineOfSpeedscope = regexp.MustCompile(`^(.*) (\d+)$`)
)

// FuzzNames checks for any names that other readers find the written frames and value in each line.
func FuzzNames(f *testing.F) {
	f.Add("a;b", "c 1", uint16(1))
	f.Add("\xff\n", " # 12", uint16(7))
	f.Fuzz(func(t *testing.T, leaf, root string, n uint16) {
		for _, line := range export(t, folded.Options{ProcessRoot: n&1 != 0, Annotate: true, Unit: "milliseconds"}, sampled(till, uint64(n), leaf, root), sampled(till, 3, root)) {
			for _, pattern := range []*regexp.Regexp{lineOfFlamegraph, lineOfSpeedscope} {
				m := pattern.FindStringSubmatch(line)
				if m == nil {
					t.Fatalf("%q is not a line for %v", line, pattern)
				}
				if pattern.MatchString(m[1]) {
					t.Fatalf("%q has two values for %v", line, pattern)
				}
				frames := strings.Split(m[1], ";")
				if want := 1 + int(n&1); len(frames) != want && len(frames) != want+1 || slices.Contains(frames, "") {
					t.Fatalf("%q has frames %q", line, frames)
				}
				if m[2] != "3" && m[2] != fmt.Sprint(n) && m[2] != fmt.Sprint(uint64(n)+3) {
					t.Fatalf("%q has value %s", line, m[2])
				}
			}
			if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "\ufeff") {
				t.Fatalf("%q begins like a comment or with a byte order mark", line)
			}
		}
	})
}

// failing accepts some bytes.
type failing struct{ left int }

var errFull = errors.New("disk full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	for _, room := range []int{0, 100_000} {
		sink := folded.New(&failing{room}, info, nil, nil)
		for i := range 10_000 {
			if err := sink.Write(sampled(till, 1, fmt.Sprint("function number ", i, "()"))); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Close(); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

// TestMemoryFollowsStacks checks that samples of known stacks do not allocate, regardless of their labels.
func TestMemoryFollowsStacks(t *testing.T) {
	sink := folded.New(&bytes.Buffer{}, info, nil, nil)
	events := []*ntconv.Event{sampled(till, 1, "b", "a"), sampled(idle, 1, "a"), sampled(till, 1, "c", "a")}
	for i := range 100 {
		e := sampled(till, 1, "b", "a")
		e.Stack = events[0].Stack
		e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelInt, Key: "request", Num: int64(i)}})
		events = append(events, e)
	}
	next := 0
	write := func() {
		if err := sink.Write(events[next%len(events)]); err != nil {
			t.Fatal(err)
		}
		next++
	}
	for range 10 {
		write()
	}
	if n := testing.AllocsPerRun(1000, write); n > 0 {
		t.Errorf("%v allocations per event", n)
	}
}
