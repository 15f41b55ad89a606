package legacy

import (
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// The tags of FastSerialization that these files use.
const (
	tagNull         = 1 // no object: the end of the file, or the type of a type
	tagBegin        = 4 // version 3
	tagBeginPrivate = 5 // version 4
	tagEnd          = 6
)

const (
	// TraceSize is the length in bytes of the body of a Trace object.
	TraceSize = 48

	maxName      = 38 // length of fileObject, the longest known name
	fileObject   = "Microsoft.DotNet.Runtime.EventPipeFile"
	blockVersion = 2 // newest version of all objects except Trace
)

// An Object is the start of a FastSerialization object, up to its body.
type Object struct {
	End       bool // the end of the file; no other member is set
	Private   bool // tag 5 (version 4) instead of tag 4
	Kind      wire.Kind
	Version   int32
	MinReader int32 // ignored by all readers
	Name      string
	Size      int32 // of the body in bytes
}

// ParseObject reads up to the body of the next object, including size and padding, or the end tag. The cursor should
// hold all of these bytes unless the input is shorter. An unknown type name is ErrUnknown, and Name has it: the size of
// such an object is unknown, so it cannot be skipped. Wrong tags and sizes are ErrValue.
func ParseObject(c *bin.Cursor) (o Object, err error) {
	at := *c
	tag := c.At("Object/Tag").U8()
	switch {
	case c.Err() != nil:
		return o, c.Err()
	case tag == tagNull:
		return Object{End: true}, nil
	case tag != tagBegin && tag != tagBeginPrivate:
		at.Fail("Object/Tag", fmt.Errorf("%w: tag %d, want %d or %d for an object, or %d for the end",
			bin.ErrValue, tag, tagBegin, tagBeginPrivate, tagNull))
		*c = at
	}
	o.Private = tag == tagBeginPrivate
	expect(c, tag)
	expect(c, tagNull)
	o.Version = c.At("Object/Version").I32()
	o.MinReader = c.At("Object/MinReaderVersion").I32()
	o.parseName(c)
	expect(c, tagEnd)
	o.parseSize(c)
	return o, c.Err()
}

// expect reads a tag. c fails unless the tag is want.
func expect(c *bin.Cursor, want uint8) {
	at := *c
	if got := c.At("Object/Tag").U8(); got != want && c.Err() == nil {
		at.Fail("Object/Tag", fmt.Errorf("%w: tag %d, want %d", bin.ErrValue, got, want))
		*c = at
	}
}

func (o *Object) parseName(c *bin.Cursor) {
	at := *c
	n := c.At("Object/NameLength").I32()
	if n < 0 || n > maxName {
		at.Fail("Object/NameLength", fmt.Errorf("%w: %d, want 0 to %d", bin.ErrValue, n, maxName))
		*c = at
	}
	at = *c
	name := c.At("Object/Name").Bytes(int(n))
	if string(name) == fileObject {
		o.Kind, o.Name = wire.KindTrace, fileObject
		return
	}
	for i, k := range wire.Kinds {
		if k.Object == string(name) && k.Object != "" {
			o.Kind, o.Name = wire.Kind(i), k.Object // a string of the table, to avoid an allocation
			return
		}
	}
	if o.Name = string(name); c.Err() == nil {
		at.Fail("Object/Name", fmt.Errorf("%w of object %q", bin.ErrUnknown, o.Name))
		*c = at
	}
}

func (o *Object) parseSize(c *bin.Cursor) {
	if o.Kind == wire.KindTrace {
		o.Size = TraceSize
		return
	}
	at := *c
	if o.Size = c.At("Object/BlockSize").I32(); o.Size < 0 {
		at.Fail("Object/BlockSize", fmt.Errorf("%w: %d, want 0 or more", bin.ErrValue, o.Size))
		*c = at
	}
	c.At("Object/Padding").Skip(Padding(c.Offset()))
}

// Padding returns the number of bytes from an absolute offset to the next multiple of four, 0 to 3.
func Padding(offset int64) int { return int(-offset & 3) }

// Supported returns an error that wraps ErrUnknown if TraceEvent does not accept the version of the object. magic
// reports whether the file starts with [wire.Magic]: then the Trace object must have version 4, otherwise version 3.
func (o *Object) Supported(magic bool) error {
	oldest, newest := int32(0), int32(blockVersion)
	if o.Kind == wire.KindTrace {
		oldest, newest = 3, 3
		if magic {
			oldest, newest = 4, 4
		}
	}
	if o.Version < oldest || o.Version > newest {
		want := strconv.Itoa(int(newest))
		if oldest < newest {
			want = fmt.Sprintf("%d to %d", oldest, newest)
		}
		return fmt.Errorf("%w: version %d of object %s, want %s", bin.ErrUnknown, o.Version, o.Name, want)
	}
	return nil
}

// ParseEndObject reads the tag after the body of an object.
func ParseEndObject(c *bin.Cursor) error {
	expect(c, tagEnd)
	return c.Err()
}

// AppendObject is the inverse of [ParseObject]. offset is the absolute offset of dst[len(dst)]. It ignores Kind and,
// for a Trace object, Size: Name decides.
func AppendObject(dst []byte, o *Object, offset int64) []byte {
	if o.End {
		return append(dst, tagNull)
	}
	start := len(dst)
	tag := byte(tagBegin)
	if o.Private {
		tag = tagBeginPrivate
	}
	dst = append(dst, tag, tag, tagNull)
	dst = bin.AppendU32(dst, uint32(o.Version))
	dst = bin.AppendU32(dst, uint32(o.MinReader))
	dst = bin.AppendU32(dst, uint32(len(o.Name)))
	dst = append(dst, o.Name...)
	dst = append(dst, tagEnd)
	if o.Name == fileObject || o.Name == wire.Kinds[wire.KindTrace].Object {
		return dst
	}
	dst = bin.AppendU32(dst, uint32(o.Size))
	zeros := [4]byte{}
	return append(dst, zeros[:Padding(offset+int64(len(dst)-start))]...)
}

// AppendEndObject is the inverse of [ParseEndObject].
func AppendEndObject(dst []byte) []byte { return append(dst, tagEnd) }

// ParseTrace reads the body of a Trace object ("The First Object").
func ParseTrace(c *bin.Cursor) (t wire.Trace, err error) {
	t.ParseClock(c)
	t.ProcessID = c.At("ProcessId").I32()
	t.Processors = c.At("NumberOfProcessors").I32()
	t.SamplingRate = c.At("ExpectedCPUSamplingRate").I32()
	return t, c.Err()
}

// AppendTrace is the inverse of [ParseTrace].
func AppendTrace(dst []byte, t *wire.Trace) []byte {
	dst = t.AppendClock(dst)
	dst = bin.AppendU32(dst, uint32(t.ProcessID))
	dst = bin.AppendU32(dst, uint32(t.Processors))
	return bin.AppendU32(dst, uint32(t.SamplingRate))
}

// ParseSequencePoint reads the body of an SPBlock ("SequencePointBlock Object"). Like TraceEvent, it reads a negative
// count of threads as 0. It appends the threads to threads, which may be nil. A thread ID that was reused occurs more
// than once.
func ParseSequencePoint(c *bin.Cursor, threads []wire.ThreadSeq) (sp wire.SequencePoint, err error) {
	sp.Time = c.At("SPBlock/TimeStamp").U64()
	sp.Threads = threads
	for n := c.At("SPBlock/ThreadCount").I32(); n > 0; n-- {
		var t wire.ThreadSeq
		t.Thread = c.At("SPBlock/ThreadId").U64()
		t.Sequence = c.At("SPBlock/SequenceNumber").U32()
		if c.Err() != nil {
			return sp, c.Err()
		}
		sp.Threads = append(sp.Threads, t)
	}
	sp.Extra = c.Rest()
	return sp, c.Err()
}

// AppendSequencePoint is the inverse of [ParseSequencePoint]. It ignores Flags, which these versions lack.
func AppendSequencePoint(dst []byte, sp *wire.SequencePoint) []byte {
	dst = bin.AppendU64(dst, sp.Time)
	dst = bin.AppendU32(dst, uint32(len(sp.Threads)))
	for _, t := range sp.Threads {
		dst = bin.AppendU32(bin.AppendU64(dst, t.Thread), t.Sequence)
	}
	return append(dst, sp.Extra...)
}
