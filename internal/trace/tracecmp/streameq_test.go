package tracecmp_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/tracecmp"
	"github.com/ntconv/ntconv/ntconvtest"
)

// trace returns a small trace with new pointers on each call.
func trace() *ntconvtest.Trace {
	th := &ntconv.Thread{TID: 5}
	ty := &ntconv.Type{Provider: "P", ID: 7, Name: "N"}
	tr := &ntconvtest.Trace{Info: &ntconv.Info{Clock: ntconv.Clock{Freq: 1000}}}
	for i := range 3 {
		tr.Events = append(tr.Events, &ntconv.Event{Type: ty, Thread: th, Capture: th, Seq: uint32(i + 1), Time: 10, Offset: int64(100 + i), Payload: []byte{1, 2}})
	}
	tr.Events = append(tr.Events, &ntconv.Event{Kind: ntconv.KindMark, Time: 11, Offset: 110, Mark: &ntconv.Mark{Threads: []ntconv.ThreadSeq{{Thread: th, Seq: 3}}}})
	return tr
}

// TestDifferences checks that a difference names the part that differs, both values and both positions.
func TestDifferences(t *testing.T) {
	cases := []struct {
		change     func(tr *ntconvtest.Trace)
		what, a, b string
		event      int64
		offset     int64
	}{
		{func(tr *ntconvtest.Trace) { tr.Events[1].Time = 12 }, "time", "10", "12", 2, 101},
		{func(tr *ntconvtest.Trace) { tr.Events[2].Payload = []byte{1, 3, 4} }, "payload from its byte 1 on", "2 bytes with 0x02", "3 bytes with 0x0304", 3, 102},
		{func(tr *ntconvtest.Trace) { tr.Events[0].Type.Name = "M" }, "type: name", `"N"`, `"M"`, 1, 100},
		{func(tr *ntconvtest.Trace) { tr.Events[3].Mark.Threads[0].Seq = 4 }, "mark: entry 0: sequence number", "3", "4", 3, 110},
		{func(tr *ntconvtest.Trace) { tr.Events = tr.Events[:3] }, "only one of the traces ends here", "", "", 3, 110},
	}
	for _, c := range cases {
		tr := trace()
		c.change(tr)
		n, err := tracecmp.Streams(trace().Source(), tr.Source(), nil)
		var d *tracecmp.Difference
		if !errors.As(err, &d) {
			t.Fatalf("%s: %v", c.what, err)
		}
		if d.What != c.what || d.A != c.a || d.B != c.b {
			t.Errorf("%s: %q with %q and %q", c.what, d.What, d.A, d.B)
		}
		if d.At[0].Event != c.event || d.At[1].Event != c.event || d.At[0].Offset != c.offset {
			t.Errorf("%s: at %+v", c.what, d.At)
		}
		if n > c.event || c.event-n > 1 {
			t.Errorf("%s: %d events are said to be equal", c.what, n)
		}
		if text := d.Error(); !strings.Contains(text, c.what) || !strings.Contains(text, "byte") {
			t.Errorf("%s: said as %q", c.what, text)
		}
	}
}

// TestOverlooked checks what the options for rewritten and filtered traces ignore.
func TestOverlooked(t *testing.T) {
	th := func(tr *ntconvtest.Trace) *ntconv.Thread { return tr.Events[0].Thread }
	cases := map[string]struct {
		opts   tracecmp.Options
		change func(tr *ntconvtest.Trace)
	}{
		"marks":    {tracecmp.Options{Marks: true}, func(tr *ntconvtest.Trace) { tr.Events = tr.Events[:3] }},
		"sequence": {tracecmp.Options{Sequence: true}, func(tr *ntconvtest.Trace) { tr.Events[0].Seq, tr.Events[3].Mark.Threads[0].Seq = 9, 9 }},
		"definitions": {tracecmp.Options{Definitions: true}, func(tr *ntconvtest.Trace) {
			tr.Events = append(tr.Events, &ntconv.Event{Kind: ntconv.KindDefine, Type: &ntconv.Type{Name: "x"}, Thread: th(tr)})
		}},
	}
	for name, c := range cases {
		tr := trace()
		c.change(tr)
		if _, err := tracecmp.Streams(trace().Source(), tr.Source(), nil); err == nil {
			t.Errorf("%s: equal without the option", name)
		}
		if _, err := tracecmp.Streams(trace().Source(), tr.Source(), &c.opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		tr.Events[1].CPU++
		if _, err := tracecmp.Streams(trace().Source(), tr.Source(), &c.opts); err == nil {
			t.Errorf("%s: overlooks a processor too", name)
		}
	}
}

// TestErrorOfASource is neither a difference nor an end.
func TestErrorOfASource(t *testing.T) {
	broken := trace().Source()
	broken.Err = io.ErrUnexpectedEOF
	_, err := tracecmp.Streams(trace().Source(), broken, nil)
	if d := (*tracecmp.Difference)(nil); !errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &d) {
		t.Errorf("got %v", err)
	}
}
