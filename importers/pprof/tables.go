package pprof

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/pproflegacy"
	"google.golang.org/protobuf/encoding/protowire"
)

// tables are what samples refer to.
type tables struct {
	profile   *profile.Profile // without samples, locations and functions once the frames are made
	locations ids
	frames    [][]ntconv.Frame // of a location, innermost first
	mappings  []*ntconv.Mapping
}

// decode reads a profile in any of its formats.
func decode(data []byte, o *Options) (*message, error) {
	m, err := decodeProto(data, o)
	if err == nil || !pproflegacy.Match(data) {
		return m, err
	}
	if data, err = pproflegacy.Convert(data); err != nil {
		return nil, located(0, "profile in one of the older formats", fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err))
	}
	return decodeProto(data, o)
}

// decodeProto reads a Profile message.
func decodeProto(data []byte, o *Options) (*message, error) {
	m := &message{data: data, strings: map[int64]string{}, limits: &o.Limits}
	s := &scan{m: m, used: map[uint64]int{}}
	if len(data) == 0 {
		return nil, located(0, "profile", fmt.Errorf("%w: it is empty", ntconv.ErrFormat))
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	p := &profile.Profile{}
	if len(s.rest) > 0 {
		var err error
		if p, err = profile.ParseUncompressed(s.rest); err != nil {
			return nil, located(0, "tables", fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err))
		}
	}
	if len(p.SampleType) == 0 && len(m.samples) > 0 {
		return nil, located(int(m.samples[0]), "sample 0", fmt.Errorf("%w: the profile does not say what its values are", ntconv.ErrCorrupt))
	}
	m.profile, m.tables.locations = p, s.locations
	byOffset := func(a, b uint64) int { return s.used[a] - s.used[b] }
	for _, id := range slices.SortedFunc(maps.Keys(s.used), byOffset) { // a report has the first place, and its text
		if _, ok := s.mappings.find(id); !ok {
			o.Report.Note(ntconv.CodeRepaired, 1, int64(s.used[id]), fmt.Sprintf("locations in mapping %d, which is not there, are in none", id))
		}
	}
	if err := s.repair(p, o.Report); err != nil {
		return nil, err
	}
	if err := p.CheckValid(); err != nil {
		return nil, located(0, "tables", fmt.Errorf("%w: %w", ntconv.ErrCorrupt, err))
	}
	m.convert(o)
	return m, nil
}

// repair gives a function with the reserved id 0 another one: profilers for .NET write one, and mean it. Lines without a function
// are its lines; any other one is an error.
func (s *scan) repair(p *profile.Profile, report *ntconv.Report) error {
	var zero *profile.Function
	highest := uint64(0)
	for _, f := range p.Function {
		if f.ID == 0 {
			zero = f
		}
		highest = max(highest, f.ID)
	}
	if zero != nil {
		if highest == math.MaxUint64 {
			return located(0, "functions", fmt.Errorf("%w: id 0 is reserved, and no other is free", ntconv.ErrCorrupt))
		}
		zero.ID = highest + 1
		report.Note(ntconv.CodeRepaired, 1, -1, "a function with the reserved id 0")
	}
	looked := false
	for _, l := range p.Location {
		for i := range l.Line {
			if l.Line[i].Function != nil {
				continue
			}
			if !looked {
				if err := s.danglingLine(zero != nil); err != nil {
					return err
				}
				looked = true
			}
			l.Line[i].Function = zero
		}
	}
	return nil
}

// danglingLine returns the error of the first line whose function is not there. zero says that id 0 is.
func (s *scan) danglingLine(zero bool) error {
	data, n := s.m.data, 0
	for at := 0; at < len(data); {
		f, next, err := readField(data, at)
		if err != nil {
			return err
		}
		at = next
		if f.number != fieldLocation {
			continue
		}
		for at := f.from; at < f.to; {
			g, next, err := readField(data[:f.to], at)
			if err != nil {
				return err
			}
			at = next
			if g.number != 4 || g.kind != protowire.BytesType {
				continue
			}
			id := uint64(0)
			for at := g.from; at < g.to; {
				h, next, err := readField(data[:g.to], at)
				if err != nil {
					return err
				}
				if at = next; h.number == 1 {
					id = h.value
				}
			}
			if _, ok := s.functions.find(id); !ok && !(id == 0 && zero) {
				return located(g.at, fmt.Sprintf("location %d/line", n), fmt.Errorf("%w: function %d is not there", ntconv.ErrCorrupt, id))
			}
		}
		n++
	}
	return nil
}

// convert makes the frames of all locations, and lets go of what they were made of.
func (m *message) convert(o *Options) {
	p := m.profile
	mappings := map[*profile.Mapping]*ntconv.Mapping{}
	for i, f := range p.Mapping {
		c := convertMapping(f)
		if i == 0 {
			c.Flags |= ntconv.MappingMain
		}
		mappings[f] = c
		m.mappings = append(m.mappings, c)
	}
	functions := make(map[*profile.Function]*ntconv.Function, len(p.Function))
	for _, f := range p.Function {
		functions[f] = &ntconv.Function{Name: f.Name, SystemName: f.SystemName, File: f.Filename, StartLine: o.int32(f.StartLine)}
	}
	m.frames = make([][]ntconv.Frame, len(p.Location))
	for i, l := range p.Location {
		mapping := mappings[l.Mapping]
		flags := ntconv.FrameFlags(0)
		if l.IsFolded {
			flags = ntconv.FrameFolded
		}
		if len(l.Line) == 0 {
			m.frames[i] = []ntconv.Frame{{
				Func: &ntconv.Function{Name: standIn(mapping, l.Address)}, Mapping: mapping, PC: l.Address, Flags: flags | ntconv.FrameUnresolved,
			}}
			continue
		}
		frames := make([]ntconv.Frame, len(l.Line))
		for n, line := range l.Line {
			frames[n] = ntconv.Frame{
				Func: functions[line.Function], Mapping: mapping, PC: l.Address, Line: o.int32(line.Line), Column: o.int32(line.Column), Flags: flags,
			}
			if n < len(frames)-1 {
				frames[n].Flags |= ntconv.FrameInlined
			}
		}
		m.frames[i] = frames
	}
	p.Location, p.Function, p.Mapping = nil, nil, nil
}

// int32 returns a line number. Those beyond 32 bits are noted.
func (o *Options) int32(n int64) int32 {
	if c := int32(n); int64(c) == n {
		return c
	}
	o.Report.Note(ntconv.CodeNotCarried, 1, -1, fmt.Sprintf("line number %d", n))
	return 0
}

func convertMapping(f *profile.Mapping) *ntconv.Mapping {
	c := &ntconv.Mapping{Start: f.Start, Limit: f.Limit, Offset: f.Offset, File: f.File, BuildID: f.BuildID}
	for _, has := range []struct {
		is   bool
		flag ntconv.MappingFlags
	}{
		{f.HasFunctions, ntconv.MappingHasFunctions}, {f.HasFilenames, ntconv.MappingHasFiles},
		{f.HasLineNumbers, ntconv.MappingHasLines}, {f.HasInlineFrames, ntconv.MappingHasInlined},
	} {
		if has.is {
			c.Flags |= has.flag
		}
	}
	return c
}

// standIn returns a name for an address that has none.
func standIn(m *ntconv.Mapping, pc uint64) string {
	if m == nil || m.File == "" {
		return "0x" + strconv.FormatUint(pc, 16)
	}
	return baseName(m.File) + "+0x" + strconv.FormatUint(pc-m.Start+m.Offset, 16)
}

// baseName returns the last element of a path of any system.
func baseName(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}
