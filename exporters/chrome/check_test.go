package chrome_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/testing/perfettocheck"
)

// A document is the object form, as encoding/json reads it.
type document struct {
	DisplayTimeUnit string
	Metadata        map[string]any
	TraceEvents     []event
	Samples         []sample
	StackFrames     map[string]struct{ Name, Category, Parent string }

	data []byte // of the whole document
}

type event struct {
	Ph, Name, Cat, S, Bp string
	ID                   string
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
	ns, err := strconv.ParseInt(string(whole)+string(frac), 10, 64)
	if err != nil {
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
	d := &document{data: data}
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
	slices, lanes, instants, counters, flows, samples, losses, unfinished int64

	weights map[string]int64 // nanoseconds by thread and function
}

// A profileState is what a viewer knows of a V8 profile.
type profileState struct {
	tid    string
	nodes  map[int64]node
	before int64 // node of the latest sample
}

type node struct {
	parent int64
	name   string
}

// A checker counts the contents of a document.
type checker struct {
	t        testing.TB
	found    found
	bound    map[string]bool // arrows that are members of slices
	profiles map[string]*profileState
}

// check checks a document: the rules of Perfetto, which hold for every trace, the time order and the stacks.
func check(t testing.TB, d *document) found {
	t.Helper()
	for _, f := range perfettocheck.Check(bytes.NewReader(d.data)).Findings {
		if f.Rule != perfettocheck.RuleSamples {
			t.Fatal(f)
		}
	}
	return count(t, d)
}

// count is check without the rules of Perfetto, for documents that another test checks.
func count(t testing.TB, d *document) found {
	t.Helper()
	c := &checker{t: t, bound: map[string]bool{}, profiles: map[string]*profileState{}, found: found{weights: map[string]int64{}}}
	last := int64(0)
	for i := range d.TraceEvents {
		e := &d.TraceEvents[i]
		now := at(t, e.TS)
		if now < last || e.Ph == "M" && last != 0 {
			t.Fatalf("event %d at %d comes after one at %d: %+v", i, now, last, e)
		}
		last = now
		c.event(e)
		d.checkFrame(t, e.SF)
	}
	if len(c.bound) > 0 {
		t.Fatalf("arrows without an end: %v", c.bound)
	}
	return c.found
}

func (c *checker) event(e *event) {
	var args struct{ Continued, Unfinished bool }
	if e.Ph == "X" || e.Ph == "B" || e.Ph == "b" {
		_ = json.Unmarshal(e.Args, &args) // payloads may have members of these names
	}
	switch e.Ph {
	case "X", "B", "b":
		if e.Name == "flow" && e.Ph == "B" || e.Cat == "samples" || args.Continued {
			break
		}
		c.found.slices++
		if e.Ph == "b" {
			c.found.lanes++
		}
		if args.Unfinished {
			c.found.unfinished++
		}
	case "i":
		if e.Cat == "loss" {
			c.found.losses++
		} else {
			c.found.instants++
		}
	case "C":
		c.found.counters++
	case "f":
		c.found.flows++
	case "P":
		c.profile(e)
	case "M", "E", "e", "n", "s":
	default:
		c.t.Fatalf("phase %q", e.Ph)
	}
	switch {
	case e.FlowOut:
		c.bound[e.BindID] = true
	case e.FlowIn:
		if !c.bound[e.BindID] || e.Ph == "X" { // chrome://tracing warns of flow_in of a complete slice
			c.t.Fatalf("arrow %s ends without a beginning, or in a complete slice", e.BindID)
		}
		delete(c.bound, e.BindID)
		c.found.flows++
	}
}

// profileArgs are the args of an event of a V8 profile.
type profileArgs struct {
	Data struct {
		CPUProfile struct {
			Nodes []struct {
				ID, Parent int64
				CallFrame  struct{ FunctionName string }
			}
			Samples []int64
		}
		TimeDeltas []int64
	}
}

// profile adds up the weights of a V8 profile: a sample lasts until the next one.
func (c *checker) profile(e *event) {
	var args profileArgs
	if err := json.Unmarshal(e.Args, &args); err != nil {
		c.t.Fatal(err)
	}
	s := c.profiles[e.ID]
	if e.Name == "Profile" {
		c.profiles[e.ID] = &profileState{tid: e.TID.String(), nodes: map[int64]node{}}
		return
	}
	if s.tid != e.TID.String() || len(args.Data.TimeDeltas) > 1000 {
		c.t.Fatalf("chunk of profile %s on thread %s, %d samples", e.ID, e.TID, len(args.Data.TimeDeltas))
	}
	for _, n := range args.Data.CPUProfile.Nodes {
		s.nodes[n.ID] = node{n.Parent, n.CallFrame.FunctionName}
	}
	for i, id := range args.Data.CPUProfile.Samples {
		if args.Data.TimeDeltas[i] < 0 {
			c.t.Fatalf("delta %d", args.Data.TimeDeltas[i])
		}
		seen := map[string]bool{}
		for n := s.before; n != 0; n = s.nodes[n].parent {
			if name := s.nodes[n].name; !seen[name] {
				seen[name] = true
				c.found.weights[s.tid+" "+name] += args.Data.TimeDeltas[i] * 1000
			}
		}
		if s.before = id; s.nodes[id].name != "(idle)" {
			c.found.samples++
		}
	}
}

// checkFrame checks that a frame and its callers are in stackFrames.
func (d *document) checkFrame(t testing.TB, id string) {
	for depth := 0; id != ""; depth++ {
		f, ok := d.StackFrames[id]
		if !ok || depth > 100_000 {
			t.Fatalf("frame %s is not in stackFrames, or there is a circle", id)
		}
		id = f.Parent
	}
}
