package ntconvtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
)

// infos compares what two sources say before the first event. Format is for people and is not compared.
func (c *comparer) infos(a, b *ntconv.Info) error {
	if c.opts.Info {
		return nil
	}
	switch {
	case a.Clock.Freq != b.Clock.Freq || a.Clock.Tick != b.Clock.Tick || !a.Clock.Wall.Equal(b.Clock.Wall):
		return fmt.Errorf("clock: %+v and %+v", a.Clock, b.Clock)
	case c.machine[0] != c.machine[1]:
		return fmt.Errorf("pointer size: %d and %d", a.PointerSize, b.PointerSize)
	case a.Aggregate != b.Aggregate:
		return fmt.Errorf("aggregate: %v and %v", a.Aggregate, b.Aggregate)
	}
	return equalAttrs(foreign(a.Attrs), foreign(b.Attrs))
}

// foreign returns the attributes that are not about the writing itself.
func foreign(attrs ntconv.Attrs) (out ntconv.Attrs) {
	for _, a := range attrs {
		if !strings.HasPrefix(a.Key, "ntconv.") {
			out = append(out, a)
		}
	}
	return out
}

func equalAttrs(a, b ntconv.Attrs) error {
	if !slices.Equal(a, b) {
		return fmt.Errorf("attributes: %q and %q", a, b)
	}
	return nil
}

func equalTypes(a, b *ntconv.Type) error {
	differs := func(what string, x, y any) error { return fmt.Errorf("%s: %#v and %#v", what, x, y) }
	switch {
	case a.Provider != b.Provider:
		return differs("provider", a.Provider, b.Provider)
	case a.GUID != b.GUID:
		return differs("guid", a.GUID, b.GUID)
	case a.ID != b.ID:
		return differs("id", a.ID, b.ID)
	case a.Name != b.Name:
		return differs("name", a.Name, b.Name)
	case a.Version != b.Version:
		return differs("version", a.Version, b.Version)
	case a.Level != b.Level:
		return differs("level", a.Level, b.Level)
	case a.HasOpcode != b.HasOpcode || a.Opcode != b.Opcode:
		return differs("opcode", []any{a.HasOpcode, a.Opcode}, []any{b.HasOpcode, b.Opcode})
	case a.Keywords != b.Keywords:
		return differs("keywords", a.Keywords, b.Keywords)
	case a.Message != b.Message:
		return differs("message", a.Message, b.Message)
	case a.Description != b.Description:
		return differs("description", a.Description, b.Description)
	case !bytes.Equal(a.Extra, b.Extra):
		return differs("extra bytes", a.Extra, b.Extra)
	case !bytes.Equal(a.OptionalExtra, b.OptionalExtra):
		return differs("extra bytes of the optional part", a.OptionalExtra, b.OptionalExtra)
	}
	if err := equalAttrs(a.Attrs, b.Attrs); err != nil {
		return err
	}
	return equalFields(a.Fields, b.Fields)
}

func equalFields(a, b []ntconv.Field) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d and %d fields", len(a), len(b))
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Name != y.Name {
			return fmt.Errorf("field %d: name %q and %q", i, x.Name, y.Name)
		}
		if !bytes.Equal(x.Extra, y.Extra) {
			return fmt.Errorf("field %q: extra bytes %#x and %#x", x.Name, x.Extra, y.Extra)
		}
		if err := equalFieldTypes(&x.Type, &y.Type); err != nil {
			return fmt.Errorf("field %q: %w", x.Name, err)
		}
	}
	return nil
}

func equalFieldTypes(a, b *ntconv.FieldType) error {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		return errors.New("only one has an element type")
	case a.Code != b.Code || a.Count != b.Count:
		return fmt.Errorf("type %v with count %d and %v with %d", a.Code, a.Count, b.Code, b.Count)
	}
	if err := equalFieldTypes(a.Elem, b.Elem); err != nil {
		return fmt.Errorf("element: %w", err)
	}
	return equalFields(a.Fields, b.Fields)
}

func (c *comparer) equalThreads(a, b *ntconv.Thread) error {
	if a.TID != b.TID || a.Name != b.Name {
		return fmt.Errorf("id %d %q and %d %q", a.TID, a.Name, b.TID, b.Name)
	}
	if err := equalAttrs(a.Attrs, b.Attrs); err != nil {
		return err
	}
	// A thread without a process and one of the process that nothing is known about are the same.
	switch x, y := a.Process, b.Process; {
	case x == nil && y == nil:
		return nil
	case x == nil:
		return c.equalProcesses(&ntconv.Process{}, y)
	case y == nil:
		return c.equalProcesses(x, &ntconv.Process{})
	}
	return c.procs.match(a.Process, b.Process)
}

func (c *comparer) equalProcesses(a, b *ntconv.Process) error {
	sizes := [2]uint8{a.PointerSize, b.PointerSize}
	for i := range sizes {
		if sizes[i] == 0 {
			sizes[i] = c.machine[i]
		}
	}
	switch {
	case a.PID != b.PID:
		return fmt.Errorf("id: %d and %d", a.PID, b.PID)
	case a.Host != b.Host:
		return fmt.Errorf("host: %q and %q", a.Host, b.Host)
	case a.Name != b.Name:
		return fmt.Errorf("name: %q and %q", a.Name, b.Name)
	case sizes[0] != sizes[1]:
		return fmt.Errorf("pointer size: %d and %d", sizes[0], sizes[1])
	}
	return equalAttrs(a.Attrs, b.Attrs)
}

// define remembers a declaration, to be looked at when it is known what is used.
func (c *comparer) define(e *ntconv.Event, side int) {
	if e.Type != nil {
		c.defTypes[side] = append(c.defTypes[side], e.Type)
	}
	if e.Thread != nil {
		c.defThreads[side] = append(c.defThreads[side], e.Thread)
	}
}

// definitions compares what was only declared: every such type or thread of one stream needs a partner of equal content.
func (c *comparer) definitions() error {
	if err := unused(&c.types, c.defTypes); err != nil {
		return err
	}
	return unused(&c.threads, c.defThreads)
}

func unused[T any](p *pairs[T], defs [2][]*T) error {
	var rest [2][]*T
	for side := range defs {
		seen := map[*T]bool{}
		for _, d := range defs[side] {
			if p.other[side][d] == nil && !seen[d] {
				seen[d] = true
				rest[side] = append(rest[side], d)
			}
		}
	}
	for _, a := range rest[0] {
		i := slices.IndexFunc(rest[1], func(b *T) bool { return p.equal(a, b) == nil })
		if i < 0 {
			return fmt.Errorf("%s is declared in the first stream only: %+v", p.what, *a)
		}
		rest[1] = slices.Delete(rest[1], i, i+1)
	}
	if len(rest[1]) > 0 {
		return fmt.Errorf("%s is declared in the second stream only: %+v", p.what, *rest[1][0])
	}
	return nil
}
