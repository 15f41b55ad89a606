package firefox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/firefox"
	importer "github.com/ntconv/ntconv/importers/firefox"
	"github.com/ntconv/ntconv/internal/testing/stacksums"
)

// A file is what the checks need of a processed profile. TestItems shows all members.
type file struct {
	Meta struct {
		Symbolicated bool
		Visible      []int `json:"initialVisibleThreads"`
		Selected     []int `json:"initialSelectedThreads"`
		Categories   []struct{ Color string }
		MarkerSchema []struct {
			Name    string
			Display []string
			Fields  []struct{ Key, Format string }
		}
	}
	Threads  []thread
	Counters []counter
	Shared   struct{ StringArray []string }

	formats map[any]map[string]string // of the fields, by the name of a schema
}

type thread struct {
	Pid, Name    string
	Tid          uint32
	IsMainThread bool
	Samples      struct {
		WeightType string
		Stack      []*int
		Time       []float64
		Weight     []json.Number
	}
	Markers struct {
		Data      []map[string]any
		StartTime []float64
		EndTime   []*float64
		Phase     []int
	}
	StackTable struct {
		Frame  []int
		Prefix []*int
	}
	FrameTable struct{ Func []int }
	FuncTable  struct{ Name []int }
}

type counter struct {
	Pid             string
	MainThreadIndex int
	Samples         struct{ Time, Count []float64 }
}

// parse reads a file. Each column of a table has the length of the table, and the importer accepts all indices.
func parse(t testing.TB, data []byte) *file {
	t.Helper()
	if !bytes.HasPrefix(data, []byte(`{"meta":{"interval":`)) { // Perfetto recognizes the format by the beginning
		t.Errorf("the file begins with %.40q", data)
	}
	var all any
	f := new(file)
	if err := errors.Join(json.Unmarshal(data, &all), json.Unmarshal(data, f)); err != nil {
		t.Fatal(err)
	}
	checkColumns(t, "file", all)
	src, err := importer.New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for _, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// checkColumns checks the lengths of the columns of all tables.
func checkColumns(t testing.TB, path string, v any) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			checkColumns(t, path, v[i])
		}
	case map[string]any:
		length, isTable := v["length"].(float64)
		for name, column := range v {
			if list, ok := column.([]any); isTable && ok && float64(len(list)) != length {
				t.Errorf("%s.%s has %d rows, want %v", path, name, len(list), length)
			}
			checkColumns(t, path+"."+name, column)
		}
	}
}

// counts is what a file holds.
type counts struct{ slices, instants, samples, counters int64 }

// check checks orders, times and schemas.
func (f *file) check(t testing.TB) (n counts) {
	t.Helper()
	f.checkMeta(t)
	mains := map[string]int{}
	for i := range f.Threads {
		h := &f.Threads[i]
		if h.IsMainThread {
			mains[h.Pid]++
		}
		if !slices.IsSorted(h.Samples.Time) || h.Pid == "" || h.Tid == 0 || h.Name == "" {
			t.Errorf("thread %+v", h)
		}
		n.samples += int64(len(h.Samples.Time))
		intervals, instants := f.checkMarkers(t, h)
		n.slices, n.instants = n.slices+intervals, n.instants+instants
	}
	for i := range f.Threads {
		if pid := f.Threads[i].Pid; mains[pid] != 1 {
			t.Errorf("process %s has %d main threads", pid, mains[pid])
		}
	}
	for _, c := range f.Counters {
		main := f.Threads[c.MainThreadIndex]
		if s := &c.Samples; len(s.Time) < 2 || !slices.IsSorted(s.Time) || s.Count[0] != 0 || main.Pid != c.Pid || !main.IsMainThread {
			t.Errorf("counter %+v", c)
		}
		n.counters += int64(len(c.Samples.Time)) - 1
	}
	return n
}

func (f *file) checkMeta(t testing.TB) {
	m := &f.Meta
	if len(m.Selected) != 1 || !slices.Contains(m.Visible, m.Selected[0]) || slices.Max(m.Visible) >= len(f.Threads) || !m.Symbolicated || m.Categories[0].Color != "grey" {
		t.Errorf("meta %+v of %d threads", m, len(f.Threads))
	}
	f.formats = make(map[any]map[string]string)
	for _, s := range m.MarkerSchema {
		keys := map[string]string{}
		for _, field := range s.Fields {
			if keys[field.Key] != "" || field.Format == "" {
				t.Errorf("schema %s: field %s", s.Name, field.Key)
			}
			keys[field.Key] = field.Format
		}
		if f.formats[s.Name] != nil || s.Name == "" || len(s.Display) == 0 {
			t.Errorf("schema %+v", s)
		}
		f.formats[s.Name] = keys
	}
}

func (f *file) checkMarkers(t testing.TB, h *thread) (intervals, instants int64) {
	m := &h.Markers
	if !slices.IsSorted(m.StartTime) {
		t.Errorf("%s: the markers are not in order", h.Name)
	}
	for i, data := range m.Data {
		switch {
		case m.Phase[i] == 1 && m.EndTime[i] != nil && *m.EndTime[i] >= m.StartTime[i]:
			intervals++
		case m.Phase[i] == 0 && m.EndTime[i] == nil:
			instants++
		default:
			t.Errorf("%s: marker %d: phase %d from %v to %v", h.Name, i, m.Phase[i], m.StartTime[i], m.EndTime[i])
		}
		f.checkData(t, data)
	}
	return intervals, instants
}

// checkData checks the data of a marker against its schema, as the viewer formats it.
func (f *file) checkData(t testing.TB, data map[string]any) {
	formats := f.formats[data["type"]]
	if formats == nil {
		t.Fatalf("marker without a schema: %v", data)
	}
	for key, v := range data {
		format, fits := formats[key], true
		switch format {
		case "integer", "decimal", "hexadecimal", "tid":
			_, fits = v.(float64)
		case "list":
			_, fits = v.([]any)
		case "string":
			_, object := v.(map[string]any)
			fits = v != nil && !object
		default:
			fits = key == "type" || key == "cause"
		}
		if !fits {
			t.Errorf("type %v: field %s of format %q is %v", data["type"], key, format, v)
		}
	}
}

// sums returns the totals of the samples.
func (f *file) sums(t testing.TB, types map[string]string) stacksums.Sums {
	sums := make(stacksums.Sums)
	for i := range f.Threads {
		h := &f.Threads[i]
		for n, stack := range h.Samples.Stack {
			value, err := h.Samples.Weight[n].Float64()
			if err != nil {
				t.Fatal(err)
			}
			if h.Samples.WeightType == "tracing-ms" {
				value = math.Round(value * 1e6)
			}
			sums.Add(stacksums.Key{Type: types[h.Samples.WeightType], Thread: fmt.Sprint(h.Pid, "/", h.Tid)}, f.names(h, stack), int64(value), 1)
		}
	}
	return sums
}

// names returns the functions of a stack, root first.
func (f *file) names(h *thread, stack *int) (names []string) {
	for ; stack != nil; stack = h.StackTable.Prefix[*stack] {
		names = append(names, f.Shared.StringArray[h.FuncTable.Name[h.FrameTable.Func[h.StackTable.Frame[*stack]]]])
	}
	slices.Reverse(names)
	return names
}

func export(t testing.TB, src ntconv.Source, names ntconv.Namer, o *firefox.Options) (*file, firefox.Summary, stacksums.Sums) {
	t.Helper()
	var out bytes.Buffer
	sink := firefox.New(&out, src.Info(), names, o)
	want := stacksums.Of(t, src, names, sink)
	return parse(t, out.Bytes()), sink.Summary(), want
}

// renamed returns totals whose types are those that the weights of a file can express.
func renamed(s stacksums.Sums, types map[string]string) stacksums.Sums {
	r := make(stacksums.Sums)
	for k, stacks := range s {
		for stack, n := range stacks {
			r.Add(stacksums.Key{Type: types[k.Type], Thread: k.Thread}, []string{stack}, n.Total, n.Samples)
		}
	}
	return r
}

// TestTraces checks for every trace that the file is valid, that it has the contents of the timeline, and that each
// stack of each thread has the weight that google/pprof finds in the pprof profile.
func TestTraces(t *testing.T) {
	var all counts
	for _, trace := range stacksums.Files(t) {
		src, names := stacksums.Open(t, trace)
		if src == nil {
			continue
		}
		t.Run(trace.Name, func(t *testing.T) {
			f, done, want := export(t, src, names, nil)
			n := f.check(t)
			if n != (counts{done.Slices, done.Instants + done.Losses, done.Samples, done.Counters}) || done.Threads != len(f.Threads) {
				t.Errorf("%+v, summary %+v", n, done)
			}
			all = counts{all.slices + n.slices, all.instants + n.instants, all.samples + n.samples, all.counters + n.counters}
			got := f.sums(t, map[string]string{"tracing-ms": "time"})
			want = renamed(want, map[string]string{"wall": "time", "cpu": "time"})
			if done.Renumbered == 0 {
				stacksums.Check(t, got, want)
			}
			stacksums.Check(t, got.Merged(), want.Merged())
		})
	}
	if all.slices < 100 || all.instants < 1000 || all.samples < 1000 || all.counters < 100 {
		t.Errorf("all traces together: %+v", all)
	}
}
