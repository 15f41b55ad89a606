package chrome_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/chrome"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/ntconvtest"
)

// read returns the events of a file, without definitions, its report, and the error that ends it.
func read(t testing.TB, text []byte, limits chrome.Limits) ([]*ntconv.Event, *ntconv.Info, *ntconv.Report, error) {
	t.Helper()
	report := &ntconv.Report{}
	src, err := chrome.New(bytes.NewReader(text), &chrome.Options{Report: report, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var events []*ntconv.Event
	for e, err := range ntconv.Events(ntconvtest.Poison(src)) {
		if err != nil {
			return events, src.Info(), report, err
		}
		if e.Kind == ntconv.KindEvent {
			events = append(events, e.Clone())
		}
	}
	return events, src.Info(), report, nil
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// describe returns an event as time, thread, phase, name, stack from the root and fields.
func describe(e *ntconv.Event) string {
	phase, _ := chromeevent.Of(e.Type)
	text := fmt.Sprintf("%d %s %d/%d %s %s", e.Time, e.Thread.Process.Name, e.Thread.Process.PID, int64(e.Thread.TID), phase, e.Type.Name)
	if e.Stack != nil {
		var names []string
		for _, f := range slices.Backward(e.Stack.Frames) {
			name := f.Func.Name
			if f.Mapping != nil {
				name = f.Mapping.File + "!" + name
			}
			if f.Line > 0 {
				name += fmt.Sprintf(" %s:%d", f.Func.File, f.Line)
			}
			names = append(names, name)
		}
		text += " [" + strings.Join(names, " | ") + "]"
	}
	for f, v := range e.Fields() {
		text += fmt.Sprintf(" %s=%v", f.Name, v)
	}
	return text
}

func checkEvents(t *testing.T, events []*ntconv.Event, want []string) {
	t.Helper()
	var got []string
	for _, e := range events {
		got = append(got, describe(e))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func checkReport(t *testing.T, report *ntconv.Report, want map[ntconv.Code]uint64) {
	t.Helper()
	for _, e := range report.Entries() {
		if want[e.Code] != e.Count {
			t.Errorf("reported %v", e)
		}
	}
	for c, n := range want {
		if report.Count(c) != n {
			t.Errorf("%v reported %d times, want %d", c, report.Count(c), n)
		}
	}
}

// TestV8 reads a profile whose chunks come in the wrong order, with idle time and the lines of samples.
func TestV8(t *testing.T) {
	events, info, report, err := read(t, testFile(t, "v8.json"), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, events, []string{
		`1100000  0/-1  metadata startTime=2026-11-21T10:00:00.5Z`,
		`1100000  10/11 M thread_name name=main thread`,
		`1100000  10/11  cpu [main shop.js:1 | (anonymous) shop.js:5] Value=150 samples=1 wall=150000`,
		`1100000  10/12 P Profile id=0x2 data=object`,
		`1250000  10/11  cpu [main shop.js:1 | (anonymous) shop.js:5] Value=50 samples=1 wall=50000`,
		`1400000  10/11  cpu [main shop.js:1 | pay shop.js:12] Value=100 samples=1 wall=100000`,
		`1500000  10/11  cpu [main shop.js:1] Value=100 samples=1 wall=100000`,
	})
	if want := time.Date(2026, 11, 21, 10, 0, 0, 5e8, time.UTC); !info.Clock.Time(events[0].Time).Equal(want) {
		t.Errorf("clock %v", info.Clock)
	}
	if events[2].Thread.Name != "main thread" {
		t.Errorf("thread %q", events[2].Thread.Name)
	}
	checkReport(t, report, nil)
}

// TestV8WithoutBegin reads chunks of a profile that began before the file. V8 writes a chunk after its samples, so the
// last sample of the first chunk is at its ts. Samples of nodes that a missing chunk defines are counted.
func TestV8WithoutBegin(t *testing.T) {
	const chunk = `{"ph":"P","cat":"v8","name":"ProfileChunk","id":"0x3","pid":1,"tid":2,"ts":%s,"args":{"data":{"cpuProfile":{%s"samples":[%s]},"timeDeltas":[%s]}}}`
	text := "[" + fmt.Sprintf(chunk, "1000", "", "8,8,2", "10,10,10") + "," +
		fmt.Sprintf(chunk, "2000", `"nodes":[{"id":9,"parent":2,"callFrame":{"functionName":"f"}}],`, "9,8,9", "20,10,10") + "]"
	events, _, report, err := read(t, []byte(text), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, events, []string{`1020000  1/2  cpu [f] Value=10 samples=1 wall=10000`, `1040000  1/2  cpu [f] Value=10 samples=1 wall=10000`})
	checkReport(t, report, map[ntconv.Code]uint64{ntconv.CodeRowSkipped: 4})
}

// TestV8Names reads what exporters/chrome states about the time of a V8 profile. Other names are not times.
func TestV8Names(t *testing.T) {
	for member, want := range map[string]string{
		``: "wall", `,"ntconv.samples":"cpu"`: "cpu", `,"ntconv.samples":"off_cpu"`: "off_cpu", `,"ntconv.samples":"bytes"`: "wall", `,"ntconv.samples":7`: "wall",
	} {
		events, _, _, err := read(t, []byte(`[{"ph":"P","name":"Profile","id":1,"pid":1,"tid":1,"ts":5,"args":{"data":{"startTime":5`+member+`}}},
			{"ph":"P","name":"ProfileChunk","id":1,"pid":1,"tid":1,"ts":5,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1]},"timeDeltas":[0],"endTime":9}}}]`), chrome.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkEvents(t, events, []string{`5000  1/1  cpu [f] Value=4 samples=1 ` + want + `=4000`})
	}
}

// TestDates reads the dates that programs state. A file that states none has none, unless its clock is the time since
// 1970.
func TestDates(t *testing.T) {
	for _, c := range []struct {
		ts   string
		tail string
		want time.Time
	}{
		{"1200", `,"beginningOfTime":1669000000000000`, time.Unix(1669000000, 1_200_000)},
		{"1200", `,"baseTimeNanoseconds":1735632360000000000`, time.Unix(1735632360, 1_200_000)},
		{"1200", `,"metadata":{"profile_start_ts":1669000000000}`, time.Unix(1669000000, 1_200_000)},
		{"1200", `,"metadata":{"startTime":"2024-05-06T07:08:09.5Z"}`, time.Date(2024, 5, 6, 7, 8, 9, 500e6, time.UTC)},
		{"1200", ``, time.Time{}},
		{"1700000000000001.5", ``, time.Unix(1700000000, 1500)},
		{"946684799999999", ``, time.Time{}},
		{"946684800000000", ``, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"4102444800000000", ``, time.Time{}},
		{"1700000000000000", `,"baseTimeNanoseconds":5`, time.Unix(1700000000, 5)},
		{"-3", `,"baseTimeNanoseconds":-5`, time.Time{}},
	} {
		text := `{"traceEvents":[{"pid":1,"tid":2,"ph":"X","ts":` + c.ts + `,"dur":5,"name":"Source"}]` + c.tail + `}`
		events, info, report, err := read(t, []byte(text), chrome.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if at := info.Clock.Time(events[len(events)-1].Time); !at.Equal(c.want) {
			t.Errorf("%s: event at %v, want %v", text, at, c.want)
		}
		if at := info.Clock.Nanos(events[len(events)-1].Time); c.want.IsZero() && at != 0 {
			t.Errorf("%s: event %d ns after the start", text, at)
		}
		checkReport(t, report, nil)
	}
}

func TestCPUProfile(t *testing.T) {
	events, _, _, err := read(t, testFile(t, "own.cpuprofile"), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, events, []string{
		`5100000  1/1  cpu [main a.js:1] Value=200 samples=1 wall=200000`,
		`5300000  1/1  cpu [main a.js:1 | scan a.js:8] Value=300 samples=1 wall=300000`,
		`5600000  1/1  cpu [main a.js:1 | scan a.js:8] Value=50 samples=1 wall=50000`,
		`5650000  1/1  cpu [(program)] Value=350 samples=1 wall=350000`,
	})
}

func TestListedSamples(t *testing.T) {
	events, _, report, err := read(t, testFile(t, "samples.json"), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, events, []string{
		`11000000 p 7/0 M process_name name=p`,
		`11000000 p 7/8  cpu [a | b | lib!c] Value=2 samples=1 weight=2`,
		`12000500 p 7/8  cpu [a | b] Value=2 samples=1 cycles=2`,
		`13000000 p 7/8  cpu [a | b] Value=2 samples=1 cpu=1500`,
		`14000000  0/77  cpu Value=0 samples=1 cpu=1`,
	})
	if events[2].CPU != 1 || events[1].CPU != ntconv.CPUUnknown {
		t.Error("CPUs", events[1].CPU, events[2].CPU)
	}
	checkReport(t, report, map[ntconv.Code]uint64{ntconv.CodeRowSkipped: 1, ntconv.CodeNotCarried: 2})
}

// TestCrash reads the array form without its end.
func TestCrash(t *testing.T) {
	for _, cut := range []string{"", ",\n", ",", " "} {
		text := append(bytes.TrimRight(testFile(t, "crash.json"), ",\n"), cut...)
		events, _, report, err := read(t, text, chrome.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkEvents(t, events, []string{"1000  1/1 B a", "2000  1/1 E E", "3000  1/1 B open"})
		checkReport(t, report, map[ntconv.Code]uint64{ntconv.CodeRepaired: 2}) // no end of the array, of a slice
	}
}

func TestOdd(t *testing.T) {
	events, info, report, err := read(t, testFile(t, "odd.json"), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkEvents(t, events, []string{
		`1700000000000000000  2147483649/2147483650 X names`,
		`1700000000000000000  2147483649/2147483651 X names again`,
		`1700000000000000123  20/21 X strings dur_ns=1001`,
		`1700000000000002123  20/21 X big dur_ns=1000000`,
		`1700000000000003123  20/21 X finer dur_ns=1`,
		`1700000000000004000  20/21 i dup last args={"a":1,"a":2}`,
		`1700000000000005000  2147483652/2147483653 i null cat=null args=null`,
		`1700000000000006000  20/21 E nothing begins`,
		`1700000000000006000  20/21 i no ts`,
		`1700000000000007000  20/21 i unknown frame sf=99`,
		`1700000000000008000  0/-1 i no one`,
	})
	if want := time.Unix(1.7e9, 0); !info.Clock.Time(events[0].Time).Equal(want) {
		t.Errorf("starts at %v, want %v", info.Clock.Time(events[0].Time), want)
	}
	checkReport(t, report, map[ntconv.Code]uint64{ntconv.CodeRowSkipped: 2, ntconv.CodeRounded: 1, ntconv.CodeUnknownStack: 1, ntconv.CodeRepaired: 2})
}

// TestPhases counts the phases of the catalogue: each event is present, with its stack.
func TestPhases(t *testing.T) {
	events, _, report, err := read(t, testFile(t, "phases.json"), chrome.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var phases, stacks []string
	last := ntconv.Ticks(0)
	for i, e := range events {
		phase, ok := chromeevent.Of(e.Type)
		if !ok || e.Time < last || e.Seq != uint32(i+1) {
			t.Errorf("%s: phase %v, number %d, %d after %d", describe(e), ok, e.Seq, e.Time, last)
		}
		if last = e.Time; phase != "" {
			phases = append(phases, phase)
		}
		if e.Stack != nil {
			stacks = append(stacks, describe(e))
		}
	}
	slices.Sort(phases)
	if got := strings.Join(phases, ""); got != "()BCDEFIMMMMNOPRSTVXXXXXZbbbceeefinpstv" {
		t.Errorf("phases %s", got)
	}
	if want := []string{"202000 shop 10/11 X inline stack [main | scan] dur_ns=1000", "203000 shop 10/11 X stack by id [shop.dll!main | shop.dll!pay] dur_ns=1000 cname=good"}; !slices.Equal(stacks, want) {
		t.Errorf("stacks\n%s", strings.Join(stacks, "\n"))
	}
	checkReport(t, report, nil) // a file without a date is a valid file
}

// TestErrors checks that an error states its position, and that the events before it are delivered.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text, want string
		events     int
		is         error
	}{
		{"", "line 1, column 1: unknown format: want an array of events or an object, got nothing", 0, ntconv.ErrFormat},
		{"hello", "line 1, column 1: unknown format", 0, ntconv.ErrFormat},
		{`[{"ph":"i","ts":1},` + "\n" + `{"ph":"i" "ts":2}]`, `byte 30: line 2, column 11: input is corrupt: invalid JSON: want a comma or the end of the array or object, got '"'`, 1, ntconv.ErrCorrupt},
		{`[{"ph":"i","ts":1}` + "\n\n" + ` {"ph":"i"}]`, `line 3, column 2: input is corrupt: invalid JSON: want a comma or ], got '{'`, 1, ntconv.ErrCorrupt},
		{`[{"ph":"i","ts":1},{"ph":"i","ts":`, `byte 34: line 1, column 35: input is truncated`, 1, ntconv.ErrTruncated},
		{`{"traceEvents":[{"ph":"i","ts":1},`, `line 1, column 35: input is truncated`, 1, ntconv.ErrTruncated},
		{`{"traceEvents":[{"ph":"i","ts":1}],"a"`, `input is truncated`, 1, ntconv.ErrTruncated},
		{`{"traceEvents":[{"ph":"i","ts":1}],"a":1`, `input is truncated`, 2, ntconv.ErrTruncated},
		{`{"traceEvents":[{"ph":"i","ts":01}]}`, `column 33: input is corrupt: invalid JSON: want no digit after a leading 0, got '1'`, 0, ntconv.ErrCorrupt},
		{`{"traceEvents":[{"ph":"i","ts":1}],5}`, `column 36: input is corrupt: invalid JSON: want a name in quotes, got '5'`, 1, ntconv.ErrCorrupt},
		{`[{"ph":"i","ts":1,"args":{"a":"` + "\n" + `"}}]`, `line 1, column 32: input is corrupt: invalid JSON: want no control character in a string`, 0, ntconv.ErrCorrupt},
		{`[{"a":` + strings.Repeat("[", 600), "nesting of JSON too", 0, ntconv.ErrLimit},
		{`[{"ph":"i","ts":1},{"a":"` + strings.Repeat("x", 2000) + `"}]`, "line 1, column 20: JSON of an event or a member too large: limit 1000 bytes", 1, ntconv.ErrLimit},
	} {
		events, _, _, err := read(t, []byte(c.text), chrome.Limits{Value: 1000})
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || len(events) != c.events {
			t.Errorf("%.60q: %d events, %v; want %d, %s", c.text, len(events), err, c.events, c.want)
		}
	}
}
