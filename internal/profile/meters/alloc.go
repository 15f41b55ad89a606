package meters

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// Sources of kind Alloc. The runtime has three ways to record allocations, which may be enabled together. A profile is
// computed from the best one: adding them up would count every allocation several times.
const (
	allocSampled    = iota // AllocationSampled (.NET 10): each byte is sampled with the same probability
	allocCounted           // GCSampledObjectAllocation: objects and bytes of a type since its previous event
	allocTick              // GCAllocationTick with the size of the object, from version 4
	allocTickNoSize        // earlier versions
	allocSources
)

// allocMean is the mean number of bytes between two sampled bytes of AllocationSampled, and the least number of bytes
// between two events GCAllocationTick of a heap.
const allocMean = 100 << 10

// Columns of kind Alloc.
const (
	allocEvents = iota // only shown if the sizes of objects are unknown
	allocObjects
	allocSpace
)

// allocSpecs returns the kind of allocated objects.
func allocSpecs() []Spec {
	return []Spec{{
		Kind: sample.Alloc,
		Columns: []Column{
			allocEvents:  {Type: sampleCount, One: true},
			allocObjects: {Type: sample.Type{Type: "alloc_objects", Unit: "count"}, Scale: ScaleFraction},
			allocSpace:   {Type: sample.Type{Type: "alloc_space", Unit: "bytes"}, Scale: ScaleFraction},
		},
		main:    allocSpace,
		Period:  sample.Type{Type: "space", Unit: "bytes"},
		Every:   allocMean,
		Tags:    []string{LabelType, LabelHeap},
		Subject: 0,
		leaf:    true,
		choose:  chooseAllocations,
		Sources: []string{
			"AllocationSampled", "GCSampledObjectAllocation", "GCAllocationTick", "GCAllocationTick without object sizes",
		},
		Systematic: func(source int) bool { return source >= allocTick },
		Unknown: func(source int) int {
			if source == allocTickNoSize {
				return allocObjects
			}
			return NoColumn
		},
		Meter: func(c *Collector) meter {
			return &allocMeter{c: c, names: newTypeNames(c.settings), types: map[intervalKey]string{}}
		},
	}}
}

// chooseAllocations keeps the source with the smallest error: counts, then random samples, then ticks, whose error
// cannot be derived because programs allocate in patterns.
func chooseAllocations(samples []uint64) []bool {
	keep := make([]bool, allocSources)
	switch {
	case samples[allocCounted] > 0:
		keep[allocCounted] = true
	case samples[allocSampled] > 0:
		keep[allocSampled] = true
	default:
		keep[allocTick], keep[allocTickNoSize] = true, true
	}
	return keep
}

// An allocMeter turns each event of an allocation into a sample.
type allocMeter struct {
	point
	c     *Collector
	names typeNames
	types map[intervalKey]string // recorded names of types, for events that state only an ID
}

// Roles of events. The role of an allocation is its source plus 1.
const allocTypes = RoleEnds // BulkType

func (m *allocMeter) input(s *schema.Schema) (uint8, []string) {
	if s.Provider == clr.Runtime && s.ID == 15 {
		return allocTypes, []string{"Values"}
	}
	if source, fields := allocationInput(s); fields != nil {
		return uint8(source) + 1, fields
	}
	return 0, nil
}

// allocationInput returns the source that events of a schema are, and their fields; nil if they are not allocations.
func allocationInput(s *schema.Schema) (source int, fields []string) {
	if s.Provider != clr.Runtime {
		return 0, nil
	}
	switch s.ID {
	case 10:
		if s.Lookup(schema.Path{"ObjectSize"}) == nil {
			return allocTickNoSize, []string{"TypeName", "AllocationKind", "AllocationAmount64", "AllocationAmount"}
		}
		return allocTick, []string{"TypeName", "AllocationKind", "AllocationAmount64", "ObjectSize"}
	case 303:
		return allocSampled, []string{"TypeName", "AllocationKind", "ObjectSize"}
	case 20, 32:
		return allocCounted, []string{"TypeID", "ObjectCountForTypeSample", "TotalSizeForTypeSample"}
	}
	return 0, nil
}

func (m *allocMeter) see(r *reading) {
	if r.role == allocTypes {
		m.learn(r)
		return
	}
	o := m.c.observation()
	source, f := int(r.role-1), r.fields
	if !o.allocation(source, f) {
		m.c.invalid.Add(r.Offset)
		return
	}
	if source == allocCounted {
		o.tag(0, m.names.of(ntconv.StringValue(m.types[intervalKeyOf(r.Event, f[0].Uint()).shared()])))
	} else {
		o.tag(0, m.names.of(f[0]))
		o.tag(1, heapName(f[1]))
	}
	m.c.emit(m.c.hold(r), r.Time)
}

// allocation sets the values of an event from its fields, which are those of allocationInput. It returns false if they
// are invalid.
func (o *Observation) allocation(source int, f []ntconv.Value) bool {
	o.source, o.Values[allocEvents] = uint8(source), 1
	switch source {
	case allocSampled:
		return o.sampled(f[2].Uint())
	case allocCounted:
		n, bytes := f[1].Uint(), f[2].Uint()
		o.Values[allocObjects], o.Values[allocSpace] = bin.MulClamped(bin.Clamped[int64](n), Fraction), bin.MulClamped(bin.Clamped[int64](bytes), Fraction)
		return n > 0
	case allocTick:
		return o.tick(f[2].Uint(), f[3].Uint())
	}
	amount := f[2].Uint()
	if f[2].Kind() == ntconv.ValueNull {
		amount = f[3].Uint()
	}
	return o.tick(amount, 0)
}

// An Allocation reads the number of bytes from the events of a schema. It is not safe for concurrent use.
type Allocation struct {
	Source uint8 // index in the result of SourcesOf(sample.Alloc)
	read   *schema.Projection
	fields []ntconv.Value
	o      Observation
}

// NewAllocation returns the Allocation of a schema, or nil if its events are not allocations.
func NewAllocation(s *schema.Schema) *Allocation {
	source, fields := allocationInput(s)
	if fields == nil {
		return nil
	}
	a := &Allocation{Source: uint8(source), fields: make([]ntconv.Value, len(fields))}
	a.read, _ = s.Project(fields...)
	a.o = NewObservation(len(Specs()[sample.Alloc].Columns), len(Specs()[sample.Alloc].Tags))
	return a
}

// Bytes returns the number of allocated bytes that an event represents, as samples of kind Alloc do, or 0 if its payload
// is invalid. carry is what earlier results of the same source have lost by rounding; Bytes updates it, so that the sum
// of the results is that of the samples.
func (a *Allocation) Bytes(e *ntconv.Event, carry *int64) (bytes int64) {
	a.read.Read(e, a.fields)
	a.o.Clear()
	if a.o.allocation(int(a.Source), a.fields) {
		bytes, *carry = Rounded(a.o.Values[allocSpace], *carry)
	}
	return bytes
}

// heapName returns the heap of an object by its AllocationKind.
func heapName(v ntconv.Value) string {
	if v.Kind() == ntconv.ValueUint {
		switch v.Uint() {
		case 0:
			return "small"
		case 1:
			return "large"
		case 2:
			return "pinned"
		}
	}
	return ""
}

// sampled sets the values of an object that was sampled with probability p = 1 - exp(-size/allocMean). It represents 1/p
// objects (Horvitz-Thompson), with the estimated variance (1-p)/p^2. It returns false if the size is 0.
func (o *Observation) sampled(size uint64) bool {
	p := -math.Expm1(-float64(size) / allocMean)
	if p == 0 {
		return false
	}
	o.estimate(allocObjects, 1/p, (1-p)/p/p)
	o.estimate(allocSpace, float64(size)/p, (1-p)/p/p*float64(size)*float64(size))
	return true
}

// tick sets the values of an event that follows the allocation of amount bytes, all of which count for the latest
// object; its size is 0 if unknown. It returns false if amount is 0.
func (o *Observation) tick(amount, size uint64) bool {
	bytes := float64(amount)
	o.estimate(allocSpace, bytes, bytes*bytes)
	if size > 0 {
		objects := max(1, bytes/float64(size)) // the amount may lack the end of a large object
		o.estimate(allocObjects, objects, objects*objects)
	}
	return amount > 0
}

// estimate sets the value of a column with scaleFraction, and its variance.
func (o *Observation) estimate(column int, value, variance float64) {
	o.Values[column], o.Variances[column] = steps(value), variance
}

// steps returns a value in steps of scaleFraction.
func steps(value float64) int64 {
	value = math.Round(value * Fraction)
	switch {
	case value >= math.MaxInt64:
		return math.MaxInt64
	case value <= -math.MaxInt64:
		return -math.MaxInt64
	}
	return int64(value)
}

// learn adds the types of an event BulkType.
func (m *allocMeter) learn(r *reading) {
	for v := range r.fields[0].Elems() {
		id, _ := v.Field("TypeID")
		name, _ := v.Field("Name")
		key := intervalKeyOf(r.Event, id.Uint()).shared()
		if _, known := m.types[key]; !known {
			m.types[key] = string(appendText(nil, name))
		}
	}
}

// typeNames spells names of types and keeps the spellings. Its memory grows with the distinct names, which the labels of
// samples keep in any case.
type typeNames struct {
	spell   func(recorded string) string
	known   map[string]string
	scratch []byte
}

func newTypeNames(o *Settings) typeNames {
	return typeNames{spell: o.TypeName, known: map[string]string{}}
}

// of returns the spelling of a recorded name, "" if there is none.
func (n *typeNames) of(recorded ntconv.Value) string {
	n.scratch = appendText(n.scratch[:0], recorded)
	name, ok := n.known[string(n.scratch)]
	if !ok {
		name = n.spell(string(n.scratch))
		n.known[string(n.scratch)] = name
	}
	return name
}

// point is the part of a meter whose samples are single events: it waits for nothing.
type point struct{}

func (point) lost(*ntconv.Thread)        {}
func (point) removed([]ntconv.ThreadSeq) {}
func (point) finish()                    {}
