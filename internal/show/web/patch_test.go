package web

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// sized returns a profile of long times and many bytes, whose functions have names that look like values.
func sized() *profile.Profile {
	p := shop()
	p.SampleType = []*profile.ValueType{{Type: "wall", Unit: "nanoseconds"}, {Type: "space", Unit: "bytes"}}
	p.Sample[0].Value, p.Sample[1].Value = []int64{149_915_960_000, 8_000_000}, []int64{900_000_000, 50_000}
	p.DurationNanos = 150e9
	p.Function[1].Name, p.Function[2].Name = "Work.12MB 5ms(7kB)", "Duration: 8kB"
	return p
}

// pprofUnits matches values in units that only pprof uses.
var pprofUnits = regexp.MustCompile(`\d(?:[kMGTP]B|us)\b|\d{4,}(?:\.\d+)?ms`)

// All values have the units of the other commands, however different they are, and names do not change.
func TestPageUnits(t *testing.T) {
	s := newTestServer(t, sized(), &ServerOptions{})
	cookie := enter(t, s)
	for path, want := range map[string][]string{
		"/top?si=wall":           {`"FlatFormat":"2m30s"`, `"FlatFormat":"900ms"`, "Duration: 2m30s, Total samples = 2m31s ", "accounting for 2m31s, "},
		"/top?si=space":          {`"FlatFormat":"7.63 MiB"`, `"FlatFormat":"48.8 KiB"`, "Total samples = 7.68 MiB "},
		"/peek?f=Work.*&si=wall": {" 2m30s   100% |   main\n"},
		"/peek?f=main&si=space":  {"    7.68MiB   100%                | main\n", " 7.63MiB 99.38% |   Work.12MB 5ms(7kB)\n", " 48.8KiB  0.62% |   Duration: 8kB\n"},
		"/flamegraph?si=space":   {"Total samples = 7.68 MiB "},
	} {
		w := get(s, cookie, path)
		body := strings.ReplaceAll(w.Body.String(), "&#43;", "+")
		for _, text := range want {
			if w.Code != 200 || !strings.Contains(body, text) {
				t.Errorf("%s: %d, no %q in %s", path, w.Code, text, regexp.MustCompile(`(?s)<style.*?</style>|<script.*?(?:viewer\(new|</script>)`).ReplaceAllString(body, ""))
			}
		}
		rest := regexp.MustCompile(`Work\.12MB 5ms\(7kB\)|(12MB 5ms|5ms)\(7kB\)|Duration: 8kB`).ReplaceAllString(body, "")
		if found := pprofUnits.FindString(rest); found != "" {
			t.Errorf("%s: %q is a unit of pprof", path, found)
		}
	}
}

// The report in text has pprof's numbers and columns, with the right name of the unit.
func TestReportUnits(t *testing.T) {
	p := sized()
	p.Sample[1].Value[1] = 1500 // pprof's unit of all values follows from the smallest one
	report, _, err := Top(p, &TopOptions{SampleType: "space"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Total samples = 7813.96KiB", "\n7812.50KiB   100%   100% 7812.50KiB   100%  Work.12MB 5ms(7kB)\n",
		"\n   1.46KiB 0.019%   100%    1.46KiB 0.019%  Duration: 8kB\n", "\n         0     0%   100% 7813.96KiB   100%  main\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
}

// A page of another version of pprof is not shown, because its search and its units would be others.
func TestPatchesFit(t *testing.T) {
	s := newTestServer(t, shop(), &ServerOptions{})
	cookie := enter(t, s)
	for path, list := range map[string][]patch{"/top?f=nothing": topPatches(), "/flamegraph?f=nothing": flamePatches(), "/top": topPatches(), "/flamegraph": flamePatches()} {
		w := get(s, cookie, path)
		for _, p := range list {
			if w.Code != 200 || !strings.Contains(w.Body.String(), strings.TrimPrefix(p.after, "<script>")) {
				t.Errorf("%s: %d, no %q", path, w.Code, p.after)
			}
		}
	}
	other := &response{}
	other.body.WriteString("<html></html>")
	if err := other.apply(topPatches()); err == nil {
		t.Error("a page without the places is shown")
	}
}
