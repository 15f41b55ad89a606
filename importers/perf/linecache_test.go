package perf_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
)

// Frames are right regardless of whether their lines are new, known, or were known before too many others.
func TestLinesRepeat(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := range 120_000 {
		n := i / 2 // of the line: each one twice in a row, more than the cache holds, and the first ones again at the end
		if i >= 110_000 {
			n = i - 110_000
		}
		want = append(want, fmt.Sprint("f", n%1000, " at ", n))
		fmt.Fprintf(&text, "shop 1/2 %d.0: 1 cycles:\n\t%x f%d+0x1 (/opt/a library of the shop with a long name/%d)\n\n", i, n, n%1000, n)
	}
	events, report, _ := read(t, []byte(text.String()), perf.Options{})
	if len(events) != len(want) || report.Count(ntconv.CodeRowSkipped) > 0 {
		t.Fatalf("%d events, %v", len(events), report.Entries())
	}
	for i := range events {
		f := events[i].Stack.Frames[0]
		if got := f.Func.Name + " at " + f.Mapping.File[strings.LastIndex(f.Mapping.File, "/")+1:]; got != want[i] {
			t.Fatalf("event %d: %s, want %s", i, got, want[i])
		}
	}
}

// The details of an event are a frame only with a file, also if the same text was a frame of a stack.
func TestDetailsLikeFrames(t *testing.T) {
	const text = "shop 1/2 1.0: 1 cycles:\n\tabc work\n\n" +
		"shop 1/2 2.0: 1 cycles: abc work\n" +
		"shop 1/2 3.0: 1 cycles: abc work (/opt/shop)\n" +
		"shop 1/2 4.0: 1 cycles: abc work (/opt/shop)\n"
	events, _, _ := read(t, []byte(text), perf.Options{})
	var got []string
	for i := range events {
		got = append(got, stackOf(&events[i]))
	}
	if s := strings.Join(got, ","); s != "work,,work,work" {
		t.Errorf("%s", s)
	}
}

// A text of known lines is read without an allocation per line.
func TestAllocations(t *testing.T) {
	text := file(t, "go.perf.zst")
	read := func(times int) float64 {
		repeated := bytes.Repeat(text, times)
		return testing.AllocsPerRun(3, func() {
			src, err := perf.New(bytes.NewReader(repeated), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			for err == nil {
				_, err = src.Next()
			}
			if err != io.EOF {
				t.Fatal(err)
			}
		})
	}
	lines := bytes.Count(text, []byte("\n")) * 20
	if once, more := read(20), read(40); more-once > float64(lines)/100 {
		t.Errorf("%d more lines need %.0f more allocations", lines, more-once)
	}
}
