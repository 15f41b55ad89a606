package timeline_test

import (
	"fmt"
	"hash/maphash"

	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// testArgs appends text that shows the source of args.
func testArgs(dst []byte, s *timeline.Source) []byte {
	switch {
	case s.Event != nil:
		return fmt.Appendf(dst, "event %s/%d %x", s.Event.Type.Provider, s.Event.Type.ID, s.Event.Payload)
	case s.Span != nil:
		return fmt.Appendf(dst, "span %s", s.Span.Name)
	}
	for _, a := range s.Attributes {
		dst = a.Value.AppendText(fmt.Appendf(dst, "%s=", a.Key))
	}
	return dst
}

var hashSeed = maphash.MakeSeed()

// A checked is the result of check.
type checked struct {
	counts track.Counts
	hash   uint64
	end    int64
}

// An openSlice is a slice that has begun and not ended.
type openSlice struct {
	id, end  int64
	on       *timeline.Track
	name     string
	category string
}

// A checker checks the items of a timeline in order.
type checker struct {
	failer
	tl      *timeline.Timeline
	seen    checked
	time    int64
	open    map[*timeline.Track][]openSlice
	ids     map[uint64]bool          // of slices and flows
	flows   map[uint64]bool          // that have begun and not ended
	next    uint64                   // the flow that must end next; 0 means any
	stray   map[*timeline.Track]bool // a flow has ended outside slices; no slice may begin after that
	tids    map[[2]uint32]*timeline.Track
	tracks  map[*timeline.Track]bool
	numbers map[uint32]*timeline.Track
	errors  int
}

// A failer is a testing.TB or a rapid.T.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	FailNow()
}

// check reads a timeline and reports every violated property.
func check(tb failer, tl *timeline.Timeline) checked {
	tb.Helper()
	c := &checker{
		failer: tb, tl: tl, open: map[*timeline.Track][]openSlice{}, ids: map[uint64]bool{}, flows: map[uint64]bool{}, stray: map[*timeline.Track]bool{},
		tids: map[[2]uint32]*timeline.Track{}, tracks: map[*timeline.Track]bool{}, numbers: map[uint32]*timeline.Track{},
	}
	c.owners()
	var h maphash.Hash
	h.SetSeed(hashSeed)
	if err := tl.Each(func(it *timeline.Item) error {
		c.item(it)
		if it.Weight != nil {
			fmt.Fprintf(&h, "%+v", *it.Weight)
		}
		fmt.Fprintf(&h, "%d %d %d %d %d %s %s %s %d %d %v|", it.Kind, it.Time, it.Duration, it.ID, it.Track.ID, it.Name, it.Category, it.Encoded, it.Stack, it.Bytes, it.Value)
		if c.errors > 20 {
			tb.FailNow()
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	for track, list := range c.open {
		if len(list) > 0 {
			c.fail("%d slices of track %q do not end", len(list), track.Name)
		}
	}
	if len(c.flows) > 0 {
		c.fail("%d flows do not end", len(c.flows))
	}
	c.seen.hash = h.Sum64()
	if c.seen.end != tl.End() {
		c.fail("End is %d, the last item ends at %d", tl.End(), c.seen.end)
	}
	c.count()
	return c.seen
}

// count compares the counts of a timeline with the number of its items.
func (c *checker) count() {
	got, want := c.tl.Counts(), c.seen.counts
	want.Events, want.Short, want.Rundown, want.Spans, want.Renumbered = got.Events, got.Short, got.Rundown, got.Spans, got.Renumbered
	want.Moved = got.Moved
	if got != want {
		c.fail("counts\n%+v, items\n%+v", got, want)
	}
}

func (c *checker) fail(format string, args ...any) {
	c.Helper()
	c.errors++
	c.Errorf(format, args...)
}

// owners checks the processes and tracks that exist before the first item.
func (c *checker) owners() {
	pids := map[uint32]bool{}
	for _, p := range c.tl.Processes() {
		if p.PID == 0 || pids[p.PID] || p.Track == nil || p.Track.Process != p {
			c.fail("process %+v", p)
		}
		pids[p.PID] = true
	}
	for _, k := range c.tl.Tracks() {
		c.track(k)
	}
}

// track checks a new track.
func (c *checker) track(k *timeline.Track) {
	if c.tracks[k] {
		return
	}
	c.tracks[k] = true
	key := [2]uint32{k.Process.PID, k.TID}
	if k.ID == 0 || k.TID == 0 || c.tids[key] != nil || c.numbers[k.ID] != nil {
		c.fail("track %+v has the numbers of %+v or %+v, or none", k, c.tids[key], c.numbers[k.ID])
	}
	c.tids[key], c.numbers[k.ID] = k, k
	if (k.Kind == timeline.ThreadTrack) != (k.Thread != nil) || (k.Kind == timeline.LaneTrack) != (k.Lane != 0) {
		c.fail("track %+v", k)
	}
}

func (c *checker) item(it *timeline.Item) {
	if it.Time < c.time {
		c.fail("time goes back from %d to %d: %+v", c.time, it.Time, it)
	}
	c.time = it.Time
	c.seen.end = max(c.seen.end, it.Time+it.Duration)
	if it.Track == nil {
		c.fail("item without a track: %+v", it)
		return
	}
	if it.Track.Kind != timeline.LaneTrack && !c.tracks[it.Track] {
		c.fail("Tracks does not have %+v", it.Track)
	}
	c.track(it.Track)
	if it.Stack != timeline.NoStack && int(it.Stack) >= c.tl.Nodes() {
		c.fail("stack %d of %d nodes", it.Stack, c.tl.Nodes())
	}
	if it.Name == "" && it.Kind != timeline.Sample && it.Kind != timeline.Raw {
		c.fail("%+v has no name", it)
	}
	c.kind(it)
}

func (c *checker) kind(it *timeline.Item) {
	n := &c.seen.counts
	switch it.Kind {
	case timeline.SliceBegin:
		n.Slices++
		if it.Track.Kind == timeline.LaneTrack {
			n.Lanes++
		}
		if it.Unfinished {
			n.Unfinished++
		}
		c.begin(it)
	case timeline.SliceEnd:
		c.end(it)
	case timeline.Instant:
		if it.Category == timeline.CategoryLoss {
			n.Losses++
		} else {
			n.Instants++
		}
	case timeline.Counter:
		n.Counters++
		if it.Track.Kind != timeline.CounterTrack || it.Track.Name != it.Name {
			c.fail("counter %q is on track %+v", it.Name, it.Track)
		}
	case timeline.Sample:
		n.Samples++
		if it.Weight == nil || len(it.Weight.Types) != len(it.Weight.Values) || it.Weight.Until < it.Time {
			c.fail("sample with weight %+v", it.Weight)
		}
	case timeline.FlowBegin:
		n.Flows++
		if it.ToLane && !it.Later {
			c.fail("flow %+v states where it ends, although its end follows", it)
		}
		if !it.Later {
			c.next = it.ID
		}
		if it.ID == 0 || c.ids[it.ID] || len(c.open[it.Track]) == 0 {
			c.fail("flow %+v begins outside of a slice, or its number is taken", it)
		}
		c.ids[it.ID], c.flows[it.ID] = true, true
	case timeline.FlowEnd:
		if c.next != 0 && c.next != it.ID {
			c.fail("flow %+v ends before flow %d, which is not Later", it, c.next)
		}
		c.next = 0
		if !c.flows[it.ID] {
			c.fail("flow %+v ends without a begin", it)
		}
		c.stray[it.Track] = c.stray[it.Track] || len(c.open[it.Track]) == 0
		delete(c.flows, it.ID)
	case timeline.Raw:
		n.Raw++
	default:
		c.fail("item %+v", it)
	}
}

func (c *checker) begin(it *timeline.Item) {
	if it.Duration < 0 || it.ID == 0 || c.ids[it.ID] || c.stray[it.Track] {
		c.fail("slice %+v, or a flow ended before it", it)
	}
	c.ids[it.ID] = true
	list := c.open[it.Track]
	end := it.Time + it.Duration
	if n := len(list); n > 0 && end > list[n-1].end {
		c.fail("slice %q to %d does not nest in %q to %d of track %q", it.Name, end, list[n-1].name, list[n-1].end, it.Track.Name)
	}
	c.open[it.Track] = append(list, openSlice{int64(it.ID), end, it.Track, it.Name, it.Category})
}

func (c *checker) end(it *timeline.Item) {
	list := c.open[it.Track]
	n := len(list) - 1
	if n < 0 || uint64(list[n].id) != it.ID {
		c.fail("slice %q ends, which is not the innermost of track %q", it.Name, it.Track.Name)
		return
	}
	if s := list[n]; s.end != it.Time || s.name != it.Name || s.category != it.Category {
		c.fail("slice %+v ends as %+v", s, it)
	}
	c.open[it.Track] = list[:n]
}
