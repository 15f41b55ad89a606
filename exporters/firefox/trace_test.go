package firefox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/firefox"
	"github.com/ntconv/ntconv/internal/testing/stacksums"
)

// A file is a processed profile of version 57, with the members of the Firefox Profiler's src/types/profile.ts.
type file struct {
	Meta struct {
		Interval              float64
		StartTime             float64
		ProfilingStartTime    float64
		ProfilingEndTime      float64
		ProcessType           int
		Product, ImportedFrom string
		Stackwalk             int
		Version               int
		Processed             int `json:"preprocessedProfileVersion"`
		Symbolicated          bool
		NoSymbolication       bool `json:"symbolicationNotSupported"`
		OneStackType          bool `json:"usesOnlyOneStackType"`
		NoSearchfox           bool `json:"sourceCodeIsNotOnSearchfox"`
		KeepOrder             bool `json:"keepProfileThreadOrder"`
		LogicalCPUs           int
		SampleUnits           map[string]string
		Visible               []int `json:"initialVisibleThreads"`
		Selected              []int `json:"initialSelectedThreads"`
		Extra                 json.RawMessage
		Categories            []struct {
			Name, Color   string
			Subcategories []string
		}
		MarkerSchema []markerSchema
	}
	Libs     []json.RawMessage
	Threads  []thread
	Counters []counter
	Shared   struct{ StringArray []string }

	formats map[any]map[string]string // of the fields, by the name of a schema
}

type markerSchema struct {
	Name                                 string
	Display                              []string
	ChartLabel, TooltipLabel, TableLabel string
	Fields                               []struct{ Key, Format string }
}

type thread struct {
	ProcessType           string
	ProcessName, Name     string
	Pid                   string
	Tid                   uint32
	IsMainThread          bool
	ShowMarkersInTimeline bool
	ProcessStartupTime    float64
	ProcessShutdownTime   *float64
	RegisterTime          float64
	UnregisterTime        *float64
	PausedRanges          []json.RawMessage
	Samples               struct {
		Length         int
		WeightType     string
		Stack          []*int
		Time           []float64
		Weight         []json.Number
		ThreadCPUDelta []int64
	}
	Markers struct {
		Length    int
		Data      []map[string]any
		Name      []int
		StartTime []float64
		EndTime   []*float64
		Phase     []int
		Category  []int
	}
	NativeAllocations *struct {
		Length     int
		WeightType string
		Time       []float64
		Weight     []int64
		Stack      []*int
	}
	StackTable struct {
		Length int
		Frame  []int
		Prefix []*int
	}
	FrameTable struct {
		Length                            int
		Address, InlineDepth, Subcategory []int
		NativeSymbol                      []*int
		InnerWindowID                     []int
		Category                          []int
		Func                              []int
		Line, Column                      []*int
	}
	FuncTable struct {
		Length                             int
		IsJS, RelevantForJS                []bool
		ColumnNumber, FileName, LineNumber []*int
		Name, Resource                     []int
	}
	ResourceTable struct {
		Length     int
		Lib, Host  []*int
		Type, Name []int
	}
	NativeSymbols struct {
		Length                                int
		LibIndex, Address, Name, FunctionSize []int
	}
}

type counter struct {
	Name, Category, Description, Color, Pid string
	MainThreadIndex                         int
	Display                                 json.RawMessage
	Samples                                 struct {
		Length int
		Time   []float64
		Count  []float64
	}
}

// parse reads a file, which must not contain anything that is not part of the format.
func parse(t testing.TB, data []byte) *file {
	t.Helper()
	if !bytes.HasPrefix(data, []byte(`{"meta":{"interval":`)) { // Perfetto recognizes the format by the beginning
		t.Errorf("the file begins with %.40q", data)
	}
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

// counts is what a file holds.
type counts struct{ slices, instants, samples, counters int64 }

// check checks lengths, indices, orders and schemas.
func (f *file) check(t testing.TB) (n counts) {
	t.Helper()
	f.checkMeta(t)
	mains := map[string]int{}
	for i := range f.Threads {
		h := &f.Threads[i]
		name := fmt.Sprintf("thread %d %q", i, h.Name)
		if h.Pid == "" || h.Tid == 0 || h.Name == "" || h.ProcessShutdownTime != nil || h.UnregisterTime != nil {
			t.Errorf("%s: pid %q, tid %d", name, h.Pid, h.Tid)
		}
		if h.IsMainThread {
			mains[h.Pid]++
		}
		f.checkTables(t, name, h)
		n.samples += f.checkSamples(t, name, h)
		slices, instants := f.checkMarkers(t, name, h)
		n.slices, n.instants = n.slices+slices, n.instants+instants
	}
	for i := range f.Threads {
		if pid := f.Threads[i].Pid; mains[pid] != 1 {
			t.Errorf("process %s has %d main threads", pid, mains[pid])
		}
	}
	for _, c := range f.Counters {
		s := &c.Samples
		if len(s.Time) != s.Length || len(s.Count) != s.Length || s.Length < 2 || !slices.IsSorted(s.Time) || s.Count[0] != 0 ||
			f.Threads[c.MainThreadIndex].Pid != c.Pid || !f.Threads[c.MainThreadIndex].IsMainThread {
			t.Errorf("counter %+v", c)
		}
		n.counters += int64(s.Length) - 1
	}
	return n
}

func (f *file) checkMeta(t testing.TB) {
	m := &f.Meta
	if m.Processed != 57 || m.Interval <= 0 || m.StartTime < 0 || len(m.Selected) != 1 || len(m.Visible) == 0 || !m.Symbolicated {
		t.Errorf("meta %+v", m)
	}
	for _, i := range append(m.Visible, m.Selected...) {
		if i < 0 || i >= len(f.Threads) {
			t.Errorf("visible threads %v of %d", m.Visible, len(f.Threads))
		}
	}
	if !slices.ContainsFunc(m.Visible, func(i int) bool { return i == m.Selected[0] }) {
		t.Errorf("thread %d is selected, visible are %v", m.Selected[0], m.Visible)
	}
	if m.Categories[0].Color != "grey" {
		t.Errorf("default category %v", m.Categories[0])
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

// inRange reports whether there are n indices, each below a length or absent.
func inRange(list []*int, n, length int) bool {
	return len(list) == n && !slices.ContainsFunc(list, func(i *int) bool { return i != nil && (*i < 0 || *i >= length) })
}

// indices reports whether there are n indices from lowest to below a length.
func indices(list []int, n, lowest, length int) bool {
	return len(list) == n && !slices.ContainsFunc(list, func(i int) bool { return i < lowest || i >= length })
}

func (f *file) checkTables(t testing.TB, name string, h *thread) {
	strs, s, fr, fn, r := len(f.Shared.StringArray), &h.StackTable, &h.FrameTable, &h.FuncTable, &h.ResourceTable
	ok := indices(s.Frame, s.Length, 0, fr.Length) && inRange(s.Prefix, s.Length, s.Length) &&
		indices(fr.Func, fr.Length, 0, fn.Length) && indices(fr.Category, fr.Length, 0, len(f.Meta.Categories)) && indices(fr.Address, fr.Length, -1, 0) &&
		indices(fr.InlineDepth, fr.Length, 0, 1) && indices(fr.Subcategory, fr.Length, 0, 1) && inRange(fr.NativeSymbol, fr.Length, 0) &&
		indices(fr.InnerWindowID, fr.Length, 0, 1) && inRange(fr.Line, fr.Length, math.MaxInt) && inRange(fr.Column, fr.Length, math.MaxInt) &&
		indices(fn.Name, fn.Length, 0, strs) && indices(fn.Resource, fn.Length, -1, r.Length) && inRange(fn.FileName, fn.Length, strs) &&
		inRange(fn.LineNumber, fn.Length, math.MaxInt) && inRange(fn.ColumnNumber, fn.Length, 0) && len(fn.IsJS) == fn.Length && len(fn.RelevantForJS) == fn.Length &&
		indices(r.Name, r.Length, 0, strs) && indices(r.Type, r.Length, 1, 2) && inRange(r.Lib, r.Length, 0) && inRange(r.Host, r.Length, 0) && h.NativeSymbols.Length == 0
	if !ok {
		t.Errorf("%s: lengths or indices of its tables", name)
	}
	for i, p := range s.Prefix {
		if p != nil && *p >= i {
			t.Errorf("%s: stack %d has the caller %d", name, i, *p)
		}
	}
}

func (f *file) checkSamples(t testing.TB, name string, h *thread) int64 {
	s := &h.Samples
	stacks := h.StackTable.Length
	if !inRange(s.Stack, s.Length, stacks) || len(s.Time) != s.Length || !slices.IsSorted(s.Time) || len(s.Weight) != s.Length ||
		s.ThreadCPUDelta != nil && len(s.ThreadCPUDelta) != s.Length || !slices.Contains([]string{"samples", "tracing-ms", "bytes"}, s.WeightType) {
		t.Errorf("%s: columns of its samples", name)
	}
	if a := h.NativeAllocations; a != nil && (!inRange(a.Stack, a.Length, stacks) || len(a.Time) != a.Length || len(a.Weight) != a.Length || a.WeightType != "bytes" ||
		a.Length == 0 || slices.Min(a.Weight) <= 0) {
		t.Errorf("%s: allocations", name)
	}
	return int64(s.Length)
}

func (f *file) checkMarkers(t testing.TB, name string, h *thread) (intervals, instants int64) {
	m := &h.Markers
	if len(m.Data) != m.Length || !indices(m.Name, m.Length, 0, len(f.Shared.StringArray)) || len(m.StartTime) != m.Length || !slices.IsSorted(m.StartTime) ||
		len(m.EndTime) != m.Length || len(m.Phase) != m.Length || !indices(m.Category, m.Length, 0, len(f.Meta.Categories)) {
		t.Fatalf("%s: columns of its markers", name)
	}
	for i, data := range m.Data {
		switch {
		case m.Phase[i] == 1 && m.EndTime[i] != nil && *m.EndTime[i] >= m.StartTime[i]:
			intervals++
		case m.Phase[i] == 0 && m.EndTime[i] == nil:
			instants++
		default:
			t.Errorf("%s: marker %d: phase %d from %v to %v", name, i, m.Phase[i], m.StartTime[i], m.EndTime[i])
		}
		if cause, ok := data["cause"].(map[string]any); ok && int(cause["stack"].(float64)) >= h.StackTable.Length {
			t.Errorf("%s: marker %d: cause %v", name, i, cause)
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
