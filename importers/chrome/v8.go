package chrome

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// A v8Profile is a V8 profile while its events are read. A Profile event begins it, ProfileChunk events add nodes and
// samples.
type v8Profile struct {
	number int  // index in loader.profileList plus 1
	whole  bool // the file contains its begin; otherwise nodes may be undefined, because earlier chunks are missing
	tree   *tree
	name   string // of the samples
	thread uint64 // index in loader.list
	now    int64  // time of the latest sample in nanoseconds
	end    int64  // end of the profile in nanoseconds; 0 if unknown
	begin  []byte // the Profile event until the first chunk arrives
	offset int64  // offset of that event
	at     int64  // its time

	held     v8Sample // latest sample; its weight is known when the next sample arrives
	hasHeld  bool
	interval int64 // between the two latest samples
}

type v8Sample struct {
	time, offset int64
	node         int32
	line, column int32 // position in the leaf, from 1; 0 means unknown
}

// isV8 reports whether an event contains a part of a V8 profile.
func isV8(e *chromeevent.Event) bool {
	if len(e.Args) == 0 || e.Args[0] != '{' {
		return false
	}
	switch e.Name {
	case "Profile", "ProfileChunk":
		return e.Phase == chromeevent.PhaseSample
	case "CpuProfile":
		return true
	}
	return false
}

// v8Data holds the members of such an event that describe the profile, in JSON.
type v8Data struct {
	start, end             []byte // microseconds
	nodes, samples, deltas []byte
	name                   []byte // of the samples, from exporters/chrome; V8 states none
	lines, columns         []byte // per sample: position in the leaf, from 1; 0 means unknown
}

// read collects the members of an object, and of the objects data and cpuProfile in it.
func (d *v8Data) read(object []byte) {
	for name, v := range jsonio.EachMember(object) {
		switch string(name) {
		case `"data"`, `"cpuProfile"`:
			d.read(v)
		case `"startTime"`:
			d.start = v
		case `"endTime"`:
			d.end = v
		case `"nodes"`:
			d.nodes = v
		case `"samples"`:
			d.samples = v
		case `"timeDeltas"`:
			d.deltas = v
		case `"ntconv.samples"`:
			d.name = v
		case `"lines"`:
			d.lines = v
		case `"columns"`:
			d.columns = v
		}
	}
}

// nanos returns a time of V8 in nanoseconds, and false if it is absent or 0.
func nanos(value []byte) (n int64, ok bool) {
	m, ok := chromeevent.ParseMicros(value)
	n, _ = m.Round()
	return n, ok && n != 0
}

// readProfiles adds the samples of profile events, in time order. Events that turn out not to be part of a profile are
// kept as events.
func (l *loader) readProfiles() error {
	if l.profiles == nil {
		return nil
	}
	r, err := l.profiles.Read()
	for err == nil {
		var key spool.Key
		var data []byte
		if key, data, err = r.Next(); err != nil {
			break
		}
		offset, n := binary.Uvarint(data[1:])
		err = l.profileEvent(data[1+n:], key.Time, int64(offset))
	}
	if err != io.EOF {
		return err
	}
	for _, p := range l.profileList {
		if err := l.flushProfile(p); err != nil {
			return err
		}
	}
	return l.profiles.Close()
}

// profileEvent adds an event of V8's profiler to its profile. Events that turn out to contain no profile data become
// ordinary events.
func (l *loader) profileEvent(value []byte, at, offset int64) error {
	e := &l.parsed
	l.parser.Parse(value, e)
	var d v8Data
	d.read(e.Args)
	if d.samples == nil && d.nodes == nil && e.Name != "Profile" && d.end == nil {
		l.thread(e.PID, e.TID)
		l.first = min(l.first, at)
		return l.add(l.events, spool.Key{Time: at}, recordEvent, offset, value)
	}
	key := string(e.PID) + "/" + string(e.ID.Text)
	if e.Name == "CpuProfile" { // a complete profile
		key += "/" + strconv.FormatInt(offset, 10)
	}
	p := l.v8[key]
	if p == nil {
		p = &v8Profile{number: len(l.profileList) + 1, tree: l.names.tree(), name: v8Name, thread: l.threads[l.thread(e.PID, e.TID)], now: at}
		l.v8[key] = p
		l.profileList = append(l.profileList, p)
		if e.Name == "ProfileChunk" {
			p.now = at - sumOf(d.deltas) // V8 writes a chunk after its samples
		}
	}
	if name := string(unquoted(d.name)); isTime(name) {
		p.name = name
	}
	p.whole = p.whole || e.Name != "ProfileChunk"
	if start, ok := nanos(d.start); ok {
		p.now = start
	}
	if e.Name == "Profile" && d.samples == nil {
		p.begin, p.offset, p.at = bytes.Clone(value), offset, at
		return nil
	}
	p.begin = nil
	return l.profileData(p, &d, offset)
}

// sumOf returns the sum of times in microseconds, in nanoseconds.
func sumOf(deltas []byte) (sum int64) {
	for v := range jsonio.EachElement(deltas) {
		if m, ok := chromeevent.ParseMicros(v); ok {
			n, _ := m.Round()
			sum = min(max(sum+n, -chromeevent.MaxNanos), chromeevent.MaxNanos)
		}
	}
	return sum
}

// profileData adds the nodes and samples of an event to a profile.
func (l *loader) profileData(p *v8Profile, d *v8Data, offset int64) error {
	if n, ok := nanos(d.end); ok {
		p.end = n
	}
	if err := l.v8Nodes(p.tree, d.nodes); err != nil {
		return located(offset, "nodes", err)
	}
	list, err := l.v8Samples(p, d, offset)
	if err != nil {
		return located(offset, "samples", err)
	}
	for i := range list {
		if err := l.v8Sample(p, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// v8Samples returns the samples of a chunk in time order.
func (l *loader) v8Samples(p *v8Profile, d *v8Data, offset int64) (list []v8Sample, err error) {
	ids, deltas := jsonio.ElementsOf(d.samples), jsonio.ElementsOf(d.deltas)
	lines, columns := jsonio.ElementsOf(d.lines), jsonio.ElementsOf(d.columns)
	unmatched := false
	for {
		id, ok := ids.Next()
		delta, timed := deltas.Next()
		unmatched = unmatched || ok != timed
		if !ok {
			break
		}
		if m, valid := chromeevent.ParseMicros(delta); valid {
			n, _ := m.Round()
			p.now = min(max(p.now+n, -chromeevent.MaxNanos), chromeevent.MaxNanos)
		}
		line, _ := lines.Next()
		column, _ := columns.Next()
		s := v8Sample{time: p.now, offset: offset, line: int32Of(line), column: int32Of(column)}
		if s.node, err = p.tree.node(unquoted(id)); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if unmatched {
		l.o.Report.Note(ntconv.CodeRepaired, 1, offset, "chunks of profiles that have not as many times as samples")
	}
	slices.SortStableFunc(list, func(a, b v8Sample) int { return cmp.Compare(a.time, b.time) })
	return list, nil
}

// v8Sample emits the held sample with its weight, and holds s.
func (l *loader) v8Sample(p *v8Profile, s *v8Sample) error {
	if p.hasHeld {
		p.interval = max(s.time-p.held.time, 0)
		if err := l.emit(p, p.interval); err != nil {
			return err
		}
	}
	p.held, p.hasHeld = *s, true
	return nil
}

// flushProfile emits the last sample of a profile. For a profile without samples it keeps the event that began it.
func (l *loader) flushProfile(p *v8Profile) error {
	if p.begin != nil {
		l.first = min(l.first, p.at)
		return l.add(l.events, spool.Key{Time: p.at}, recordEvent, p.offset, p.begin)
	}
	if !p.hasHeld {
		return nil
	}
	weight := p.interval
	if p.end > p.held.time {
		weight = p.end - p.held.time
	}
	return l.emit(p, weight)
}

// emit adds the record of the held sample. Idle samples have no record. Neither have those of nodes that a missing chunk
// defines: whether the thread was idle is unknown.
func (l *loader) emit(p *v8Profile, weight int64) error {
	switch p.tree.nodes[p.held.node].frame {
	case idleFrame:
		return nil
	case undefinedFrame:
		if !p.whole {
			l.o.Report.Note(ntconv.CodeRowSkipped, 1, p.held.offset, "samples of V8 profiles whose first chunks are missing")
			return nil
		}
	}
	return l.addSample(p.held.time, p.held.offset, &sample{
		kind: l.sampleType(p.name), tree: p.number, node: p.held.node, line: p.held.line, column: p.held.column, weight: weight, cpu: int64(ntconv.CPUUnknown), thread: p.thread + 1,
	})
}
