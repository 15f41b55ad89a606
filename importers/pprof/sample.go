package pprof

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
)

// A sample is a decoded Sample message. Its memory is reused for the next one.
type sample struct {
	locations []uint32 // places in tables.frames, leaf first
	values    []int64
	labels    []label
	rawLabels []byte // the encoded labels, which identify the list
	stackKey  []byte
}

type label struct {
	key, text, unit string
	number          int64
	numeric         bool
}

// read decodes sample i into out. Errors are of type *ntconv.FormatError.
func (s *source) read(i int, out *sample) error {
	out.locations, out.values = out.locations[:0], out.values[:0]
	out.labels, out.rawLabels = out.labels[:0], out.rawLabels[:0]
	c := s.open("sample", i, s.samples[i])
	from := c.pos
	for c.next() {
		switch c.number {
		case 1:
			s.locationList(&c, out)
		case 2:
			valueList(&c, out)
		case 3:
			s.label(&c, out)
		}
	}
	if c.err != nil {
		return c.err
	}
	if len(out.values) != len(s.origin.Types) {
		c.fail(from, "%d values for %d types", len(out.values), len(s.origin.Types))
		return c.err
	}
	text := 0
	for i := range out.labels {
		l := &out.labels[i]
		text += len(l.key) + len(l.text) + len(l.unit)
	}
	if n, most := len(out.labels), s.limits.Labels; n > most {
		return located(from, c.where(), &ntconv.LimitError{Limit: LimitLabels, Value: int64(most), Asked: int64(n)})
	}
	if most := s.limits.LabelText; text > most {
		return located(from, c.where(), &ntconv.LimitError{Limit: LimitLabelText, Value: int64(most), Asked: int64(text), Unit: "bytes"})
	}
	return nil
}

// locationList decodes the current field of a sample, a list of IDs of locations.
func (s *source) locationList(c *cursor, out *sample) {
	for list := c.list(); len(list) > 0; {
		id, n := uint64(list[0]), 1
		if id >= 0x80 {
			if id, n = protowire.ConsumeVarint(list); n < 0 {
				c.malformed(n)
				return
			}
		}
		place, ok := s.message.locations.find(id)
		if !ok {
			c.fail(c.at, "unknown location %d", id)
			return
		}
		out.locations, list = append(out.locations, place), list[n:]
	}
}

// valueList decodes the current field of a sample, a list of values.
func valueList(c *cursor, out *sample) {
	for list := c.list(); len(list) > 0; {
		v, n := uint64(list[0]), 1
		if v >= 0x80 {
			if v, n = protowire.ConsumeVarint(list); n < 0 {
				c.malformed(n)
				return
			}
		}
		out.values, list = append(out.values, int64(v)), list[n:]
	}
}

// label decodes the current field of a sample, a label. A label without a string, a number and a unit is ignored, as in
// pprof's own library.
func (s *source) label(sample *cursor, out *sample) {
	var key, text, unit, number int64
	c := sample.message("label")
	for c.next() {
		switch c.number {
		case 1:
			key = c.int()
		case 2:
			text = c.int()
		case 3:
			number = c.int()
		case 4:
			unit = c.int()
		}
	}
	out.rawLabels = append(out.rawLabels, s.data[sample.at:sample.to]...)
	l := label{number: number, numeric: text == 0}
	if l.numeric && number == 0 && unit == 0 {
		sample.err = c.err
		return
	}
	if l.key = c.text(key); l.numeric {
		l.unit = c.text(unit)
	} else {
		l.number, l.text = 0, c.text(text)
	}
	out.labels, sample.err = append(out.labels, l), c.err
}

// labelList returns the labels of a sample in the order in which pprof's library would write them: strings before
// numbers, each sorted by key.
func (s *source) labelList(in *sample) *ntconv.Labels {
	if len(in.labels) == 0 {
		return nil
	}
	if l, ok := s.labels.get(in.rawLabels); ok {
		return l
	}
	list := make([]ntconv.Label, len(in.labels))
	for i, l := range in.labels {
		list[i] = ntconv.Label{Kind: ntconv.LabelString, Key: l.key, Str: l.text}
		if l.numeric {
			list[i] = ntconv.Label{Kind: ntconv.LabelInt, Key: l.key, Num: l.number, Unit: l.unit}
		}
	}
	sortLabels(list)
	labels := ntconv.NewLabels(list)
	s.labels.put(in.rawLabels, labels, len(list))
	return labels
}

// stack returns the stack of a sample, or nil if it has none.
func (s *source) stack(in *sample, p *ntconv.Process) *ntconv.Stack {
	key := in.stackKey[:0]
	for _, place := range in.locations {
		key = append(key, byte(place), byte(place>>8), byte(place>>16), byte(place>>24))
	}
	in.stackKey = key
	plain := len(s.o.LabelFrames) == 0
	if plain {
		if st, ok := s.stacks.get(key); ok {
			return st
		}
	}
	frames, cut := s.framesOf(in.locations)
	if cut {
		s.o.Report.Add(ntconv.CodeStackCut, 1, int64(s.samples[s.next-1]))
	}
	frames = s.appendTags(frames, in, p)
	var st *ntconv.Stack
	if len(frames) > 0 {
		st = &ntconv.Stack{Frames: frames}
	}
	if plain {
		s.stacks.put(key, st, len(frames))
	}
	return st
}

// framesOf returns the frames of locations, with capacity for those of labels, and reports whether it dropped outer
// frames. A location may have any number of frames, and a stack may refer to it any number of times, so framesOf stops
// at the limit on the frames of a stack.
func (s *source) framesOf(locations []uint32) (frames []ntconv.Frame, cut bool) {
	most := max(0, s.limits.Stack-len(s.o.LabelFrames))
	n := s.depth(locations)
	frames = make([]ntconv.Frame, 0, int(min(n, int64(most)))+len(s.o.LabelFrames))
	for _, place := range locations {
		of := s.frames.of(place)
		frames = append(frames, of[:min(len(of), most-len(frames))]...)
		if len(frames) == most {
			break
		}
	}
	if n > int64(most) && most > 0 {
		frames[most-1].Flags &^= ntconv.FrameInlined
	}
	return frames, n > int64(most)
}

// depth returns the number of frames of locations.
func (s *source) depth(locations []uint32) (n int64) {
	for _, place := range locations {
		n += int64(s.frames.count(place))
	}
	return n
}

// A tagKey identifies a frame that is a label.
type tagKey struct {
	label string
	in    *ntconv.Process
}

// appendTags appends frames for the labels in Options.LabelFrames. Their file has the name of the process; otherwise
// PerfView would treat the stacks as broken.
func (s *source) appendTags(frames []ntconv.Frame, in *sample, p *ntconv.Process) []ntconv.Frame {
	for i := len(s.o.LabelFrames) - 1; i >= 0; i-- {
		key := s.o.LabelFrames[i]
		for _, l := range in.labels {
			if l.key != key {
				continue
			}
			name := key + "=" + l.text
			if l.numeric {
				name = fmt.Sprintf("%s=%d", key, l.number)
				if l.unit != "" {
					name += " " + l.unit
				}
			}
			frames = append(frames, ntconv.Frame{Func: s.tag(tagKey{name, p}), Mapping: s.owners.tags(p), Flags: ntconv.FrameLabel})
			break
		}
	}
	return frames
}

func (s *source) tag(k tagKey) *ntconv.Function {
	f := s.tagNames[k]
	if f == nil {
		if s.tagNames == nil {
			s.tagNames = map[tagKey]*ntconv.Function{}
		}
		f = &ntconv.Function{Name: k.label}
		s.tagNames[k] = f
	}
	return f
}

// A cache keeps values decoded from bytes until other values replace them: most stacks and labels of a profile repeat
// soon or never. A few bytes can produce a long stack, so the cache is also bounded by the size of its values.
type cache[V any] struct {
	seed  maphash.Seed
	slots []cacheSlot[V]
	at    *cacheSlot[V] // slot of the last get
	size  int           // total of all values
}

type cacheSlot[V any] struct {
	key   []byte
	value V
	size  int
}

const (
	cacheSlots = 1 << 12
	maxCached  = 1 << 18 // frames or labels
)

func (c *cache[V]) get(key []byte) (v V, ok bool) {
	if c.slots == nil {
		c.seed, c.slots = maphash.MakeSeed(), make([]cacheSlot[V], cacheSlots)
	}
	c.at = &c.slots[maphash.Bytes(c.seed, key)%cacheSlots]
	if c.at.key == nil || !bytes.Equal(c.at.key, key) {
		return v, false
	}
	return c.at.value, true
}

// put stores the value of the key passed to the last get. size is its number of frames or labels.
func (c *cache[V]) put(key []byte, v V, size int) {
	c.size += size - c.at.size
	if c.size > maxCached {
		clear(c.slots)
		c.size = size
	}
	c.at.key, c.at.value, c.at.size = append(c.at.key[:0], key...), v, size
	if c.at.key == nil {
		c.at.key = []byte{}
	}
}
