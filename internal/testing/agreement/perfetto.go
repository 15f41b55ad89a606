package agreement

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Perfetto returns the answer of a file in Perfetto's protobuf format, read as the comments of its schema describe it.
// trace_processor itself reads the same files in e2e.
func Perfetto(data []byte) (*Answer, error) {
	a := NewAnswer("perfetto", "lost events", "samples", "samples by thread", "exceptions", "exceptions by type", "instants", "instants by name")
	a.stateSlices(timelineOperations())
	r := perfettoReader{a: a, sequences: map[uint64]*perfettoSequence{}, tracks: map[uint64]string{}, open: map[uint64][]*openSlice{}, counters: counters{}}
	if err := r.packets(data); err != nil {
		return nil, err
	}
	for track, list := range r.open {
		if len(list) > 0 {
			return nil, fmt.Errorf("%d slices of track %d have no end", len(list), track)
		}
	}
	r.counters.state(a)
	return a, nil
}

type perfettoReader struct {
	a         *Answer
	sequences map[uint64]*perfettoSequence
	tracks    map[uint64]string // names of the tracks of counters
	open      map[uint64][]*openSlice
	counters  counters
}

// A perfettoSequence is the state of the packets with one sequence ID.
type perfettoSequence struct {
	now      uint64
	interned map[protowire.Number]map[uint64]string
	thread   message
}

func (r *perfettoReader) packets(data []byte) error {
	trace, err := parseMessage(data)
	if err != nil {
		return err
	}
	for _, p := range trace.subs(1) {
		if !p.has(50) {
			r.packet(p)
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(p[50][0].bytes))
		if err != nil {
			return err
		}
		inner, err := io.ReadAll(z)
		if err != nil {
			return err
		}
		if err := r.packets(inner); err != nil {
			return err
		}
	}
	return nil
}

func (r *perfettoReader) packet(p message) {
	s := r.sequences[p.number(10)]
	if s == nil {
		s = &perfettoSequence{}
		r.sequences[p.number(10)] = s
	}
	if p.number(13)&1 != 0 {
		s.interned = map[protowire.Number]map[uint64]string{1: {}, 2: {}, 3: {}, 29: {}}
	}
	interned := p.sub(12)
	for number, texts := range s.interned {
		for _, entry := range interned.subs(number) {
			texts[entry.number(1)] = entry.text(2)
		}
	}
	if p.has(6) {
		for _, clock := range p.sub(6).subs(1) {
			if clock.number(1) == 64 {
				s.now = clock.number(2)
			}
		}
	}
	s.now += p.number(8)
	switch {
	case p.has(44):
		s.thread = p.sub(44)
	case p.has(60):
		if t := p.sub(60); t.has(8) {
			r.tracks[t.number(1)] = t.text(2)
		}
	}
	switch {
	case p.has(11):
		r.event(s, p.sub(11))
	case p.has(54):
		key := map[string]string{"thread": thread(int64(s.thread.number(1)), int64(s.thread.number(2)))}
		for range p.sub(54)[1] {
			r.a.total("samples", 1, key)
		}
	case p.has(135):
		task := p.sub(135).sub(1)
		r.a.total("samples", 1, map[string]string{"thread": thread(int64(task.number(2)), int64(task.number(3)))})
	}
}

func (r *perfettoReader) event(s *perfettoSequence, e message) {
	name, category, track := e.text(23), e.text(22), e.number(11)
	if e.has(10) {
		name = s.interned[2][e.number(10)]
	}
	if e.has(3) {
		category = s.interned[1][e.number(3)]
	}
	switch e.number(9) {
	case 1:
		v := &openSlice{begin: int64(s.now), slice: slice{name: name, attributes: map[string]string{}}}
		v.isSpan = category == "span" || category == "request" && !queued(name)
		s.annotations(v.attributes, e.subs(4))
		v.open = v.attributes["unfinished"] != ""
		r.open[track] = append(r.open[track], v)
	case 2:
		list := r.open[track]
		if len(list) == 0 {
			r.a.total("ends without a slice", 1, nil)
			return
		}
		v := list[len(list)-1]
		r.open[track] = list[:len(list)-1]
		v.ns = int64(s.now) - v.begin
		r.a.slice(&v.slice)
	case 3:
		args := map[string]string{}
		switch category {
		case "loss":
			s.annotations(args, e.subs(4))
			var n int64
			_, _ = fmt.Sscan(args["events"], &n)
			r.a.total("lost events", n, nil)
		case "exception":
			r.a.total("exceptions", 1, map[string]string{"type": name})
		default:
			if name != "flow" {
				r.a.instant(name)
			}
		}
	case 4:
		v := float64(int64(e.number(30)))
		if e.has(44) {
			v = math.Float64frombits(e.number(44))
		}
		key := sortTags(r.tracks[track])
		r.counters[key] = append(r.counters[key], v)
	}
}

// annotations adds the annotations of an event, and the members of those that are dictionaries.
func (s *perfettoSequence) annotations(to map[string]string, list []message) {
	for _, m := range list {
		name := m.text(10)
		if m.has(1) {
			name = s.interned[3][m.number(1)]
		}
		switch {
		case m.has(2), m.has(3):
			to[name] = fmt.Sprint(m.number(2) + m.number(3))
		case m.has(4):
			to[name] = fmt.Sprint(int64(m.number(4)))
		case m.has(5):
			to[name] = fmt.Sprint(math.Float64frombits(m.number(5)))
		case m.has(6):
			to[name] = m.text(6)
		case m.has(17):
			to[name] = s.interned[29][m.number(17)]
		default:
			s.annotations(to, m.subs(11))
		}
	}
}
