package profile_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/sample"
)

func TestMainTypes(t *testing.T) {
	types := []sample.Type{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}, {Type: "cpu", Unit: "nanoseconds"}}
	var m profile.MainTypes
	if got := m.Order(types); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("order %v", got)
	}
	m.See(&ntconv.Event{Kind: ntconv.KindMark})
	o := imported.Origin{Columns: imported.Columns{Types: types[:2], Default: "space"}}
	m.See(&ntconv.Event{Type: &ntconv.Type{Provider: "Universal.Events", Name: "cpu", Fields: o.Fields(), Attrs: o.Attrs()}})
	if got := m.Order(types); !slices.Equal(got, []int{1, 0, 2}) {
		t.Errorf("order %v, want that of the profile's default first", got)
	}
}
