package tracecmp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
)

// infos compares the Info of two sources. Format is for display and is not compared.
func (c *comparer) infos(a, b *ntconv.Info) *Difference {
	if c.opts.Info {
		return nil
	}
	switch {
	case a.Aggregate != b.Aggregate:
		which := "second"
		if a.Aggregate {
			which = "first"
		}
		return differf("only the %s is a profile without times", which)
	case a.Clock.Freq != b.Clock.Freq:
		return differ("clock frequency", a.Clock.Freq, b.Clock.Freq)
	case a.Clock.Tick != b.Clock.Tick:
		return differ("start in ticks", a.Clock.Tick, b.Clock.Tick)
	case !a.Clock.Wall.Equal(b.Clock.Wall):
		return differ("start", a.Clock.Wall, b.Clock.Wall)
	case c.machine[0] != c.machine[1]:
		return differ("pointer size", a.PointerSize, b.PointerSize)
	}
	return equalAttrs(recordedAttrs(a.Attrs), recordedAttrs(b.Attrs))
}

// recordedAttrs returns the attributes that do not describe how the trace was written.
func recordedAttrs(attrs ntconv.Attrs) (out ntconv.Attrs) {
	for _, a := range attrs {
		if !strings.HasPrefix(a.Key, "ntconv.") {
			out = append(out, a)
		}
	}
	return out
}

func equalAttrs(a, b ntconv.Attrs) *Difference {
	for i := range min(len(a), len(b)) {
		if a[i].Key == b[i].Key && a[i].Value != b[i].Value {
			return differ(fmt.Sprintf("attribute %q", a[i].Key), a[i].Value, b[i].Value)
		}
		if a[i] != b[i] {
			break
		}
	}
	return elements("attribute", a, b)
}

func equalTypes(a, b *ntconv.Type) *Difference {
	switch {
	case a.Provider != b.Provider:
		return differ("provider", a.Provider, b.Provider)
	case a.GUID != b.GUID:
		return differ("GUID", a.GUID, b.GUID)
	case a.ID != b.ID:
		return differ("ID", a.ID, b.ID)
	case a.Name != b.Name:
		return differ("name", a.Name, b.Name)
	case a.Version != b.Version:
		return differ("version", a.Version, b.Version)
	case a.Level != b.Level:
		return differ("level", a.Level, b.Level)
	case a.HasOpcode != b.HasOpcode:
		return differ("has an opcode", a.HasOpcode, b.HasOpcode)
	case a.Opcode != b.Opcode:
		return differ("opcode", a.Opcode, b.Opcode)
	case a.Keywords != b.Keywords:
		return differ("keywords", a.Keywords, b.Keywords)
	case a.Message != b.Message:
		return differ("message", a.Message, b.Message)
	case a.Description != b.Description:
		return differ("description", a.Description, b.Description)
	case !bytes.Equal(a.Extra, b.Extra):
		return differ("extra bytes", a.Extra, b.Extra)
	case !bytes.Equal(a.OptionalExtra, b.OptionalExtra):
		return differ("extra bytes of the optional part", a.OptionalExtra, b.OptionalExtra)
	}
	if d := equalAttrs(a.Attrs, b.Attrs); d != nil {
		return d
	}
	return equalFields(a.Fields, b.Fields)
}

func equalFields(a, b []ntconv.Field) *Difference {
	if len(a) != len(b) {
		return differ("number of fields", len(a), len(b))
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Name != y.Name {
			return differ("name", x.Name, y.Name).in("field %d", i)
		}
		if !bytes.Equal(x.Extra, y.Extra) {
			return differ("extra bytes", x.Extra, y.Extra).in("field %q", x.Name)
		}
		if d := equalFieldTypes(&x.Type, &y.Type); d != nil {
			return d.in("field %q", x.Name)
		}
	}
	return nil
}

func equalFieldTypes(a, b *ntconv.FieldType) *Difference {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		return differf("only one has an element type")
	case a.Code != b.Code:
		return differ("type", a.Code, b.Code)
	case a.Count != b.Count:
		return differ("count", a.Count, b.Count)
	}
	if d := equalFieldTypes(a.Elem, b.Elem); d != nil {
		return d.in("element")
	}
	return equalFields(a.Fields, b.Fields)
}

func (c *comparer) equalThreads(a, b *ntconv.Thread) *Difference {
	switch {
	case a.TID != b.TID:
		return differ("ID", a.TID, b.TID)
	case a.Name != b.Name:
		return differ("name", a.Name, b.Name)
	}
	if d := equalAttrs(a.Attrs, b.Attrs); d != nil {
		return d
	}
	// A thread without a process equals a thread of the zero Process.
	switch x, y := a.Process, b.Process; {
	case x == nil && y == nil:
		return nil
	case x == nil:
		return c.equalProcesses(&ntconv.Process{}, y).in("process")
	case y == nil:
		return c.equalProcesses(x, &ntconv.Process{}).in("process")
	}
	return c.procs.match(a.Process, b.Process)
}

func (c *comparer) equalProcesses(a, b *ntconv.Process) *Difference {
	sizes := [2]uint8{a.PointerSize, b.PointerSize}
	for i := range sizes {
		if sizes[i] == 0 {
			sizes[i] = c.machine[i]
		}
	}
	switch {
	case a.PID != b.PID:
		return differ("ID", a.PID, b.PID)
	case a.Host != b.Host:
		return differ("host", a.Host, b.Host)
	case a.Name != b.Name:
		return differ("name", a.Name, b.Name)
	case sizes[0] != sizes[1]:
		return differ("pointer size", sizes[0], sizes[1])
	}
	if d := equalAttrs(a.Attrs, b.Attrs); d != nil || c.opts.Frames {
		return d
	}
	return c.mappings(a.Mappings, b.Mappings)
}

// mappings compares the mappings of two processes in their order.
func (c *comparer) mappings(a, b []*ntconv.Mapping) *Difference {
	if len(a) != len(b) {
		return differ("number of mappings", len(a), len(b))
	}
	if c.sameMappings[pairOf(a, b)] {
		return nil
	}
	for i := range a {
		if d := equalMappings(a[i], b[i]); d != nil {
			return d.in("mapping %d", i)
		}
	}
	c.keepEqual(a, b)
	return nil
}

// A mappingList identifies a list of mappings by its address in memory, because many processes may share a list.
type mappingList struct {
	first **ntconv.Mapping
	n     int
}

func listOf(list []*ntconv.Mapping) (l mappingList) {
	if len(list) > 0 {
		l = mappingList{&list[0], len(list)}
	}
	return l
}

func pairOf(a, b []*ntconv.Mapping) [2]mappingList { return [2]mappingList{listOf(a), listOf(b)} }

// keepEqual records that two lists are equal.
func (c *comparer) keepEqual(a, b []*ntconv.Mapping) {
	if c.sameMappings == nil || len(c.sameMappings) >= maxAlike {
		c.sameMappings = map[[2]mappingList]bool{}
	}
	c.sameMappings[pairOf(a, b)] = true
}
