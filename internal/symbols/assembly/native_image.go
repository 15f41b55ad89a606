package assembly

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// ErrNotPrecompiled is returned for assemblies without precompiled code.
var ErrNotPrecompiled = errors.New("the assembly has no precompiled code")

// Sections (readytorun.h, ReadyToRunSectionType).
const (
	sectionRuntimeFunctions    = 102
	sectionMethodEntryPoints   = 103
	sectionDebugInfo           = 105
	sectionInstanceEntryPoints = 109
	sectionManifest            = 112
	sectionComponents          = 115
	sectionOwner               = 116
	sectionManifestMVIDs       = 118
	sectionHotCold             = 120
)

const (
	magic             = 0x00525452 // "RTR"
	maxNativeSections = 256
	maxComponents     = 4096
	maxInstances      = 1 << 21
	maxElements       = 1 << 25 // of the sparse arrays of all components; most methods of a composite image have code
)

// An Assemblies returns the metadata of the assembly with a name, or nil. If mvid is not zero, it is that of the build
// that the image was compiled with.
type Assemblies func(name string, mvid [16]byte) *Metadata

// An Image is the precompiled code of an assembly, or of several. It is not safe for concurrent use.
type NativeImage struct {
	Major, Minor uint16 // version of the format

	pe         *Image
	own        *Metadata // nil for a composite image
	assemblies Assemblies

	functions    []byte // runtime functions
	functionSize uint32
	count        uint32 // of functions
	entryPoints  []entryPoint
	instances    []byte
	elements     uint32 // of sparse arrays that were read
	debug        array
	hotCold      []byte

	manifest   *Metadata
	mvids      []byte
	components []component
	modules    map[uint32]*Metadata    // by module override index
	tokens     map[uint32][]entryPoint // see byToken
}

// An entryPoint is the first function of a method. Functions without one belong to the method before them: they are
// its exception handlers.
type entryPoint struct {
	function  uint32
	component int32  // of a method definition; instance if at is the offset of an instantiation
	at        uint32 // row of the method definition, or offset in the section of instantiations
}

const instance = -1

// A component is an assembly of a composite image.
type component struct {
	metadata *Metadata
	loaded   bool
	header   Directory // of the CLI header, if the image contains the assembly
}

type section struct {
	kind uint32
	at   Directory
}

// OpenNative reads the header and the entry points of the precompiled code of pe. It returns ErrNotPrecompiled if there is
// none, and an *OwnerError if it is in another file. assemblies may be nil.
func OpenNative(pe *Image, assemblies Assemblies) (*NativeImage, error) {
	header, exported := pe.Export("RTR_HEADER")
	if !exported {
		header = pe.ManagedNative().RVA
	}
	b := pe.At(header, 16)
	if b == nil || binary.LittleEndian.Uint32(b) != magic {
		return nil, ErrNotPrecompiled
	}
	img := &NativeImage{
		pe: pe, assemblies: assemblies, modules: make(map[uint32]*Metadata),
		Major: binary.LittleEndian.Uint16(b[4:]), Minor: binary.LittleEndian.Uint16(b[6:]),
	}
	sections, err := img.sections(header + 8)
	if err != nil {
		return nil, err
	}
	if owner, ok := find(sections, sectionOwner); ok {
		name, _, _ := cutZero(pe.At(owner.RVA, owner.Size))
		return nil, &OwnerError{File: name}
	}
	if _, composite := find(sections, sectionComponents); !composite {
		if img.own, err = pe.Metadata(); err != nil {
			return nil, err
		}
	}
	img.load(sections)
	if img.count == 0 {
		return nil, ErrNotPrecompiled
	}
	return img, nil
}

// An OwnerError means that the code of the assembly is in another file, a composite image.
type OwnerError struct{ File string }

func (e *OwnerError) Error() string {
	return "the code of the assembly is in the composite image " + e.File
}

// load locates the tables and collects the entry points.
func (img *NativeImage) load(sections []section) {
	img.functions, img.functionSize = img.section(sections, sectionRuntimeFunctions), 8
	if img.pe.Machine == MachineAMD64 {
		img.functionSize = 12
	}
	img.count = uint32(len(img.functions)) / img.functionSize
	img.debug = newArray(img.section(sections, sectionDebugInfo))
	img.hotCold = img.section(sections, sectionHotCold)
	img.mvids = img.section(sections, sectionManifestMVIDs)
	if at, ok := find(sections, sectionManifest); ok {
		img.manifest, _ = img.pe.MetadataAt(at) // without it, types of other assemblies have no name
	}
	if img.own != nil {
		img.methods(0, img.section(sections, sectionMethodEntryPoints), img.own.Rows(MethodDef))
	} else {
		img.loadComponents(img.section(sections, sectionComponents))
	}
	img.instances = img.section(sections, sectionInstanceEntryPoints)
	entries(img.instances, min(img.count, maxInstances), func(at uint32) {
		if _, end, ok := img.instance(at, false); ok {
			img.add(instance, at, img.instances, end)
		}
	})
	slices.SortStableFunc(img.entryPoints, func(a, b entryPoint) int { return int(int64(a.function) - int64(b.function)) })
}

// loadComponents adds the methods of the assemblies of a composite image.
func (img *NativeImage) loadComponents(list []byte) {
	const size = 16 // the CLI header, then the core header of the assembly
	for i := 0; len(list) >= size && i < maxComponents; i, list = i+1, list[size:] {
		header := Directory{RVA: binary.LittleEndian.Uint32(list), Size: binary.LittleEndian.Uint32(list[4:])}
		img.components = append(img.components, component{header: header})
		sections, err := img.sections(binary.LittleEndian.Uint32(list[8:]))
		if err != nil {
			continue
		}
		points := img.section(sections, sectionMethodEntryPoints)
		img.methods(int32(i), points, uint32(len(points))*blockSize)
	}
}

// methods adds the entry points of method definitions; there are at most limit.
func (img *NativeImage) methods(component int32, points []byte, limit uint32) {
	list := newArray(points)
	limit = min(list.count, limit, maxElements-img.elements)
	img.elements += limit
	for i := range limit {
		if at, ok := list.at(i); ok && uint32(len(img.entryPoints)) < img.count {
			img.add(component, i+1, points, at)
		}
	}
}

// add adds an entry point. At end, b has the number of the function, shifted by 1 bit, or by 2 if fixups follow.
func (img *NativeImage) add(component int32, at uint32, b []byte, end uint32) {
	v, _, ok := decode(b, end)
	f := v >> 1
	if v&1 != 0 {
		f = v >> 2
	}
	if ok && f < img.count {
		img.entryPoints = append(img.entryPoints, entryPoint{f, component, at})
	}
}

// sections reads a READYTORUN_CORE_HEADER.
func (img *NativeImage) sections(rva uint32) ([]section, error) {
	b := img.pe.At(rva, 8)
	if b == nil {
		return nil, fmt.Errorf("header at address %#x: outside the file: %w", rva, ErrFormat)
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n > maxNativeSections {
		return nil, fmt.Errorf("header at address %#x: %d sections, limit %d: %w", rva, n, maxNativeSections, ErrFormat)
	}
	var list []section
	for b = img.pe.At(rva+8, 12*n); len(b) >= 12; b = b[12:] {
		at := Directory{RVA: binary.LittleEndian.Uint32(b[4:]), Size: binary.LittleEndian.Uint32(b[8:])}
		list = append(list, section{binary.LittleEndian.Uint32(b), at})
	}
	return list, nil
}

func find(list []section, kind uint32) (Directory, bool) {
	for i := range list {
		if list[i].kind == kind {
			return list[i].at, true
		}
	}
	return Directory{}, false
}

func (img *NativeImage) section(list []section, kind uint32) []byte {
	at, _ := find(list, kind)
	return img.pe.At(at.RVA, at.Size)
}

// begin returns the address of the first byte of a function.
func (img *NativeImage) begin(function uint32) uint32 {
	return binary.LittleEndian.Uint32(img.functions[function*img.functionSize:])
}

// end returns the first address after a function. Only images for AMD64 state it. In others, a function ends where the
// next one begins.
func (img *NativeImage) end(function uint32) uint32 {
	switch {
	case img.functionSize == 12:
		return binary.LittleEndian.Uint32(img.functions[function*img.functionSize+4:])
	case function+1 < img.count:
		return img.begin(function + 1)
	}
	return img.pe.Limit()
}

// function returns the function that contains an address.
func (img *NativeImage) function(rva uint32) (uint32, bool) {
	i := uint32(sort.Search(int(img.count), func(i int) bool { return img.begin(uint32(i)) > rva }))
	if i == 0 || rva >= img.end(i-1) {
		return 0, false
	}
	return i - 1, true
}

// hot returns the function that the cold part of a method belongs to, or function itself.
func (img *NativeImage) hot(function uint32) uint32 {
	n := len(img.hotCold) / 8 // pairs of a cold and a hot function, sorted by the first
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(img.hotCold[8*i:]) > function })
	if i == 0 {
		return function
	}
	return binary.LittleEndian.Uint32(img.hotCold[8*i-4:])
}

// entry returns the entry point of the method that a function belongs to.
func (img *NativeImage) entry(function uint32) (entryPoint, bool) {
	i := sort.Search(len(img.entryPoints), func(i int) bool { return img.entryPoints[i].function > function })
	if i == 0 {
		return entryPoint{}, false
	}
	return img.entryPoints[i-1], true
}
