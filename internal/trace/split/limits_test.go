package split_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// Too many parts are an error, of both kinds of divisions, and one part fewer is not.
func TestLimitOfParts(t *testing.T) {
	typ := &ntconv.Type{Provider: "Shop", ID: 1}
	for every, limit := range map[string]int{"1ns": split.MaxParts, "$tid": split.MaxOpen, "$id == 1": split.MaxParts} {
		for _, parts := range []int{limit, limit + 1} {
			e, err := split.ParseEvery(every)
			if err != nil {
				t.Fatal(err)
			}
			src := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}})
			scan, err := split.NewScan(src.Info(), e, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range parts {
				th := &ntconv.Thread{TID: uint64(i)}
				err = scan.Write(&ntconv.Event{Time: ntconv.Ticks(i), Type: typ, Thread: th, Capture: th})
				if err != nil {
					break
				}
			}
			var exceeded *ntconv.LimitError
			if (parts > limit) != errors.As(err, &exceeded) {
				t.Errorf("--every %s: %d parts: %v", every, parts, err)
			}
		}
	}
}

// Splitting and joining allocate nothing per event: twice the events need little more allocations.
func TestAllocations(t *testing.T) {
	for _, every := range []string{"process", "$tid"} {
		var allocs [2]float64
		var events [2]int64
		for i := range allocs {
			var data bytes.Buffer
			stats, err := tracegen.Write(&data, tracegen.Options{Version: wire.V6, Bytes: 2 << 20 << i})
			if err != nil {
				t.Fatal(err)
			}
			events[i] = stats.Events
			allocs[i] = testing.AllocsPerRun(1, func() { splitAndJoin(t, data.Bytes(), every) })
		}
		if n := (allocs[1] - allocs[0]) / float64(events[1]-events[0]); n > 0.05 {
			t.Errorf("--every %s: %.3f allocations per event", every, n)
		}
	}
}

// splitAndJoin splits a trace in time order and joins its parts.
func splitAndJoin(t *testing.T, data []byte, text string) {
	every, err := split.ParseEvery(text)
	if err != nil {
		t.Fatal(err)
	}
	open := func(data []byte, order reader.Order) ntconv.Source {
		src, err := reader.NewBytes(data, &reader.Options{Order: order})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	src := open(data, reader.ByTime)
	scan, err := split.NewScan(src.Info(), every, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, scan, src)
	src = open(data, reader.ByTime)
	var parts []*bytes.Buffer
	s, err := split.New(src.Info(), scan, &split.Options{
		Create: func(p split.Part) (ntconv.Sink, error) {
			parts = append(parts, &bytes.Buffer{})
			return sinkWithBlocks(parts[len(parts)-1], src.Info(), p, 1<<18)
		},
		Part: split.Part{ID: "x", Every: text, ByTime: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, s, src)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var sources []ntconv.Source
	for _, p := range parts {
		sources = append(sources, open(p.Bytes(), reader.FileOrder))
	}
	j, err := split.Join(sources...)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range ntconv.Events(j) {
		if err != nil {
			t.Fatal(err)
		}
	}
}
