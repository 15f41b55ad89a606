package firefox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/firefox"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/testing/readable"
	"github.com/ntconv/ntconv/ntconvtest"
)

type jsonSamples struct {
	Length         int
	Stack          []*int
	Weight         []float64
	WeightType     string
	ThreadCPUDelta []*float64
}

// jsonProfile is version 57 of the format, for encoding/json.
type jsonProfile struct {
	Meta    struct{ Interval float64 }
	Threads []struct {
		Name                                      string
		Samples, NativeAllocations, JsAllocations jsonSamples
		StackTable                                struct {
			Frame  []int
			Prefix []*int
		}
		FrameTable struct{ Func []int }
		FuncTable  struct{ Name []int }
	}
	Shared struct{ StringArray []string }
}

func nanos(ms float64) int64 { return int64(math.Round(ms * 1e6)) }

// model reads version 57 in the simplest possible way.
func model(t readable.Failer, text []byte) readable.Totals {
	t.Helper()
	var p jsonProfile
	readable.Must(t, json.Unmarshal(text, &p))
	out := readable.Totals{}
	for _, th := range p.Threads {
		stackOf := func(n *int) (names []string) {
			for ; n != nil; n = th.StackTable.Prefix[*n] {
				names = append([]string{p.Shared.StringArray[th.FuncTable.Name[th.FrameTable.Func[th.StackTable.Frame[*n]]]]}, names...)
			}
			return names
		}
		for i, s := range th.Samples.Stack {
			weight := 1.0
			if th.Samples.Weight != nil {
				weight = th.Samples.Weight[i]
			}
			switch th.Samples.WeightType {
			case "samples":
				out.Add(th.Name, "samples", stackOf(s), int64(weight))
				out.Add(th.Name, "time", stackOf(s), int64(weight)*nanos(p.Meta.Interval))
			case "tracing-ms":
				out.Add(th.Name, "time", stackOf(s), nanos(weight))
			default:
				out.Add(th.Name, "bytes", stackOf(s), int64(weight))
			}
			if c := th.Samples.ThreadCPUDelta; i > 0 && c != nil && c[i] != nil {
				out.Add(th.Name, "cpu", stackOf(s), int64(*c[i])*1000)
			}
		}
		for i, s := range th.NativeAllocations.Stack {
			if w := th.NativeAllocations.Weight[i]; w < 0 {
				out.Add(th.Name, "native_freed", stackOf(s), int64(-w))
			} else {
				out.Add(th.Name, "native_objects", stackOf(s), 1)
				out.Add(th.Name, "native_space", stackOf(s), int64(w))
			}
		}
		for i, s := range th.JsAllocations.Stack {
			out.Add(th.Name, "js_objects", stackOf(s), 1)
			out.Add(th.Name, "js_space", stackOf(s), int64(th.JsAllocations.Weight[i]))
		}
	}
	return out
}

func open(t readable.Failer, text []byte, report *ntconv.Report) ntconv.Source {
	t.Helper()
	src, err := firefox.New(bytes.NewReader(text), &firefox.Options{Report: report})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return ntconvtest.Poison(src)
}

// checkSums checks the totals of a profile.
func checkSums(t readable.Failer, text []byte, want readable.Totals) {
	t.Helper()
	thread := func(s *profile.Sample) string { return strings.Join(s.Label["thread"], "") }
	readable.CheckTotals(t, func() ntconv.Source { return open(t, text, nil) }, want, thread)
}

// lines returns the events of a source as text: time, thread, name, fields or the event of Chrome's format, stack.
func lines(t readable.Failer, src ntconv.Source) (list []string) {
	t.Helper()
	decoder := chromeevent.NewDecoder(nil)
	for e, err := range ntconv.Events(src) {
		readable.Must(t, err)
		if e.Kind != ntconv.KindEvent || e.Type.Provider == "Universal.System" || e.Type.Provider == "ntconv" {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d %d/%d %s", src.Info().Clock.Nanos(e.Time), e.Thread.Process.PID, e.Thread.TID, e.Type.Name)
		if _, ok := chromeevent.Of(e.Type); ok {
			c, ok := decoder.Decode(e)
			if !ok {
				t.Fatalf("the event is not decoded: %v", e.Type)
			}
			fmt.Fprintf(&b, " %s %s %s %d %s", c.Phase, c.Category, c.Name, c.Duration, canonical(t, c.Args))
		} else {
			for f, v := range e.Fields() {
				fmt.Fprintf(&b, " %s=%v", f.Name, v)
			}
		}
		if e.Stack != nil {
			for _, f := range e.Stack.Frames {
				fmt.Fprintf(&b, " < %s:%d:%d %s:%d %d", f.Func.Name, f.Line, f.Column, f.Func.File, f.Func.StartLine, f.Flags)
				if f.Mapping != nil {
					b.WriteString(" " + f.Mapping.File + " " + f.Mapping.BuildID)
				}
			}
		}
		list = append(list, b.String())
	}
	return list
}

// canonical returns an object with its members sorted.
func canonical(t readable.Failer, object []byte) string {
	t.Helper()
	if object == nil {
		return ""
	}
	var v any
	readable.Must(t, json.Unmarshal(object, &v))
	text, err := json.Marshal(v)
	readable.Must(t, err)
	return string(text)
}

func readFile(t testing.TB, version int) []byte {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("testdata/profile-%d.json", version))
	readable.Must(t, err)
	return text
}

// TestVersions checks that a profile gives the same events in all versions, upgraded by the Firefox Profiler, and their
// totals.
func TestVersions(t *testing.T) {
	base := readFile(t, 57)
	want, totals := lines(t, open(t, base, nil)), model(t, base)
	if len(want) != 25 || len(totals) < 20 {
		t.Fatalf("%d events, %d totals", len(want), len(totals))
	}
	for _, version := range []int{57, 60, 66, 71, 75} {
		text := readFile(t, version)
		got := lines(t, open(t, text, nil))
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Errorf("version %d, event %d:\n%s\nwant\n%s", version, i, got[i], want[i])
			}
		}
		checkSums(t, text, totals)
	}
}

// TestMarkers checks markers and counters against what the file says.
func TestMarkers(t *testing.T) {
	want := []string{
		`1000000 10/11 malloc C Memory malloc 0 {"number":3,"value":1000}`,
		`1000000 10/11 idle X Other idle 2500000 `,
		`1250000 2/30 power C power power 0 {"value":7}`,
		`1500000 10/11 GC X Shop GC 1000000 {"gen":2,"reason":"a unique text","type":"GC"} < read:40:5 :0 1 /usr/lib/libshop.so c0de < scan:12:0 :0 0 /usr/lib/libshop.so c0de < main:0:0 :0 0 /usr/lib/libshop.so c0de`,
		`2000000 10/11 malloc C Memory malloc 0 {"number":1,"value":800}`,
		`2000000 10/11 Paint X Other Paint 2750000 {"done":true,"layers":4,"type":"Paint"}`,
		`2250000 2/30 power C power power 0 {"value":8}`,
		`2250000 10/11 Load i Network Load 0 `,
		`3000000 10/11 malloc C Memory malloc 0 {"number":1,"value":850.5}`,
		`3000001 10/11 Message i Other Message 0 {"flow":"flow-17","nested":{"a":[1,2.5,null]},"text":"hällo\n","type":"Message"}`,
		`6000000 10/11 Paint X Other Paint 0 `,
	}
	report := &ntconv.Report{}
	var got []string
	for _, l := range lines(t, open(t, readFile(t, 57), report)) {
		if !strings.Contains(l, " cpu ") {
			got = append(got, l)
		}
	}
	if !slices.Equal(got, want) || report.Count(ntconv.CodeRepaired) != 2 {
		t.Errorf("got\n%s\nwant\n%s\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"), report.Entries())
	}
	src := open(t, readFile(t, 57), nil)
	if wall := src.Info().Clock.Wall.UnixNano(); wall != 1700000000000250000 {
		t.Errorf("start %d", wall)
	}
}
