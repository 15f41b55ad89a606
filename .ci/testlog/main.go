// Testlog reads the output of go test -json and prints its essential parts: the final line of each package, the output
// of failed tests, the slowest tests, and the number of skipped tests by reason. It fails if a test failed, or if a test
// was skipped for a reason that is not in the list, because everything in a fresh clone must be tested there.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// wants lists the permitted reasons for skipping a test, with words in the messages of skipped tests.
var wants = []struct {
	what  string
	words []string
}{
	{
		"reference data, which is next to the checkout (../shared or NTCONV_SHARED)",
		[]string{"reference data", "NTCONV_SHARED", "reference output"},
	},
	{
		"the program that runs TraceEvent, which is part of the reference data",
		[]string{"reference reader", "runs another program"},
	},
	{
		"Node and the packages of e2e, e2e/firefox, exporters/html/page and fleet",
		[]string{"no Node", "npm --prefix fleet install", "npm --prefix e2e ci", "npm --prefix e2e/firefox ci", "npm --prefix exporters/html/page ci"},
	},
	{"Chromium or Firefox, for consumers that are web pages", []string{"no Chromium", "firefox is not installed"}},
	{"the OpenTelemetry Collector, which make nightly builds from modules that it downloads", []string{"no collector"}},
	{"test files of other modules, which the module cache may lack", []string{"the module cache has no"}},
	{"time: make nightly runs the test, a flag enables it, or -short disables it", []string{"make nightly", "-big converts", "-overhead prints", "short mode"}},
	{"compilers and binutils, for tests that look up functions of programs", []string{"is not installed"}},
	{
		"a permission or ability of the operating system",
		[]string{"needs permission", "on this system", "no FIFOs", "file size limits", "no pseudo terminals"},
	},
}

// An event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string  // package that was not built
	Elapsed                       float64 // seconds
}

type test struct{ pkg, name string }

// A log is the state of the output read so far.
type log struct {
	out     io.Writer
	output  map[test]*strings.Builder
	passed  int
	failed  []test
	skipped [][]test // indexed like wants
	unknown []test
	seconds map[test]float64 // of tests that passed, without their parts
}

// numSlowest is the number of tests whose time is printed.
const numSlowest = 15

func main() {
	l := &log{out: os.Stdout, output: map[test]*strings.Builder{}, skipped: make([][]test, len(wants)), seconds: map[test]float64{}}
	if err := l.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
	if !l.finish() {
		os.Exit(1)
	}
}

func (l *log) read(r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var e event
		if json.Unmarshal(s.Bytes(), &e) != nil {
			fmt.Fprintln(l.out, s.Text()) // output of make or of the go command itself
			continue
		}
		l.add(&e)
	}
	return s.Err()
}

func (l *log) add(e *event) {
	t := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(l.out, e.Output)
	case e.Action == "output" && e.Test == "":
		if e.Output != "PASS\n" {
			fmt.Fprint(l.out, e.Output)
		}
	case e.Action == "output" && strings.HasPrefix(e.Output, "=== "): // reports that a test runs, pauses or continues
	case e.Action == "output":
		b := l.output[t]
		if b == nil {
			b = new(strings.Builder)
			l.output[t] = b
		}
		b.WriteString(e.Output)
	case e.Action == "build-fail":
		l.failed = append(l.failed, test{e.ImportPath, "(build)"})
	case e.Action == "fail":
		l.fail(t)
	case e.Action == "skip" && e.Test != "":
		l.skip(t)
	case e.Action == "pass" && e.Test != "":
		l.passed++
		delete(l.output, t)
		if !strings.Contains(e.Test, "/") {
			l.seconds[t] = e.Elapsed
		}
	}
}

func (l *log) fail(t test) {
	inside := func(f test) bool { return f.pkg == t.pkg && (t.name == "" || strings.HasPrefix(f.name, t.name+"/")) }
	if !slices.ContainsFunc(l.failed, inside) { // a failure inside of it has been reported
		l.failed = append(l.failed, t)
	}
	l.show(t)
	if t.name != "" {
		return
	}
	var unfinished []string // running when the program ended: one of them is the cause
	for other := range l.output {
		if other.pkg == t.pkg {
			unfinished = append(unfinished, other.name)
		}
	}
	slices.Sort(unfinished)
	for _, name := range unfinished {
		l.show(test{t.pkg, name})
	}
}

// show prints the output of a test, once.
func (l *log) show(t test) {
	if b := l.output[t]; b != nil {
		fmt.Fprint(l.out, b)
		delete(l.output, t)
	}
}

func (l *log) skip(t test) {
	text := ""
	if b := l.output[t]; b != nil {
		text = b.String()
		delete(l.output, t)
	}
	for i, want := range wants {
		for _, w := range want.words {
			if strings.Contains(text, w) {
				l.skipped[i] = append(l.skipped[i], t)
				return
			}
		}
	}
	l.unknown = append(l.unknown, t)
	fmt.Fprint(l.out, text)
}

// finish prints the totals and reports whether the tests succeeded.
func (l *log) finish() bool {
	total := len(l.unknown)
	for _, list := range l.skipped {
		total += len(list)
	}
	slowest := slices.SortedFunc(maps.Keys(l.seconds), func(a, b test) int { return cmp.Compare(l.seconds[b], l.seconds[a]) })
	for _, t := range slowest[:min(numSlowest, len(slowest))] {
		fmt.Fprintf(l.out, "slow: %.0f s %s %s\n", l.seconds[t], t.pkg, t.name)
	}
	fmt.Fprintf(l.out, "tests: %d passed, %d failed, %d skipped\n", l.passed, len(l.failed), total)
	for i, list := range l.skipped {
		if len(list) > 0 {
			fmt.Fprintf(l.out, "skipped: %d, missing: %s\n", len(list), wants[i].what)
		}
	}
	var errs []error
	for _, t := range l.failed {
		errs = append(errs, fmt.Errorf("failed: %s %s", t.pkg, t.name))
	}
	for _, t := range l.unknown {
		errs = append(errs, fmt.Errorf("skipped for a reason that is not allowed: %s %s", t.pkg, t.name))
	}
	if l.passed == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("no test ran"))
	}
	for _, err := range errs {
		fmt.Fprintln(l.out, err)
	}
	return len(errs) == 0
}
