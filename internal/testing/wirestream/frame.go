package wirestream

import (
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// A Frame encloses the body of a block: with a block header in version 6, and with an object header and an end tag in
// earlier versions.
type Frame struct {
	stream wire.StreamHeader
	kind   wire.Kind
	// Version and MinReader are those of the object. Version 6 has neither.
	Version, MinReader int32
	// Unclosed omits the end tag of an object.
	Unclosed bool
}

// NewFrame returns a frame with the object versions that recorders write.
func NewFrame(s wire.StreamHeader, kind wire.Kind) Frame {
	f := Frame{stream: s, kind: kind, Version: 2, MinReader: 2}
	switch {
	case s.Version == wire.V3 && kind == wire.KindTrace:
		f.Version, f.MinReader = 3, 0
	case s.Version == wire.V3:
		f.Version, f.MinReader = 1, 0
	case kind == wire.KindTrace:
		f.Version, f.MinReader = 4, 4
	}
	return f
}

// AppendHeader appends the bytes before a body. size is the stated size of the body, which may be false. The absolute
// offset of the header determines the padding of an object, so the length of the result does not depend on size.
// AppendHeader returns an error if version 6 cannot represent size.
func (f *Frame) AppendHeader(dst []byte, offset, size int64) ([]byte, error) {
	switch {
	case !f.stream.Objects():
		return wire.AppendBlockHeader(dst, wire.BlockHeader{Kind: f.kind, Size: int(size)})
	case f.kind == wire.KindEnd:
		return legacy.AppendObject(dst, &legacy.Object{End: true}, offset), nil
	}
	return legacy.AppendObject(dst, &legacy.Object{
		Private: f.stream.Version != wire.V3, Name: wire.Kinds[f.kind].Object, Version: f.Version, MinReader: f.MinReader, Size: int32(size),
	}, offset), nil
}

// AppendEnd appends the bytes after the body.
func (f *Frame) AppendEnd(dst []byte) []byte {
	if f.stream.Objects() && f.kind != wire.KindEnd && !f.Unclosed {
		return legacy.AppendEndObject(dst)
	}
	return dst
}
