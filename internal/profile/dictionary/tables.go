// Package dictionary numbers the objects that samples of profiles refer to: strings, functions, mappings and locations.
// The formats of profile.proto and of OTLP profiles both store tables of these.
package dictionary

import (
	"iter"
	"path"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// Tables numbers objects by content from 1, so that an object that a source or a namer created twice is written once; 0
// means none. Maps keyed by pointer avoid most comparisons of contents. They are cleared if they outgrow the tables,
// which happens with a namer that creates new objects for each call. Tables is not safe for concurrent use.
//
//	state        set by      cleared by
//	functionIDs  function    remember, at 4 times the functions plus 1024
//	mappingIDs   AddMapping  remember, likewise
//	frameIDs     frame       frame, at maxFrameIDs
//	recent       frame       - (entries are overwritten)
type Tables struct {
	Strings Strings
	// Codes, set before the first stack, means that locations state the kind of their code. Otherwise that is UnknownCode.
	Codes    bool
	verbatim bool

	functions   functionTable
	functionIDs map[*ntconv.Function]uint32
	nameless    *ntconv.Function // represents the missing function of a frame

	mappings    []Mapping
	mappingIDs  map[*ntconv.Mapping]uint32
	mappingKeys intern.Table[ntconv.Mapping] // has the numbers of mappings

	locations locationTable
	frameIDs  map[ntconv.Frame]uint64            // locations with one frame, at most maxFrameIDs
	recent    intern.Cache[ntconv.Frame, uint64] // some of frameIDs: few frames make up most stacks
	lines     []Line                             // scratch: of the current location
}

// A Mapping is a mapping with the flags that profiles store: which properties the functions of its locations have.
type Mapping struct {
	ntconv.Mapping
	Functions, Files, Lines, Inlined bool
}

// New returns empty tables. verbatim means that the frames are those of an imported profile, which are stored
// unchanged; otherwise every frame gets a name, and a system name only if that differs.
func New(verbatim bool) *Tables {
	return &Tables{
		verbatim:    verbatim,
		functionIDs: map[*ntconv.Function]uint32{},
		nameless:    &ntconv.Function{Name: imported.NoName},
		mappingIDs:  map[*ntconv.Mapping]uint32{},
		frameIDs:    map[ntconv.Frame]uint64{},
		recent:      intern.NewCache[ntconv.Frame, uint64](recentBits),
	}
}

// SetVerbatim changes the parameter of New for what is added from now on.
func (t *Tables) SetVerbatim(verbatim bool) {
	if t.verbatim != verbatim {
		t.verbatim = verbatim
		clear(t.functionIDs)
		clear(t.frameIDs)
		t.recent = intern.NewCache[ntconv.Frame, uint64](recentBits)
	}
}

// Sizes of messages in bytes, which few exceed: indices of up to 2^21, one line per location, no columns.
const (
	stringSize   = 4
	functionSize = 20
	locationSize = 32
	lineSize     = 12
	mappingSize  = 64
)

// Size returns about the size of the tables in the encoding of OTLP.
func (t *Tables) Size() int {
	return t.Strings.bytes + stringSize*t.Strings.Len() + functionSize*len(t.functions.list) + locationSize*len(t.locations.list) +
		lineSize*len(t.locations.lines) + mappingSize*len(t.mappings)
}

// Functions returns the functions by number - 1, valid until the next function is added.
func (t *Tables) Functions() []Function { return t.functions.list }

// Mappings returns the mappings by number - 1, valid until the next mapping is added.
func (t *Tables) Mappings() []Mapping { return t.mappings }

// Locations yields the locations with their lines, innermost first, in the order of their numbers, from 1. Both are valid
// until the next one.
func (t *Tables) Locations() iter.Seq2[*Location, []Line] {
	return func(yield func(*Location, []Line) bool) {
		for i := range t.locations.list {
			if l := &t.locations.list[i]; !yield(l, t.locations.linesOf(l)) {
				return
			}
		}
	}
}

// Location returns a location by its number, and its lines, innermost first. Both are valid until the next call.
func (t *Tables) Location(number uint32) (*Location, []Line) {
	l := &t.locations.list[number-1]
	return l, t.locations.linesOf(l)
}

// AppendLocations appends the numbers of a stack's locations, leaf first. A frame and the frames inlined into it share
// one.
func (t *Tables) AppendLocations(dst []uint64, frames []ntconv.Frame) []uint64 {
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

// frame returns the number of the location of a single frame.
func (t *Tables) frame(f *ntconv.Frame) uint64 {
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

// run returns the number of the location of a frame and the frames inlined into it.
func (t *Tables) run(run []ntconv.Frame) uint64 {
	outer := &run[len(run)-1]
	mapping, folded := t.mapping(outer), false
	t.lines = t.lines[:0]
	for i := range run {
		f := &run[i]
		folded = folded || f.Flags&ntconv.FrameFolded != 0
		if t.verbatim && f.Flags&ntconv.FrameUnresolved != 0 {
			continue
		}
		t.lines = append(t.lines, Line{t.function(f), f.Line, f.Column})
	}
	t.describe(mapping, run)
	return uint64(t.locations.add(outer.PC, mapping, t.codeOf(outer), folded, t.lines))
}

func (t *Tables) codeOf(f *ntconv.Frame) Code {
	switch {
	case !t.Codes:
	case f.Flags&ntconv.FrameKernel != 0:
		return KernelCode
	case f.Flags&ntconv.FrameManaged != 0:
		return ManagedCode
	case f.Flags&ntconv.FrameNative != 0, f.Mapping != nil && !t.verbatim: // an imported profile may be of any language
		return NativeCode
	}
	return UnknownCode
}

// describe updates the flags of a location's mapping. A native mapping with only placeholder frames has no functions,
// so that pprof looks for its symbols; it could not find any for an assembly.
func (t *Tables) describe(mapping uint32, run []ntconv.Frame) {
	if mapping == 0 || t.verbatim {
		return
	}
	m := &t.mappings[mapping-1]
	m.Inlined = m.Inlined || len(run) > 1
	m.Functions = m.Functions || IsAssembly(m.File)
	for i := range run {
		if run[i].Flags&ntconv.FrameUnresolved == 0 {
			m.Functions = true
		}
		m.Files = m.Files || run[i].Func != nil && run[i].Func.File != ""
		m.Lines = m.Lines || run[i].Line != 0
	}
}

// function returns the number of a frame's function. Placeholders are not cached by pointer, because nearly all
// addresses without a symbol have distinct ones.
func (t *Tables) function(frame *ntconv.Frame) uint32 {
	p := frame.Func
	if p == nil {
		p = t.nameless
	}
	if id, ok := t.functionIDs[p]; ok {
		return id
	}
	f := Function{Name: t.Strings.Add(p.Name), File: t.Strings.Add(p.File), StartLine: p.StartLine}
	if f.Name == 0 && !t.verbatim {
		f.Name = t.Strings.Add(imported.NoName)
	}
	if p.SystemName != p.Name || t.verbatim {
		f.System = t.Strings.Add(p.SystemName)
	}
	id := t.functions.add(f)
	if frame.Flags&ntconv.FrameUnresolved == 0 {
		remember(t.functionIDs, p, id, len(t.functions.list))
	}
	return id
}

// mapping returns the number of a frame's mapping, or 0.
func (t *Tables) mapping(frame *ntconv.Frame) uint32 {
	if frame.Mapping == nil {
		return 0
	}
	return t.AddMapping(frame.Mapping)
}

// FindMapping returns the number of a mapping. ok is false if the tables do not contain it.
func (t *Tables) FindMapping(p *ntconv.Mapping) (id uint32, ok bool) {
	if id, ok = t.mappingIDs[p]; !ok {
		id = t.mappingKeys.Find(*p)
	}
	return id, id != 0
}

// AddMapping returns the number of a mapping, which locations need not refer to.
func (t *Tables) AddMapping(p *ntconv.Mapping) uint32 {
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

// newMapping returns a mapping, for an imported profile with the flags of p.
func (t *Tables) newMapping(p *ntconv.Mapping) Mapping {
	m := Mapping{Mapping: *p}
	if t.verbatim {
		has := func(f ntconv.MappingFlags) bool { return p.Flags&f != 0 }
		m.Functions, m.Files = has(ntconv.MappingHasFunctions), has(ntconv.MappingHasFiles)
		m.Lines, m.Inlined = has(ntconv.MappingHasLines), has(ntconv.MappingHasInlined)
	}
	return m
}

// IsAssembly reports whether the name of a file is that of an assembly.
func IsAssembly(file string) bool {
	switch strings.ToLower(path.Ext(BaseName(file))) {
	case ".dll", ".exe":
		return true
	}
	return false
}

// BaseName returns the last element of a path of any operating system.
func BaseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
