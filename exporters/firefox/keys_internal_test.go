package firefox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
)

// named returns attributes with these names.
func named(names ...string) (list []span.Attribute) {
	for _, name := range names {
		list = append(list, span.Attribute{Key: name, Value: span.Int(1)})
	}
	return list
}

// Members with one name get keys of bounded length, which are distinct and the same for every object.
func TestKeysOfOneName(t *testing.T) {
	a := newArgEncoder()
	values := named(make([]string, 4096)...)
	for i := range values {
		values[i].Key = [...]string{"", "a", "type"}[i%3]
	}
	values[100].Key, values[200].Key, values[300].Key = "a_____", "a_12", "a_12_"
	var before string
	for range 3 {
		_, fields, members := a.decode(a.encode(nil, &timeline.Source{Attributes: values}))
		checkMembers(t, a, fields, members, len(values))
		if len(members) > 40*len(values) {
			t.Errorf("%d bytes for %d members without values", len(members), len(values))
		}
		if before != "" && string(members) != before {
			t.Error("other keys for an equal object")
		}
		before = string(members)
	}
	var few []string
	for _, id := range a.ids {
		if k := a.keys[a.fields[id].key]; k.base == "a" && k.copies > 0 || k.text == "a" {
			few = append(few, k.text)
		}
	}
	if got := fmt.Sprint(few[:5]); got != "[a a_ a__ a___ a____]" {
		t.Errorf("the first keys are %s", got)
	}
}

// keysOf returns the keys of the members that values with these names become.
func keysOf(a *argEncoder, names ...string) (keys []string) {
	_, _, members := a.decode(a.encode(nil, &timeline.Source{Attributes: named(names...)}))
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
