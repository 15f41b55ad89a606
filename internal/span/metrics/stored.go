package metrics

import (
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// Stored is the kind of imported points. Their events are at Time.
//
// An Encoder encodes all members but Process. A Decoder sets it, too.
var Stored = &stored.Kind[Point]{
	Name: "DataPoint",
	ID:   7,
	Head: slices.Concat([]ntconv.Field{
		stored.Text("name"), stored.Text("description"), stored.Text("unit"), stored.Scalar("kind", ntconv.TypeVarUint),
		stored.Scalar("aggregationTemporality", ntconv.TypeVarInt), stored.Scalar("isMonotonic", ntconv.TypeVarUint),
		stored.Scalar("startTimeUnixNano", ntconv.TypeUint64), stored.Scalar("timeUnixNano", ntconv.TypeUint64),
	}, numberFields(), []ntconv.Field{stored.Scalar("flags", ntconv.TypeUint32)}),
	Lists: []ntconv.Field{
		stored.Scalar("count", ntconv.TypeVarUint), double("sum"), stored.List("quantileValues", double("quantile"), double("value")),
		stored.Scalar("has", ntconv.TypeVarUint), double("min"), double("max"), counts("bucketCounts"), stored.Array("explicitBounds", double("").Type),
		stored.Scalar("scale", ntconv.TypeVarInt), stored.Scalar("zeroCount", ntconv.TypeVarUint), double("zeroThreshold"),
		stored.Scalar("offset", ntconv.TypeVarInt), stored.Scalar("negativeOffset", ntconv.TypeVarInt), counts("negativeCounts"),
		stored.List("exemplars", slices.Concat([]ntconv.Field{stored.Scalar("timeUnixNano", ntconv.TypeUint64)}, numberFields(), []ntconv.Field{
			stored.Text("traceId"), stored.Text("spanId"), stored.Attributes(), stored.Dropped("Attributes"),
		})...),
		stored.Object("metadata", stored.Attributes(), stored.Dropped("Attributes")), stored.Attributes(), stored.Dropped("Attributes"),
	},
	WriteHead:  writeHead,
	WriteLists: writeLists,
	Abridge:    abridge,
	ReadHead:   readHead,
	ReadLists:  readLists,
	Reset: func(p *Point) Point {
		return Point{Quantiles: p.Quantiles[:0], Exemplars: p.Exemplars[:0]}
	},
	Origin: func(p *Point) stored.Origin {
		return stored.Origin{Scope: &p.Scope, Resource: &p.Resource, Process: &p.Process}
	},
}

func double(name string) ntconv.Field { return stored.Scalar(name, ntconv.TypeFloat64) }

func counts(name string) ntconv.Field {
	return stored.Array(name, stored.Scalar("", ntconv.TypeVarUint).Type)
}

func numberFields() []ntconv.Field {
	return []ntconv.Field{stored.Text("type"), stored.Scalar("asInt", ntconv.TypeVarInt), double("asDouble")}
}

// Types of a number.
const (
	typeInt    = "int"
	typeDouble = "double"
)

func writeNumber(p *stored.Payload, n *Number) {
	switch {
	case n.Absent:
		p.Text("")
	case n.Integer:
		p.Text(typeInt)
	default:
		p.Text(typeDouble)
	}
	p.Varint(n.Int)
	writeFloat(p, n.Float)
}

func readNumber(c *stored.Cursor) (n Number) {
	typ := c.Text()
	return Number{Integer: typ == typeInt, Absent: typ != typeInt && typ != typeDouble, Int: c.Varint(), Float: readFloat(c)}
}

func writeFloat(p *stored.Payload, f float64) { p.Uint64(math.Float64bits(f)) }
func readFloat(c *stored.Cursor) float64      { return math.Float64frombits(c.Uint64()) }
func writeInt32(p *stored.Payload, n int32)   { p.Varint(int64(n)) }
func readInt32(c *stored.Cursor) int32        { return c.Enum() }
func writeHead(p *stored.Payload, v *Point, size int) {
	p.Text(stored.Cut(v.Name, size))
	p.Text(stored.Cut(v.Description, size))
	p.Text(stored.Cut(v.Unit, size))
	p.Varuint(uint64(v.Kind))
	writeInt32(p, int32(v.Temporality))
	p.Flag(v.Monotonic)
	p.Uint64(v.Start)
	p.Uint64(v.Time)
	writeNumber(p, &v.Number)
	p.Uint32(v.Flags)
}

func readHead(c *stored.Cursor, v *Point) {
	v.Name, v.Description, v.Unit = c.Text(), c.Text(), c.Text()
	v.Kind = Kind(c.Small())
	v.Temporality = Temporality(readInt32(c))
	v.Monotonic = c.Flag()
	v.Start, v.Time = c.Uint64(), c.Uint64()
	v.Number = readNumber(c)
	v.Flags = c.Uint32()
}

func writeCounts(p *stored.Payload, list []uint64) {
	p.Count(len(list))
	for _, n := range list {
		p.Varuint(n)
	}
}

func readCounts(c *stored.Cursor) (list []uint64) {
	for n := c.Count(); n > 0 && !c.Failed(); n-- {
		list = append(list, c.Varuint())
	}
	return list
}

func writeLists(p *stored.Payload, v *Point) {
	p.Varuint(v.Count)
	writeFloat(p, v.Sum)
	p.Count(len(v.Quantiles))
	for _, q := range v.Quantiles {
		writeFloat(p, q.Quantile)
		writeFloat(p, q.Value)
	}
	h := &v.Histogram
	p.Varuint(uint64(h.Has))
	writeFloat(p, h.Min)
	writeFloat(p, h.Max)
	writeCounts(p, h.Counts)
	p.Count(len(h.Bounds))
	for _, f := range h.Bounds {
		writeFloat(p, f)
	}
	writeInt32(p, h.Scale)
	p.Varuint(h.ZeroCount)
	writeFloat(p, h.ZeroThreshold)
	writeInt32(p, h.Offset)
	writeInt32(p, h.NegativeOffset)
	writeCounts(p, h.Negative)
	p.Count(len(v.Exemplars))
	for i := range v.Exemplars {
		e := &v.Exemplars[i]
		p.Uint64(e.Time)
		writeNumber(p, &e.Number)
		p.ID(e.TraceID[:], e.TraceID.IsZero())
		p.ID(e.Context.ID[:], e.Context.ID.IsZero())
		p.Attributes(e.Attributes, 0)
	}
	var metadata []span.Attribute
	if v.Metadata != nil {
		metadata = v.Metadata.Attributes
	}
	p.Attributes(metadata, 0)
	p.Attributes(v.Attributes, 0)
}

func readLists(c *stored.Cursor, v *Point) {
	v.Count, v.Sum = c.Varuint(), readFloat(c)
	for n := c.Count(); n > 0 && !c.Failed(); n-- {
		v.Quantiles = append(v.Quantiles, Quantile{readFloat(c), readFloat(c)})
	}
	h := &v.Histogram
	h.Has = HasFlags(c.Small())
	h.Min, h.Max = readFloat(c), readFloat(c)
	h.Counts = readCounts(c)
	for n := c.Count(); n > 0 && !c.Failed(); n-- {
		h.Bounds = append(h.Bounds, readFloat(c))
	}
	h.Scale, h.ZeroCount, h.ZeroThreshold = readInt32(c), c.Varuint(), readFloat(c)
	h.Offset, h.NegativeOffset = readInt32(c), readInt32(c)
	h.Negative = readCounts(c)
	for n := c.Count(); n > 0 && !c.Failed(); n-- {
		e := Exemplar{Time: c.Uint64(), Number: readNumber(c)}
		c.ID(e.TraceID[:])
		c.ID(e.Context.ID[:])
		e.Attributes, _ = c.Attributes()
		v.Exemplars = append(v.Exemplars, e)
	}
	if list, _ := c.Attributes(); len(list) > 0 {
		v.Metadata = &Metadata{list}
	}
	v.Attributes, _ = c.Attributes()
}

// abridge returns a point with short lists.
func abridge(v *Point) Point {
	const most = 32
	short := func(list []uint64) []uint64 { return list[:min(len(list), most)] }
	p := Point{Count: v.Count, Sum: v.Sum, Quantiles: v.Quantiles[:min(len(v.Quantiles), most)], Histogram: v.Histogram, Attributes: stored.Abridged(v.Attributes)}
	p.Histogram.Counts, p.Histogram.Negative = short(v.Histogram.Counts), short(v.Histogram.Negative)
	p.Histogram.Bounds = v.Histogram.Bounds[:min(len(v.Histogram.Bounds), most)]
	return p
}

// imported passes an imported point on.
func (r *Reader) imported(e *ntconv.Event) {
	p, ok := r.stored.Decode(e)
	if !ok {
		return
	}
	if m := p.Metadata; m != nil {
		var key []byte
		for i := range m.Attributes {
			a := &m.Attributes[i]
			key = append(a.Value.AppendText(append(append(key, a.Key...), 0, byte(a.Value.Kind()))), 0)
		}
		p.Metadata = r.keepMetadata(string(key), func() []span.Attribute { return slices.Clone(m.Attributes) })
	}
	r.emit(p)
}
