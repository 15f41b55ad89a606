package firefox

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv/internal/timeline"
)

// Members with one name get keys of bounded length, which are distinct and the same for every object.
func TestKeysOfOneName(t *testing.T) {
	a := newArgEncoder()
	values := make([]timeline.Value, 4096)
	for i := range values {
		values[i].Name = [...]string{"", "a", "type"}[i%3]
	}
	values[100].Name, values[200].Name, values[300].Name = "a_____", "a_12", "a_12_"
	var before string
	for range 3 {
		_, fields, members := a.decode(a.encode(nil, &timeline.Source{Values: values}))
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
