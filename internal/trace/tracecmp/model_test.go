package tracecmp_test

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/members"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
)

// overlooked lists the members that a comparison of streams ignores, with the reason.
var overlooked = map[string]string{
	"Event.Offset":     "the place in a file is not part of the trace",
	"Info.Format":      "the name of a format is for display",
	"Type.layout":      "a cache of what the fields say",
	"Labels.overrides": "derived from the list", "Labels.opcode": "derived from the list", "Labels.level": "derived from the list",
	"Labels.version": "derived from the list", "Labels.keywords": "derived from the list",
}

// overlookedIn lists the members that the comparison ignores in some types of the model.
func overlookedIn(m *members.Member) string {
	empty := m.Value.Kind() == reflect.Pointer && m.Value.IsNil() && (m.Name == "Event.Stack" || m.Name == "Event.Labels")
	if empty {
		return "a missing stack or label list equals an empty one"
	}
	for _, define := range []string{"Events[4].", "Events[5]."} {
		field, ok := strings.CutPrefix(m.Path, define)
		if ok && !strings.HasPrefix(field, "Type") && !strings.HasPrefix(field, "Thread") && field != "Kind" {
			return "where a type or a thread is declared depends on the format"
		}
	}
	return overlooked[m.Name]
}

// TestEveryMember checks that a comparison notices a change of any member of the model that is not listed with a
// reason, that the test covers every member, and that every difference is readable.
func TestEveryMember(t *testing.T) {
	list := members.Of(members.Trace())
	reached := map[string]bool{}
	for i, m := range list {
		reached[m.Name] = true
		if m.IsStruct() {
			continue // its members are changed
		}
		changed := members.Trace()
		members.Change(members.Of(changed)[i])
		_, err := tracecmp.Streams(members.Trace().Source(), changed.Source(), nil)
		reason := overlookedIn(&m)
		var d *tracecmp.Difference
		switch {
		case reason != "" && err != nil:
			t.Errorf("%s is overlooked (%s), but: %v", m.Path, reason, err)
		case reason == "" && !errors.As(err, &d):
			t.Errorf("%s (%s): a change is not seen: %v", m.Path, m.Name, err)
		case d != nil:
			checkReadable(t, m.Path, d)
		}
	}
	for _, v := range []any{
		ntconv.Event{}, ntconv.Type{}, ntconv.Field{}, ntconv.FieldType{}, ntconv.Thread{}, ntconv.Process{}, ntconv.Mapping{}, ntconv.Stack{},
		ntconv.Frame{}, ntconv.Function{}, ntconv.Label{}, ntconv.Labels{}, ntconv.Mark{}, ntconv.ThreadSeq{}, ntconv.Info{}, ntconv.Clock{}, ntconv.Attr{},
	} {
		for f := range reflect.TypeOf(v).Fields() {
			if name := reflect.TypeOf(v).Name() + "." + f.Name; !reached[name] {
				t.Errorf("%s is not tested", name)
			}
		}
	}
}

// structs matches the default format of Go values, which users cannot read.
var structs = regexp.MustCompile(`[{}&]|0xc[0-9a-f]{9}|<nil>|%!|map\[`)

// checkReadable checks that a difference has both values, or states that only one stream has the value.
func checkReadable(t *testing.T, path string, d *tracecmp.Difference) {
	t.Helper()
	if text := d.Error(); structs.MatchString(text) {
		t.Errorf("%s: the difference is printed as a Go value: %s", path, text)
	}
	if (d.A != "" || d.B != "") && d.A == d.B {
		t.Errorf("%s: both sides are printed as %s", path, d.A)
	}
	if d.A == "" && !slices.ContainsFunc([]string{"only", "several", "ends"}, func(w string) bool { return strings.Contains(d.What, w) }) {
		t.Errorf("%s: no values: %s", path, d.What)
	}
}
