package otlp

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/dictionary"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/sample"
)

// A profileBatch holds the profiles of a batch and the objects that their samples refer to, by number; 0 means none. Those
// of a profile that does not fit into a batch are in several parts, each a profile of its own with the dictionary of its
// batch. The numbers of a request are different ones, because a dictionary contains only what the request refers to.
type profileBatch struct {
	tables     *dictionary.Tables
	stacks     intern.Bytes            // numbers of locations, leaf first, as varints
	attributes intern.Bytes            // numbers of the key and of the unit as varints, then an AnyValue
	links      intern.Bytes            // trace ID and span ID
	labels     map[ntconv.Label]uint32 // numbers of attributes
	parts      []*profilePart
	open       map[partKey]*profilePart
	size       int // about that of everything but tables, in bytes

	scratch struct {
		encoder
		locations  []uint64
		attributes []uint32
	}
}

func newProfileBatch() *profileBatch {
	b := &profileBatch{tables: dictionary.New(false), labels: make(map[ntconv.Label]uint32), open: make(map[partKey]*profilePart)}
	b.tables.Codes = true
	return b
}

// A partKey identifies the profile that a sample belongs to.
type partKey struct {
	head *profileHead
	at   path // resource and scope
}

// A profileHead has what a profile states apart from its samples.
type profileHead struct {
	typ, periodType sample.Type
	period          int64
	time, duration  uint64 // as in profiles.proto
	id              span.TraceID
	hashed          bool // without an ID, it is a hash of the contents
	attributes      []span.Attribute
	dropped         uint32
	format, payload string // of the original payload
	parts           int    // created so far
}

// A profilePart has samples of a profile.
type profilePart struct {
	head       *profileHead
	path       path
	samples    []profileSample
	attributes []uint32 // of all samples
	number     int      // of the part of the profile, from 0

	comments  []span.Attribute // in addition to those of head
	commented bool             // all samples of the profile are known
}

// A profileSample is a sample with numbers of the batch. Its attributes end where those of the next sample begin.
type profileSample struct {
	stack, link, attributes uint32
	value                   int64
}

// Approximate sizes of encoded messages in bytes.
const (
	profileSampleSize = 16
	profilePartSize   = 128
)

// add adds the values of a sample that are not 0. newPart is called when a profile begins in this batch.
func (b *profileBatch) add(x *profile.Sample, heads []*profileHead, at path, plain bool, newPart func()) {
	stack := b.stack(x.Frames)
	attributes, link := b.sampleAttributes(x.Labels, plain)
	for i, v := range x.Values {
		if v == 0 || heads[i] == nil {
			continue
		}
		part := b.open[partKey{heads[i], at}]
		if part == nil {
			part = &profilePart{head: heads[i], path: at, number: heads[i].parts}
			heads[i].parts++
			b.open[partKey{heads[i], at}] = part
			b.parts = append(b.parts, part)
			b.size += profilePartSize + at.maxSize() + len(part.head.payload)
			newPart()
		}
		part.samples = append(part.samples, profileSample{stack, link, uint32(len(part.attributes)), v})
		part.attributes = append(part.attributes, attributes...)
		b.size += profileSampleSize + 2*len(attributes)
	}
}

// total returns about the size of the request in bytes.
func (b *profileBatch) total() int { return b.size + b.tables.Size() }

// rows returns one row per part.
func (b *profileBatch) rows(dst []row) []row {
	for _, p := range b.parts {
		dst = append(dst, row{part: p, end: len(p.samples), path: p.path})
	}
	return dst
}

// stack returns the number of a stack.
func (b *profileBatch) stack(frames []ntconv.Frame) uint32 {
	s := &b.scratch
	s.locations = b.tables.AppendLocations(s.locations[:0], frames)
	s.b = s.b[:0]
	for _, l := range s.locations {
		s.b = binary.AppendUvarint(s.b, l)
	}
	return b.number(&b.stacks, s.b)
}

// number returns the number of an object in a table.
func (b *profileBatch) number(t *intern.Bytes, object []byte) uint32 {
	const overhead = 6
	known := t.Len()
	n := t.Add(object)
	if t.Len() > known {
		b.size += len(object) + overhead
	}
	return n
}

// attribute returns the number of an attribute.
func (b *profileBatch) attribute(key string, v span.Value, unit string) uint32 {
	s := &b.scratch
	s.b = binary.AppendUvarint(s.b[:0], uint64(b.tables.Strings.Add(key)))
	s.b = binary.AppendUvarint(s.b, uint64(b.tables.Strings.Add(unit)))
	s.value(&v)
	return b.number(&b.attributes, s.b)
}

// Attributes of the semantic conventions for samples.
const (
	attrConventionThreadID = "thread.id"
	attrKind               = "ntconv.profile.kind" // the kind of profile, as ntconv names it
)

// sampleAttributes returns the attributes and the link of a sample with these labels. Those of an imported profile are
// plain: they keep their keys. Otherwise those of the process are omitted, because the resource has them.
func (b *profileBatch) sampleAttributes(labels []ntconv.Label, plain bool) (attributes []uint32, link uint32) {
	list := b.scratch.attributes[:0]
	var ids [2]*ntconv.Label
	for i := range labels {
		switch l := &labels[i]; {
		case l.Key == meters.LabelTrace && isHex(l, 32):
			ids[0] = l
		case l.Key == meters.LabelSpan && isHex(l, 16):
			ids[1] = l
		case !plain && (l.Key == meters.LabelPID || l.Key == meters.LabelProcess || l.Key == meters.LabelHost):
		default:
			list = append(list, b.label(l, plain))
		}
	}
	if ids[0] != nil && ids[1] != nil {
		var id [24]byte
		_, _ = hex.Decode(id[:16], []byte(ids[0].Str)) // isHex has checked the digits
		_, _ = hex.Decode(id[16:], []byte(ids[1].Str))
		link = b.number(&b.links, id[:])
	} else {
		for _, l := range ids {
			if l != nil {
				list = append(list, b.label(l, plain))
			}
		}
	}
	b.scratch.attributes = list
	return list, link
}

// isHex reports whether a label is a string of n hexadecimal digits in lower case.
func isHex(l *ntconv.Label, n int) bool {
	if l.Kind != ntconv.LabelString || len(l.Str) != n {
		return false
	}
	for i := range l.Str {
		if c := l.Str[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// label returns the number of the attribute of a label.
func (b *profileBatch) label(l *ntconv.Label, plain bool) uint32 {
	if n, ok := b.labels[*l]; ok {
		return n
	}
	key, unit, v := l.Key, "", span.String(l.Str)
	if l.Kind == ntconv.LabelInt {
		v, unit = span.Int(l.Num), l.Unit
	}
	if !plain {
		switch key {
		case meters.LabelThreadID:
			key, unit = attrConventionThreadID, ""
		case meters.LabelThread:
			key = attrThreadName
		}
	}
	n := b.attribute(key, v, unit)
	b.labels[*l] = n
	return n
}
