package perfetto

import (
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file reads a trace as the comments of Perfetto's schema describe it. It shares no code and no constants with the
// encoder.

// A message is the fields of a protobuf message: numbers for varints and fixed64, bytes for what has a length.
type message map[protowire.Number][]field

type field struct {
	number uint64
	bytes  []byte
}

func parse(t testing.TB, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("tag: %v", protowire.ParseError(n))
		}
		b = b[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d: wire type %d", number, kind)
		}
		if n < 0 {
			t.Fatalf("field %d: %v", number, protowire.ParseError(n))
		}
		m[number] = append(m[number], f)
		b = b[n:]
	}
	return m
}

func (m message) number(n protowire.Number) uint64 {
	if len(m[n]) == 0 {
		return 0
	}
	return m[n][len(m[n])-1].number
}

func (m message) text(n protowire.Number) string {
	if len(m[n]) == 0 {
		return ""
	}
	return string(m[n][len(m[n])-1].bytes)
}

func (m message) has(n protowire.Number) bool { return len(m[n]) > 0 }

func (m message) sub(t testing.TB, n protowire.Number) message {
	if !m.has(n) {
		return message{}
	}
	return parse(t, m[n][0].bytes)
}

// A sequence is what a reader remembers of the packets with one trusted_packet_sequence_id.
type sequence struct {
	cleared   bool
	clock     uint64 // default clock
	now       uint64 // of the incremental clock
	hasClock  bool
	interned  map[protowire.Number]map[uint64][]byte
	thread    message // thread_descriptor
	reference uint64  // µs
	defaults  message // of stack samples
	stacks    map[uint64][]string
}

type readTrack struct {
	uuid, parent     uint64
	kind             string // process, thread, counter or ""
	name, unit       string
	pid, tid, rank   uint64
	command          string
	explicitOrdering bool
}

type readEvent struct {
	time           uint64
	kind           uint64
	track          uint64
	name, category string
	args           map[string]any
	flows, ends    []uint64
	stack          []string // root first
	value          float64
}

// A member is an entry of an annotation that is a dictionary.
type member struct {
	name  string
	value any
}

type readSample struct {
	time     uint64
	pid, tid uint64
	stack    []string
	weights  []uint64
	streamed bool
	source   string
	columns  []string
}

type readTrace struct {
	t         testing.TB
	sequences map[uint64]*sequence
	tracks    map[uint64]*readTrack
	events    []readEvent
	samples   []readSample
	packets   int
}

// read reads a whole trace and fails the test if something is not defined where it is used.
func read(t testing.TB, b []byte) *readTrace {
	t.Helper()
	r := &readTrace{t: t, sequences: map[uint64]*sequence{}, tracks: map[uint64]*readTrack{}}
	r.trace(b)
	return r
}

func (r *readTrace) trace(b []byte) {
	for _, f := range parse(r.t, b)[1] {
		p := parse(r.t, f.bytes)
		if !p.has(50) {
			r.packets++
			r.packet(p)
			continue
		}
		if len(f.bytes) >= 512<<10 || len(p) != 1 {
			r.t.Fatalf("compressed packets of %d bytes and %d fields", len(f.bytes), len(p))
		}
		z, err := zlib.NewReader(strings.NewReader(p.text(50)))
		if err != nil {
			r.t.Fatal(err)
		}
		inner, err := io.ReadAll(z)
		if err != nil {
			r.t.Fatal(err)
		}
		r.trace(inner)
	}
}

func (r *readTrace) packet(p message) {
	t := r.t
	id := p.number(10)
	if id == 0 {
		t.Fatalf("packet %d belongs to no sequence", r.packets)
	}
	s := r.sequences[id]
	if s == nil {
		s = &sequence{}
		r.sequences[id] = s
	}
	if p.number(13)&1 != 0 {
		s.cleared, s.interned, s.stacks = true, map[protowire.Number]map[uint64][]byte{}, map[uint64][]string{}
	}
	if !s.cleared {
		t.Fatalf("packet %d: sequence %d has no SEQ_INCREMENTAL_STATE_CLEARED before", r.packets, id)
	}
	if p.has(59) {
		d := p.sub(t, 59)
		s.clock = d.number(58)
		s.defaults = d.sub(t, 100)
	}
	r.intern(s, p.sub(t, 12))
	if p.has(6) {
		r.snapshot(s, p.sub(t, 6))
	}
	if p.has(44) {
		s.thread = p.sub(t, 44)
		s.reference = s.thread.number(6)
	}
	if p.has(8) {
		if s.clock != 64 || !s.hasClock {
			t.Fatalf("packet %d: a timestamp without the clock of the sequence", r.packets)
		}
		s.now += p.number(8)
	}
	switch {
	case p.has(60):
		r.track(p.sub(t, 60))
	case p.has(11):
		r.event(s, p.has(8), p.sub(t, 11))
	case p.has(54):
		r.streaming(s, p.sub(t, 54))
	case p.has(135):
		r.stackSample(s, p.sub(t, 135))
	}
}

func (r *readTrace) intern(s *sequence, m message) {
	for number, fields := range m {
		if s.interned[number] == nil {
			s.interned[number] = map[uint64][]byte{}
		}
		for _, f := range fields {
			iid := parse(r.t, f.bytes).number(1)
			if _, ok := s.interned[number][iid]; ok || iid == 0 {
				r.t.Fatalf("packet %d: interned data %d, number %d: invalid or defined before", r.packets, number, iid)
			}
			s.interned[number][iid] = f.bytes
		}
	}
}

func (r *readTrace) lookup(s *sequence, number protowire.Number, iid uint64) message {
	b, ok := s.interned[number][iid]
	if !ok {
		r.t.Fatalf("packet %d: interned data %d has no number %d", r.packets, number, iid)
	}
	return parse(r.t, b)
}

func (r *readTrace) snapshot(s *sequence, m message) {
	clocks := map[uint64]message{}
	for _, f := range m[1] {
		c := parse(r.t, f.bytes)
		clocks[c.number(1)] = c
	}
	boot := clocks[6].number(2)
	for _, id := range []uint64{1, 3, 6, 64} {
		if c, ok := clocks[id]; !ok || c.number(2) != boot {
			r.t.Fatalf("clock %d: %v, want the time of clock 6, %d", id, c, boot)
		}
	}
	if clocks[64].number(3) != 1 {
		r.t.Fatal("clock 64 is not incremental")
	}
	s.now, s.hasClock = boot, true
}

func (r *readTrace) track(m message) {
	t := &readTrack{uuid: m.number(1), parent: m.number(5), name: m.text(2), rank: m.number(12), explicitOrdering: m.number(11) == 3}
	switch {
	case m.has(3):
		p := m.sub(r.t, 3)
		t.kind, t.pid, t.name, t.command = "process", p.number(1), p.text(6), p.text(2)
	case m.has(4):
		p := m.sub(r.t, 4)
		t.kind, t.pid, t.tid, t.name = "thread", p.number(1), p.number(2), p.text(5)
	case m.has(8):
		c := m.sub(r.t, 8)
		t.kind, t.unit = "counter", c.text(6)
		if u := c.number(3); u != 0 {
			t.unit = []string{"", "ns", "count", "bytes"}[u]
		}
	}
	if t.uuid == 0 || r.tracks[t.uuid] != nil {
		r.t.Fatalf("track %d: invalid or described before", t.uuid)
	}
	if t.parent != 0 && r.tracks[t.parent] == nil {
		r.t.Fatalf("track %d: its parent %d is not described before", t.uuid, t.parent)
	}
	r.tracks[t.uuid] = t
}

func (r *readTrace) event(s *sequence, timed bool, m message) {
	e := readEvent{time: s.now, kind: m.number(9), track: m.number(11), args: map[string]any{}}
	if !timed || r.tracks[e.track] == nil {
		r.t.Fatalf("packet %d: an event without time, or on track %d, which is not described", r.packets, e.track)
	}
	e.name, e.category = m.text(23), m.text(22)
	if m.has(10) {
		e.name = r.lookup(s, 2, m.number(10)).text(2)
	}
	if m.has(3) {
		e.category = r.lookup(s, 1, m.number(3)).text(2)
	}
	for _, f := range m[4] {
		name, value := r.annotation(s, parse(r.t, f.bytes))
		e.args[name] = value
	}
	for _, f := range m[47] {
		e.flows = append(e.flows, f.number)
	}
	for _, f := range m[48] {
		e.ends = append(e.ends, f.number)
	}
	if m.has(56) {
		e.stack = r.stack(s, m.number(56))
	}
	e.value = float64(int64(m.number(30)))
	if m.has(44) {
		e.value = math.Float64frombits(m.number(44))
	}
	r.events = append(r.events, e)
}

func (r *readTrace) annotation(s *sequence, m message) (name string, value any) {
	name = m.text(10)
	if m.has(1) {
		name = r.lookup(s, 3, m.number(1)).text(2)
	}
	switch {
	case m.has(2):
		return name, m.number(2) != 0
	case m.has(3):
		return name, m.number(3)
	case m.has(4):
		return name, int64(m.number(4))
	case m.has(5):
		return name, math.Float64frombits(m.number(5))
	case m.has(6):
		return name, m.text(6)
	case m.has(17):
		return name, r.lookup(s, 29, m.number(17)).text(2)
	case m.has(11):
		var members []member
		for _, f := range m[11] {
			k, v := r.annotation(s, parse(r.t, f.bytes))
			members = append(members, member{k, v})
		}
		return name, members
	case m.has(12):
		var list []any
		for _, f := range m[12] {
			_, v := r.annotation(s, parse(r.t, f.bytes))
			list = append(list, v)
		}
		return name, list
	}
	r.t.Fatalf("packet %d: annotation %q has no value", r.packets, name)
	return name, nil
}

// stack returns the frames of a callstack, root first, as "function file:line (mapping)".
func (r *readTrace) stack(s *sequence, iid uint64) (list []string) {
	if list, ok := s.stacks[iid]; ok {
		return list
	}
	defer func() { s.stacks[iid] = list }()
	for _, f := range r.lookup(s, 7, iid)[2] {
		frame := r.lookup(s, 6, f.number)
		if !frame.has(3) || !frame.has(4) {
			r.t.Fatalf("frame %d has no mapping or no rel_pc", f.number)
		}
		text := r.lookup(s, 5, frame.number(2)).text(2)
		if frame.has(5) {
			text += " " + r.lookup(s, 18, frame.number(5)).text(2)
		}
		if frame.has(6) {
			text += fmt.Sprintf(":%d", frame.number(6))
		}
		mapping := r.lookup(s, 19, frame.number(3))
		if mapping.has(7) {
			text += " (" + r.lookup(s, 17, mapping.number(7)).text(2)
			if mapping.has(2) {
				text += fmt.Sprintf(" %x", r.lookup(s, 16, mapping.number(2)).text(2))
			}
			text += ")"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		r.t.Fatalf("callstack %d is empty", iid)
	}
	return list
}

func (r *readTrace) streaming(s *sequence, m message) {
	if len(m[1]) == 0 || len(m[1]) != len(m[2]) || s.thread == nil {
		r.t.Fatalf("packet %d: %d callstacks, %d deltas, thread %v", r.packets, len(m[1]), len(m[2]), s.thread)
	}
	for i, f := range m[1] {
		s.reference += m[2][i].number
		r.samples = append(r.samples, readSample{
			time: s.reference * 1000, pid: s.thread.number(1), tid: s.thread.number(2), stack: r.stack(s, f.number), streamed: true,
		})
	}
}

func (r *readTrace) stackSample(s *sequence, m message) {
	task := m.sub(r.t, 1)
	sample := readSample{time: s.now, pid: task.number(2), tid: task.number(3), stack: r.stack(s, m.number(6)), source: s.defaults.text(1)}
	sample.weights = append(sample.weights, m.number(11))
	for b := []byte(m.text(14)); len(b) > 0; {
		v, n := binary.Uvarint(b)
		sample.weights = append(sample.weights, v)
		b = b[n:]
	}
	for _, f := range slices.Concat(s.defaults[2], s.defaults[3]) {
		d := parse(r.t, f.bytes)
		unit := d.text(4)
		if u := d.number(3); u != 0 {
			unit = map[uint64]string{1: "ns", 4: "bytes", 9: "count"}[u]
		}
		sample.columns = append(sample.columns, d.text(2)+"/"+unit)
	}
	if len(sample.columns) != len(sample.weights) {
		r.t.Fatalf("packet %d: %d weights of %v", r.packets, len(sample.weights), sample.columns)
	}
	r.samples = append(r.samples, sample)
}
