package firefox

import (
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/timeline"
)

// keysOf returns the keys of the members that values with these names become.
func keysOf(a *argEncoder, names ...string) (keys []string) {
	values := make([]timeline.Value, len(names))
	for i, name := range names {
		values[i] = timeline.Value{Name: name, Kind: timeline.IntValue, Int: 1}
	}
	_, _, members := a.decode(a.encode(nil, &timeline.Source{Values: values}))
	for member := range strings.SplitSeq(strings.TrimPrefix(string(members), ","), ",") {
		key, _, _ := strings.Cut(member, ":")
		keys = append(keys, strings.Trim(key, `"`))
	}
	return keys
}

func TestKeysOfEqualNames(t *testing.T) {
	a := newArgEncoder()
	for range 2 { // the second object finds all keys
		for _, tt := range []struct{ names, want string }{
			{"a a", "a a_"},
			{"a_ a a a", "a_ a a__ a___"},
			{"type type", "type_ type__"},
			{"b b b b b b b b b b b", "b b_ b__ b___ b____ b_____ b______ b_______ b________ b_9 b_10"},
			{"c_9 c c c c c c c c c c", "c_9 c c_ c__ c___ c____ c_____ c______ c_______ c________ c_9_"},
		} {
			if got := keysOf(a, strings.Fields(tt.names)...); strings.Join(got, " ") != tt.want {
				t.Errorf("%s: keys %s, want %s", tt.names, got, tt.want)
			}
		}
	}
}
