package wire

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// An IDRange is the start of stack blocks and label list blocks: the rows that follow have the IDs First, First+1 and
// so on.
type IDRange struct {
	First, Count uint32 // Count is not validated; TraceEvent reads stacks up to the end of the block
}

// ParseStackHeader reads the header of a stack block ("StackBlock"), which is the same in versions 4 to 6.
func ParseStackHeader(c *bin.Cursor) (IDRange, error) { return parseIDRange(c, "StackBlock") }

func parseIDRange(c *bin.Cursor, where string) (r IDRange, err error) {
	r.First = c.At(where).U32()
	r.Count = c.U32()
	return r, c.Err()
}

// AppendIDRange is the inverse of [ParseStackHeader] and [ParseLabelHeader].
func AppendIDRange(dst []byte, r IDRange) []byte {
	return bin.AppendU32(bin.AppendU32(dst, r.First), r.Count)
}

// NextStack returns the addresses of the next stack, leaf first, borrowed. Each address has the pointer size of the
// trace. Call it while c.Len() > 0, and check c.Err() afterwards.
func NextStack(c *bin.Cursor) []byte {
	n := c.At("StackBlock/StackSize").U32()
	if int64(n) > int64(c.Len()) {
		n = uint32(min(int64(c.Len())+1, 1<<31-1)) // too large on purpose, also if int has 32 bits
	}
	return c.At("StackBlock/Stack").Bytes(int(n))
}

// AppendStack is the inverse of [NextStack].
func AppendStack(dst, addresses []byte) []byte {
	return append(bin.AppendU32(dst, uint32(len(addresses))), addresses...)
}

// A SequencePoint is a barrier: all events before it in the file are earlier than all events after it, and stack and
// label list IDs defined before it are no longer valid.
type SequencePoint struct {
	Time    uint64
	Flags   uint32 // version 6: [FlushThreads], [FlushMetadata]
	Threads []ThreadSeq
	Extra   []byte // bytes after the threads, borrowed
}

// The bits of [SequencePoint.Flags].
const (
	FlushThreads  = 1 // thread indexes are no longer valid either
	FlushMetadata = 2 // metadata IDs are no longer valid either
)

// A ThreadSeq is a thread and its last sequence number.
type ThreadSeq struct {
	Thread   uint64 // a thread index; in versions 4 and 5, a thread ID
	Sequence uint32
}

// ParseSequencePoint reads a version 6 sequence point ("SequencePointBlock"). It appends the threads to threads, which
// may be nil, so that the caller can reuse memory.
func ParseSequencePoint(c *bin.Cursor, threads []ThreadSeq) (sp SequencePoint, err error) {
	sp.Time = c.At("SequencePoint/TimeStamp").U64()
	sp.Flags = c.At("SequencePoint/Flags").U32()
	sp.Threads = threads
	for n := c.At("SequencePoint/ThreadCount").U32(); n > 0; n-- {
		t := ParseThreadSeq(c)
		if c.Err() != nil {
			return sp, c.Err()
		}
		sp.Threads = append(sp.Threads, t)
	}
	sp.Extra = c.Rest()
	return sp, c.Err()
}

// AppendSequencePoint is the inverse of [ParseSequencePoint].
func AppendSequencePoint(dst []byte, sp *SequencePoint) []byte {
	dst = bin.AppendU64(dst, sp.Time)
	dst = bin.AppendU32(dst, sp.Flags)
	dst = bin.AppendU32(dst, uint32(len(sp.Threads)))
	for _, t := range sp.Threads {
		dst = AppendThreadSeq(dst, t)
	}
	return append(dst, sp.Extra...)
}

// ParseThreadSeq reads a row of a RemoveThread block ("RemoveThreadBlock") or of a version 6 sequence point. Call it
// while c.Len() > 0, and check c.Err() after each row.
func ParseThreadSeq(c *bin.Cursor) (t ThreadSeq) {
	t.Thread = c.At("ThreadIndex").Varuint64()
	t.Sequence = c.At("SequenceNumber").Varuint32()
	return t
}

// AppendThreadSeq is the inverse of [ParseThreadSeq].
func AppendThreadSeq(dst []byte, t ThreadSeq) []byte {
	return bin.AppendVaruint(bin.AppendVaruint(dst, t.Thread), uint64(t.Sequence))
}

// A Thread is a row of a thread block.
type Thread struct {
	Index     uint64
	Name      string
	PID, TID  uint64
	Has       ThreadSet // those of Name, PID and TID that the row contains
	KeyValues []KeyValue
	Extra     []byte // the elements from the first one of unknown kind, borrowed
}

// A ThreadSet is the set of optional members that a [Thread] contains, as bits: 1<<ThreadName and so on.
type ThreadSet uint8

// Has reports whether k is in the set.
func (s ThreadSet) Has(k ThreadKind) bool { return s>>k&1 != 0 }

// ParseThread reads a row of a thread block ("ThreadBlock"). The last occurrence of a repeated element wins; key/values
// accumulate. An element of unknown kind is ErrUnknown: the result has the elements before it, and Extra the rest.
func ParseThread(c *bin.Cursor) (t Thread, err error) {
	row := c.At("Thread/RowSize").Sub(int(c.U16()))
	t.Index = row.At("Thread/Index").Varuint64()
	for row.Len() > 0 {
		at := row
		kind := row.At("Thread/Kind").U8()
		spec := attrSpec(ThreadKinds[:], kind)
		if spec.Name == "" {
			t.Extra = bytesFrom(at)
			at.Fail("Thread/Kind", fmt.Errorf("%w %d of thread information", bin.ErrUnknown, kind))
			row = at
			break
		}
		v := ParseValue(row.At(spec.Name), spec.Shape, false)
		if row.Err() == nil {
			t.set(ThreadKind(kind), &v)
		}
	}
	return t, row.Err()
}

// set stores the value of an element.
func (t *Thread) set(kind ThreadKind, v *Value) {
	switch kind {
	case ThreadName:
		t.Name = v.Str
	case ThreadPID:
		t.PID = v.Uint()
	case ThreadTID:
		t.TID = v.Uint()
	case ThreadKeyValue:
		t.KeyValues = append(t.KeyValues, KeyValue{v.Key, v.Str})
		return
	}
	t.Has |= 1 << kind
}

// AppendThread is the inverse of [ParseThread]. It writes the elements in the order of their kinds. A row above 65,535
// bytes is ErrLimit; dst then has no part of the row.
func AppendThread(dst []byte, t *Thread) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0)
	dst = bin.AppendVaruint(dst, t.Index)
	attr := func(k ThreadKind, v Value) {
		dst = AppendValue(append(dst, byte(k)), ThreadKinds[k].Shape, &v, false)
	}
	if t.Has.Has(ThreadName) {
		attr(ThreadName, Value{Str: t.Name})
	}
	if t.Has.Has(ThreadPID) {
		attr(ThreadPID, Value{Num: int64(t.PID)})
	}
	if t.Has.Has(ThreadTID) {
		attr(ThreadTID, Value{Num: int64(t.TID)})
	}
	for _, kv := range t.KeyValues {
		attr(ThreadKeyValue, Value{Key: kv.Key, Str: kv.Value})
	}
	dst = append(dst, t.Extra...)
	return patchSize(dst, start, LimitThread)
}

// patchSize stores the number of bytes after the 16-bit size at start in that size. limit names the limit in the error.
func patchSize(dst []byte, start int, limit string) ([]byte, error) {
	n := len(dst) - start - 2
	if n > math.MaxUint16 {
		return dst[:start], &bin.LimitError{Limit: limit, Value: math.MaxUint16, Asked: int64(n), Unit: "bytes"}
	}
	dst[start], dst[start+1] = byte(n), byte(n>>8)
	return dst, nil
}
