package split

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// Attributes of a part. Keys with this prefix describe how a trace was written, so comparisons of traces ignore them.
const (
	attrPrefix = "ntconv.split"
	attrID     = attrPrefix
	attrPart   = attrPrefix + ".part"
	attrParts  = attrPrefix + ".parts"
	attrOrder  = attrPrefix + ".order"
	attrEvery  = attrPrefix + ".every"
	attrInput  = attrPrefix + ".input"
	attrValue  = attrPrefix + ".value"
	attrSame   = attrPrefix + ".same"  // of types and threads: their number among those of equal content, from 2
	attrAdded  = attrPrefix + ".added" // of types: their events were added to the part
)

// threadName is the name of the thread of events that are added to a part before its first event.
const threadName = "ntconv.split"

// Types of the events that a Splitter adds. The encodings of their fields are ones that recorders use, because a reader
// that does not know a type code rejects the whole file. The time of SplitOrder is the first member of the position.
func orderType() *ntconv.Type {
	return &ntconv.Type{Provider: recording.Provider, ID: 5, Name: recording.SplitOrder, Fields: []ntconv.Field{
		{Name: "Rank", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
	}}
}

func numbersType() *ntconv.Type {
	return &ntconv.Type{Provider: recording.Provider, ID: 6, Name: recording.SplitNumbers, Fields: []ntconv.Field{
		{Name: "Numbers", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUint32}}},
	}}
}

func replicaType() *ntconv.Type {
	return &ntconv.Type{Provider: recording.Provider, ID: 7, Name: recording.SplitReplica}
}

// IsMark reports whether events of a type were added to the parts: they describe how the trace was split, or state the
// weights of samples. They belong to a part and not to the trace.
func IsMark(t *ntconv.Type) bool {
	if t.Provider != recording.Provider {
		return false
	}
	_, added := t.Attrs.Get(attrAdded)
	return added || t.Name == recording.SplitOrder || t.Name == recording.SplitNumbers || t.Name == recording.SplitReplica
}

// maxNumbers is the number of sequence numbers in one SplitNumbers event: the payload of a TraceEvent event has at most
// 65,535 bytes.
const maxNumbers = 16_000

// appendNumbers appends the payload of a SplitNumbers event.
func appendNumbers(dst []byte, numbers []uint32) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(numbers)))
	for _, n := range numbers {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return dst
}

// parseNumbers appends the numbers in the payload of a SplitNumbers event to dst.
func parseNumbers(dst []uint32, p []byte) ([]uint32, error) {
	if len(p) < 2 || len(p) != 2+4*int(binary.LittleEndian.Uint16(p)) {
		return dst, fmt.Errorf("%s: %d bytes do not hold the array: %w", recording.SplitNumbers, len(p), ntconv.ErrCorrupt)
	}
	for p = p[2:]; len(p) > 0; p = p[4:] {
		dst = append(dst, binary.LittleEndian.Uint32(p))
	}
	return dst, nil
}

// parseRank returns the rank in the payload of a SplitOrder event.
func parseRank(p []byte) (uint64, error) {
	rank, n := binary.Uvarint(p)
	if n <= 0 {
		return 0, fmt.Errorf("%s: %d bytes do not hold a number: %w", recording.SplitOrder, len(p), ntconv.ErrCorrupt)
	}
	return rank, nil
}

// A Part describes one part of a split. It is stored in the attributes of the part.
type Part struct {
	ID     string       // of the split: equal for all parts
	Number int          // from 1
	Count  int          // number of parts
	Every  string       // what divides the parts, as the user stated it
	Input  string       // hash of the input's content, for users
	Value  string       // of the field that divides the parts; "" if they follow each other
	Begin  ntconv.Ticks // of the parts that follow each other; 0 for the first one
	Ranked bool         // the parts overlap in time: their order follows from positions, not from their numbers
	ByTime bool         // the trace was read in time order, not in file order
}

// Attrs returns the attributes of a part.
func (p *Part) Attrs() ntconv.Attrs {
	order := "file"
	if p.ByTime {
		order = "time"
	}
	if p.Ranked {
		order += ", ranked"
	}
	list := ntconv.Attrs{
		{Key: attrID, Value: p.ID},
		{Key: attrPart, Value: strconv.Itoa(p.Number)},
		{Key: attrParts, Value: strconv.Itoa(p.Count)},
		{Key: attrOrder, Value: order},
		{Key: attrEvery, Value: p.Every},
	}
	if p.Input != "" {
		list = append(list, ntconv.Attr{Key: attrInput, Value: p.Input})
	}
	if p.Value != "" {
		list = append(list, ntconv.Attr{Key: attrValue, Value: p.Value})
	}
	return list
}

// PartOf returns the description of a part, or nil if info is not that of a part. The error wraps ntconv.ErrCorrupt if
// the attributes contradict each other.
func PartOf(info *ntconv.Info) (*Part, error) {
	id, ok := info.Attrs.Get(attrID)
	if !ok {
		return nil, nil
	}
	p := &Part{ID: id}
	text := func(key string) string { v, _ := info.Attrs.Get(key); return v }
	var errs [2]error
	p.Number, errs[0] = strconv.Atoi(text(attrPart))
	p.Count, errs[1] = strconv.Atoi(text(attrParts))
	p.Every, p.Input, p.Value = text(attrEvery), text(attrInput), text(attrValue)
	switch text(attrOrder) {
	case "time":
		p.ByTime = true
	case "time, ranked":
		p.ByTime, p.Ranked = true, true
	case "file, ranked":
		p.Ranked = true
	case "file":
	default:
		errs[0] = errors.New("unknown order")
	}
	if err := errors.Join(errs[:]...); err != nil || p.Number < 1 || p.Number > p.Count {
		return nil, fmt.Errorf("attributes %s*: part %q of %q in order %q: %w",
			attrPrefix, text(attrPart), text(attrParts), text(attrOrder), ntconv.ErrCorrupt)
	}
	return p, nil
}

// withoutPart returns info without the attributes of a part.
func withoutPart(info *ntconv.Info) *ntconv.Info {
	c := *info
	c.Attrs = nil
	for _, a := range info.Attrs {
		if len(a.Key) < len(attrPrefix) || a.Key[:len(attrPrefix)] != attrPrefix {
			c.Attrs = append(c.Attrs, a)
		}
	}
	return &c
}
