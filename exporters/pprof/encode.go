package pprof

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/dictionary"
)

// Field numbers of profile.proto.
const (
	fieldSampleType        protowire.Number = 1
	fieldSample            protowire.Number = 2
	fieldMapping           protowire.Number = 3
	fieldLocation          protowire.Number = 4
	fieldFunction          protowire.Number = 5
	fieldStrings           protowire.Number = 6
	fieldDropFrames        protowire.Number = 7
	fieldKeepFrames        protowire.Number = 8
	fieldTimeNanos         protowire.Number = 9
	fieldDurationNanos     protowire.Number = 10
	fieldPeriodType        protowire.Number = 11
	fieldPeriod            protowire.Number = 12
	fieldComment           protowire.Number = 13
	fieldDefaultSampleType protowire.Number = 14
	fieldDocURL            protowire.Number = 15
)

// flushBytes is the number of bytes that an encoder buffers before it writes.
const flushBytes = 64 << 10

// An encoder writes the fields of a Profile message to a stream. It keeps the first error of the stream and then writes
// nothing more.
type encoder struct {
	w       io.Writer
	out     []byte // not yet written
	msg     []byte // scratch: the current message
	sub     []byte // scratch: a message inside msg
	locs    []uint64
	labels  []encodedLabel  // labels of the previous sample by position: most repeat
	keys    map[string]bool // keys of labels; nil if they are not recorded
	samples int
	err     error
}

func newEncoder(w io.Writer) *encoder {
	return &encoder{w: w, out: make([]byte, 0, flushBytes+flushBytes/4)}
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.w.Write(e.out)
	}
	e.out = e.out[:0]
}

// put appends a message as a field of the profile.
func (e *encoder) put(field protowire.Number, msg []byte) {
	e.out = appendBytes(e.out, field, msg)
	if len(e.out) >= flushBytes {
		e.flush()
	}
}

// number appends a number as a field of the profile, including zero, because it may be an element of a list.
func (e *encoder) number(field protowire.Number, n uint64) {
	e.out = protowire.AppendTag(e.out, field, protowire.VarintType)
	e.out = protowire.AppendVarint(e.out, n)
}

func appendBytes(dst []byte, field protowire.Number, b []byte) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendBytes(dst, b)
}

// appendNumber appends a field of a message. It omits zero, which is the default.
func appendNumber(dst []byte, field protowire.Number, n uint64) []byte {
	if n == 0 {
		return dst
	}
	dst = protowire.AppendTag(dst, field, protowire.VarintType)
	return protowire.AppendVarint(dst, n)
}

func appendBool(dst []byte, field protowire.Number, b bool) []byte {
	return appendNumber(dst, field, protowire.EncodeBool(b))
}

func (e *encoder) valueType(field protowire.Number, typ, unit uint64) {
	e.msg = appendNumber(e.msg[:0], 1, typ)
	e.msg = appendNumber(e.msg, 2, unit)
	e.put(field, e.msg)
}

// sample appends Sample{location_id = 1, value = 2, label = 3}.
func (e *encoder) sample(s *profile.Sample, t *tables) {
	e.locs = t.AppendLocations(e.locs[:0], s.Frames)
	e.msg = e.msg[:0]
	if len(e.locs) > 0 {
		e.sub = e.sub[:0]
		for _, id := range e.locs {
			e.sub = protowire.AppendVarint(e.sub, id)
		}
		e.msg = appendBytes(e.msg, 1, e.sub)
	}
	e.sub = e.sub[:0]
	for _, v := range s.Values {
		e.sub = protowire.AppendVarint(e.sub, uint64(v))
	}
	e.msg = appendBytes(e.msg, 2, e.sub)
	for i := range s.Labels {
		e.msg = append(e.msg, e.label(i, &s.Labels[i], t)...)
	}
	e.put(fieldSample, e.msg)
	e.samples++
}

// An encodedLabel is a label as a field of a sample.
type encodedLabel struct {
	ntconv.Label
	field []byte
}

// label returns Label{key = 1, str = 2, num = 3, num_unit = 4} as a field, valid until the next label at that position.
func (e *encoder) label(place int, l *ntconv.Label, t *tables) []byte {
	if place == len(e.labels) {
		e.labels = append(e.labels, encodedLabel{})
	}
	last := &e.labels[place]
	if last.Label == *l && len(last.field) > 0 {
		return last.field
	}
	e.sub = appendNumber(e.sub[:0], 1, t.text(l.Key))
	if l.Kind == ntconv.LabelInt {
		e.sub = appendNumber(e.sub, 3, uint64(l.Num))
		e.sub = appendNumber(e.sub, 4, t.text(l.Unit))
	} else {
		e.sub = appendNumber(e.sub, 2, t.text(l.Str))
	}
	if e.keys != nil {
		e.keys[l.Key] = true
	}
	last.Label = *l
	last.field = appendBytes(last.field[:0], 3, e.sub)
	return last.field
}

// tables appends everything that samples refer to, except the strings.
func (e *encoder) tables(t *tables) {
	for i := range t.ordered {
		e.mapping(uint64(i+1), t.ordered[i], t)
	}
	id := uint64(0)
	for l, lines := range t.Locations() {
		id++
		e.location(id, l, lines, t)
	}
	for i, f := range t.Functions() {
		e.function(uint64(i+1), &f)
	}
}

// mapping appends Mapping{id = 1, memory_start, memory_limit, file_offset, filename, build_id, has_functions,
// has_filenames, has_line_numbers, has_inline_frames = 10}.
func (e *encoder) mapping(id uint64, m *dictionary.Mapping, t *tables) {
	e.msg = appendNumber(e.msg[:0], 1, id)
	e.msg = appendNumber(e.msg, 2, m.Start)
	e.msg = appendNumber(e.msg, 3, m.Limit)
	e.msg = appendNumber(e.msg, 4, m.Offset)
	e.msg = appendNumber(e.msg, 5, t.text(m.File))
	e.msg = appendNumber(e.msg, 6, t.text(m.BuildID))
	e.msg = appendBool(e.msg, 7, m.Functions)
	e.msg = appendBool(e.msg, 8, m.Files)
	e.msg = appendBool(e.msg, 9, m.Lines)
	e.msg = appendBool(e.msg, 10, m.Inlined)
	e.put(fieldMapping, e.msg)
}

// location appends Location{id = 1, mapping_id, address, line, is_folded = 5} with Line{function_id = 1, line, column}.
func (e *encoder) location(id uint64, l *dictionary.Location, lines []dictionary.Line, t *tables) {
	e.msg = appendNumber(e.msg[:0], 1, id)
	if m := l.Mapping(); m != 0 {
		e.msg = appendNumber(e.msg, 2, uint64(t.ids[m-1]))
	}
	e.msg = appendNumber(e.msg, 3, l.Address)
	for _, n := range lines {
		e.sub = appendNumber(e.sub[:0], 1, uint64(n.Function))
		e.sub = appendNumber(e.sub, 2, uint64(int64(n.Line)))
		e.sub = appendNumber(e.sub, 3, uint64(int64(n.Column)))
		e.msg = appendBytes(e.msg, 4, e.sub)
	}
	e.msg = appendBool(e.msg, 5, l.Folded())
	e.put(fieldLocation, e.msg)
}

// function appends Function{id = 1, name, system_name, filename, start_line = 5}.
func (e *encoder) function(id uint64, f *dictionary.Function) {
	e.msg = appendNumber(e.msg[:0], 1, id)
	e.msg = appendNumber(e.msg, 2, uint64(f.Name))
	e.msg = appendNumber(e.msg, 3, uint64(f.System))
	e.msg = appendNumber(e.msg, 4, uint64(f.File))
	e.msg = appendNumber(e.msg, 5, uint64(int64(f.StartLine)))
	e.put(fieldFunction, e.msg)
}

// header appends the fields that occur once in a profile.
func (e *encoder) header(p *profile.Profile, info *ntconv.Info, t *tables) {
	start, duration := p.Recorded(info)
	e.out = appendNumber(e.out, fieldTimeNanos, start)
	e.out = appendNumber(e.out, fieldDurationNanos, duration)
	e.valueType(fieldPeriodType, t.text(p.PeriodType.Type), t.text(p.PeriodType.Unit))
	e.out = appendNumber(e.out, fieldPeriod, uint64(p.Period))
	e.out = appendNumber(e.out, fieldDefaultSampleType, t.text(p.MainType().Type))
}

func (e *encoder) strings(t *tables) {
	e.string(nil)
	for s := range t.Strings.All {
		e.string(s)
	}
}

func (e *encoder) string(s []byte) {
	e.out = appendBytes(e.out, fieldStrings, s)
	if len(e.out) >= flushBytes {
		e.flush()
	}
}
