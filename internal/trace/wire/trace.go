package wire

import "github.com/ntconv/ntconv/internal/data/bin"

// A KeyValue is a pair of strings.
type KeyValue struct{ Key, Value string }

// A SystemTime is a Windows SYSTEMTIME as recorded, in UTC: year, month, day of week (Sunday is 0; one-collect writes 0
// for Monday), day, hour, minute, second, millisecond. The values are not validated.
type SystemTime [8]int16

// Indexes of the members of a [SystemTime].
const (
	Year = iota
	Month
	DayOfWeek
	Day
	Hour
	Minute
	Second
	Millisecond
)

// A Trace describes the whole file: the Trace block of version 6 or the Trace object of versions 3 to 5.
type Trace struct {
	Sync        SystemTime
	SyncTicks   int64 // ticks of the clock at Sync
	Frequency   int64 // ticks per second; not validated
	PointerSize int32 // bytes; not validated

	// Version 6 only.
	KeyValues []KeyValue
	Extra     []byte // bytes after the key/values, borrowed

	// Versions 3 to 5 only; version 6 has key/values instead.
	ProcessID    int32
	Processors   int32
	SamplingRate int32 // nanoseconds between samples
}

// ParseTrace reads a version 6 Trace block ("TraceBlock"). Like TraceEvent, it reads a negative count of key/values as
// 0.
func ParseTrace(c *bin.Cursor) (t Trace, err error) {
	t.ParseClock(c)
	for n := c.At("KeyValueCount").I32(); n > 0 && c.Err() == nil; n-- {
		var kv KeyValue
		kv.Key = c.At("KeyValue/Key").String()
		kv.Value = c.At("KeyValue/Value").String()
		if c.Err() == nil {
			t.KeyValues = append(t.KeyValues, kv)
		}
	}
	t.Extra = c.Rest()
	return t, c.Err()
}

// ParseClock reads the fields that all versions share: sync time, sync ticks, frequency and pointer size.
func (t *Trace) ParseClock(c *bin.Cursor) {
	c.At("SyncTimeUTC")
	for i := range t.Sync {
		t.Sync[i] = c.I16()
	}
	t.SyncTicks = c.At("SyncTimeTicks").I64()
	t.Frequency = c.At("TickFrequency").I64()
	t.PointerSize = c.At("PointerSize").I32()
}

// AppendTrace is the inverse of [ParseTrace].
func AppendTrace(dst []byte, t *Trace) []byte {
	dst = t.AppendClock(dst)
	dst = bin.AppendU32(dst, uint32(len(t.KeyValues)))
	for _, kv := range t.KeyValues {
		dst = bin.AppendString(bin.AppendString(dst, kv.Key), kv.Value)
	}
	return append(dst, t.Extra...)
}

// AppendClock is the inverse of [Trace.ParseClock].
func (t *Trace) AppendClock(dst []byte) []byte {
	for _, v := range t.Sync {
		dst = bin.AppendU16(dst, uint16(v))
	}
	dst = bin.AppendU64(dst, uint64(t.SyncTicks))
	dst = bin.AppendU64(dst, uint64(t.Frequency))
	return bin.AppendU32(dst, uint32(t.PointerSize))
}
