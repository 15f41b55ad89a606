package pprof

import (
	"fmt"
	"path"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// frames holds the frames of all locations, innermost first, in one slice.
type frames struct {
	list   []ntconv.Frame
	starts []uint32 // start of each location in list, and the end
}

// of returns the frames of the location at a place. There is at least one.
func (f *frames) of(place uint32) []ntconv.Frame { return f.list[f.starts[place]:f.starts[place+1]] }

// count returns the number of frames of the location at a place.
func (f *frames) count(place uint32) int { return int(f.starts[place+1] - f.starts[place]) }

// tables decodes all tables after the last field, in an order in which each row refers only to decoded rows.
func (s *scan) tables() error {
	m := s.m
	if len(m.header.types) == 0 && len(m.samples) > 0 {
		return located(int(m.samples[0]), "sample 0", fmt.Errorf("%w: samples without sample types", ntconv.ErrCorrupt))
	}
	if len(s.strings) == 0 {
		return located(len(m.data), "string table", fmt.Errorf("%w: missing", ntconv.ErrCorrupt))
	}
	m.strings = newStringTable(m, s.strings, s.textBytes)
	for _, decode := range []func() error{s.decodeMappings, s.decodeFunctions, s.decodeLocations} {
		if err := decode(); err != nil {
			return err
		}
	}
	if at := m.header.secondTime; at > 0 {
		return located(at, "time_nanos", fmt.Errorf("%w: two profiles are concatenated", ntconv.ErrCorrupt))
	}
	if s.zero != nil {
		s.notes.Note(ntconv.CodeRepaired, 1, -1, "a function with the reserved ID 0")
	}
	return nil
}

// register assigns the next place in a table to the ID of a row. It records an error if the ID is 0 or not unique.
func (c *cursor) register(id uint64, table *ids) {
	switch {
	case c.err != nil:
	case id == 0:
		c.fail(c.tag(), "ID 0 is reserved")
	case !table.add(id):
		c.fail(c.tag(), "duplicate ID %d", id)
	}
}

// tag returns the offset of the tag of a row. Tags of rows have one byte unless an encoder pads them.
func (c *cursor) tag() int { return c.begin - 1 }

func (s *scan) decodeMappings() error {
	rows := make([]ntconv.Mapping, len(s.mappings))
	s.m.mappings = make([]*ntconv.Mapping, len(rows))
	for i, at := range s.mappings {
		c, row := s.m.open("mapping", i, at), &rows[i]
		var id uint64
		var file, buildID int64
		for c.next() {
			switch c.number {
			case 1:
				id = c.uint()
			case 2:
				row.Start = c.uint()
			case 3:
				row.Limit = c.uint()
			case 4:
				row.Offset = c.uint()
			case 5:
				file = c.int()
			case 6:
				buildID = c.int()
			case 7, 8, 9, 10:
				flag := ntconv.MappingHasFunctions << (c.number - 7)
				if row.Flags &^= flag; c.bool() {
					row.Flags |= flag
				}
			}
		}
		row.File, row.BuildID = c.text(file), c.text(buildID)
		if c.register(id, &s.mappingIDs); c.err != nil {
			return c.err
		}
		s.m.mappings[i] = row
	}
	if len(rows) > 0 {
		rows[0].Flags |= ntconv.MappingMain
	}
	s.mappings = nil
	return nil
}

// decodeFunctions accepts one function with the reserved ID 0, because profilers for .NET write one. Lines without a
// function refer to it.
func (s *scan) decodeFunctions() error {
	s.byPlace = make([]ntconv.Function, len(s.functions))
	for i, at := range s.functions {
		c, row := s.m.open("function", i, at), &s.byPlace[i]
		var id uint64
		var name, system, file, line int64
		for c.next() {
			switch c.number {
			case 1:
				id = c.uint()
			case 2:
				name = c.int()
			case 3:
				system = c.int()
			case 4:
				file = c.int()
			case 5:
				line = c.int()
			}
		}
		row.Name, row.SystemName, row.File, row.StartLine = c.text(name), c.text(system), c.text(file), s.int32(line)
		if id == 0 && s.zero == nil {
			s.zero = row
			s.functionIDs.count++ // its place
		} else {
			c.register(id, &s.functionIDs)
		}
		if c.err != nil {
			return c.err
		}
	}
	s.functions = nil
	return nil
}

func (s *scan) decodeLocations() error {
	f := &s.m.frames
	f.starts = make([]uint32, 0, len(s.locations)+1)
	f.list = make([]ntconv.Frame, 0, len(s.locations)) // most locations have one frame
	for i, at := range s.locations {
		f.starts = append(f.starts, uint32(len(f.list)))
		if err := s.location(i, at); err != nil {
			return err
		}
	}
	f.starts = append(f.starts, uint32(len(f.list)))
	s.locations = nil
	return nil
}

// location appends the frames of a location.
func (s *scan) location(i int, at uint32) error {
	c, f := s.m.open("location", i, at), &s.m.frames
	first := len(f.list)
	var id, mappingID, address uint64
	mappingAt, flags := 0, ntconv.FrameFlags(0)
	for c.next() {
		switch c.number {
		case 1:
			id = c.uint()
		case 2:
			mappingID, mappingAt = c.uint(), c.at
		case 3:
			address = c.uint()
		case 4:
			frame, err := s.line(&c, i)
			if err != nil {
				return err
			}
			f.list = append(f.list, frame)
		case 5:
			if flags = 0; c.bool() {
				flags = ntconv.FrameFolded
			}
		}
	}
	if c.register(id, &s.m.locations); c.err != nil {
		return c.err
	}
	f.list = imported.EndLocation(f.list, first, s.mapping(mappingID, mappingAt), address, flags)
	return nil
}

// line returns the frame of the line that is the current field of a location.
func (s *scan) line(location *cursor, i int) (ntconv.Frame, error) {
	s.lines++
	if err := limit(location.at, "lines", LimitLines, s.lines, s.m.limits.Lines); err != nil {
		return ntconv.Frame{}, err
	}
	c := location.message("line")
	var function uint64
	var line, column int64
	for c.next() {
		switch c.number {
		case 1:
			function = c.uint()
		case 2:
			line = c.int()
		case 3:
			column = c.int()
		}
	}
	if c.err != nil {
		return ntconv.Frame{}, c.err
	}
	frame := ntconv.Frame{Func: s.zero, Line: s.int32(line), Column: s.int32(column)}
	if place, ok := s.functionIDs.find(function); ok {
		frame.Func = &s.byPlace[place]
	} else if function != 0 || s.zero == nil {
		return frame, located(location.at, fmt.Sprintf("location %d/line", i), fmt.Errorf("%w: unknown function %d", ntconv.ErrCorrupt, function))
	}
	return frame, nil
}

// mapping returns the mapping with an ID, or nil. at is the offset of the location's reference. It notes each missing
// mapping once.
func (s *scan) mapping(id uint64, at int) *ntconv.Mapping {
	if id == 0 {
		return nil
	}
	if place, ok := s.mappingIDs.find(id); ok {
		return s.m.mappings[place]
	}
	if _, noted := s.missing[id]; !noted && len(s.missing) <= s.m.limits.Mappings {
		if s.missing == nil {
			s.missing = map[uint64]struct{}{}
		}
		s.missing[id] = struct{}{}
		s.notes.Note(ntconv.CodeRepaired, 1, int64(at), fmt.Sprintf("unknown mapping %d; its locations get no mapping", id))
	}
	return nil
}

// int32 returns a line number. It notes numbers beyond 32 bits and returns 0 for them.
func (s *scan) int32(n int64) int32 {
	if c := int32(n); int64(c) == n {
		return c
	}
	s.notes.Note(ntconv.CodeNotCarried, 1, -1, fmt.Sprintf("line number %d", n))
	return 0
}

// baseName returns the last element of a path of any operating system.
func baseName(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}
