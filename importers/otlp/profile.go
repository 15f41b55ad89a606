package otlp

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/span"
	profiledata "github.com/ntconv/ntconv/internal/span/profiles"
	"github.com/ntconv/ntconv/sample"
)

// A profileDecoder decodes messages Profile (profiles.proto, v1development). The items of one are the profile itself, and
// one for each sample, or for each time of a sample.
type profileDecoder struct {
	dict   *dictionary
	number uint64 // of profiles in the input

	// The current profile.
	profile  profiledata.Profile
	duration uint64
	typ      *ntconv.Type
	weight   imported.Weight
	samples  []profileSample
	lists    []uint64 // the lists of samples

	at     int // sample of the next item
	within int // value of it
	events int // items so far without the profile itself
	total  int // items without the profile itself

	key       []byte
	threading []span.Attribute // scratch: the attributes of a sample that state its thread
	values    [1]int64
	item      imported.Sample
}

// A profileSample is a decoded sample. Its lists are ranges of profileDecoder.lists.
type profileSample struct {
	stack, link               uint64
	attributes, values, times span32
}

// A span32 is a range.
type span32 struct{ from, to uint32 }

// events returns the number of events of a sample: one per time, or one.
func (s *profileSample) events() int {
	if n := int(s.times.to - s.times.from); n > 0 {
		return n
	}
	return min(int(s.values.to-s.values.from), 1)
}

// maxSampleAttributes is the maximum number of attributes of a sample. Further ones are dropped and counted.
const maxSampleAttributes = 1000

// maxLabelText is the maximum size of the keys and strings of a sample's attributes, in bytes.
const maxLabelText = 1 << 20

// profileMessage decodes a Profile and returns the number of its items, 0 if it is invalid, which it counts.
func (d *decoder) profileMessage(b []byte) int {
	p := &d.profiles
	if p.dict == nil {
		p.dict = newDictionary(d)
		p.dict.locations = []uint32{0}
	}
	p.reset()
	m := newMessage(b)
	var indices []uint64
	var period, id sampleTypes
	for m.next() {
		switch {
		case m.is(1, lenType):
			id.read(p.dict, m.sub(), &m)
		case m.is(2, lenType):
			p.sample(d, m.sub(), &m)
		case m.is(3, fixed64):
			p.profile.Time = m.n
		case m.is(4, varint):
			p.duration = m.n
		case m.is(5, lenType):
			period.read(p.dict, m.sub(), &m)
		case m.is(6, varint):
			period.n = int64(m.n)
		case m.is(7, lenType):
			if n := fill(p.profile.ID[:], m.bytes()); n != 0 && n != len(p.profile.ID) {
				d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, "profile IDs of other than 16 bytes")
			}
		case m.is(8, varint):
			p.profile.DroppedAttributes = uint32(m.n)
		case m.is(9, lenType):
			p.profile.PayloadFormat = d.valid(m.str())
		case m.is(10, lenType):
			p.profile.Payload = m.str()
		case m.isList(11):
			indices = m.list(indices)
		default:
			d.unknownField("Profile", &m)
		}
	}
	if m.corrupt {
		d.skip("not a valid message")
		return 0
	}
	p.attributes(d, indices)
	p.finish(id.Type, period)
	return 1 + p.total
}

// attributes adds the attributes with these indices to the profile.
func (p *profileDecoder) attributes(d *decoder, indices []uint64) {
	size := 0
	for _, i := range indices {
		if d.room() {
			a := at(p.dict, p.dict.attributes, i, "attribute")
			if size += len(a.Key) + len(a.label.Str); size > d.limits.Message {
				d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, "attributes of a profile that are larger than a message in total")
				break
			}
			p.profile.Attributes = append(p.profile.Attributes, a.Attribute)
		}
	}
}

// sampleTypes are a ValueType, and a number of its units.
type sampleTypes struct {
	sample.Type
	n int64
}

func (t *sampleTypes) read(dict *dictionary, m message, parent *message) {
	for m.next() {
		switch {
		case m.is(1, varint):
			t.Type.Type = dict.text(m.n)
		case m.is(2, varint):
			t.Unit = dict.text(m.n)
		default:
			dict.d.unknownField("ValueType", &m)
		}
	}
	parent.corrupt = parent.corrupt || m.corrupt
}

// reset prepares the decoder for the next profile.
func (p *profileDecoder) reset() {
	p.number++
	p.profile = profiledata.Profile{Number: p.number}
	p.duration, p.samples, p.lists = 0, p.samples[:0], p.lists[:0]
	p.at, p.within, p.events, p.total = 0, 0, 0, 0
}

// sample decodes a Sample.
func (p *profileDecoder) sample(d *decoder, m message, parent *message) {
	s := profileSample{}
	list := func(r *span32) {
		r.from = uint32(len(p.lists))
		p.lists = m.list(p.lists)
		r.to = uint32(len(p.lists))
	}
	for m.next() {
		switch {
		case m.is(1, varint):
			s.stack = m.n
		case m.isList(2):
			list(&s.attributes)
		case m.is(3, varint):
			s.link = m.n
		case m.isList(4):
			list(&s.values)
		case m.is(5, lenType):
			s.times.from = uint32(len(p.lists))
			p.lists = m.fixedList(p.lists)
			s.times.to = uint32(len(p.lists))
		default:
			d.unknownField("Sample", &m)
		}
	}
	parent.corrupt = parent.corrupt || m.corrupt
	p.samples = append(p.samples, s)
}

// finish describes the samples of a decoded profile.
func (p *profileDecoder) finish(t sample.Type, period sampleTypes) {
	p.profile.Type, p.profile.Unit = t.Type, t.Unit
	o := &imported.Origin{
		Columns: imported.Columns{Types: []sample.Type{t}, Default: t.Type, PeriodType: period.Type, Period: period.n},
		Time:    int64(p.profile.Time), Duration: int64(p.duration),
	}
	for i := range p.profile.Attributes {
		originAttribute(o, &p.profile.Attributes[i])
	}
	o.Shorten(p.dict.d.report)
	p.weight = imported.NewWeight(0, t.Unit)
	for i := range p.samples {
		s := &p.samples[i]
		n := s.events()
		if n == 0 {
			p.dict.d.report.Note(ntconv.CodeRowSkipped, 1, p.dict.d.place.offset, "samples without values and times")
		}
		for k := range n {
			p.weight.Try(p.value(s, k))
		}
		p.total += n
	}
	p.weight.Choose()
	p.typ = imported.SampleType(uint32(p.number), o, &p.weight)
	p.typ.Attrs = append(p.typ.Attrs, profiledata.NumberAttr(p.number))
}

// originAttribute sets a property of a profile that an attribute by the conventions for pprof states.
func originAttribute(o *imported.Origin, a *span.Attribute) {
	switch {
	case a.Key == profiledata.AttrComment && a.Value.Kind() == span.ValueArray:
		for _, v := range a.Value.Elems() {
			o.Comments = append(o.Comments, v.Str())
		}
	case a.Value.Kind() != span.ValueString:
	case a.Key == profiledata.AttrDocURL:
		o.DocURL = a.Value.Str()
	case a.Key == profiledata.AttrDropFrames:
		o.DropFrames = a.Value.Str()
	case a.Key == profiledata.AttrKeepFrames:
		o.KeepFrames = a.Value.Str()
	}
}

// value returns value k of a sample: 1 for a time without a value, and the total of the values of a sample without times.
func (p *profileDecoder) value(s *profileSample, k int) (n int64) {
	values := p.lists[s.values.from:s.values.to]
	switch {
	case s.times.from == s.times.to:
		for _, v := range values {
			n += int64(v)
		}
		return n
	case len(values) == 0:
		return 1
	case k < len(values):
		return int64(values[k])
	}
	return 0
}

// profileItem returns item i of the profile that was decoded last: the profile, or the next event of a sample.
func profileItem(d *decoder, i int, r *span.Resource, sc *span.Scope) item {
	p := &d.profiles
	start := int64(min(p.profile.Time, 1<<63-1))
	if i == 0 {
		v := &p.profile
		v.Resource, v.Scope = r, sc
		return item{profile: v, resource: r, start: start, time: start}
	}
	for p.samples[p.at].events() == p.within {
		p.at, p.within = p.at+1, 0
	}
	s := &p.samples[p.at]
	time := start
	if s.times.from < s.times.to {
		time = int64(min(p.lists[int(s.times.from)+p.within], 1<<63-1))
	} else if p.total > 0 { // evenly over the duration
		hi, lo := bits.Mul64(min(p.duration, 1<<63-1-uint64(start)), uint64(p.events))
		offset, _ := bits.Div64(hi, lo, uint64(p.total))
		time += int64(offset)
	}
	p.values[0] = p.value(s, p.within)
	p.within++
	p.events++
	p.item = imported.Sample{Stack: p.dict.stackOf(s.stack), Labels: p.labelsOf(s), Values: p.values[:]}
	return item{sample: &p.item, typ: p.typ, weight: &p.weight, resource: r, attributes: p.threading, start: start, time: time}
}

// labelsOf returns the labels of a sample, and sets threading.
func (p *profileDecoder) labelsOf(s *profileSample) *ntconv.Labels {
	indices := p.lists[s.attributes.from:s.attributes.to]
	if len(indices) > maxSampleAttributes {
		indices = indices[:maxSampleAttributes]
		p.dict.d.report.Note(ntconv.CodeNotCarried, 1, p.dict.d.place.offset, fmt.Sprintf("attributes of samples after the first %d", maxSampleAttributes))
	}
	p.threading = p.threading[:0]
	p.key = fmt.Append(p.key[:0], s.link)
	for _, i := range indices {
		a := at(p.dict, p.dict.attributes, i, "attribute")
		if a.Key == "thread.id" || a.Key == "thread.name" {
			p.threading = append(p.threading, a.Attribute)
		}
		p.key = fmt.Append(append(p.key, ' '), i)
	}
	if l, ok := p.dict.labels[string(p.key)]; ok {
		return l
	}
	l := p.newLabels(s, indices)
	const maxLists = 1 << 16
	if len(p.dict.labels) >= maxLists {
		clear(p.dict.labels)
	}
	p.dict.labels[string(p.key)] = l
	return l
}

func (p *profileDecoder) newLabels(s *profileSample, indices []uint64) *ntconv.Labels {
	var list []ntconv.Label
	if id := at(p.dict, p.dict.links, s.link, "link"); id != [24]byte{} {
		trace, own := ntconv.Label{Kind: ntconv.LabelTraceID}, ntconv.Label{Kind: ntconv.LabelSpanID}
		copy(trace.ID[:], id[:16])
		copy(own.ID[:], id[16:])
		list = append(list, trace, own)
	}
	size := 0
	for _, i := range indices {
		a := at(p.dict, p.dict.attributes, i, "attribute")
		if size += len(a.Key) + len(a.label.Str) + len(a.label.Unit); size > maxLabelText {
			p.dict.d.report.Note(ntconv.CodeNotCarried, 1, p.dict.d.place.offset, "attributes of a sample beyond 1 MiB")
			break
		}
		if k := a.Value.Kind(); k != span.ValueString && k != span.ValueInt {
			p.dict.d.report.Note(ntconv.CodeNotCarried, 1, p.dict.d.place.offset, "types of attributes of samples that are neither strings nor integers; they are strings")
		}
		if a.Key != "" {
			list = append(list, a.label)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return ntconv.NewLabels(slices.Clip(list))
}

// A sampleEncoder makes the event of a sample.
type sampleEncoder struct {
	event   ntconv.Event
	payload []byte
	pending bool
}

// encode starts the conversion of a sample.
func (c *sampleEncoder) encode(it *item, like *ntconv.Event) {
	c.payload = it.weight.AppendTo(c.payload[:0], it.sample.Values)
	c.event, c.pending = *like, true
	c.event.Type, c.event.Stack, c.event.Labels, c.event.Payload = it.typ, it.sample.Stack, it.sample.Labels, c.payload
}

// Next implements encoder.
func (c *sampleEncoder) Next() *ntconv.Event {
	if !c.pending {
		return nil
	}
	c.pending = false
	return &c.event
}
