package speedscope_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
	"github.com/ntconv/ntconv/exporters/folded"
	"github.com/ntconv/ntconv/exporters/pprof"
	export "github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/importers/speedscope"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// failer is the common part of testing.T and rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func must(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// sums are totals by thread, sample type and stack.
type sums map[string]int64

func (s sums) add(thread, typ string, stack []string, n int64) {
	s[fmt.Sprintf("%s %s %q", thread, typ, stack)] += n
}

func (s sums) String() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if s[k] != 0 {
			fmt.Fprintf(&b, "%s = %d\n", k, s[k])
		}
	}
	return b.String()
}

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
func model(t failer, text []byte) sums {
	t.Helper()
	var f jsonFile
	must(t, json.Unmarshal(text, &f))
	out := sums{}
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
			must(t, err)
			return v
		}
		for i, s := range p.Samples {
			var stack []string
			for _, n := range s {
				stack = append(stack, f.Shared.Frames[n].Name)
			}
			out.add(thread, typ, stack, value(p.Weights[i]))
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
				out.add(thread, typ, stack, value(next)-value(e.At))
			}
		}
	}
	return out
}

func open(t failer, text []byte, report *ntconv.Report) ntconv.Source {
	t.Helper()
	src, err := speedscope.New(bytes.NewReader(text), &speedscope.Options{Report: report})
	must(t, err)
	return ntconvtest.Poison(src)
}

// throughPprof returns the totals of the profile that exporters/pprof writes, as google/pprof reads it.
func throughPprof(t failer, src ntconv.Source, namer ntconv.Namer) sums {
	t.Helper()
	var file bytes.Buffer
	sink := pprof.New(&file, src.Info(), namer, nil)
	_, err := ntconv.Copy(sink, src)
	must(t, err)
	must(t, sink.Close())
	p, err := profile.Parse(&file)
	must(t, err)
	out := sums{}
	for _, s := range p.Sample {
		var stack []string
		for _, l := range slices.Backward(s.Location) {
			stack = append(stack, l.Line[0].Function.Name)
		}
		thread := ""
		if s.Label["thread"] != nil || s.NumLabel["tid"] != nil {
			thread = fmt.Sprint(strings.Join(s.Label["thread"], ""), "-", s.NumLabel["tid"][0])
		}
		for i, v := range s.Value {
			out.add(thread, p.SampleType[i].Type, stack, v)
		}
	}
	return out
}

// throughNettrace writes a source as a nettrace file, and the strict reader's events as a profile.
func throughNettrace(t failer, src ntconv.Source) sums {
	t.Helper()
	var file bytes.Buffer
	w, err := writer.New(&file, src.Info(), &writer.Options{Ordered: true})
	must(t, err)
	_, err = ntconv.Copy(symbol.SynthesizeTo(w, nil), src)
	must(t, err)
	must(t, w.Close())
	r, err := reader.New(&file, &reader.Options{Strict: true})
	must(t, err)
	table := symbol.New(nil)
	return throughPprof(t, symbol.Watch(r, table), table)
}

func checkSums(t failer, text []byte) {
	t.Helper()
	want := model(t, text).String()
	if got := throughPprof(t, open(t, text, nil), nil).String(); got != want {
		t.Fatalf("%s\npprof:\n%s\nwant\n%s", text, got, want)
	}
	if got := throughNettrace(t, open(t, text, nil)).String(); got != want {
		t.Fatalf("%s\nnettrace:\n%s\nwant\n%s", text, got, want)
	}
}

// TestSamples reads the sample profiles of speedscope.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/speedscope-0*.json")
	must(t, err)
	if len(files) < 3 {
		t.Fatalf("%d files", len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		checkSums(t, text)
	}
}

// TestDotnetTrace reads what dotnet-trace writes.
func TestDotnetTrace(t *testing.T) {
	program := corpus.Shared(t, "oracle", "traceevent")
	dir := t.TempDir()
	in := filepath.Join(dir, "trace.nettrace")
	must(t, os.WriteFile(in, corpus.Trace(t, "cpu-default").Data, 0o600))
	if out, err := exec.Command(program, "convert", "--format", "Speedscope", "-o", filepath.Join(dir, "trace"), in).CombinedOutput(); err != nil {
		t.Skipf("dotnet-trace is absent or cannot convert: %v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "trace.speedscope.json"))
	must(t, err)
	total := map[string]int64{}
	for e, err := range ntconv.Events(open(t, text, nil)) {
		must(t, err)
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

// A memoryFile is an output in memory.
type memoryFile struct{ *bytes.Buffer }

func (memoryFile) Close() error { return nil }

// TestOwnExporter reads what exporters/speedscope writes for traces and imported files: threads, stacks and weights are
// equal.
func TestOwnExporter(t *testing.T) {
	fold := func(src ntconv.Source, names ntconv.Namer) []string {
		var out bytes.Buffer
		samples := []sample.Kind{sample.Wall, sample.CPU, sample.Imported}
		create := func(sample.Kind) (io.WriteCloser, error) { return memoryFile{&out}, nil }
		sink := folded.New(nil, src.Info(), names, &folded.Options{
			Options: sample.Options{Create: create, Each: samples}, ThreadRoot: true, ProcessRoot: true,
		})
		_, err := ntconv.Copy(sink, src)
		must(t, err)
		must(t, sink.Close())
		lines := strings.Split(out.String(), "\n")
		slices.Sort(lines)
		return lines
	}
	back := func(src ntconv.Source, names ntconv.Namer) ntconv.Source {
		var out bytes.Buffer
		sink := export.New(&out, src.Info(), names, nil)
		_, err := ntconv.Copy(sink, src)
		must(t, err)
		must(t, sink.Close())
		return open(t, out.Bytes(), nil)
	}
	for _, name := range []string{"cpu-default", "cpu-env", "cpu-v6", "cpu-netperf3", "activities"} {
		f := corpus.Trace(t, name)
		read := func() (ntconv.Source, ntconv.Namer) {
			src, err := reader.New(bytes.NewReader(f.Data), nil)
			must(t, err)
			table := symbol.New(nil)
			return symbol.Watch(src, table), table
		}
		want := fold(read())
		if name != "activities" && len(want) < 10 {
			t.Errorf("%s: %d stacks", name, len(want))
		}
		if got := fold(back(read()), nil); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	text, err := os.ReadFile("testdata/speedscope-0.6.0-two-sampled.json")
	must(t, err)
	want := model(t, text).String()
	if got := throughPprof(t, back(open(t, text, nil), nil), nil).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
