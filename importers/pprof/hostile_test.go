package pprof_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/pprof"
)

// Profiles that google/pprof does not write are encoded by field.

func number(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

func message(n protowire.Number, fields ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), bytes.Join(fields, nil))
}

// handmade returns a profile of type cpu/count with function 1.
func handmade(fields ...[]byte) []byte {
	head := bytes.Join([][]byte{
		message(1, number(1, 1), number(2, 2)), message(6), message(6, []byte("cpu")), message(6, []byte("count")), message(6, []byte("f")),
		message(5, number(1, 1), number(2, 3)),
	}, nil)
	return append(head, bytes.Join(fields, nil)...)
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A stack with two hundred million frames is truncated to 10,000.
func TestLongStackIsNotMade(t *testing.T) {
	data := handmade(message(4, number(1, 1), bytes.Repeat(message(4, number(1, 1)), 100_000)), message(2, bytes.Repeat(number(1, 1), 2_000), number(2, 1)))
	src, err := pprof.New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	depth := 0
	n := allocated(func() {
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Stack != nil {
				depth = len(e.Stack.Frames)
			}
		}
	})
	if depth != 10_000 || n > 1<<21 {
		t.Errorf("a stack of %d frames, %d bytes allocated", depth, n)
	}
}

// longStacks is a profile where every sample has a stack of its own, of 8,191 frames in a few bytes.
func longStacks(samples uint64) []byte {
	fields := [][]byte{message(4, number(1, 1), bytes.Repeat(message(4, number(1, 1)), 8190))}
	for i := range samples {
		fields = append(fields, message(4, number(1, i+2), number(3, i)), message(2, number(1, i+2), number(1, 1), number(2, 1)))
	}
	return handmade(fields...)
}

// Frames are counted after truncation, and their limit depends on the size of the profile.
func TestFramesGoByTheProfilesSize(t *testing.T) {
	if _, err := pprof.New(bytes.NewReader(longStacks(120)), nil); err != nil {
		t.Error(err)
	}
	if _, err := pprof.New(bytes.NewReader(longStacks(200)), nil); !errors.Is(err, ntconv.ErrLimit) {
		t.Errorf("%v", err)
	}
}

// Cached stacks are bounded by their frames: 8,190 frames take 0.3 MB.
func TestKeptStacksAreBounded(t *testing.T) {
	src, err := pprof.New(bytes.NewReader(longStacks(500)), &pprof.Options{Limits: pprof.Limits{Frames: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for _, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if after := held(); after > before+32<<20 {
		t.Errorf("%d MiB are held", (after-before)>>20)
	}
	runtime.KeepAlive(src)
}

// The attributes keep the shortest comments in their order, and the time is linear in the number of dropped comments.
func TestManyComments(t *testing.T) {
	fields := [][]byte{}
	want := []string{}
	for i := range 5000 {
		c := fmt.Sprintf("comment %0*d", 100+i%2*100, i)
		fields = append(fields, message(6, []byte(c)), number(13, uint64(4+i)))
		if i%2 == 0 {
			want = append(want, c)
		}
	}
	data := handmade(fields...)
	var report ntconv.Report
	var src ntconv.Source
	n := allocated(func() {
		var err error
		if src, err = pprof.New(bytes.NewReader(data), &pprof.Options{Report: &report}); err != nil {
			t.Fatal(err)
		}
	})
	if n > 64*uint64(len(data)) {
		t.Errorf("%d bytes allocated for a profile of %d", n, len(data))
	}
	e, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, a := range e.Type.Attrs {
		if strings.HasPrefix(a.Key, "pprof.comment.") {
			kept = append(kept, a.Value)
		}
	}
	if len(kept) < 300 || len(kept)+int(report.Count(ntconv.CodeNotCarried)) != 5000 || !slices.Equal(kept, want[len(want)-len(kept):]) {
		t.Errorf("%d comments, the first one is %q; %v", len(kept), kept[0], report.Entries())
	}
}

// The report names the first defect, deterministically.
func TestReportOfMissingMappings(t *testing.T) {
	fields := [][]byte{}
	for i := range uint64(8) {
		fields = append(fields, message(4, number(1, i+1), number(2, 20-i), message(4, number(1, 1))))
	}
	data := handmade(fields...)
	var report ntconv.Report
	if _, err := pprof.New(bytes.NewReader(data), &pprof.Options{Report: &report}); err != nil {
		t.Fatal(err)
	}
	if got := report.Entries(); len(got) != 1 || got[0].Count != 8 || !strings.Contains(got[0].Detail, "mapping 20") {
		t.Errorf("%+v", got)
	}
}
