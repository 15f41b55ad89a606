package assembly

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// A Method is precompiled code of a method.
type NativeMethod struct {
	Method
	Assembly string // simple name of the assembly that defines the method; empty if it is the image's own
	Token    uint32 // metadata token of the method in that assembly, 0 if it is not known
	RVA      uint32 // of the first byte of its code

	function uint32
}

const methodDefToken = 0x06000000

// Methods returns how many methods the image has code for. Instantiations count as methods.
func (img *NativeImage) Methods() int { return len(img.entryPoints) }

// Metadata returns the metadata of the image's own assembly, or nil for a composite image.
func (img *NativeImage) Metadata() *Metadata { return img.own }

// Lookup returns the method whose code contains an address, relative to the image base. It returns false if there is
// none, or if its name lies in an assembly that is not at hand.
func (img *NativeImage) Lookup(rva uint32) (NativeMethod, bool) {
	f, ok := img.function(rva)
	if !ok {
		return NativeMethod{}, false
	}
	e, ok := img.entry(img.hot(f))
	if !ok {
		return NativeMethod{}, false
	}
	return img.method(e)
}

// All calls visit for each method until it returns false.
func (img *NativeImage) All(visit func(NativeMethod) bool) {
	for _, e := range img.entryPoints {
		if m, ok := img.method(e); ok && !visit(m) {
			return
		}
	}
}

func (img *NativeImage) method(e entryPoint) (m NativeMethod, ok bool) {
	if e.component == instance {
		m, _, ok = img.instance(e.at, true)
	} else {
		metadata := img.own
		if metadata == nil {
			metadata = img.component(uint32(e.component))
		}
		if metadata == nil {
			return NativeMethod{}, false
		}
		m.Token = methodDefToken | e.at
		m.Method, ok = metadata.MethodDefName(e.at)
		m.Assembly = img.nameOf(metadata)
	}
	m.RVA, m.function = img.begin(e.function), e.function
	return m, ok
}

// nameOf returns the simple name of an assembly if it is not the image's own.
func (img *NativeImage) nameOf(m *Metadata) string {
	if m == img.own {
		return ""
	}
	return m.String(m.Cell(Assembly, 1, AssemblyName))
}

// Flags of the signature of a method (readytorun.h, ReadyToRunMethodSigFlags).
const (
	sigInstantiation = 0x04
	sigSlot          = 0x08
	sigMemberRef     = 0x10
	sigConstrained   = 0x20
	sigOwnerType     = 0x40
	sigContext       = 0x80
)

// maxNativeSignature bounds the signature of an instantiation in bytes, because the signatures of malformed images overlap.
const maxNativeSignature = 1 << 11

// instance reads the signature of an instantiated method (readytorun-format.md, "Method signatures"). end is the offset
// after it. Without names it only finds the end.
func (img *NativeImage) instance(at uint32, names bool) (m NativeMethod, end uint32, ok bool) {
	home := img.own
	if home == nil {
		home = img.manifest
	}
	signature := img.instances[at:min(uint64(at)+maxNativeSignature, uint64(len(img.instances)))]
	s := Signature{Metadata: home, Rest: signature, Skip: !names}
	flags := s.Uint()
	context := home
	if flags&sigContext != 0 {
		context = img.moduleIf(names, s.Uint())
	}
	owner := ""
	if flags&sigOwnerType != 0 {
		if index, ok := s.PeekModule(); ok && flags&sigContext == 0 {
			context = img.moduleIf(names, index)
		}
		owner = s.FullNameIn(func(index uint32) *Metadata { return img.moduleIf(names, index) })
	}
	if flags&sigSlot != 0 {
		return m, 0, false
	}
	row := s.Uint()
	if flags&sigInstantiation != 0 {
		s.SkipTypes(s.Uint())
	}
	if flags&sigConstrained != 0 {
		s.SkipTypes(1)
	}
	if end = at + uint32(len(signature)-len(s.Rest)); s.Failed || !names {
		return m, end, !s.Failed
	}
	if context == nil {
		return m, end, false
	}
	if flags&sigMemberRef != 0 {
		m.Method, ok = context.MemberRefName(row)
	} else {
		m.Token = methodDefToken | row
		m.Method, ok = context.MethodDefName(row)
	}
	if owner != "" {
		m.Type = owner
	}
	m.Assembly = img.nameOf(context)
	return m, end, ok
}

func (img *NativeImage) moduleIf(names bool, index uint32) *Metadata {
	if !names {
		return nil
	}
	return img.module(index)
}

// module returns the metadata that a module override index refers to (readytorun-format.md, "ManifestMetadata"), or
// nil.
func (img *NativeImage) module(index uint32) *Metadata {
	if m, ok := img.modules[index]; ok {
		return m
	}
	m := img.loadModule(index)
	if len(img.modules) < maxComponents {
		img.modules[index] = m
	}
	return m
}

func (img *NativeImage) loadModule(index uint32) *Metadata {
	if index == 0 {
		return img.own
	}
	references := uint32(0)
	if img.own != nil {
		if references = img.own.Rows(AssemblyRef); index <= references {
			return img.assembly(img.own.String(img.own.Cell(AssemblyRef, index, AssemblyRefName)), [16]byte{})
		}
	}
	// From version 6.3 on, one index refers to the manifest itself. Before, one was not used.
	if index == references+1 {
		return img.manifest
	}
	row := index - references - 1
	if img.own == nil {
		return img.component(row - 1)
	}
	return img.reference(row)
}

// reference returns the assembly in a row of the manifest.
func (img *NativeImage) reference(row uint32) *Metadata {
	if img.manifest == nil || row == 0 || row > img.manifest.Rows(AssemblyRef) {
		return nil
	}
	var mvid [16]byte
	if at := 16 * uint64(row-1); at+16 <= uint64(len(img.mvids)) {
		copy(mvid[:], img.mvids[at:])
	}
	return img.assembly(img.manifest.String(img.manifest.Cell(AssemblyRef, row, AssemblyRefName)), mvid)
}

// component returns the metadata of an assembly of a composite image: its own, or that of the file next to it.
func (img *NativeImage) component(index uint32) *Metadata {
	if uint64(index) >= uint64(len(img.components)) {
		return img.reference(index + 1)
	}
	c := &img.components[index]
	if !c.loaded {
		c.loaded = true
		if c.metadata, _ = img.pe.MetadataOfHeader(c.header); c.metadata == nil {
			c.metadata = img.reference(index + 1)
		}
	}
	return c.metadata
}

func (img *NativeImage) assembly(name string, mvid [16]byte) *Metadata {
	if img.own != nil && strings.EqualFold(name, img.own.String(img.own.Cell(Assembly, 1, AssemblyName))) {
		return img.own
	}
	if img.assemblies == nil || name == "" {
		return nil
	}
	return img.assemblies(name, mvid)
}

func cutZero(b []byte) (string, []byte, bool) {
	text, rest, ok := bytes.Cut(b, []byte{0})
	return string(text), rest, ok
}

// signed reinterprets an IL offset with its bias.
func signed(v uint32, bias int32) int32 { return int32(v + uint32(bias)) }

// readBits reads n bits, at most 64, from bit offset at on, the lowest first.
func readBits(b []byte, at uint64, n uint32) (v uint64, ok bool) {
	if at+uint64(n) > 8*uint64(len(b)) || n > 64 {
		return 0, false
	}
	var buf [16]byte
	copy(buf[:], b[at/8:])
	low, high := binary.LittleEndian.Uint64(buf[:]), binary.LittleEndian.Uint64(buf[8:])
	shift := at % 8
	v = low>>shift | high<<1<<(63-shift)
	if n < 64 {
		v &= 1<<n - 1
	}
	return v, true
}

// Find returns the code of a method of the image's own assembly. typ is the full name of its type with type arguments.
// It returns false if there is none, or if it is not the only one: signatures of events do not distinguish the
// instantiations of a generic method.
func (img *NativeImage) Find(token uint32, typ string) (found NativeMethod, ok bool) {
	if img.own == nil {
		return NativeMethod{}, false
	}
	for _, e := range img.byToken()[token] {
		m, valid := img.method(e)
		if !valid || m.Type != typ || m.Assembly != "" {
			continue
		}
		if ok {
			return NativeMethod{}, false
		}
		found, ok = m, true
	}
	return found, ok
}

// byToken returns the entry points by the token of their method.
func (img *NativeImage) byToken() map[uint32][]entryPoint {
	if img.tokens == nil {
		img.tokens = make(map[uint32][]entryPoint, len(img.entryPoints))
		for _, e := range img.entryPoints {
			token := methodDefToken | e.at
			if e.component == instance {
				m, _, _ := img.instance(e.at, true)
				token = m.Token
			}
			img.tokens[token] = append(img.tokens[token], e)
		}
	}
	return img.tokens
}

// Limit returns the first address, relative to the image base, after the image.
func (img *NativeImage) Limit() uint32 { return img.pe.Limit() }
