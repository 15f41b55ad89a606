package speedscope_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/speedscope"
	"github.com/ntconv/ntconv/internal/testing/readable"
)

// file returns a file with two frames and one profile.
func file(profile string) string {
	return `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"}]},` + "\n" + `"profiles":[` + profile + "]}"
}

// describe returns the events of a file, one per line, and the error.
func describe(t testing.TB, text string, o *speedscope.Options) string {
	t.Helper()
	src, err := speedscope.New(strings.NewReader(text), o)
	if err != nil {
		return err.Error()
	}
	defer src.Close()
	var b strings.Builder
	for e, err := range ntconv.Events(src) {
		readable.Must(t, err)
		if e.Kind != ntconv.KindEvent {
			continue
		}
		var stack []string
		if e.Stack != nil {
			for _, f := range e.Stack.Frames {
				stack = append([]string{f.Func.Name}, stack...)
			}
		}
		fmt.Fprintf(&b, "%d/%d %q %d %s", e.Thread.Process.PID, e.Thread.TID, e.Thread.Name, src.Info().Clock.Nanos(e.Time), e.Type.Name)
		for name, v := range e.Fields() {
			if name.Name != "Value" {
				fmt.Fprintf(&b, " %s=%v", name.Name, v)
			}
		}
		fmt.Fprintf(&b, " %s\n", strings.Join(stack, ";"))
	}
	return b.String()
}

// TestMalformed checks errors and their positions.
func TestMalformed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1, column 1: input is truncated"},
		{"[]", "line 1, column 1: input is corrupt: want an object, got a list"},
		{"{}", "unknown format: the members profiles and shared of speedscope are missing"},
		{`{"$schema":"https://www.speedscope.app/file-format-schema.json"}`, "member profiles is missing"},
		{`{"profiles":[]}`, "member shared.frames is missing"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]],"weights":[1]}`) + "x", "line 2, column 77: input is corrupt: invalid character 'x'"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]],"weights":[1]}`) + " {}", "line 2, column 78: input is corrupt: want the end of the text"},
		{file(`{"type":"sampled","unit":"none","samples":[[0,2]],"weights":[1]}`), "line 2, column 59, /profiles/0/samples/0/1: input is corrupt: no frame has index 2; shared.frames has 2"},
		{file(`{"type":"sampled","unit":"none","samples":[[0,-1]],"weights":[1]}`), "line 2, column 59, /profiles/0/samples/0/1: input is corrupt: want 0 to 4294967295, got -1"},
		{file(`{"type":"sampled","unit":"none","samples":[[0.5]],"weights":[1]}`), "column 57, /profiles/0/samples/0/0: input is corrupt: want an integer"},
		{file(`{"type":"sampled","unit":"none","samples":[["0"]],"weights":[1]}`), "want a number, got a string"},
		{file(`{"type":"sampled","unit":"none","samples":[[null]],"weights":[1]}`), "a frame is null"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]],"weights":[null]}`), "weight 0 is null"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]],"weights":[NaN]}`), "line 2, column 72, /profiles/0/weights: input is corrupt: invalid character 'N'"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]],"weights":[1,2]}`), "1 samples, but 2 weights"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]]}`), "1 samples, but 0 weights"},
		{file(`{"type":"sampled","unit":"none","samples":[[0]],"weights":[99999999999999999999]}`), "weight 1000000000000000000e2 is out of range"},
		{file(`{"type":"sampled","unit":"seconds","samples":[[0],[0],[0]],"weights":[3e9,3e9,3e9]}`), "is more than 100 years from the start"},
		{file(`{"type":"sampled","unit":"seconds","samples":[[0],[0]],"weights":[1e400,1]}`), "weight 1e400 is out of range"},
		{file(`{"type":"sampled","unit":"parsecs"}`), `line 2, column 38, /profiles/0/unit: input is corrupt: unknown unit "parsecs"; want none, bytes`},
		{file(`{"type":"sampled"}`), "profile 0 has no unit"},
		{file(`{"type":"drawn","unit":"none"}`), `want type sampled or evented, got "drawn"`},
		{file(`{"type":"evented","unit":"none","events":[{"type":"X","frame":0,"at":1}]}`), `want an event of type O or C, got "X"`},
		{file(`{"type":"evented","unit":"none","events":[{"type":"O","at":1}]}`), "an event has no frame or no time"},
		{file(`{"type":"evented","unit":"none","events":[{"type":"O","frame":0}]}`), "an event has no frame or no time"},
		{file(`{"type":"evented","unit":"none","events":[{"type":"O","frame":7,"at":1}]}`), "no frame has index 7"},
		{file(`{"type":"evented","type":"evented"}`), `/profiles/0/type: input is corrupt: member "type" occurs twice`},
		{`{"profiles":[{"type":"sampled","unit":"none","samples":[[5]],"weights":[1]}],"shared":{"frames":[]}}`, "column 58, /profiles/0/samples/0/0: input is corrupt: no frame has index 5; shared.frames has 0"},
		{`{"shared":{"frames":[{}]}}`, "a frame has no name"},
		{`{"shared":{"frames":[{"name":"a","line":1e30}]}}`, "the number is out of range"},
		{strings.Repeat("[", 20000), "want an object"},
		{`{"a":` + strings.Repeat("[", 20000), "input is corrupt: exceeded max depth"},
		{`{"profiles" []}`, "line 1, column 13"},
	} {
		if got := describe(t, c.text, nil); !strings.Contains(got, c.want) || !strings.HasPrefix(got, "speedscope: byte ") {
			t.Errorf("%.200s:\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// TestDefects checks how defects are read that do not make a file unreadable, and the report about them.
func TestDefects(t *testing.T) {
	evented := func(events string) string {
		return file(`{"type":"evented","name":"p","unit":"milliseconds","startValue":0,"endValue":9,"events":[` + events + `]}`)
	}
	for _, c := range []struct {
		text, want string
		code       ntconv.Code
		n          uint64
	}{
		{evented(`{"type":"O","frame":0,"at":1},{"type":"O","frame":1,"at":2},{"type":"C","frame":0,"at":4}`), // closes b, too
			"1/1 \"p\" 0 cpu time=1000000 a\n1/1 \"p\" 1000000 cpu time=2000000 a;b\n", ntconv.CodeRepaired, 1},
		{evented(`{"type":"O","frame":0,"at":1},{"type":"C","frame":1,"at":2},{"type":"C","frame":0,"at":4}`), // b is not open
			"1/1 \"p\" 0 cpu time=1000000 a\n1/1 \"p\" 1000000 cpu time=2000000 a\n", ntconv.CodeRepaired, 1},
		{evented(`{"type":"O","frame":0,"at":1}`), "1/1 \"p\" 0 cpu time=8000000 a\n", ntconv.CodeRepaired, 1},
		{evented(`{"type":"O","frame":0,"at":5},{"type":"O","frame":1,"at":3},{"type":"C","frame":1,"at":6},{"type":"C","frame":0,"at":7}`),
			"1/1 \"p\" 0 cpu time=1000000 a;b\n1/1 \"p\" 1000000 cpu time=1000000 a\n", ntconv.CodeOutOfOrder, 1},
		{file(`{"type":"sampled","name":"p","unit":"none","samples":[[0],[1]],"weights":[1.5,-2]}`),
			"1/1 \"p\" 0 cpu samples=2 a\n1/1 \"p\" 0 cpu samples=-2 b\n", ntconv.CodeNotCarried, 1},
		{file(`{"type":"sampled","name":"p","unit":"seconds","startValue":1e-9,"samples":[[],[1],[0]],"weights":[1e-9,-2,0.5e-9]}`), // rounded to 1 ns
			"1/1 \"p\" 0 cpu time=1 \n1/1 \"p\" 1 cpu time=-2000000000 b\n1/1 \"p\" 1 cpu time=1 a\n", ntconv.CodeNotCarried, 0},
		{file(`{"type":"sampled","name":"p\xff\ud800","unit":"none","samples":[[0]],"weights":[1]}`), "1/1 \"p\ufffd\ufffd\" 0 cpu samples=1 a\n", ntconv.CodeRepaired, 1},
		{"\ufeff" + file(`{"type":"sampled","name":"p","unit":"none","samples":[[0]],"weights":[1]}`), "1/1 \"p\" 0 cpu samples=1 a\n", ntconv.CodeRepaired, 0},
		{file(``), "", ntconv.CodeRepaired, 0},
	} {
		report := &ntconv.Report{}
		text := strings.ReplaceAll(c.text, `\xff`, "\xff")
		if got := describe(t, text, &speedscope.Options{Report: report}); got != c.want || report.Count(c.code) != c.n {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", c.text, got, c.want, report.Entries())
		}
	}
}

// TestInvalidSamples reads the files that speedscope's own tests have for its errors.
func TestInvalidSamples(t *testing.T) {
	for name, want := range map[string]string{
		"incomplete-trace":    "1/1 \"p1\" 0 cpu samples=100 A\n",
		"out-of-order-events": "1/1 \"p1\" 0 cpu samples=1 A\n1/1 \"p1\" 0 cpu samples=1 B;A\n1/1 \"p1\" 0 cpu samples=1 B;A;A\n",
	} {
		text, err := os.ReadFile("testdata/speedscope-invalid-" + name + ".json")
		readable.Must(t, err)
		report := &ntconv.Report{}
		if got := describe(t, string(text), &speedscope.Options{Report: report}); got != want || report.Count(ntconv.CodeRepaired) == 0 {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", name, got, want, report.Entries())
		}
	}
}

// A sampled profile that also has events, like slices of ntconv, keeps its samples.
func TestSamplesAndSlices(t *testing.T) {
	text := `{"exporter":"ntconv@1","shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"p (1) x: slices","unit":"nanoseconds",` +
		`"startValue":0,"events":[{"type":"O","frame":0,"at":4},{"type":"C","frame":0,"at":5}],"samples":[[0]],"weights":[7]}]}`
	if got := describe(t, text, nil); !strings.Contains(got, "=7 a\n") {
		t.Errorf("%s", got)
	}
}

// TestOwn reads what exporters/speedscope writes: threads and sample types by name, no profiles of all threads, slices
// that are not samples.
func TestOwn(t *testing.T) {
	text := `{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"ntconv@1.0","shared":{"frames":[{"name":"a"},{"name":"GC"}]},"profiles":[
		{"type":"sampled","name":"all threads: wall","unit":"nanoseconds","startValue":0,"endValue":3,"samples":[[0],[0]],"weights":[1,2]},
		{"type":"sampled","name":"shop (4711) main (12): wall","unit":"nanoseconds","startValue":0,"endValue":1,"samples":[[0]],"weights":[1]},
		{"type":"sampled","name":"shop (4711) thread 13: wall","unit":"nanoseconds","startValue":5,"endValue":7,"samples":[[0]],"weights":[2]},
		{"type":"sampled","name":"shop (4711) main (12): inuse (objects)","unit":"none","startValue":0,"endValue":4,"samples":[[0]],"weights":[4]},
		{"type":"evented","name":"shop (4711) GC pauses: slices","unit":"nanoseconds","startValue":0,"endValue":9,"events":[{"type":"O","frame":1,"at":2},{"type":"C","frame":1,"at":8}]},
		{"type":"evented","name":"shop (4711) main (12): slices","unit":"nanoseconds","startValue":0,"endValue":9,"events":[{"type":"O","frame":1,"at":2},{"type":"O","frame":0,"at":3}]}]}`
	want := `4711/12 "main" 0 cpu wall=1 inuse=0 a
4711/12 "main" 0 cpu wall=0 inuse=4 a
4711/4294967298 "GC pauses" 2 GC dur_ns=6 ` + `
4711/12 "main" 2 GC dur_ns=7 ` + `
4711/12 "main" 3 a dur_ns=6 ` + `
4711/13 "" 5 cpu wall=2 inuse=0 a
`
	if got := describe(t, text, nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLimits checks the names of the limits.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text   string
		limits speedscope.Limits
		want   string
	}{
		{`{"name":"` + strings.Repeat("x", 1<<17), speedscope.Limits{Value: 1 << 16}, speedscope.LimitValue},
		{file(`{"type":"sampled","unit":"none","samples":[` + strings.Repeat("[0],", 1000) + `[0]],"weights":[]}`), speedscope.Limits{Tables: 4000}, speedscope.LimitTables},
		{file(`{"type":"sampled","unit":"none","weights":[` + strings.Repeat("1,", 1000) + `1]}`), speedscope.Limits{Tables: 4000}, speedscope.LimitTables},
		{file(strings.Repeat(`{"type":"sampled","unit":"none"},`, 3) + `{"type":"sampled","unit":"none"}`), speedscope.Limits{Profiles: 3}, speedscope.LimitThreads},
	} {
		if got := describe(t, c.text, &speedscope.Options{Limits: c.limits}); !strings.Contains(got, c.want+" too") && !strings.Contains(got, "too many "+c.want) {
			t.Errorf("%s; want the limit %s", got, c.want)
		}
	}
}

// TestLarge checks that a profile whose samples are more than the memory of its source is read.
func TestLarge(t *testing.T) {
	var pairs strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&pairs, `{"type":"O","frame":%d,"at":%d},{"type":"C","frame":%[1]d,"at":%[3]d},`, i%2, i, i+1)
	}
	text := file(`{"type":"evented","unit":"seconds","startValue":0,"endValue":150000,"events":[` + strings.TrimSuffix(pairs.String(), ",") + `]}`)
	src, err := speedscope.New(strings.NewReader(text), &speedscope.Options{Limits: speedscope.Limits{Tables: 16 << 20}})
	readable.Must(t, err)
	defer src.Close()
	var n int
	for e, err := range ntconv.Events(src) {
		readable.Must(t, err)
		if e.Kind == ntconv.KindEvent {
			n++
		}
	}
	if n < 150_000 {
		t.Errorf("%d samples", n)
	}
}
