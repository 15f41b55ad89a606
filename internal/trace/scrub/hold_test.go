package scrub

import (
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// partType is the type of the parts of a span.
func partType() *ntconv.Type {
	return &ntconv.Type{Provider: stored.Provider, Name: "SpanPart", ID: 2, Fields: []ntconv.Field{
		{Name: "data", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUint8}}},
	}}
}

// A partSource yields parts on several threads in turn, whose last events never follow.
type partSource struct {
	event   ntconv.Event
	threads []*ntconv.Thread
	n, max  int
}

func (s *partSource) Info() *ntconv.Info { return &ntconv.Info{Format: "test", PointerSize: 8} }

func (s *partSource) Next() (*ntconv.Event, error) {
	if s.n == s.max {
		return nil, io.EOF
	}
	t := s.threads[s.n%len(s.threads)]
	s.n++
	s.event.Time, s.event.Thread, s.event.Capture = ntconv.Ticks(s.n), t, t
	return &s.event, nil
}

func newPartSource(threads, parts int) *partSource {
	s := &partSource{max: parts, event: ntconv.Event{Type: partType(), Payload: []byte{1, 0, 'x'}}}
	for i := range threads {
		s.threads = append(s.threads, &ntconv.Thread{TID: uint64(i + 1)})
	}
	return s
}

// Parts without data to speak of are held only up to a limit of memory, too.
func TestTinyPartsAreBounded(t *testing.T) {
	sc, err := New(Options{Key: make([]byte, KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	const parts = maxHeld/512 + 1000
	src := sc.Source(newPartSource(1, parts)).(*source)
	events := 0
	for {
		e, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil || e.Payload[2] != 0 {
			t.Fatalf("event %d: payload %v, %v", events, e.Payload, err)
		}
		if events == 0 {
			if n := len(src.queue); n == 0 || n > maxHeld/512 {
				t.Errorf("%d parts were held", n)
			}
		}
		events++
	}
	if events != parts {
		t.Errorf("%d events, want %d", events, parts)
	}
}

// Equal inputs give equal outputs, also if several threads have parts without a last event.
func TestOrderOfUnfinishedPartsIsFixed(t *testing.T) {
	var first []ntconv.Ticks
	for run := range 20 {
		sc, err := New(Options{Key: make([]byte, KeySize)})
		if err != nil {
			t.Fatal(err)
		}
		src := sc.Source(newPartSource(8, 16))
		var times []ntconv.Ticks
		for {
			e, err := src.Next()
			if err != nil {
				break
			}
			times = append(times, e.Time)
		}
		if run == 0 {
			first = times
		}
		for i := range times {
			if len(times) != 16 || times[i] != first[i] {
				t.Fatalf("run %d: %v, want %v", run, times, first)
			}
		}
	}
}
