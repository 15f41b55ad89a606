package chrome

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A sampleType is the event type of samples with one name.
type sampleType struct {
	name string
	time bool // the weights are times
	typ  *ntconv.Type
}

// maxSampleTypes limits the sample types. Samples with further names get the type unnamedSample.
const (
	maxSampleTypes = 64
	unnamedSample  = "weight"
	maxSampleName  = 256 // bytes
)

// v8Name is the name of V8 samples: V8 takes them whether or not the thread runs.
const v8Name = "wall"

// isTime reports whether weights of samples with this name are times. The exporters of this module use these names.
func isTime(name string) bool { return name == v8Name || name == "cpu" || name == "off_cpu" }

// sampleType returns the index of the sample type with this name, and adds it if necessary.
func (l *loader) sampleType(name string) int {
	if name == "" || len(name) > maxSampleName {
		name = unnamedSample
	}
	for i := range l.sampleTypes {
		if l.sampleTypes[i].name == name {
			return i
		}
	}
	if len(l.sampleTypes) >= maxSampleTypes && name != unnamedSample {
		return l.sampleType(unnamedSample)
	}
	unit, weightUnit := "count", "count"
	if isTime(name) {
		unit, weightUnit = "nanoseconds", "microseconds"
	}
	o := imported.Origin{Columns: imported.Columns{Types: []imported.ValueType{{Type: "samples", Unit: "count"}, {Type: name, Unit: unit}}}}
	weight := imported.FixedWeight(1, weightUnit)
	l.sampleTypes = append(l.sampleTypes, sampleType{name, isTime(name), imported.SampleType(uint32(len(l.sampleTypes)+1), &o, &weight)})
	return len(l.sampleTypes) - 1
}

// A sample is the data of a record of kind recordSample.
type sample struct {
	kind   int   // index in loader.sampleTypes
	tree   int   // 0: loader.frames, otherwise loader.profileList[tree-1].tree
	node   int32 // index in the tree; -1 means no stack
	line   int32 // line in the leaf; 0 means unknown
	column int32
	weight int64  // nanoseconds if the weights are times
	cpu    int64  // may be ntconv.CPUUnknown
	thread uint64 // 0: the first thread with the TID tid, otherwise loader.list[thread-1]
	tid    []byte
}

// addSample adds the record of a sample.
func (l *loader) addSample(at, offset int64, s *sample) error {
	l.first = min(l.first, at)
	b := make([]byte, 0, 64)
	b = binary.AppendUvarint(b, uint64(s.kind))
	b = binary.AppendUvarint(b, uint64(s.tree))
	b = binary.AppendVarint(b, int64(s.node))
	b = binary.AppendVarint(b, int64(s.line))
	b = binary.AppendVarint(b, int64(s.column))
	b = binary.AppendVarint(b, s.weight)
	b = binary.AppendVarint(b, s.cpu)
	b = binary.AppendUvarint(b, s.thread)
	return l.add(l.events, spool.Key{Time: at}, recordSample, offset, b, s.tid)
}

// listedSample adds an element of the member samples. A number there is the node ID of a .cpuprofile.
func (l *loader) listedSample(value []byte, offset int64) error {
	if isNumber(value) {
		return l.cpu.sample(value, l.o.Limits.Value)
	}
	if value[0] != '{' {
		l.o.Report.Note(ntconv.CodeRowSkipped, 1, offset, "elements of samples that are not objects")
		return nil
	}
	m := listedSample{sample: sample{node: -1, cpu: int64(ntconv.CPUUnknown)}}
	if err := m.read(l.frames, value); err != nil {
		return located(offset, "samples", err)
	}
	if !m.timed {
		l.o.Report.Note(ntconv.CodeRowSkipped, 1, offset, "samples without ts")
		return nil
	}
	m.kind = l.sampleType(m.name)
	m.sample.weight = l.weight(m.weight, offset, l.sampleTypes[m.kind].time)
	if m.pid != nil {
		m.thread = l.threads[l.thread(m.pid, m.tid)] + 1
		m.tid = nil
	}
	nanos, _ := m.at.Round()
	return l.addSample(nanos, offset, &m.sample)
}

// A listedSample is a parsed element of the member samples.
type listedSample struct {
	sample
	at     chromeevent.Micros
	timed  bool
	name   string
	pid    []byte
	weight []byte
}

// read parses the members of a sample.
func (m *listedSample) read(frames *tree, value []byte) (err error) {
	for key, v := range jsonio.EachMember(value) {
		switch string(key) {
		case `"ts"`:
			m.at, m.timed = chromeevent.ParseMicros(v)
		case `"pid"`:
			m.pid = v
		case `"tid"`:
			m.tid = v
		case `"name"`:
			m.name = string(unquoted(v))
		case `"weight"`:
			m.weight = v
		case `"cpu"`:
			if n, err := strconv.ParseInt(string(unquoted(v)), 10, 32); err == nil {
				m.cpu = n
			}
		case `"sf"`:
			if isNull(v) {
				continue
			}
			if m.node, err = frames.node(unquoted(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// weight parses the weight of a sample: a time in microseconds or a number. It returns 1 if the weight is absent or
// invalid.
func (l *loader) weight(value []byte, offset int64, time bool) int64 {
	if len(value) == 0 {
		return 1
	}
	if m, ok := chromeevent.ParseMicros(value); ok && time {
		n, _ := m.Round()
		return n
	}
	f, err := strconv.ParseFloat(string(unquoted(value)), 64)
	if err != nil || time || !(math.Abs(f) < 1<<63) {
		l.o.Report.Note(ntconv.CodeRepaired, 1, offset, "weights of samples that are not numbers count as 1")
		return 1
	}
	if f != math.Trunc(f) {
		l.o.Report.Note(ntconv.CodeNotCarried, 1, offset, "weights of samples were rounded to integers")
	}
	return int64(math.Round(f))
}

// sample returns the event for a record of kind recordSample.
func (s *source) sample(data []byte, like *ntconv.Event) *ntconv.Event {
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		data = data[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(data)
		data = data[n:]
		return v
	}
	kind, trees, node, line, column, weight, cpu, thread := next(), next(), signed(), signed(), signed(), signed(), signed(), next()
	t := &s.l.sampleTypes[kind]
	s.event = *like
	s.event.Type, s.event.CPU = t.typ, int32(cpu)
	switch {
	case thread > 0:
		s.event.Thread = s.l.list[thread-1]
	default:
		if s.event.Thread = s.l.byTID[string(unquoted(data))]; s.event.Thread == nil {
			s.event.Thread = s.l.owners.Thread(nil, data)
		}
	}
	tr := s.l.frames
	if trees > 0 {
		tr = s.l.profileList[trees-1].tree
	}
	if node >= 0 {
		s.event.Stack = s.l.stackOf(tr, int32(node), int32(line), int32(column))
		if s.event.Stack == nil && tr.nodes[node].frame == undefinedFrame {
			s.o.Report.Note(ntconv.CodeUnknownStack, 1, like.Offset, "frames of samples")
		}
	}
	shown := max(weight, 0)
	if t.time {
		shown = (shown + 500) / 1000
	}
	s.payload = binary.AppendUvarint(s.payload[:0], uint64(shown))
	s.payload = binary.AppendVarint(s.payload, 1)
	s.payload = binary.AppendVarint(s.payload, weight)
	s.event.Payload = s.payload
	return &s.event
}
