package pprof

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/intern"
)

// tables numbers what samples refer to. Everything is told apart by content, so that a definition which a source or a
// namer made twice is written once; maps by pointer before that spare the look at the content. They are emptied when
// they outgrow what they point to, as they would with a namer that makes everything anew whenever it is asked.
type tables struct {
	verbatim bool // nothing is added to, or left out of, what frames say: see imported.go
	strings  stringTable

	functions   functionTable
	functionIDs map[*ntconv.Function]uint32
	nameless    *ntconv.Function // stands for a frame's missing function

	mappings    []mapping
	mappingIDs  map[*ntconv.Mapping]uint32
	mappingKeys intern.Table[ntconv.Mapping] // with the numbers of mappings
	ordered     []*mapping                   // as they are written

	locations locationTable
	frameIDs  map[ntconv.Frame]uint64            // locations of one frame, at most maxFrameIDs
	recent    intern.Cache[ntconv.Frame, uint64] // some of them: most stacks consist of few frames
	lines     []line                             // of the location at hand
}

type mapping struct {
	ntconv.Mapping
	id                               uint32 // as written
	functions, files, lines, inlined bool
}

func newTables() *tables {
	return &tables{
		functionIDs: map[*ntconv.Function]uint32{},
		nameless:    &ntconv.Function{Name: noName},
		mappingIDs:  map[*ntconv.Mapping]uint32{},
		frameIDs:    map[ntconv.Frame]uint64{},
		recent:      intern.NewCache[ntconv.Frame, uint64](recentBits),
	}
}

// text returns the index of a string in the string table. Invalid UTF-8 cannot be stored there and is replaced.
func (t *tables) text(s string) uint64 { return uint64(t.strings.text(s)) }

// appendLocations appends the ids of a stack's locations, leaf first. A frame and the frames inlined into it are one.
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

// maxFrameIDs bounds the frames that are found without a look at their contents. Programs have fewer; a trace without
// symbols may have one per address, each of which would cost more here than as a location.
const maxFrameIDs = 1 << 16

// frame returns the id of the location of a frame by itself.
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

// remember adds to a map of pointers to one of n things.
func remember[K comparable, V any](m map[K]V, k K, v V, n int) {
	if len(m) > 4*n+1<<10 {
		clear(m)
	}
	m[k] = v
}

// run finds a location by content: everything that is written of it.
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

// describe notes what the mapping of a location is known by. A native mapping all of whose frames are stand-ins has no
// functions, so that pprof looks for its symbols; it could not find any in an assembly.
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

// function returns the number of a frame's function, counting from 1. Placeholders are not found by pointer: nearly all
// addresses without a symbol have one of their own.
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
		f.name = t.strings.text(noName)
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

// noName is the name of functions without a name, which consumers would not show.
const noName = "(no name)"

// mapping returns the number of a frame's mapping, counting from 1, or 0.
func (t *tables) mapping(frame *ntconv.Frame) uint32 {
	if frame.Mapping == nil {
		return 0
	}
	return t.addMapping(frame.Mapping)
}

// findMapping returns the number of a mapping, counting from 1, and false if the tables do not have it.
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

// addProgram adds a mapping that no location may refer to: then none of its names is missing.
func (t *tables) addProgram(p *ntconv.Mapping) uint32 {
	n := len(t.mappings)
	id := t.addMapping(p)
	if len(t.mappings) > n {
		t.mappings[id-1].functions = true
	}
	return id
}

// orderMappings puts the mapping with a number first, if there is one, and leaves the others as they are. The id of a
// mapping is its place: some consumers count on that.
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
