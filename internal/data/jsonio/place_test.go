package jsonio_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"pgregory.net/rapid"
)

// TestPlaces checks the line and the column of every element of a list against the position of its first byte, for any
// sizes of reads.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var starts []int
		space := func() {
			text.WriteString(rapid.SampledFrom([]string{"", " ", "\n", "\r\n\t", "\n\n  "}).Draw(t, "space"))
		}
		mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark")
		text.WriteString(mark + "[")
		for i := range rapid.IntRange(1, 50).Draw(t, "elements") {
			if i > 0 {
				text.WriteByte(',')
			}
			space()
			starts = append(starts, text.Len())
			text.WriteString(rapid.SampledFrom([]string{"1", `"a\nb"`, "{}", `[1,"x"]`, `{"a":null}`, "true", strings.Repeat("7", 300), `"` + strings.Repeat("long ", 20_000) + `"`}).Draw(t, "element"))
			space()
		}
		text.WriteByte(']')
		whole := text.String()
		in := iotest.DataErrReader(strings.NewReader(whole))
		if rapid.Bool().Draw(t, "halves") {
			in = iotest.HalfReader(strings.NewReader(whole))
		}
		j := jsonio.New(in, jsonio.Options{Format: "test"})
		err := j.Array(func(i int) error {
			if rapid.Bool().Draw(t, "skip") {
				if err := j.Skip(); err != nil {
					return err
				}
			} else if _, err := j.Raw(); err != nil {
				return err
			}
			before := whole[:starts[i]]
			want := fmt.Sprintf("line %d, column %d, /%d", strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'), i)
			if !strings.Contains(before, "\n") {
				want = fmt.Sprintf("line 1, column %d, /%d", len(before)-len(mark)+1, i)
			}
			var place *ntconv.FormatError
			if err := j.Corrupt("x"); !errors.As(err, &place) || place.Offset != int64(len(before)) || place.Where != want {
				t.Fatalf("got byte %d, %s; want byte %d, %s", place.Offset, place.Where, len(before), want)
			}
			return nil
		})
		if err == nil {
			err = j.End()
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
	})
}

// TestReaderErrors checks that an error of the input is returned unchanged.
func TestReaderErrors(t *testing.T) {
	broken := errors.New("connection lost")
	j := jsonio.New(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("[1]"))), jsonio.Options{})
	if err := j.Array(func(int) error { return j.Skip() }); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("%v", err)
	}
	j = jsonio.New(iotest.ErrReader(broken), jsonio.Options{})
	if err := j.Skip(); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
