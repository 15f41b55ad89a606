package perfetto

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// A comparison compares what was read with a timeline.
type comparison struct {
	t        *testing.T
	r        *readTrace
	trace    timeline.Trace
	start    uint64
	form     Samples
	next     int // of r.events
	streamed sample.Kind
	samples  [2][]readSample         // want, by whether they are streamed
	flows    map[uint64][2]flowPlace // begin and end, by flow
	texts    map[timeline.Node][]string
}

// A flowPlace is where a flow begins or ends.
type flowPlace struct{ time, track uint64 }

// compare checks that a reader finds all items of a timeline, with all that they have, and all tracks. values are the
// args of items by ID, except those that the encoder adds; nil means unknown.
func compare(t *testing.T, r *readTrace, trace timeline.Trace, form Samples, values map[uint64]map[string]any) {
	t.Helper()
	c := &comparison{
		t: t, r: r, trace: trace, start: uint64(max(trace.Start().UnixNano(), 0)), form: form,
		flows: map[uint64][2]flowPlace{}, texts: map[timeline.Node][]string{},
	}
	c.compareTracks() // before Each creates lanes
	if err := trace.Each(func(it *timeline.Item) error { return c.item(it, values[it.ID]) }); err != nil {
		t.Fatal(err)
	}
	c.skipFlows()
	if c.next < len(r.events) {
		t.Fatalf("%d events too many", len(r.events)-c.next)
	}
	c.compareFlows()
	c.compareSamples()
}

// skipFlows skips the instants that are only ends of flows.
func (c *comparison) skipFlows() {
	for c.next < len(c.r.events) && c.r.events[c.next].category == timeline.CategoryFlow {
		c.next++
	}
}

func (c *comparison) item(it *timeline.Item, values map[string]any) error {
	at := flowPlace{c.start + uint64(it.Time), uint64(it.Track.ID)}
	switch it.Kind {
	case timeline.Sample:
		c.sample(it)
		return nil
	case timeline.FlowBegin:
		c.flows[it.ID] = [2]flowPlace{at}
		return nil
	case timeline.FlowEnd:
		c.flows[it.ID] = [2]flowPlace{c.flows[it.ID][0], at}
		return nil
	}
	c.skipFlows()
	if c.next == len(c.r.events) {
		return fmt.Errorf("no event for item %+v", it)
	}
	e := &c.r.events[c.next]
	c.next++
	kinds := map[timeline.Kind]uint64{timeline.SliceBegin: 1, timeline.SliceEnd: 2, timeline.Instant: 3, timeline.Counter: 4}
	if e.time != at.time || e.kind != kinds[it.Kind] || e.track != at.track {
		return fmt.Errorf("event %+v, want item %+v", e, it)
	}
	switch it.Kind {
	case timeline.SliceBegin, timeline.Instant:
		if e.name != valid(it.Name) || e.category != it.Category || values != nil && !reflect.DeepEqual(e.args, withAdded(values, it)) {
			return fmt.Errorf("event %+v, want item %+v with %v", e, it, values)
		}
		if want := c.text(it.Stack); it.Stack != timeline.NoStack && !slices.Equal(e.stack, want) {
			return fmt.Errorf("event %+v, want stack %q", e, want)
		}
	case timeline.Counter:
		if e.value != it.Value && !math.IsNaN(it.Value) {
			return fmt.Errorf("event %+v, want item %+v", e, it)
		}
	}
	return nil
}

// withAdded returns args with those that the encoder adds.
func withAdded(values map[string]any, it *timeline.Item) map[string]any {
	all := map[string]any{}
	for k, v := range values {
		all[k] = v
	}
	if it.Unfinished {
		all["unfinished"] = true
	}
	if it.Thread != nil && it.Thread != it.Track {
		all["tid"] = uint64(it.Thread.TID)
	}
	if it.EndThread != nil {
		all["end_tid"] = uint64(it.EndThread.TID)
	}
	return all
}

// compareFlows checks that each flow begins once, before it ends, and where the timeline has its ends.
func (c *comparison) compareFlows() {
	got := map[uint64][2]flowPlace{}
	for _, e := range c.r.events {
		at := flowPlace{e.time, e.track}
		for _, id := range e.flows {
			if places, ok := got[id]; ok {
				c.t.Errorf("flow %d begins at %+v and %+v", id, places, at)
			}
			got[id] = [2]flowPlace{at}
		}
		for _, id := range e.ends {
			places, ok := got[id]
			if !ok || places[1] != (flowPlace{}) {
				c.t.Errorf("flow %d ends before it begins, or twice", id)
			}
			places[1] = at
			got[id] = places
		}
	}
	if !reflect.DeepEqual(got, c.flows) {
		c.t.Errorf("flows %v, want %v", got, c.flows)
	}
}

func (c *comparison) sample(it *timeline.Item) {
	s := readSample{time: c.start + uint64(it.Time), pid: uint64(it.Track.Process.PID), tid: uint64(it.Track.TID), stack: c.text(it.Stack)}
	w := it.Weight
	if c.form == StreamingSamples && w.Kind <= sample.Imported {
		if c.streamed == sample.Auto {
			c.streamed = w.Kind
		}
		if c.streamed == w.Kind {
			s.time, s.streamed = s.time/1000*1000, true
			c.samples[1] = append(c.samples[1], s)
			return
		}
	}
	// The last time is first, or else the last type.
	first := max(len(w.Types)-1, 0)
	for i := range w.Types {
		if w.Types[i].Unit == "nanoseconds" {
			first = i
		}
	}
	s.source = "ntconv." + w.Kind.String()
	for i := range w.Types {
		switch {
		case i == 0:
			i = first
		case i <= first:
			i--
		}
		unit := map[string]string{"nanoseconds": "ns", "bytes": "bytes", "count": "count"}[w.Types[i].Unit]
		if unit == "" {
			unit = w.Types[i].Unit
		}
		s.columns = append(s.columns, w.Types[i].Type+"/"+unit)
		s.weights = append(s.weights, uint64(max(w.Values[i], 0)))
	}
	c.samples[0] = append(c.samples[0], s)
}

// compareSamples compares the samples of each form: streamed ones come in runs after others of the same time.
func (c *comparison) compareSamples() {
	for streamed, want := range c.samples {
		got := slices.DeleteFunc(slices.Clone(c.r.samples), func(s readSample) bool { return s.streamed != (streamed == 1) })
		if len(got) != len(want) {
			c.t.Errorf("%d samples (streamed: %d), want %d", len(got), streamed, len(want))
			continue
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				c.t.Fatalf("sample %d: %+v, want %+v", i, got[i], want[i])
			}
		}
	}
}

func (c *comparison) compareTracks() {
	for _, k := range c.trace.Tracks() {
		want := readTrack{uuid: uint64(k.ID), parent: uint64(k.Process.Track.ID), name: valid(k.Name)}
		switch k.Kind {
		case timeline.ProcessTrack:
			want = readTrack{uuid: want.uuid, kind: "process", name: valid(k.Process.Name), command: valid(k.Process.Command), pid: uint64(k.Process.PID), explicitOrdering: true}
		case timeline.ThreadTrack:
			want.kind, want.pid, want.tid = "thread", uint64(k.Process.PID), uint64(k.TID)
		case timeline.CollectionTrack:
			want.rank = 1
		case timeline.LossTrack:
			want.rank = 2
		case timeline.CounterTrack:
			want.kind, want.unit, want.rank = "counter", k.Unit, 4
			if unit := map[string]string{"By": "bytes", "B": "bytes", "nanoseconds": "ns"}[k.Unit]; unit != "" {
				want.unit = unit
			}
		}
		if got := c.r.tracks[want.uuid]; got == nil || *got != want {
			c.t.Errorf("track %+v, want %+v", got, want)
		}
	}
}

// text returns the frames of a node as readTrace.stack does.
func (c *comparison) text(n timeline.Node) []string {
	if n == timeline.NoStack {
		return []string{"[no stack]"}
	}
	list, ok := c.texts[n]
	if ok {
		return list
	}
	parent, number := c.trace.Node(n)
	f := c.trace.Frame(number)
	text, file := functionOf(&f)
	if file != "" {
		text += " " + file
	}
	if f.Line > 0 {
		text += fmt.Sprintf(":%d", f.Line)
	}
	if f.Mapping != nil && f.Mapping.File != "" {
		text += " (" + valid(f.Mapping.File)
		if text[len(text)-len(f.Mapping.File)] == '/' {
			text = text[:len(text)-len(f.Mapping.File)] + f.Mapping.File[1:]
		}
		if id := f.Mapping.BuildID; id != "" {
			if _, err := hex.DecodeString(id); err != nil {
				id = hex.EncodeToString([]byte(id))
			}
			text += " " + id
		}
		text += ")"
	}
	if parent != timeline.NoStack {
		list = slices.Clone(c.text(parent))
	}
	list = append(list, text)
	c.texts[n] = list
	return list
}
