package ntconvtest_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A trace equals another one with the same contents and different pointers. Package tracecmp has the tests of what a
// comparison notices and overlooks.
func TestEqualStreams(t *testing.T) {
	for i, f := range ntconvtest.Fixtures() {
		if err := ntconvtest.EqualStreams(f.Source(), ntconvtest.Fixtures()[i].Source(), nil); err != nil {
			t.Errorf("%s: a copy differs: %v", f.Name, err)
		}
		if err := ntconvtest.EqualStreams(f.Source(), ntconvtest.Fixtures()[(i+1)%len(ntconvtest.Fixtures())].Source(), nil); err == nil {
			t.Errorf("%s equals another trace", f.Name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		if err := ntconvtest.EqualStreams(ntconvtest.Poison(tr.Source()), ntconvtest.Poison(tr.Source()), nil); err != nil {
			t.Fatalf("poisoned: %v", err)
		}
	})
}

func TestPoisonSpoilsWhatIsKept(t *testing.T) {
	tr := ntconvtest.Fixtures()[1].Trace
	src := ntconvtest.Poison(tr.Source())
	e, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	kept, payload, clone := e, e.Payload, e.Clone()
	if err := ntconvtest.Equal(tr.Events[0], e); err != nil {
		t.Errorf("before the next call: %v", err)
	}
	if _, err := src.Next(); err != nil {
		t.Fatal(err)
	}
	if ntconvtest.Equal(tr.Events[0], kept) == nil || bytes.Equal(payload, tr.Events[0].Payload) {
		t.Error("a kept event is still good")
	}
	if err := ntconvtest.Equal(tr.Events[0], clone); err != nil {
		t.Errorf("a clone: %v", err)
	}
	if err := ntconvtest.Equal(tr.Events[0], ntconvtest.Fixtures()[1].Events[0]); err != nil {
		t.Errorf("the source's own event: %v", err)
	}
}

func TestChopsDeliverEverything(t *testing.T) {
	want := make([]byte, 10000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	for i, r := range ntconvtest.Chops(want) {
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("reader %d: %d bytes, %v", i, len(got), err)
		}
	}
	buf := make([]byte, 100)
	if n, err := ntconvtest.Chop(bytes.NewReader(want), 7).Read(buf); n != 7 || err != nil {
		t.Errorf("Read: %d, %v", n, err)
	}
}

func TestFixturesDecode(t *testing.T) {
	for _, f := range ntconvtest.Fixtures() {
		for i, e := range f.Events {
			if e.Kind != ntconv.KindEvent {
				continue
			}
			for field, v := range e.Fields() {
				if v.Kind() == ntconv.ValueError || v.Kind() == ntconv.ValueNull {
					t.Errorf("%s: event %d: %s: %v", f.Name, i, field.Name, v)
				}
			}
		}
	}
	span := ntconvtest.Fixtures()[1].Events[0]
	links, _ := span.Field("links")
	for link := range links.Elems() {
		if id, ok := link.Field("spanId"); !ok || id.String() != "0102030405060708" {
			t.Errorf("link to span %s", id)
		}
	}
	if links.Len() != 1 {
		t.Errorf("%d links", links.Len())
	}
}

func TestRecorderFails(t *testing.T) {
	boom := errors.New("boom")
	r := &ntconvtest.Recorder{FailAfter: 1, Err: boom}
	n, err := ntconv.Copy(r, ntconvtest.Fixtures()[0].Source())
	if n != 1 || err != boom || len(r.Events) != 1 {
		t.Errorf("copied %d, recorded %d, %v", n, len(r.Events), err)
	}
	src := ntconvtest.Fixtures()[0].Source()
	src.Err = boom
	events, err := ntconvtest.Record(src)
	if len(events) != len(ntconvtest.Fixtures()[0].Events) || err != boom {
		t.Errorf("recorded %d, %v", len(events), err)
	}
}
