package spool_test

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// A source yields events whose payloads share one buffer.
type source struct {
	events  []ntconv.Event
	payload [8]byte
	err     error
}

func (s *source) Info() *ntconv.Info { return &ntconv.Info{Format: "test"} }

func (s *source) Next() (*ntconv.Event, error) {
	if len(s.events) == 0 {
		return nil, s.err
	}
	e := s.events[0]
	s.events = s.events[1:]
	e.Payload = append(s.payload[:0], byte(e.Seq), byte(e.Seq>>8))
	return &e, nil
}

// drain returns all events with copies of their payloads.
func drain(t *testing.T, src ntconv.Source, want error) (events []ntconv.Event) {
	t.Helper()
	for {
		e, err := src.Next()
		if err != nil {
			if err != want {
				t.Fatalf("%v, want %v", err, want)
			}
			return events
		}
		kept := *e
		kept.Payload = slices.Clone(e.Payload)
		events = append(events, kept)
	}
}

// The result equals a stable sort of each window. Late events keep their positions, and no event is lost.
func TestWindows(t *testing.T) {
	broken := fmt.Errorf("broken")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		limit := []int{0, 1, 7}[seed%3]
		src := &source{err: []error{io.EOF, broken}[seed%2]}
		var want []ntconv.Event
		var window []ntconv.Event
		keys := map[uint32]ntconv.Ticks{}
		flush := func() {
			slices.SortStableFunc(window, func(a, b ntconv.Event) int { return cmp.Compare(keys[a.Seq], keys[b.Seq]) })
			want, window = append(want, window...), nil
		}
		latest, full := ntconv.Ticks(0), int64(0)
		for i := range r.IntN(100) {
			e := ntconv.Event{Kind: ntconv.KindEvent, Seq: uint32(i), Time: ntconv.Ticks(r.IntN(50))}
			switch r.IntN(10) {
			case 0:
				e.Kind = ntconv.KindMark
				flush()
				want = append(want, e)
			case 1:
				e.Flags |= ntconv.FlagLate
			}
			src.events = append(src.events, e)
			if e.Kind == ntconv.KindMark {
				continue
			}
			keys[e.Seq] = e.Time
			if e.Flags&ntconv.FlagLate != 0 {
				keys[e.Seq] = max(e.Time, latest)
			}
			latest = max(latest, e.Time)
			if window = append(window, e); len(window) == limit {
				full++
				flush()
			}
		}
		flush()
		report := new(ntconv.Report)
		s := spool.NewSorted(src, &spool.SortOptions{Events: limit, Report: report})
		got := drain(t, s, src.err)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d events, want %d", seed, len(got), len(want))
		}
		for i, e := range got {
			if e.Seq != want[i].Seq || string(e.Payload) != string([]byte{byte(e.Seq), byte(e.Seq >> 8)}) {
				t.Fatalf("seed %d: event %d is %d with payload %x, want %d", seed, i, e.Seq, e.Payload, want[i].Seq)
			}
		}
		if n := report.Count(ntconv.CodeWindowCap); n != uint64(full) {
			t.Errorf("seed %d: %d windows were too large, want %d", seed, n, full)
		}
	}
}

// Bytes bounds a window too.
func TestBytes(t *testing.T) {
	src := &source{err: io.EOF}
	for i := range 10 {
		src.events = append(src.events, ntconv.Event{Kind: ntconv.KindEvent, Seq: uint32(i), Time: ntconv.Ticks(-i)})
	}
	var order []uint32
	for _, e := range drain(t, spool.NewSorted(src, &spool.SortOptions{Bytes: 8}), io.EOF) {
		order = append(order, e.Seq)
	}
	if want := []uint32{3, 2, 1, 0, 7, 6, 5, 4, 9, 8}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}
