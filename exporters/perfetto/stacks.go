package perfetto

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/timeline"
)

// stacks assigns IDs to the parts of callstacks. An ID has the same meaning on all sequences, but each sequence must
// define the IDs that it uses; a defined set records them.
type stacks struct {
	tree      timeline.Trace
	frames    []frame // by frame of the tree; zero until it is first used
	functions map[string]uint64
	paths     map[string]uint64 // of source files
	mappings  map[*ntconv.Mapping]uint64
	files     map[string]uint64 // of mappings
	buildIDs  map[string]uint64 // of mappings
	mapped    []mapping         // by mapping ID - 1
	leaf      []uint64          // scratch: the frames of one callstack, leaf first
}

// A frame holds the IDs of its parts.
type frame struct { // 0: not assigned yet
	function uint64 // 0: the frame has not been needed yet
	mapping  uint64
	path     uint64
	line     uint64
}

// A mapping holds the IDs of a mapping's parts; 0 means that it has none.
type mapping struct{ file, buildID uint64 }

func newStacks(t timeline.Trace) *stacks {
	return &stacks{
		tree: t, frames: make([]frame, t.Frames()), functions: make(map[string]uint64), paths: make(map[string]uint64),
		mappings: make(map[*ntconv.Mapping]uint64), files: make(map[string]uint64), buildIDs: make(map[string]uint64),
	}
}

// numberIn returns the ID of s in m and assigns the next one if necessary. IDs start at 1; the ID of "" is 0.
func numberIn(m map[string]uint64, s string) uint64 {
	if s == "" {
		return 0
	}
	n, ok := m[s]
	if !ok {
		n = uint64(len(m) + 1)
		m[s] = n
	}
	return n
}

// mapping returns the ID of a mapping. nil has an ID, too, and yields a mapping without a path: every frame needs a
// mapping.
func (s *stacks) mapping(m *ntconv.Mapping) uint64 {
	n, ok := s.mappings[m]
	if !ok {
		var described mapping
		if m != nil {
			described = mapping{numberIn(s.files, m.File), numberIn(s.buildIDs, m.BuildID)}
		}
		s.mapped = append(s.mapped, described)
		n = uint64(len(s.mapped))
		s.mappings[m] = n
	}
	return n
}

// defined is the set of IDs that a sequence has defined, keyed by field and ID.
type defined map[uint64]struct{}

// add adds an ID and reports whether it is new.
func (d defined) add(field, number uint64) bool {
	key := field<<56 | number
	if _, ok := d[key]; ok {
		return false
	}
	d[key] = struct{}{}
	return true
}

// define appends the fields of InternedData that a sequence still needs for a stack: the callstack and everything that
// it refers to.
func (s *stacks) define(dst []byte, d defined, n timeline.Node) []byte {
	if !d.add(internedCallstacks, stackNumber(n)) {
		return dst
	}
	if n == timeline.NoStack {
		return s.defineNone(dst, d)
	}
	s.leaf = s.leaf[:0]
	for at := n; at != timeline.NoStack; {
		parent, number := s.tree.Node(at)
		if d.add(internedFrames, uint64(number)+1) {
			dst = s.frame(dst, d, number)
		}
		s.leaf = append(s.leaf, uint64(number)+1)
		at = parent
	}
	dst, m := openMessage(dst, internedCallstacks)
	dst = appendUint(dst, entryIID, uint64(n))
	for _, number := range slices.Backward(s.leaf) {
		dst = appendUint(dst, callstackFrame, number)
	}
	return closeMessage(dst, m)
}

// noStack is the ID of the callstack of samples without a stack, and of its only frame. ID 0 would be invalid, and
// readers drop samples without frames.
const noStack = 1 << 32

// stackNumber returns the ID of the callstack of a node.
func stackNumber(n timeline.Node) uint64 {
	if n == timeline.NoStack {
		return noStack
	}
	return uint64(n)
}

// defineNone appends the definition of the callstack noStack.
func (s *stacks) defineNone(dst []byte, d defined) []byte {
	const name = imported.NoStackName
	function, mapping := numberIn(s.functions, name), s.mapping(nil)
	if d.add(internedFunctions, function) {
		dst = appendEntry(dst, internedFunctions, function, name)
	}
	if d.add(internedMappings, mapping) {
		dst = s.defineMapping(dst, d, mapping, nil)
	}
	dst, m := openMessage(dst, internedFrames)
	dst = appendUint(dst, entryIID, noStack)
	dst = appendUint(dst, frameFunction, function)
	dst = appendUint(dst, frameMapping, mapping)
	dst = closeMessage(appendUint(dst, frameRelPC, 0), m)
	dst, m = openMessage(dst, internedCallstacks)
	dst = appendUint(dst, entryIID, noStack)
	return closeMessage(appendUint(dst, callstackFrame, noStack), m)
}

// frame appends the definition of a frame. A frame with a mapping must have a rel_pc. It is 0, because a frame of the
// tree represents all addresses of its function and line.
func (s *stacks) frame(dst []byte, d defined, number uint32) []byte {
	f := &s.frames[number]
	source := s.tree.Frame(number)
	name, file := functionOf(&source)
	if f.function == 0 {
		line := uint64(max(source.Line, 0))
		*f = frame{numberIn(s.functions, name), s.mapping(source.Mapping), numberIn(s.paths, file), line}
	}
	if d.add(internedFunctions, f.function) {
		dst = appendEntry(dst, internedFunctions, f.function, name)
	}
	if f.path != 0 && d.add(internedSourcePaths, f.path) {
		dst = appendEntry(dst, internedSourcePaths, f.path, file)
	}
	if d.add(internedMappings, f.mapping) {
		dst = s.defineMapping(dst, d, f.mapping, source.Mapping)
	}
	dst, m := openMessage(dst, internedFrames)
	dst = appendUint(dst, entryIID, uint64(number)+1)
	dst = appendUint(dst, frameFunction, f.function)
	dst = appendUint(dst, frameMapping, f.mapping)
	dst = appendUint(dst, frameRelPC, 0)
	if f.path != 0 {
		dst = appendUint(dst, frameSourcePath, f.path)
	}
	if f.line != 0 {
		dst = appendUint(dst, frameLine, f.line)
	}
	return closeMessage(dst, m)
}

// functionOf returns the function name and source file of a frame.
func functionOf(f *ntconv.Frame) (name, file string) {
	if f.Func == nil || f.Func.Name == "" {
		return "?", ""
	}
	return valid(f.Func.Name), valid(f.Func.File)
}

// defineMapping appends the definition of a mapping. Readers insert a slash before each part of a path, so it removes
// the first slash.
func (s *stacks) defineMapping(dst []byte, d defined, number uint64, source *ntconv.Mapping) []byte {
	described := s.mapped[number-1]
	if described.file != 0 && d.add(internedMappingPaths, described.file) {
		dst = appendEntry(dst, internedMappingPaths, described.file, valid(strings.TrimPrefix(source.File, "/")))
	}
	if described.buildID != 0 && d.add(internedBuildIDs, described.buildID) {
		dst = appendEntry(dst, internedBuildIDs, described.buildID, rawBuildID(source.BuildID))
	}
	dst, m := openMessage(dst, internedMappings)
	dst = appendUint(dst, entryIID, number)
	if described.buildID != 0 {
		dst = appendUint(dst, mappingBuildID, described.buildID)
	}
	if described.file != 0 {
		dst = appendUint(dst, mappingPath, described.file)
	}
	return closeMessage(dst, m)
}

// rawBuildID returns the bytes of a hexadecimal build ID. It returns a PDB signature with its age unchanged: this has
// an odd number of digits, and readers recognize it by its length and expect text.
func rawBuildID(id string) string {
	if raw, err := hex.DecodeString(id); err == nil {
		return string(raw)
	}
	return id
}

// appendEntry appends a string with its ID to InternedData. It does not validate text.
func appendEntry(dst []byte, field, number uint64, text string) []byte {
	dst, m := openMessage(dst, field)
	dst = appendUint(dst, entryIID, number)
	dst = appendBytes(dst, entryText, text)
	return closeMessage(dst, m)
}
