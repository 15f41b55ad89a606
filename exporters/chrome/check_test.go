package chrome_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"testing"
	"unicode/utf8"
)

// A document is the object form, as encoding/json reads it.
type document struct {
	DisplayTimeUnit string
	Metadata        map[string]any
	TraceEvents     []event
	Samples         []sample
	StackFrames     map[string]struct{ Name, Category, Parent string }
}

type event struct {
	Ph, Name, Cat, S, Bp string
	ID                   string
	ID2                  struct{ Local string }
	BindID               string `json:"bind_id"`
	FlowIn               bool   `json:"flow_in"`
	FlowOut              bool   `json:"flow_out"`
	PID, TID             json.Number
	TS, Dur              json.Number
	SF                   string
	Args                 json.RawMessage
}

type sample struct {
	Name   string
	TID    uint64
	TS     float64
	SF     string
	Weight float64
}

// at converts decimal microseconds to nanoseconds exactly.
func at(t testing.TB, n json.Number) int64 {
	t.Helper()
	whole, frac, _ := bytes.Cut([]byte(n), []byte("."))
	if len(frac) > 3 || len(n) == 0 || bytes.ContainsAny([]byte(n), "eE") {
		t.Fatalf("%q is not a time with at most 3 decimals", n)
	}
	for len(frac) < 3 {
		frac = append(frac, '0')
	}
	var ns int64
	if _, err := fmt.Sscanf(string(whole)+string(frac), "%d", &ns); err != nil {
		t.Fatal(n, err)
	}
	// Viewers parse a float64.
	f, err := n.Float64()
	if err != nil || int64(math.Round(f*1000)) != ns {
		t.Fatalf("%s: a float64 is %v", n, f)
	}
	return ns
}

// parse reads a document of the object form.
func parse(t testing.TB, data []byte) *document {
	t.Helper()
	if !utf8.Valid(data) {
		t.Fatal("the output is not UTF-8")
	}
	d := new(document)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(d); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatal("something follows the object")
	}
	return d
}

// found summarizes the contents of a document.
type found struct {
	slices, lanes, instants, counters, flows, samples, losses int64
	continued, markers, unfinished                            int64
	weights                                                   map[string]int64 // nanoseconds by kind of profile, thread and function
}

type place struct {
	pid, tid string
}

type slot struct {
	place
	cat, id string
}

type profileState struct {
	place
	nodes  map[int64]node
	time   int64
	start  bool
	before int64 // node of the latest sample
}

type node struct {
	parent int64
	name   string
}

// A checker checks properties of the events of a document that hold for every trace.
type checker struct {
	t        testing.TB
	found    found
	last     int64
	stacks   map[place][]string // of B
	ends     map[place][]int64  // of X
	async    map[slot][]string
	flows    map[string]int64
	bound    map[string]int64
	profiles map[string]*profileState
	threads  map[place]string
	frames   map[string]struct{ Name, Category, Parent string }
}

// check checks a document.
func check(t testing.TB, d *document) found {
	t.Helper()
	c := &checker{
		t: t, stacks: map[place][]string{}, ends: map[place][]int64{}, async: map[slot][]string{}, flows: map[string]int64{},
		bound: map[string]int64{}, profiles: map[string]*profileState{}, threads: map[place]string{}, frames: d.StackFrames,
	}
	c.found.weights = map[string]int64{}
	for i := range d.TraceEvents {
		e := &d.TraceEvents[i]
		if e.Name == "" && e.Ph != "X" && e.Ph != "b" && e.Ph != "e" && e.Ph != "i" && e.Ph != "n" || e.Cat == "" && e.Ph != "i" {
			t.Fatalf("event %d has no name or no category: %+v", i, e)
		}
		if n, err := e.PID.Int64(); err != nil || n <= 0 || n > math.MaxUint32 {
			t.Fatalf("event %d: pid %s", i, e.PID)
		}
		if n, err := e.TID.Int64(); err != nil || n <= 0 || n > math.MaxUint32 {
			t.Fatalf("event %d: tid %s", i, e.TID)
		}
		now := at(t, e.TS)
		if now < c.last {
			t.Fatalf("event %d at %d comes after one at %d", i, now, c.last)
		}
		c.last = now
		c.event(e, now)
	}
	c.finish()
	return c.found
}

func (c *checker) event(e *event, now int64) {
	p := place{e.PID.String(), e.TID.String()}
	switch e.Ph {
	case "M":
		c.meta(e, p)
	case "X":
		c.complete(e, p, now)
	case "B":
		if e.Name == "flow" {
			c.found.markers++
		} else {
			c.slice(e)
		}
		c.stacks[p] = append(c.stacks[p], e.Name)
	case "E":
		n := len(c.stacks[p])
		if n == 0 || c.stacks[p][n-1] != e.Name {
			c.t.Fatalf("E %s at %d ends %v", e.Name, now, c.stacks[p])
		}
		c.stacks[p] = c.stacks[p][:n-1]
	case "b", "e", "n":
		c.asynchronous(e, slot{p, "", e.ID2.Local})
	case "i":
		if e.S != "t" && e.S != "p" {
			c.t.Fatalf("scope %q", e.S)
		}
		if e.Cat == "loss" {
			c.found.losses++
		} else {
			c.found.instants++
		}
	case "C":
		var args struct{ Value *float64 }
		if err := json.Unmarshal(e.Args, &args); err != nil || args.Value == nil {
			c.t.Fatalf("counter with args %s", e.Args)
		}
		c.found.counters++
	case "s", "f":
		c.flow(e, p, now)
	case "P":
		c.profile(e, p, now)
	default:
		c.t.Fatalf("phase %q", e.Ph)
	}
	c.bind(e, now)
	if len(e.Args) > 0 {
		var args map[string]any
		if err := json.Unmarshal(e.Args, &args); err != nil {
			c.t.Fatalf("args %s: %v", e.Args, err)
		}
	}
	if e.SF != "" {
		c.frame(e.SF)
	}
}

func (c *checker) meta(e *event, p place) {
	var args struct {
		Name, Labels string
		SortIndex    *int `json:"sort_index"`
	}
	if err := json.Unmarshal(e.Args, &args); err != nil {
		c.t.Fatal(err)
	}
	switch e.Name {
	case "process_name", "process_labels", "process_sort_index", "thread_sort_index":
	case "thread_name":
		if old, ok := c.threads[p]; ok {
			c.t.Fatalf("thread %v is %q and %q", p, old, args.Name)
		}
		c.threads[p] = args.Name
	default:
		c.t.Fatalf("metadata %q", e.Name)
	}
	if c.last != 0 {
		c.t.Fatal("metadata after an event")
	}
}

// slice counts a slice.
func (c *checker) slice(e *event) {
	var args struct{ Continued, Unfinished bool }
	if len(e.Args) > 0 {
		json.Unmarshal(e.Args, &args)
	}
	if args.Continued {
		c.found.continued++
		return
	}
	if args.Unfinished {
		c.found.unfinished++
	}
	c.found.slices++
	if e.Ph == "b" {
		c.found.lanes++
	}
}

// complete checks that the complete slices of a thread nest.
func (c *checker) complete(e *event, p place, now int64) {
	c.slice(e)
	end := now + at(c.t, e.Dur)
	open := c.ends[p]
	for len(open) > 0 && open[len(open)-1] <= now {
		open = open[:len(open)-1]
	}
	if len(open) > 0 && open[len(open)-1] < end {
		c.t.Fatalf("%s of thread %v from %d to %d does not nest: another one ends at %d", e.Name, p, now, end, open[len(open)-1])
	}
	c.ends[p] = append(open, end)
}

// asynchronous checks that the slices of an ID nest, on one thread each.
func (c *checker) asynchronous(e *event, s slot) {
	tid := s.tid
	s.tid = ""
	open, top := c.async[s], e.Cat+"\x00"+e.Name+"\x00"+tid
	switch {
	case e.ID2.Local == "":
		c.t.Fatalf("no id2: %+v", e)
	case e.Ph == "n":
		if len(open) == 0 || open[len(open)-1] != top {
			c.t.Fatalf("%q is not in a slice of %q", top, open)
		}
		c.found.markers++
	case e.Ph == "b":
		c.slice(e)
		c.async[s] = append(open, top)
	default:
		if len(open) == 0 || open[len(open)-1] != top {
			c.t.Fatalf("%q does not end %q", top, open)
		}
		c.async[s] = open[:len(open)-1]
	}
}

// flow checks a pair of flow events.
func (c *checker) flow(e *event, p place, now int64) {
	inside := len(c.stacks[p]) > 0
	for _, end := range c.ends[p] {
		inside = inside || now <= end
	}
	if !inside {
		c.t.Fatalf("flow %s at %d is in no slice of thread %v", e.ID, now, p)
	}
	if e.Ph == "s" {
		c.flows[e.ID] = now
		return
	}
	if began, ok := c.flows[e.ID]; !ok || began > now || e.Bp != "e" {
		c.t.Fatalf("flow %s ends without a beginning", e.ID)
	}
	delete(c.flows, e.ID)
	c.found.flows++
}

// bind checks the arrows that are members of slices.
func (c *checker) bind(e *event, now int64) {
	switch {
	case e.FlowOut:
		c.bound[e.BindID] = now
	case e.FlowIn:
		if _, ok := c.bound[e.BindID]; !ok {
			c.t.Fatalf("arrow %s ends without a beginning", e.BindID)
		}
		delete(c.bound, e.BindID)
		c.found.flows++
		if e.Ph == "X" {
			c.t.Fatal("chrome://tracing warns of flow_in of a complete slice")
		}
	}
}

// profileArgs are the args of an event of a V8 profile.
type profileArgs struct {
	Data struct {
		StartTime  *int64
		CPUProfile *struct {
			Nodes []struct {
				ID, Parent int64
				CallFrame  struct {
					FunctionName, URL, ScriptID string
					LineNumber, ColumnNumber    int64
				}
			}
			Samples []int64
		}
		TimeDeltas []int64
	}
}

// profile checks an event of a V8 profile and adds up its weights.
func (c *checker) profile(e *event, p place, now int64) {
	var args profileArgs
	if err := json.Unmarshal(e.Args, &args); err != nil {
		c.t.Fatal(err)
	}
	d := &args.Data
	s := c.profiles[e.ID]
	if e.Name == "Profile" {
		if s != nil || d.StartTime == nil {
			c.t.Fatalf("profile %s begins twice or without a time", e.ID)
		}
		c.profiles[e.ID] = &profileState{place: p, nodes: map[int64]node{}, time: *d.StartTime}
		return
	}
	if s == nil || s.place != p || d.CPUProfile == nil || len(d.TimeDeltas) != len(d.CPUProfile.Samples) || len(d.TimeDeltas) > 1000 {
		c.t.Fatalf("chunk of profile %s: %+v", e.ID, d)
	}
	for _, n := range d.CPUProfile.Nodes {
		if _, ok := s.nodes[n.Parent]; !ok && n.Parent != 0 {
			c.t.Fatalf("node %d comes before its parent %d", n.ID, n.Parent)
		}
		if _, ok := s.nodes[n.ID]; ok {
			c.t.Fatalf("node %d was sent twice", n.ID)
		}
		s.nodes[n.ID] = node{n.Parent, n.CallFrame.FunctionName}
	}
	for i, id := range d.CPUProfile.Samples {
		if _, ok := s.nodes[id]; !ok {
			c.t.Fatalf("sample of node %d, which was not sent", id)
		}
		if d.TimeDeltas[i] < 0 {
			c.t.Fatalf("delta %d", d.TimeDeltas[i])
		}
		if s.start {
			c.weigh(s, d.TimeDeltas[i]*1000)
		}
		s.time += d.TimeDeltas[i]
		s.before, s.start = id, true
		if name := s.nodes[id].name; name != "(idle)" {
			c.found.samples++
		}
	}
	if s.time > now/1000 {
		c.t.Fatalf("the last sample of a chunk is at %d µs, the chunk at %d ns", s.time, now)
	}
}

// weigh adds the time of the latest sample to its functions, once each.
func (c *checker) weigh(s *profileState, ns int64) {
	seen := map[string]bool{}
	for id := s.before; id != 0; id = s.nodes[id].parent {
		if name := s.nodes[id].name; !seen[name] {
			seen[name] = true
			c.found.weights[s.tid+" "+name] += ns
		}
	}
}

func (c *checker) frame(id string) {
	for depth := 0; id != ""; depth++ {
		f, ok := c.frames[id]
		if !ok || depth > 100_000 {
			c.t.Fatalf("frame %s is not in stackFrames, or there is a circle", id)
		}
		id = f.Parent
	}
}

func (c *checker) finish() {
	for p, open := range c.stacks {
		if len(open) > 0 {
			c.t.Fatalf("thread %v: %q does not end", p, open)
		}
	}
	for s, open := range c.async {
		if len(open) > 0 {
			c.t.Fatalf("%v: %q does not end", s, open)
		}
	}
	if len(c.flows) > 0 || len(c.bound) > 0 {
		c.t.Fatalf("flows without an end: %v %v", c.flows, c.bound)
	}
}
