package perfettocheck

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A checker holds the state of the rules.
type checker struct {
	result   Result
	number   int // number of the event, -1 for the file
	threads  map[thread]*[]interval
	async    map[asyncKey]*asyncState
	flows    map[flowKey][]end
	profiles map[profileKey]map[int64]bool // nodes
}

type thread struct{ pid, tid uint64 }

// An interval is a slice of a thread, in nanoseconds.
type interval struct {
	begin, end int64 // end is -1 while it is unknown
	event      int
}

type asyncKey struct {
	pid     uint64
	cat, id string
}

type asyncState struct {
	open []asyncSlice
}

type asyncSlice struct {
	name  string
	tid   uint64
	event int
}

type flowKey struct{ cat, id, name string }

// An end is one end of an arrow.
type end struct {
	thread thread
	at     int64
	phase  string
	event  int
}

type profileKey struct {
	pid uint64
	id  string
}

func newChecker() *checker {
	return &checker{
		number: -1, threads: map[thread]*[]interval{}, async: map[asyncKey]*asyncState{}, flows: map[flowKey][]end{},
		profiles: map[profileKey]map[int64]bool{},
	}
}

func (c *checker) event(e *event) {
	if e.Ph == "" {
		c.find(RulePhase, "an event without a phase")
		return
	}
	if e.Ph == "M" {
		c.metadata(e)
		return
	}
	t := thread{c.id("pid", e.Pid), c.id("tid", e.Tid)}
	at, ok := c.time("ts", e.Ts)
	if !ok {
		return
	}
	c.integers(e)
	switch e.Ph {
	case "X":
		duration := int64(0)
		if e.Dur != nil {
			duration, _ = c.time("dur", e.Dur)
		}
		c.add(t, interval{at, at + duration, c.number})
	case "B":
		c.add(t, interval{at, -1, c.number})
	case "E":
		c.endSlice(t, at)
	case "i", "I":
		c.result.Instants++
		if e.S != "" && e.S != "t" && e.S != "p" && e.S != "g" {
			c.find(RuleInstant, "scope %q", e.S)
		}
	case "C":
		c.counter(e)
	case "b", "n", "e":
		c.asynchronous(e, t)
	case "s", "t", "f":
		key := flowKey{e.Cat, string(e.ID), e.Name}
		c.flows[key] = append(c.flows[key], end{t, at, e.Ph, c.number})
	case "P":
		c.profile(e, t)
	}
}

// id checks the ID of a process or thread.
func (c *checker) id(name string, raw json.RawMessage) uint64 {
	n, err := strconv.ParseUint(string(raw), 10, 32)
	if err != nil || n == 0 {
		c.find(RuleID, "%s %s", name, raw)
	}
	return n
}

// time converts a number of microseconds to nanoseconds.
func (c *checker) time(name string, raw json.RawMessage) (ns int64, ok bool) {
	value, err := strconv.ParseFloat(string(raw), 64)
	read := math.Round(value * 1000)
	if ns, ok := decimalNanos(raw); ok && err == nil && float64(ns) == read {
		return ns, true
	}
	exact, ok := new(big.Rat).SetString(string(raw))
	if !ok || len(raw) == 0 || raw[0] == '"' {
		c.find(RuleTime, "%s %s", name, raw)
		return 0, false
	}
	if exact.Sign() < 0 {
		c.find(RuleTime, "%s %s is negative", name, raw)
		return 0, false
	}
	exact.Mul(exact, big.NewRat(1000, 1))
	if err != nil || !exact.IsInt() || strings.ContainsAny(string(raw), "eE") ||
		new(big.Rat).SetInt64(int64(read)).Cmp(exact) != 0 {
		c.find(RulePrecision, "%s %s is read as %.0f ns", name, raw, read)
	}
	return int64(read), true
}

// decimalNanos is the fast path of time: it converts a number with at most 3 decimals. ok is false for any other number,
// and for one whose nanoseconds a float64 may not represent.
func decimalNanos(raw []byte) (ns int64, ok bool) {
	decimals := -1 // no point so far
	for _, b := range raw {
		switch {
		case '0' <= b && b <= '9':
			ns = 10*ns + int64(b-'0')
			if decimals >= 0 {
				decimals++
			}
		case b == '.' && decimals < 0:
			decimals = 0
		default:
			return 0, false
		}
		if ns >= 1<<53/1000 {
			return 0, false
		}
	}
	for decimals = max(decimals, 0); decimals < 3; decimals++ {
		ns *= 10
	}
	return ns, len(raw) > 0 && decimals == 3
}

func (c *checker) add(t thread, i interval) {
	c.result.Slices++
	list := c.threads[t]
	if list == nil {
		list = new([]interval)
		c.threads[t] = list
	}
	*list = append(*list, i)
}

// endSlice ends the innermost open slice, as Perfetto does for an E.
func (c *checker) endSlice(t thread, at int64) {
	if list := c.threads[t]; list != nil {
		for i := range slices.Backward(*list) {
			if (*list)[i].end < 0 {
				(*list)[i].end = at
				return
			}
		}
	}
	c.find(RuleBalance, "an end without a begin")
}

func (c *checker) counter(e *event) {
	if len(e.Args) == 0 {
		c.find(RuleCounter, "a counter without a value")
	}
	for name, raw := range e.Args {
		c.result.Counters++
		if _, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64); err != nil {
			c.find(RuleCounter, "%s: %s", name, raw)
		}
	}
}

func (c *checker) asynchronous(e *event, t thread) {
	id := string(e.ID)
	if e.ID2 != nil {
		id = "local " + string(e.ID2.Local) + " global " + string(e.ID2.Global)
	}
	if id == "" {
		c.find(RuleAsync, "no id and no id2")
		return
	}
	key := asyncKey{t.pid, e.Cat, id}
	s := c.async[key]
	if s == nil {
		s = new(asyncState)
		c.async[key] = s
	}
	switch e.Ph {
	case "n":
		c.result.Instants++
	case "b":
		c.result.Async++
		s.open = append(s.open, asyncSlice{e.Name, t.tid, c.number})
	case "e":
		if len(s.open) == 0 {
			c.find(RuleBalance, "an asynchronous end without a begin: %s", id)
			return
		}
		last := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		if last.name != e.Name || last.tid != t.tid {
			c.find(RuleAsync, "%q on thread %d ends %q on thread %d", e.Name, t.tid, last.name, last.tid)
		}
	}
}

func (c *checker) metadata(e *event) {
	c.id("pid", e.Pid)
	switch e.Name {
	case "process_name", "thread_name":
		if e.Name == "thread_name" {
			c.id("tid", e.Tid)
		}
		if name := e.Args["name"]; len(name) == 0 || name[0] != '"' {
			c.find(RuleMetadata, "%s %s is not a string", e.Name, name)
		}
	case "process_sort_index", "thread_sort_index":
		if _, err := strconv.ParseInt(string(e.Args["sort_index"]), 10, 32); err != nil {
			c.find(RuleMetadata, "%s: %v", e.Name, err)
		}
	}
}

// profile checks an event Profile or ProfileChunk of V8.
func (c *checker) profile(e *event, t thread) {
	key := profileKey{t.pid, string(e.ID)}
	switch e.Name {
	case "Profile":
		c.profiles[key] = map[int64]bool{}
		return
	case "ProfileChunk":
	default:
		return
	}
	nodes := c.profiles[key]
	if nodes == nil {
		c.find(RuleProfile, "a chunk of profile %s, which has not begun", e.ID)
		return
	}
	var data struct {
		CPUProfile struct {
			Nodes []struct {
				ID     int64
				Parent *int64
			}
			Samples []int64
		}
		TimeDeltas []int64
	}
	if err := json.Unmarshal(e.Args["data"], &data); err != nil {
		c.find(RuleProfile, "%v", err)
		return
	}
	for _, n := range data.CPUProfile.Nodes {
		if n.Parent != nil && !nodes[*n.Parent] {
			c.find(RuleProfile, "node %d: its parent %d is not known before it", n.ID, *n.Parent)
		}
		nodes[n.ID] = true
	}
	if len(data.CPUProfile.Samples) != len(data.TimeDeltas) {
		c.find(RuleProfile, "%d samples and %d deltas", len(data.CPUProfile.Samples), len(data.TimeDeltas))
	}
	for _, id := range data.CPUProfile.Samples {
		c.result.Samples++
		if !nodes[id] {
			c.find(RuleProfile, "a sample of node %d, which is not known", id)
		}
	}
}

// integers reports numbers in args that Perfetto cannot represent.
func (c *checker) integers(e *event) {
	for _, raw := range e.Args {
		if !hasLongInteger(raw) {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		for {
			t, err := d.Token()
			if err != nil {
				break
			}
			n, ok := t.(json.Number)
			if !ok || strings.ContainsAny(n.String(), ".eE") {
				continue
			}
			if _, err := n.Int64(); err != nil {
				c.find(RuleInteger, "%s", n)
			}
		}
	}
}

// hasLongInteger reports whether JSON has so many digits in a row that an integer may not fit into 64 bits. Decoding all
// args would take most of the time of a check.
func hasLongInteger(raw []byte) bool {
	digits := 0
	for _, b := range raw {
		if digits++; b < '0' || b > '9' {
			digits = 0
		} else if digits >= len("9223372036854775807") {
			return true
		}
	}
	return false
}

// end applies the rules that depend on all events.
func (c *checker) end() {
	for t, list := range c.threads {
		c.nesting(t, *list)
	}
	for key, s := range c.async {
		for _, open := range s.open {
			c.number = open.event
			c.find(RuleBalance, "asynchronous slice %s does not end", key.id)
		}
	}
	for key, ends := range c.flows {
		c.flow(key, ends)
	}
	c.number = -1
	slices.SortStableFunc(c.result.Findings, func(a, b Finding) int { return cmp.Compare(a.Event, b.Event) })
}

// nesting sorts the slices of a thread and reports overlaps.
func (c *checker) nesting(t thread, list []interval) {
	slices.SortStableFunc(
		list, func(a, b interval) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.last(), a.last())) },
	)
	var open []interval
	for _, i := range list {
		c.number = i.event
		if i.end < 0 {
			c.find(RuleBalance, "a slice of thread %d does not end", t.tid)
		}
		for len(open) > 0 && open[len(open)-1].last() <= i.begin {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && i.last() > open[len(open)-1].last() {
			c.find(
				RuleNesting,
				"%d to %d ns ends after the slice around it at %d ns",
				i.begin,
				i.last(),
				open[len(open)-1].last(),
			)
		}
		open = append(open, i)
	}
}

func (i interval) last() int64 {
	if i.end < 0 {
		return math.MaxInt64
	}
	return i.end
}

// flow checks the ends of an arrow. Perfetto does not show an end outside of all slices of its thread.
func (c *checker) flow(key flowKey, ends []end) {
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	begun := false
	for _, e := range ends {
		c.number = e.event
		inside := false
		if list := c.threads[e.thread]; list != nil {
			inside = slices.ContainsFunc(*list, func(i interval) bool { return i.begin <= e.at && e.at <= i.last() })
		}
		if !inside {
			c.find(RuleFlow, "%s of %s is in no slice of its thread", e.phase, key.id)
		}
		switch {
		case e.phase == "s":
			begun = true
		case !begun:
			c.find(RuleFlow, "%s of %s comes before its begin", e.phase, key.id)
		case e.phase == "f":
			c.result.Flows++
			begun = false
		}
	}
	if begun {
		c.find(RuleFlow, "%s does not end", key.id)
	}
}
