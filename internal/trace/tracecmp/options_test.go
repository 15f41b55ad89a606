package tracecmp

import (
	"reflect"
	"testing"
)

// Each aspect sets one option, and each option that users may choose has an aspect. EmptyMarks has no aspect, because
// verify always sets it. Profiles has none, because it depends on the format.
func TestAspects(t *testing.T) {
	left := map[string]bool{}
	for i := range reflect.TypeFor[Options]().NumField() {
		left[reflect.TypeFor[Options]().Field(i).Name] = true
	}
	delete(left, "EmptyMarks")
	delete(left, "Profiles")
	for _, a := range Aspects() {
		var o Options
		if !o.Overlook(a.Name) || a.Doc == "" {
			t.Errorf("%s: unknown or without a description", a.Name)
		}
		v, set := reflect.ValueOf(o), 0
		for i := range v.NumField() {
			if v.Field(i).Bool() {
				set++
				delete(left, v.Type().Field(i).Name)
			}
		}
		if set != 1 {
			t.Errorf("%s: %+v", a.Name, o)
		}
	}
	if len(left) > 0 {
		t.Errorf("options without an aspect: %v", left)
	}
	var o Options
	if o.Overlook("nothing") || o != (Options{}) {
		t.Errorf("an unknown aspect: %+v", o)
	}
}
