package diagsource

import "github.com/ntconv/ntconv/internal/bin"

// values are the properties that one event lists, borrowed from its payload.
type values struct {
	has           set
	raw           [numProperties][]byte // UTF-16; valid where has says so
	startTicks    int64                 // propStartTicks
	durationTicks int64                 // propDurationTicks
	others        []other
}

// set is a set of properties.
type set uint64

func (s set) contains(p property) bool { return s>>p&1 != 0 }

// any reports whether the set has one of some properties.
func (s set) any(ps ...property) bool {
	for _, p := range ps {
		if s.contains(p) {
			return true
		}
	}
	return false
}

// other is a key that is not a property, and its value.
type other struct {
	name string
	raw  []byte
}

const (
	// ticksPerSecond is the resolution of times of .NET.
	ticksPerSecond = 10_000_000
	// minDateTicks distinguishes a DateTime from a TimeSpan: a time after the year 100, and no duration of 100 years.
	minDateTicks = 100 * 365 * 24 * 3600 * ticksPerSecond
	typeNames    = "System." // namespace of the types whose names replace values that .NET does not show
)

// read collects the properties of an event and reports whether all pairs are complete.
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

// put takes the value of a key. The first value of a property counts, unless a later one says more.
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

// putTicks takes a number of ticks: a time where the key or the size says so, or else a duration.
func (v *values) putTicks(p property, n int64) {
	if p == propStart || p == propTicks && n >= minDateTicks {
		v.startTicks = n
		v.has |= 1 << propStartTicks
		return
	}
	v.durationTicks = n
	v.has |= 1 << propDurationTicks
}

// of returns the value of a property, nil if it has none or an empty one.
func (v *values) of(p property) []byte {
	if v.has.contains(p) && len(v.raw[p]) > 0 {
		return v.raw[p]
	}
	return nil
}

// is reports whether the value of a property is an ASCII string.
func (v *values) is(p property, text string) bool {
	raw := v.of(p)
	return len(raw) == 2*len(text) && hasASCIIPrefix(raw, text)
}
