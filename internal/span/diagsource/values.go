package diagsource

import "github.com/ntconv/ntconv/internal/data/bin"

// values holds the properties in one event, borrowed from its payload.
type values struct {
	has           set
	raw           [numProperties][]byte // UTF-16; valid only for properties in has
	startTicks    int64                 // propStartTicks
	durationTicks int64                 // propDurationTicks
	others        []other
}

// A set is a set of properties.
type set uint64

func (s set) contains(p property) bool { return s>>p&1 != 0 }

// any reports whether the set contains at least one of the properties.
func (s set) any(ps ...property) bool {
	for _, p := range ps {
		if s.contains(p) {
			return true
		}
	}
	return false
}

// An other is a key that is not a property, and its value.
type other struct {
	name string
	raw  []byte
}

const (
	// ticksPerSecond is the resolution of .NET times.
	ticksPerSecond = 10_000_000
	// minDateTicks separates the ticks of a DateTime, at least the year 100, from those of a TimeSpan below 100 years.
	minDateTicks = 100 * 365 * 24 * 3600 * ticksPerSecond
	typeNames    = "System." // namespace of types whose names .NET writes instead of their values
)

// read collects the properties of an event. It returns false if a pair is incomplete.
func (v *values) read(a *arguments, k *keys, stop int) bool {
	v.has, v.others = 0, v.others[:0]
	pairs := a.pairs
	for i := range a.count {
		x, rest := k.cut(pairs, stop, i)
		if x == nil {
			return false
		}
		raw, after, ok := bin.CutUTF16(rest)
		if !ok {
			return false
		}
		pairs = after
		v.put(x, raw)
	}
	return true
}

// put stores the value of a key. The first value of a property is used, unless a later one contains more.
func (v *values) put(x *key, raw []byte) {
	p := x.prop
	switch p {
	case propOther:
		v.others = append(v.others, other{x.name, raw})
		return
	case propStart, propDuration, propTicks:
		if n, ok := parseDecimal(raw); ok {
			v.putTicks(p, n)
			return
		}
	}
	if v.has.contains(p) {
		old := v.raw[p]
		if len(raw) == 0 ||
			len(old) > 0 && !hasASCIIPrefix(old, typeNames) &&
				(p != propTags || hasASCIIPrefix(old, "[") || !hasASCIIPrefix(raw, "[")) {
			return
		}
	}
	v.has |= 1 << p
	v.raw[p] = raw
}

// putTicks stores a number of ticks: as a time if the key or the size indicates one, and otherwise as a duration.
func (v *values) putTicks(p property, n int64) {
	if p == propStart || p == propTicks && n >= minDateTicks {
		v.startTicks = n
		v.has |= 1 << propStartTicks
		return
	}
	v.durationTicks = n
	v.has |= 1 << propDurationTicks
}

// of returns the value of a property, or nil if it is absent or empty.
func (v *values) of(p property) []byte {
	if v.has.contains(p) && len(v.raw[p]) > 0 {
		return v.raw[p]
	}
	return nil
}

// is reports whether the value of a property equals an ASCII string.
func (v *values) is(p property, text string) bool {
	raw := v.of(p)
	return len(raw) == 2*len(text) && hasASCIIPrefix(raw, text)
}
