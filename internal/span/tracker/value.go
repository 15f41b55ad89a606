package tracker

import (
	"math"

	"github.com/ntconv/ntconv/internal/span"
)

// maxCompared limits the fields of Start and Stop that agree compares.
const maxCompared = 16

// agree compares the fields that a Start and a Stop share, and returns how many there are.
func agree(start, stop []span.Attribute) (common int, equal bool) {
	start, stop = start[:min(len(start), maxCompared)], stop[:min(len(stop), maxCompared)]
	for i := range stop {
		for j := range start {
			if start[j].Key != stop[i].Key {
				continue
			}
			if common++; !equalScalar(start[j].Value, stop[i].Value) {
				return common, false
			}
		}
	}
	return common, true
}

// equalScalar reports whether two scalars are equal. Lists and objects are never equal.
func equalScalar(a, b span.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case span.ValueString, span.ValueBytes:
		return a.Str() == b.Str()
	case span.ValueInt:
		return a.Int() == b.Int()
	case span.ValueBool:
		return a.Bool() == b.Bool()
	case span.ValueFloat:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	}
	return a.Kind() == span.ValueEmpty
}

// find returns the index of the attribute with a key, or -1.
func find(attributes []span.Attribute, key string) int {
	for i := range attributes {
		if attributes[i].Key == key {
			return i
		}
	}
	return -1
}
