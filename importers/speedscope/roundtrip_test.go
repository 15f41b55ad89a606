package speedscope_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	export "github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/importers/speedscope"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/readable"
	"github.com/ntconv/ntconv/ntconvtest"
)

// jsonFile is the format, for encoding/json.
type jsonFile struct {
	Shared struct {
		Frames []struct{ Name string }
	}
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue json.Number
		Samples              [][]int
		Weights              []json.Number
		Events               []struct {
			Type  string
			Frame int
			At    json.Number
		}
	}
}

// model reads a file in the simplest possible way: it applies events to a list of names.
func model(t readable.Failer, text []byte) readable.Totals {
	t.Helper()
	var f jsonFile
	readable.Must(t, json.Unmarshal(text, &f))
	out := readable.Totals{}
	for i, p := range f.Profiles {
		thread, typ, scale := "", "time", int64(1)
		if len(f.Profiles) > 1 {
			thread = fmt.Sprint(p.Name, "-", i+1)
		}
		switch p.Unit {
		case "none":
			typ = "samples"
		case "bytes":
			typ = "bytes"
		case "microseconds":
			scale = 1e3
		case "milliseconds":
			scale = 1e6
		case "seconds":
			scale = 1e9
		}
		value := func(n json.Number) int64 {
			r, ok := new(big.Rat).SetString(n.String())
			if !ok {
				t.Fatalf("number %s", n)
			}
			r.Mul(r, big.NewRat(scale, 1))
			v, err := strconv.ParseInt(r.FloatString(0), 10, 64)
			readable.Must(t, err)
			return v
		}
		for i, s := range p.Samples {
			var stack []string
			for _, n := range s {
				stack = append(stack, f.Shared.Frames[n].Name)
			}
			out.Add(thread, typ, stack, value(p.Weights[i]))
		}
		var stack []string
		for i, e := range p.Events {
			if e.Type == "O" {
				stack = append(stack, f.Shared.Frames[e.Frame].Name)
			} else {
				stack = stack[:len(stack)-1]
			}
			next := p.EndValue
			if i+1 < len(p.Events) {
				next = p.Events[i+1].At
			}
			if len(stack) > 0 {
				out.Add(thread, typ, stack, value(next)-value(e.At))
			}
		}
	}
	return out
}

func open(t readable.Failer, text []byte, report *ntconv.Report) ntconv.Source {
	t.Helper()
	src, err := speedscope.New(bytes.NewReader(text), &speedscope.Options{Report: report})
	readable.Must(t, err)
	return ntconvtest.Poison(src)
}

// threadOf returns the name and the ID of the thread of a sample, if it has one.
func threadOf(s *profile.Sample) string {
	if s.Label["thread"] == nil && s.NumLabel["tid"] == nil {
		return ""
	}
	return fmt.Sprint(strings.Join(s.Label["thread"], ""), "-", s.NumLabel["tid"][0])
}

func checkSums(t readable.Failer, text []byte) {
	t.Helper()
	readable.CheckTotals(t, func() ntconv.Source { return open(t, text, nil) }, model(t, text), threadOf)
}

// TestSamples reads the sample profiles of speedscope.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/speedscope-0*.json")
	readable.Must(t, err)
	if len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		readable.Must(t, err)
		checkSums(t, text)
	}
}

// TestDotnetTrace reads what dotnet-trace writes.
func TestDotnetTrace(t *testing.T) {
	program := corpus.Shared(t, "oracle", "traceevent")
	dir := t.TempDir()
	in := filepath.Join(dir, "trace.nettrace")
	readable.Must(t, os.WriteFile(in, corpus.Trace(t, "cpu-default").Data, 0o600))
	if out, err := exec.Command(program, "convert", "--format", "Speedscope", "-o", filepath.Join(dir, "trace"), in).CombinedOutput(); err != nil {
		t.Skipf("dotnet-trace is absent or cannot convert: %v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "trace.speedscope.json"))
	readable.Must(t, err)
	total := map[string]int64{}
	for e, err := range ntconv.Events(open(t, text, nil)) {
		readable.Must(t, err)
		if e.Kind == ntconv.KindEvent {
			v, _ := e.Field("time")
			total[fmt.Sprint(e.Thread.TID)] += v.Int()
		}
	}
	want := map[string]int64{}
	for k, n := range model(t, text) {
		id, _, _ := strings.Cut(strings.TrimPrefix(k, "Thread ("), ")")
		want[id] += n
	}
	if !maps.Equal(total, want) || len(total) < 3 {
		t.Errorf("got %v, want %v", total, want)
	}
}

// drawObject returns an object with members in any order, as different writers have them.
func drawObject(t *rapid.T, members map[string]string) string {
	keys := rapid.Permutation(slices.Sorted(maps.Keys(members))).Draw(t, "order")
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{",", ", ", ",\n\t"}).Draw(t, "comma"))
		}
		fmt.Fprintf(&b, "%q:%s", k, members[k])
	}
	return "{" + b.String() + "}"
}

var numbers = rapid.Custom(func(t *rapid.T) string {
	text := strconv.Itoa(rapid.IntRange(0, 1000).Draw(t, "whole"))
	if rapid.Bool().Draw(t, "has fraction") {
		text += rapid.StringMatching(`\.[0-9]{1,3}`).Draw(t, "fraction")
	}
	return text
})

// drawProfile returns a profile of a file with that many frames.
func drawProfile(t *rapid.T, frames int, n int) string {
	unit := rapid.SampledFrom([]string{"none", "bytes", "nanoseconds", "microseconds", "milliseconds", "seconds"}).Draw(t, "unit")
	value := func() string {
		if unit == "none" || unit == "bytes" || unit == "nanoseconds" {
			return strconv.Itoa(rapid.IntRange(0, 1000).Draw(t, "value"))
		}
		return numbers.Draw(t, "value")
	}
	members := map[string]string{"name": fmt.Sprintf("%q", fmt.Sprint("profile ", n)), "unit": strconv.Quote(unit), "startValue": "5", "endValue": "100000"}
	if rapid.Bool().Draw(t, "sampled") {
		var samples, weights []string
		for range rapid.IntRange(0, 20).Draw(t, "samples") {
			stack := rapid.SliceOfN(rapid.IntRange(0, frames-1), 0, 6).Draw(t, "stack")
			text, _ := json.Marshal(append([]int{}, stack...))
			samples, weights = append(samples, string(text)), append(weights, value())
		}
		members["type"], members["samples"], members["weights"] = `"sampled"`, "["+strings.Join(samples, ",")+"]", "["+strings.Join(weights, ",")+"]"
		return drawObject(t, members)
	}
	at, depth := 5, []int{}
	var events []string
	event := func(kind string, frame int) {
		events = append(events, drawObject(t, map[string]string{"type": strconv.Quote(kind), "frame": strconv.Itoa(frame), "at": strconv.Itoa(at)}))
		at += rapid.IntRange(0, 3).Draw(t, "step")
	}
	for range rapid.IntRange(0, 20).Draw(t, "events") {
		if len(depth) > 0 && rapid.Bool().Draw(t, "close") {
			event("C", depth[len(depth)-1])
			depth = depth[:len(depth)-1]
			continue
		}
		depth = append(depth, rapid.IntRange(0, frames-1).Draw(t, "frame"))
		event("O", depth[len(depth)-1])
	}
	for ; len(depth) > 0; depth = depth[:len(depth)-1] {
		event("C", depth[len(depth)-1])
	}
	members["type"], members["events"] = `"evented"`, "["+strings.Join(events, ",")+"]"
	return drawObject(t, members)
}

// TestGenerated checks the totals of files with all units, both profile types, and members in any order.
func TestGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.IntRange(1, 5).Draw(t, "frames")
		var list, profiles []string
		for i := range frames {
			list = append(list, fmt.Sprintf(`{"name":"f%d","file":"a.go","line":%d,"col":null}`, i, i))
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "profiles") {
			profiles = append(profiles, drawProfile(t, frames, i))
		}
		checkSums(t, []byte(drawObject(t, map[string]string{
			"$schema": `"https://www.speedscope.app/file-format-schema.json"`, "shared": `{"frames":[` + strings.Join(list, ",") + `]}`,
			"profiles": "[" + strings.Join(profiles, ",") + "]", "unknown": `{"a":[1,{"b":null}]}`, "activeProfileIndex": "0",
		})))
	})
}

// TestOwnExporter reads what exporters/speedscope writes for traces and imported files: threads, stacks and weights are
// equal.
func TestOwnExporter(t *testing.T) {
	back := func(src ntconv.Source, names ntconv.Namer) ntconv.Source {
		var out bytes.Buffer
		readable.Copy(t, export.New(&out, src.Info(), names, nil), src)
		return open(t, out.Bytes(), nil)
	}
	for _, name := range []string{"cpu-default", "cpu-env", "cpu-v6", "cpu-netperf3", "activities"} {
		src, names := readable.Trace(t, name)
		want := readable.Fold(t, src, names)
		if name != "activities" && len(want) < 10 {
			t.Errorf("%s: %d stacks", name, len(want))
		}
		if got := readable.Fold(t, back(readable.Trace(t, name)), nil); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	text, err := os.ReadFile("testdata/speedscope-0.6.0-two-sampled.json")
	readable.Must(t, err)
	want := model(t, text).String()
	if got := readable.PprofTotals(t, back(open(t, text, nil), nil), nil, threadOf).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
