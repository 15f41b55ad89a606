package speedscope_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/speedscope"
	"github.com/ntconv/ntconv/internal/testing/stacksums"
)

// A file is speedscope's file format according to its JSON schema.
type file struct {
	Schema   string `json:"$schema"`
	Exporter string `json:"exporter"`
	Name     string `json:"name"`
	Active   int    `json:"activeProfileIndex"`
	Shared   struct {
		Frames []struct {
			Name string `json:"name"`
			File string `json:"file"`
			Line int    `json:"line"`
			Col  int    `json:"col"`
		} `json:"frames"`
	} `json:"shared"`
	Profiles []profile `json:"profiles"`
}

type profile struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	Start   *int64 `json:"startValue"`
	End     *int64 `json:"endValue"`
	Samples *[][]int
	Weights *[]int64
	Events  *[]struct {
		Type  string `json:"type"`
		Frame int    `json:"frame"`
		At    int64  `json:"at"`
	}
}

// parse reads a file, which must not contain anything that speedscope's schema does not define.
func parse(t testing.TB, data []byte) *file {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	f := new(file)
	if err := d.Decode(f); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("after the object: %v", err)
	}
	return f
}

var units = map[string]bool{"bytes": true, "microseconds": true, "milliseconds": true, "nanoseconds": true, "none": true, "seconds": true}

// check checks the rules of speedscope's schema and of its importer, and returns the numbers of samples and slices per
// sample type of threads.
func (f *file) check(t testing.TB) (samples map[string]int64, slices int64) {
	t.Helper()
	if f.Schema != "https://www.speedscope.app/file-format-schema.json" || !strings.HasPrefix(f.Exporter, "ntconv@") {
		t.Errorf("schema %s, exporter %s", f.Schema, f.Exporter)
	}
	if len(f.Profiles) > 0 && (f.Active < 0 || f.Active >= len(f.Profiles)) {
		t.Errorf("active profile %d of %d", f.Active, len(f.Profiles))
	}
	names, samples := map[string]bool{}, map[string]int64{}
	used := make([]bool, len(f.Shared.Frames))
	for i := range f.Profiles {
		p := &f.Profiles[i]
		if names[p.Name] || p.Name == "" || !units[p.Unit] || p.Start == nil || p.End == nil || *p.Start < 0 || *p.End < *p.Start {
			t.Errorf("profile %+v", p)
			continue
		}
		names[p.Name] = true
		switch p.Type {
		case "sampled":
			n := p.sampled(t, used)
			if !strings.HasPrefix(p.Name, speedscope.AllThreads) {
				samples[typeOf(p.Name)] += n
			}
		case "evented":
			slices += p.evented(t, used)
		default:
			t.Errorf("type %q", p.Type)
		}
	}
	for i, u := range used {
		if !u || f.Shared.Frames[i].Line < 0 || f.Shared.Frames[i].Col < 0 {
			t.Errorf("frame %+v, used: %v", f.Shared.Frames[i], u)
			break
		}
	}
	return samples, slices
}

func (p *profile) sampled(t testing.TB, used []bool) int64 {
	if p.Samples == nil || p.Weights == nil || p.Events != nil || len(*p.Samples) != len(*p.Weights) || len(*p.Samples) == 0 {
		t.Errorf("%s: members or lengths of columns", p.Name)
		return 0
	}
	total := int64(0)
	for i, n := range *p.Weights {
		if n < 0 {
			t.Errorf("%s: weight %d", p.Name, n)
		}
		total += n
		for _, frame := range (*p.Samples)[i] {
			used[frame] = true
		}
	}
	if total != *p.End-*p.Start {
		t.Errorf("%s: weights add up to %d, from %d to %d", p.Name, total, *p.Start, *p.End)
	}
	return int64(len(*p.Samples))
}

func (p *profile) evented(t testing.TB, used []bool) int64 {
	if p.Events == nil || p.Samples != nil || p.Weights != nil || len(*p.Events) == 0 {
		t.Errorf("%s: members", p.Name)
		return 0
	}
	var open []int
	at := *p.Start
	for _, e := range *p.Events {
		if e.At < at || e.At > *p.End {
			t.Errorf("%s: event at %d after %d, end %d", p.Name, e.At, at, *p.End)
		}
		at = e.At
		switch {
		case e.Type == "O":
			open = append(open, e.Frame)
			used[e.Frame] = true
		case e.Type == "C" && len(open) > 0 && open[len(open)-1] == e.Frame:
			open = open[:len(open)-1]
		default:
			t.Fatalf("%s: event %+v, open are %v", p.Name, e, open)
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: %v remain open", p.Name, open)
	}
	return int64(len(*p.Events)) / 2
}

func typeOf(name string) string { return name[strings.LastIndex(name, ": ")+2:] }

// numbers finds the process and the thread in the name of a profile.
var numbers = regexp.MustCompile(`^(?:process |.*? \()(\d+)\)?(?: (?:.* \(|thread )(\d+)\)?)?: `)

// sums returns the sums of the profiles of threads, and of those of all threads.
func (f *file) sums(t testing.TB) (threads, all stacksums.Sums) {
	threads, all = make(stacksums.Sums), make(stacksums.Sums)
	for i := range f.Profiles {
		p := &f.Profiles[i]
		if p.Type != "sampled" {
			continue
		}
		to, key := all, stacksums.Key{Type: typeOf(p.Name)}
		if !strings.HasPrefix(p.Name, speedscope.AllThreads) {
			m := numbers.FindStringSubmatch(p.Name)
			if m == nil {
				t.Fatalf("name of a profile: %q", p.Name)
			}
			to, key.Thread = threads, fmt.Sprint(m[1], "/", m[2])
		}
		for n, stack := range *p.Samples {
			names := make([]string, len(stack))
			for j, frame := range stack {
				names[j] = f.Shared.Frames[frame].Name
			}
			to.Add(key, names, (*p.Weights)[n], 1)
		}
	}
	return threads, all
}

func export(t testing.TB, src ntconv.Source, names ntconv.Namer, o *speedscope.Options) (*file, speedscope.Summary, stacksums.Sums) {
	t.Helper()
	var out bytes.Buffer
	sink := speedscope.New(&out, src.Info(), names, o)
	want := stacksums.Of(t, src, names, sink)
	return parse(t, out.Bytes()), sink.Summary(), want
}

// TestTraces checks for every trace that the file is valid, that it has the contents of the timeline, and that each
// stack of each thread has the weight that google/pprof finds in the pprof profile.
func TestTraces(t *testing.T) {
	samples, slices := int64(0), int64(0)
	for _, trace := range stacksums.Files(t) {
		src, names := stacksums.Open(t, trace)
		if src == nil {
			continue
		}
		t.Run(trace.Name, func(t *testing.T) {
			f, done, want := export(t, src, names, nil)
			perType, n := f.check(t)
			total := int64(0)
			for _, n := range perType {
				total += n
			}
			if total != done.Samples || n != done.Slices || done.Profiles != len(f.Profiles) || done.Frames != len(f.Shared.Frames) {
				t.Errorf("summary %+v, %v samples, %d slices, %d profiles", done, perType, n, len(f.Profiles))
			}
			samples, slices = samples+total, slices+n
			threads, all := f.sums(t)
			if done.Renumbered == 0 {
				stacksums.Check(t, threads, want)
			}
			stacksums.Check(t, threads.Merged(), want.Merged())
			for k := range all { // a profile of all threads is that of all threads
				one := threads.Merged()
				if len(one[k]) != len(all[k]) {
					t.Errorf("%v: %d stacks, want %d", k, len(all[k]), len(one[k]))
				}
				for stack, n := range one[k] {
					if all[k][stack] != n {
						t.Errorf("%v: %v, want %v: %.200q", k, all[k][stack], n, stack)
					}
				}
			}
		})
	}
	if samples < 1000 || slices < 100 {
		t.Errorf("only %d samples and %d slices in all traces", samples, slices)
	}
}
