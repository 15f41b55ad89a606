package pprof

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// tables numbers the objects that samples refer to by content, so that an object that a source or a namer created twice
// is written once. Maps keyed by pointer avoid most comparisons of contents. They are cleared if they outgrow the
// tables, which happens with a namer that creates new objects for each call.
//
//	state        set by      cleared by
//	functionIDs  function    remember, at 4 times the functions plus 1024
//	mappingIDs   addMapping  remember, likewise
//	frameIDs     frame       frame, at maxFrameIDs
//	recent       frame       - (entries are overwritten)
//	ordered, mapping.id   orderMappings, after the last sample   -
type tables struct {
	verbatim bool // write frames unchanged, see imported.go
	strings  stringTable

	functions   functionTable
	functionIDs map[*ntconv.Function]uint32
	nameless    *ntconv.Function // represents the missing function of a frame

	mappings    []mapping
	mappingIDs  map[*ntconv.Mapping]uint32
	mappingKeys intern.Table[ntconv.Mapping] // has the numbers of mappings
	ordered     []*mapping                   // in the order in which they are written

	locations locationTable
	frameIDs  map[ntconv.Frame]uint64            // locations with one frame, at most maxFrameIDs
	recent    intern.Cache[ntconv.Frame, uint64] // some of frameIDs: few frames make up most stacks
	lines     []line                             // scratch: of the current location
}

type mapping struct {
	ntconv.Mapping
	id                               uint32 // ID in the output
	functions, files, lines, inlined bool
}

func newTables() *tables {
	return &tables{
		functionIDs: map[*ntconv.Function]uint32{},
		nameless:    &ntconv.Function{Name: imported.NoName},
		mappingIDs:  map[*ntconv.Mapping]uint32{},
		frameIDs:    map[ntconv.Frame]uint64{},
		recent:      intern.NewCache[ntconv.Frame, uint64](recentBits),
	}
}

// text returns the index of a string in the string table. It replaces invalid UTF-8, which a profile cannot store.
func (t *tables) text(s string) uint64 { return uint64(t.strings.text(s)) }

// appendLocations appends the IDs of a stack's locations, leaf first. A frame and the frames inlined into it share one.
func (t *tables) appendLocations(dst []uint64, frames []ntconv.Frame) []uint64 {
	for len(frames) > 0 {
		if t.verbatim && frames[0].Flags&ntconv.FrameLabel != 0 {
			frames = frames[1:]
			continue
		}
		n := 1
		for frames[n-1].Flags&ntconv.FrameInlined != 0 && n < len(frames) {
			n++
		}
		if n > 1 {
			dst = append(dst, t.run(frames[:n]))
		} else {
			dst = append(dst, t.frame(&frames[0]))
		}
		frames = frames[n:]
	}
	return dst
}

const recentBits = 13

// maxFrameIDs bounds the frames that are found without comparing locations. Programs have fewer frames; a trace without
// symbols may have one per address, and an entry takes more memory than a location.
const maxFrameIDs = 1 << 16

// frame returns the ID of the location of a single frame.
func (t *tables) frame(f *ntconv.Frame) uint64 {
	hash := f.PC + uint64(f.Line)
	if id := t.recent.Get(hash, f); id != nil {
		return *id
	}
	id, ok := t.frameIDs[*f]
	if !ok {
		id = t.run([]ntconv.Frame{*f})
		if len(t.frameIDs) == maxFrameIDs {
			clear(t.frameIDs)
		}
		t.frameIDs[*f] = id
	}
	t.recent.Put(hash, f, id)
	return id
}

// remember adds to a map keyed by pointers to n distinct objects. It clears a map that is much larger.
func remember[K comparable, V any](m map[K]V, k K, v V, n int) {
	if len(m) > 4*n+1<<10 {
		clear(m)
	}
	m[k] = v
}

// run returns the ID of the location of a frame and the frames inlined into it.
func (t *tables) run(run []ntconv.Frame) uint64 {
	outer := &run[len(run)-1]
	mapping, folded := t.mapping(outer), false
	t.lines = t.lines[:0]
	for i := range run {
		f := &run[i]
		folded = folded || f.Flags&ntconv.FrameFolded != 0
		if t.verbatim && f.Flags&ntconv.FrameUnresolved != 0 {
			continue
		}
		t.lines = append(t.lines, line{t.function(f), f.Line, f.Column})
	}
	t.describe(mapping, run)
	return uint64(t.locations.add(outer.PC, mapping, folded, t.lines))
}

// describe updates the flags of a location's mapping. A native mapping with only placeholder frames has no functions,
// so that pprof looks for its symbols; it could not find any for an assembly.
func (t *tables) describe(mapping uint32, run []ntconv.Frame) {
	if mapping == 0 || t.verbatim {
		return
	}
	m := &t.mappings[mapping-1]
	m.inlined = m.inlined || len(run) > 1
	m.functions = m.functions || isAssembly(m.File)
	for i := range run {
		if run[i].Flags&ntconv.FrameUnresolved == 0 {
			m.functions = true
		}
		m.files = m.files || run[i].Func != nil && run[i].Func.File != ""
		m.lines = m.lines || run[i].Line != 0
	}
}

// function returns the number of a frame's function, starting at 1. Placeholders are not cached by pointer, because
// nearly all addresses without a symbol have distinct ones.
func (t *tables) function(frame *ntconv.Frame) uint32 {
	p := frame.Func
	if p == nil {
		p = t.nameless
	}
	if id, ok := t.functionIDs[p]; ok {
		return id
	}
	f := function{name: t.strings.text(p.Name), file: t.strings.text(p.File), startLine: p.StartLine}
	if f.name == 0 && !t.verbatim {
		f.name = t.strings.text(imported.NoName)
	}
	if p.SystemName != p.Name || t.verbatim {
		f.system = t.strings.text(p.SystemName)
	}
	id := t.functions.add(f)
	if frame.Flags&ntconv.FrameUnresolved == 0 {
		remember(t.functionIDs, p, id, len(t.functions.list))
	}
	return id
}

// mapping returns the number of a frame's mapping, starting at 1, or 0.
func (t *tables) mapping(frame *ntconv.Frame) uint32 {
	if frame.Mapping == nil {
		return 0
	}
	return t.addMapping(frame.Mapping)
}

// findMapping returns the number of a mapping, starting at 1. ok is false if the tables do not contain it.
func (t *tables) findMapping(p *ntconv.Mapping) (id uint32, ok bool) {
	if id, ok = t.mappingIDs[p]; !ok {
		id = t.mappingKeys.Find(*p)
	}
	return id, id != 0
}

func (t *tables) addMapping(p *ntconv.Mapping) uint32 {
	id, ok := t.mappingIDs[p]
	if ok {
		return id
	}
	id, fresh := t.mappingKeys.Add(*p)
	if fresh {
		t.mappings = append(t.mappings, t.newMapping(p))
	}
	remember(t.mappingIDs, p, id, len(t.mappings))
	return id
}

// addProgram adds a mapping that locations may not refer to. It has functions, so that pprof does not look for symbols.
func (t *tables) addProgram(p *ntconv.Mapping) uint32 {
	n := len(t.mappings)
	id := t.addMapping(p)
	if len(t.mappings) > n {
		t.mappings[id-1].functions = true
	}
	return id
}

// orderMappings moves the mapping with number first, if it is not 0, to the front and keeps the order of the others.
// The ID of a mapping is its position, because some consumers assume this.
func (t *tables) orderMappings(first uint32) {
	t.ordered = t.ordered[:0]
	if first > 0 {
		t.ordered = append(t.ordered, &t.mappings[first-1])
	}
	for i := range t.mappings {
		if uint32(i+1) != first {
			t.ordered = append(t.ordered, &t.mappings[i])
		}
	}
	for i, m := range t.ordered {
		m.id = uint32(i + 1)
	}
}
