package tracecmp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// A Difference is the first difference of two streams. It implements error.
type Difference struct {
	What string   // the part that differs, from the outside to the inside: "type: field \"x\": name"
	A, B string   // the two values; both empty if What is complete
	At   [2]Place // position of each stream
	// Unused means that the difference is a type or thread that no event uses. Options.Definitions ignores it.
	Unused bool
}

// A Place is a position in a stream.
type Place struct {
	// Event is the number of the last KindEvent event up to here, from 1, or 0 before the first one.
	Event int64
	// Offset is the byte offset of the item in the decompressed input, or -1 if it has none.
	Offset int64
	// Item describes the item on one line: "event, time 17, sequence number 3, Provider/1 \"Name\", thread 5". It is
	// empty if the difference does not belong to an item.
	Item string
}

// Error returns the difference and the positions in up to three lines.
func (d *Difference) Error() string {
	var b strings.Builder
	b.WriteString(d.What)
	if d.A != "" || d.B != "" {
		fmt.Fprintf(&b, ": %s and %s", d.A, d.B)
	}
	for i, p := range d.At {
		if p.Item != "" {
			fmt.Fprintf(&b, "\n  %s: %s", [...]string{"first", "second"}[i], p)
		}
	}
	return b.String()
}

// String returns the position on one line.
func (p Place) String() string {
	at := ""
	if p.Offset >= 0 {
		at = fmt.Sprintf(" at byte %d", p.Offset)
	}
	return fmt.Sprintf("event %d%s: %s", p.Event, at, p.Item)
}

// differ returns the difference of two values.
func differ(what string, a, b any) *Difference {
	return &Difference{What: what, A: show(a), B: show(b)}
}

// differf returns a difference without values.
func differf(format string, args ...any) *Difference {
	return &Difference{What: fmt.Sprintf(format, args...)}
}

// differUnused returns the difference of a definition that only one trace has and no event uses.
func differUnused(what, trace string, defined any) *Difference {
	d := differf("a %s is declared in the %s trace only: %s", what, trace, show(defined))
	d.Unused = true
	return d
}

// in prefixes What with the name of the enclosing part and returns d. It returns nil for nil.
func (d *Difference) in(format string, args ...any) *Difference {
	if d != nil {
		d.What = fmt.Sprintf(format, args...) + ": " + d.What
	}
	return d
}

// elements compares two lists and returns the difference of the first elements that differ, or nil.
func elements[T comparable](what string, a, b []T) *Difference {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return differ(fmt.Sprintf("%s %d", what, i), element(a[i]), element(b[i]))
		}
	}
	n := min(len(a), len(b))
	switch {
	case len(a) > n:
		return differf("only the first has %s %d: %s", what, n, show(element(a[n])))
	case len(b) > n:
		return differf("only the second has %s %d: %s", what, n, show(element(b[n])))
	}
	return nil
}

// element converts an element of a list for show: integers are addresses.
func element(v any) any {
	if pc, ok := v.(uint64); ok {
		return address(pc)
	}
	return v
}

// maxShown is the maximum length of a value in a message, in bytes.
const maxShown = 2000

// An address is printed in hexadecimal.
type address uint64

func (a address) String() string { return fmt.Sprintf("%#x", uint64(a)) }

// show returns a value as text. It quotes strings, so that invisible characters and empty strings are visible.
func show(v any) string {
	var s string
	switch v := v.(type) {
	case string:
		s = strconv.Quote(v)
	case fmt.Stringer:
		s = v.String()
	case ntconv.Type:
		s = typeText(&v)
	case ntconv.Thread:
		s = threadText(&v)
	case ntconv.Process:
		s = processText(&v)
	case ntconv.Attr:
		s = fmt.Sprintf("%q=%q", v.Key, v.Value)
	case ntconv.Label:
		s = labelText(&v)
	case ntconv.Flags:
		s = bitNames(uint(v), "sorted", "placeholder", "late", "numbered")
	case ntconv.FrameFlags:
		s = bitNames(uint(v), "inlined", "unresolved", "kernel", "managed", "folded", "label")
	case ntconv.MappingFlags:
		s = bitNames(uint(v), "main", "functions", "files", "lines", "inlined")
	case []byte:
		s = fmt.Sprintf("%#x", v)
	default:
		s = fmt.Sprint(v)
	}
	if len(s) > maxShown {
		s = s[:maxShown] + "..."
	}
	return s
}

// bitNames returns the names of the bits that are set in v, lowest bit first. A bit without a name appears as its
// number.
func bitNames(v uint, names ...string) string {
	var set []string
	for bit := 0; v>>bit != 0; bit++ {
		switch {
		case v>>bit&1 == 0:
		case bit < len(names):
			set = append(set, names[bit])
		default:
			set = append(set, fmt.Sprint("bit ", bit))
		}
	}
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(set, "+")
}

// labelText returns a label with all members that are set, because labels may differ in a member that their kind does
// not use.
func labelText(l *ntconv.Label) string {
	named := l.Kind == ntconv.LabelString || l.Kind == ntconv.LabelInt
	if named && l.ID == [16]byte{} && (l.Kind == ntconv.LabelInt) == (l.Str == "") {
		switch {
		case l.Kind == ntconv.LabelString && l.Num == 0 && l.Unit == "":
			return fmt.Sprintf("%q=%q", l.Key, l.Str)
		case l.Kind == ntconv.LabelInt && l.Unit == "":
			return fmt.Sprintf("%q=%d", l.Key, l.Num)
		}
	}
	s := l.Kind.String()
	for _, m := range []struct {
		name, value string
		set         bool
	}{
		{"key", strconv.Quote(l.Key), l.Key != ""},
		{"value", strconv.Quote(l.Str), l.Str != ""},
		{"number", strconv.FormatInt(l.Num, 10), l.Num != 0},
		{"unit", strconv.Quote(l.Unit), l.Unit != ""},
		{"ID", fmt.Sprintf("%x", l.ID), l.ID != [16]byte{}},
	} {
		if m.set {
			s += " " + m.name + " " + m.value
		}
	}
	return s
}

// typeText returns the properties that identify a type to users.
func typeText(t *ntconv.Type) string {
	name := ""
	if t.Name != "" { // events of the .NET runtime have no name
		name = fmt.Sprintf(", event %q", t.Name)
	}
	return fmt.Sprintf("provider %v%s, ID %d, version %d", word(t.Provider), name, t.ID, t.Version)
}

// A word is printed without quotes, unless it contains invisible characters or line breaks.
type word string

func (w word) String() string {
	if q := strconv.Quote(string(w)); q[1:len(q)-1] != string(w) {
		return q
	}
	return string(w)
}

func processText(p *ntconv.Process) string {
	s := fmt.Sprint(p.PID)
	if p.Name != "" {
		s += fmt.Sprintf(" %q", p.Name)
	}
	if p.Host != "" {
		s += fmt.Sprintf(" on %q", p.Host)
	}
	return s
}

func mappingText(m *ntconv.Mapping) string {
	v := content(m)
	s := fmt.Sprintf("%v-%v of %q", address(v.Start), address(v.Limit), v.File)
	if v.Offset != 0 {
		s += fmt.Sprintf(" at %v", address(v.Offset))
	}
	if v.BuildID != "" {
		s += fmt.Sprintf(", build ID %q", v.BuildID)
	}
	return s + ", flags " + show(v.Flags)
}

func threadText(t *ntconv.Thread) string {
	s := "with an unknown ID"
	if t.TID != ntconv.TIDUnknown {
		s = fmt.Sprint(t.TID)
	}
	if t.Name != "" {
		s += fmt.Sprintf(" %q", t.Name)
	}
	if t.Process != nil {
		s += fmt.Sprintf(" of process %d", t.Process.PID)
	}
	return s
}

// describe returns an item of a stream on one line.
func describe(e *ntconv.Event) string {
	if e == nil {
		return "end"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%v, time %d", e.Kind, e.Time)
	if e.Seq != 0 {
		fmt.Fprintf(&s, ", sequence number %d", e.Seq)
	}
	if e.Type != nil {
		fmt.Fprintf(&s, ", %v/%d %q", word(e.Type.Provider), e.Type.ID, e.Type.Name)
	}
	if e.Thread != nil {
		fmt.Fprintf(&s, ", thread %d", e.Thread.TID)
	}
	if e.Capture != nil && e.Capture != e.Thread {
		fmt.Fprintf(&s, " by %d", e.Capture.TID)
	}
	if e.Kind == ntconv.KindLost {
		fmt.Fprintf(&s, ", %d lost", e.Lost)
	}
	if e.Mark != nil {
		fmt.Fprintf(&s, ", %v with flags %d and %d threads", e.Mark.Kind, e.Mark.Flags, len(e.Mark.Threads))
	}
	if len(e.Payload) > 0 {
		fmt.Fprintf(&s, ", %d bytes", len(e.Payload))
	}
	return s.String()
}
