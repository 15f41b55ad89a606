package ntconv_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

func TestLabelsOverrideTheType(t *testing.T) {
	typ := &ntconv.Type{Version: 1, Opcode: 2, Level: 3, Keywords: 4}
	show := func(e *ntconv.Event) string {
		return fmt.Sprint(e.Version(), e.Opcode(), e.Level(), e.Keywords())
	}
	cases := []struct {
		name   string
		labels []ntconv.Label
		want   string
	}{
		{"none", nil, "1 2 3 4"},
		{"others", []ntconv.Label{{Kind: ntconv.LabelInt, Num: 9}, {Kind: ntconv.LabelString, Num: 9}}, "1 2 3 4"},
		{"version", []ntconv.Label{{Kind: ntconv.LabelVersion, Num: 5}}, "5 2 3 4"},
		{"opcode", []ntconv.Label{{Kind: ntconv.LabelOpcode, Num: 255}}, "1 255 3 4"},
		{"level", []ntconv.Label{{Kind: ntconv.LabelLevel, Num: 5}}, "1 2 5 4"},
		{"keywords", []ntconv.Label{{Kind: ntconv.LabelKeywords, Num: -1}}, "1 2 3 18446744073709551615"},
		{"explicit zeros", []ntconv.Label{{Kind: ntconv.LabelVersion}, {Kind: ntconv.LabelOpcode}, {Kind: ntconv.LabelLevel}, {Kind: ntconv.LabelKeywords}}, "0 0 0 0"},
		{"the last counts", []ntconv.Label{{Kind: ntconv.LabelVersion, Num: 7}, {Kind: ntconv.LabelVersion, Num: 8}}, "8 2 3 4"},
	}
	for _, c := range cases {
		e := &ntconv.Event{Type: typ, Labels: ntconv.NewLabels(c.labels)}
		if got := show(e); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := show(&ntconv.Event{Type: typ}); got != "1 2 3 4" {
		t.Errorf("nil labels: %s", got)
	}
}

// TestAccessorsOfEveryKind checks that no accessor depends on members that only some kinds of events have.
func TestAccessorsOfEveryKind(t *testing.T) {
	typ := &ntconv.Type{Version: 1, Opcode: 2, Level: 3, Keywords: 4, Fields: fields(code(ntconv.TypeInt8))}
	bytes := []byte{7}
	all := "1 2 3 4 a:i7"
	cases := []struct {
		event ntconv.Event
		want  string
	}{
		{ntconv.Event{}, "0 0 0 0 "},
		{ntconv.Event{Payload: bytes}, "0 0 0 0 "},
		{ntconv.Event{Kind: ntconv.KindEvent, Type: typ, Payload: bytes}, all},
		{ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{}}, "0 0 0 0 "},
		{ntconv.Event{Kind: ntconv.KindLost, Lost: 5, Capture: &ntconv.Thread{}}, "0 0 0 0 "},
		{ntconv.Event{Kind: ntconv.KindDefine, Thread: &ntconv.Thread{}}, "0 0 0 0 "},
		{ntconv.Event{Kind: ntconv.KindDefine, Type: typ}, "1 2 3 4 "},
		{ntconv.Event{Kind: ntconv.KindOpaque, Payload: bytes}, "0 0 0 0 "},
		{ntconv.Event{Labels: ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelLevel, Num: 5}})}, "0 0 5 0 "},
	}
	seen := map[ntconv.Kind]bool{}
	for _, c := range cases {
		e := c.event.Clone()
		seen[e.Kind] = true
		if got := fmt.Sprint(e.Version(), e.Opcode(), e.Level(), e.Keywords(), " ", describeFields(e)); got != c.want {
			t.Errorf("%v event: %q, want %q", e.Kind, got, c.want)
		}
		if _, ok := e.Field("a"); ok != (e.Type != nil && len(e.Payload) > 0) || e.PointerSize() != 8 {
			t.Errorf("%v event: field %v, pointers of %d bytes", e.Kind, ok, e.PointerSize())
		}
	}
	for k := ntconv.Kind(0); !strings.HasPrefix(k.String(), "unknown"); k++ {
		if !seen[k] {
			t.Errorf("no case for %v", k)
		}
	}
}

func TestLabelsFind(t *testing.T) {
	l := ntconv.NewLabels([]ntconv.Label{
		{Kind: ntconv.LabelActivityID}, {Kind: ntconv.LabelTraceID, ID: [16]byte{1}}, {Kind: ntconv.LabelTraceID, ID: [16]byte{2}}, {Kind: ntconv.LabelString, Key: "k"},
	})
	if id, ok := l.ID(ntconv.LabelTraceID); !ok || id[0] != 2 {
		t.Errorf("trace id %x, %v", id, ok)
	}
	if _, ok := l.ID(ntconv.LabelActivityID); ok {
		t.Error("an id of zeros is an id")
	}
	if p := l.Find(ntconv.LabelString); p == nil || p.Key != "k" {
		t.Errorf("string label: %v", p)
	}
	if l.Find(ntconv.LabelInt) != nil || (*ntconv.Labels)(nil).Find(ntconv.LabelString) != nil {
		t.Error("found what is not there")
	}
	var none *ntconv.Labels
	same := ntconv.NewLabels(append([]ntconv.Label(nil), l.List()...))
	other := ntconv.NewLabels(append([]ntconv.Label{l.List()[1], l.List()[0]}, l.List()[2:]...))
	switch {
	case !l.Equal(l), !l.Equal(same), !none.Equal(none), !none.Equal(ntconv.NewLabels(nil)), !ntconv.NewLabels(nil).Equal(none):
		t.Error("equal lists differ")
	case l.Equal(none), none.Equal(l), l.Equal(other):
		t.Error("different lists are equal")
	}
}

func TestPointerSize(t *testing.T) {
	for want, e := range map[int]*ntconv.Event{
		8: {},
		4: {Thread: &ntconv.Thread{Process: &ntconv.Process{PointerSize: 4}}},
	} {
		if got := e.PointerSize(); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if got := (&ntconv.Event{Thread: &ntconv.Thread{}}).PointerSize(); got != 8 {
		t.Errorf("without a process: %d", got)
	}
	if got := (&ntconv.Event{Thread: &ntconv.Thread{Process: &ntconv.Process{}}}).PointerSize(); got != 8 {
		t.Errorf("unknown: %d", got)
	}
}

func TestCloneOwnsItsPayload(t *testing.T) {
	e := &ntconv.Event{Seq: 3, Payload: []byte{1, 2}}
	c := e.Clone()
	e.Payload[0], e.Seq = 9, 4
	if c.Payload[0] != 1 || c.Seq != 3 {
		t.Errorf("the clone changed: %+v", c)
	}
}

func TestAttrsGet(t *testing.T) {
	a := ntconv.Attrs{{Key: "k", Value: "1"}, {Key: "x"}, {Key: "k", Value: "2"}}
	if v, ok := a.Get("k"); v != "2" || !ok {
		t.Errorf("k: %q, %v", v, ok)
	}
	if v, ok := a.Get("x"); v != "" || !ok {
		t.Errorf("x: %q, %v", v, ok)
	}
	if _, ok := a.Get("y"); ok {
		t.Error("y is not there")
	}
}

func TestGUID(t *testing.T) {
	const text = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4" // Microsoft-Windows-DotNETRuntime
	g, err := ntconv.ParseGUID(text)
	want := ntconv.GUID{0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}
	if err != nil || g != want || g.String() != text || g.IsZero() {
		t.Errorf("%v, %v", g, err)
	}
	if b, err := ntconv.ParseGUID("{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}"); err != nil || b != g {
		t.Errorf("in braces: %v, %v", b, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		g := ntconv.GUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid"))
		if again, err := ntconv.ParseGUID(g.String()); err != nil || again != g {
			t.Fatalf("%v became %v, %v", g, again, err)
		}
	})
	for _, bad := range []string{"", text[1:], text + "0", "{" + text, "e13c0d23+ccbc-4e12-931b-d9cc2eee27e4", "g13c0d23-ccbc-4e12-931b-d9cc2eee27e4"} {
		if _, err := ntconv.ParseGUID(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestNamesOfNumbers(t *testing.T) {
	cases := map[fmt.Stringer]string{
		ntconv.KindOpaque: "opaque", ntconv.Kind(9): "unknown(9)", ntconv.MarkThreadsRemoved: "threads removed", ntconv.MarkKind(7): "unknown(7)",
		ntconv.LabelTraceID: "trace_id", ntconv.LabelKind(200): "unknown(200)", ntconv.ValueError: "error", ntconv.ValueKind(99): "unknown(99)",
		ntconv.TypeBool32: "bool32", ntconv.TypeCode(2): "type(2)", ntconv.SeverityLoss: "loss", ntconv.Severity(9): "unknown(9)",
	}
	for v, want := range cases {
		if v.String() != want {
			t.Errorf("%q, want %q", v, want)
		}
	}
}

func TestErrorsSayWhere(t *testing.T) {
	err := &ntconv.FormatError{Format: "nettrace 4", Offset: 4711, Where: "EventBlock/event 3/payload size", Err: fmt.Errorf("%w: 5 of 9 bytes", ntconv.ErrTruncated)}
	if got, want := err.Error(), "nettrace 4: byte 4711: EventBlock/event 3/payload size: input is truncated: unexpected EOF: 5 of 9 bytes"; got != want {
		t.Errorf("%q", got)
	}
	if !errors.Is(err, ntconv.ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ntconv.ErrCorrupt) {
		t.Error("wraps the wrong errors")
	}
	err.Where = ""
	if got := err.Error(); got != "nettrace 4: byte 4711: input is truncated: unexpected EOF: 5 of 9 bytes" {
		t.Errorf("%q", got)
	}
}

func TestReport(t *testing.T) {
	var r ntconv.Report
	r.Add(ntconv.CodeEventsLost, 0, 5) // nothing happened
	if len(r.Entries()) != 0 || r.Worst() != ntconv.SeverityInfo {
		t.Errorf("empty: %v", r.Entries())
	}
	r.Add(ntconv.CodeEventsLost, 3, 100)
	r.Note(ntconv.CodeEventsLost, 4, 50, "thread 7")
	r.Note(ntconv.CodeEventsLost, 1, 60, "thread 8")
	r.Note(ntconv.CodeTruncated, 1, -1, "")
	want := []ntconv.Entry{
		{Code: ntconv.CodeTruncated, Count: 1, Offset: -1},
		{Code: ntconv.CodeEventsLost, Count: 8, Offset: 100, Detail: "thread 7"},
	}
	got := r.Entries()
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v", got)
	}
	if r.Count(ntconv.CodeEventsLost) != 8 || r.Worst() != ntconv.SeverityError {
		t.Errorf("count %d, worst %v", r.Count(ntconv.CodeEventsLost), r.Worst())
	}
	if s := got[1].String(); s != "events-lost: 8 events were lost by the recorder (first at byte 100): thread 7" {
		t.Errorf("%q", s)
	}
	got[0].Count = 99
	if r.Count(ntconv.CodeTruncated) != 1 {
		t.Error("Entries gives out its own memory")
	}
	var none *ntconv.Report
	none.Add(ntconv.CodeEvents, 1, 0)
	if none.Count(ntconv.CodeEvents) != 0 || none.Entries() != nil || none.Worst() != ntconv.SeverityInfo {
		t.Error("a nil report remembers")
	}
}

func TestReportFromManyGoroutines(t *testing.T) {
	var r ntconv.Report
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				r.Add(ntconv.CodeEvents, 1, int64(i))
				r.Note(ntconv.CodeUnresolved, 2, -1, fmt.Sprint(g))
				_ = r.Entries()
			}
		})
	}
	wg.Wait()
	if r.Count(ntconv.CodeEvents) != 8000 || r.Count(ntconv.CodeUnresolved) != 16000 {
		t.Errorf("%v", r.Entries())
	}
}

func TestEveryCodeIsDescribed(t *testing.T) {
	names := map[string]bool{}
	for c := range ntconv.CodeEvents + 1 {
		if one := c.TextFor(1); one == "" || c.TextFor(2) != c.Text() || strings.HasPrefix(one, "events ") {
			t.Errorf("code %d: text for one %q", c, one)
		}
		if c.String() == "" || c.Text() == "" || names[c.String()] {
			t.Errorf("code %d: name %q, text %q", c, c, c.Text())
		}
		names[c.String()] = true
	}
}
