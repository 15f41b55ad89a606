package clr_test

import (
	"slices"
	"testing"

	"github.com/ntconv/ntconv/internal/events/clr"
)

// TestIL checks the offsets of a map as the runtime records it: unsorted, with a prolog, an epilog, and code without a
// source.
func TestIL(t *testing.T) {
	points := []clr.ILPoint{
		{0, clr.Prolog}, {10, 0}, {20, 5}, {30, clr.Epilog}, {15, clr.NoILOffset}, {20, 7}, {25, 6}, {20, clr.NoILOffset},
	}
	clr.SortILMap(points)
	for native, want := range map[uint32]int32{
		0: 0, 9: 0, 10: 0, 14: 0,
		15: 0,        // no source: the statement before
		20: 5, 24: 5, // of two statements the first
		25: 6, 29: 6,
		30: 6, 99: 6, // the epilog belongs to the last statement
	} {
		if got, ok := clr.ILOffset(points, native); !ok || got != want {
			t.Errorf("native offset %d: got %d %v, want %d", native, got, ok, want)
		}
	}
	for _, points := range [][]clr.ILPoint{nil, {{10, 3}}, {{0, clr.NoILOffset}}} {
		if il, ok := clr.ILOffset(points, 5); ok {
			t.Errorf("%v: offset 5 is at %d, want none", points, il)
		}
	}
}

// FuzzDecode checks that points survive their compact form, and that malformed bytes yield at most as many points as
// they have bytes.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{3, 0, 3, 10, 6, 5, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		points := clr.DecodeILMap(nil, b)
		if len(points) > len(b)/2 {
			t.Fatalf("%d points of %d bytes", len(points), len(b))
		}
		clr.SortILMap(points)
		again := clr.DecodeILMap(nil, append(clr.AppendILMap(nil, points), 1, 2, 3))
		if !slices.Equal(points, again) {
			t.Errorf("got %v, want %v", again, points)
		}
	})
}
