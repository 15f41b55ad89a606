package ntconv_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
)

func TestLimitError(t *testing.T) {
	for _, c := range []struct {
		limit ntconv.LimitError
		want  string
	}{
		{ntconv.LimitError{Limit: "event types", Value: 1, Asked: 2}, "too many event types: limit 1, got 2"},
		{ntconv.LimitError{Limit: "block", Value: 64 << 20, Asked: 1<<31 - 1, Unit: "bytes"}, "block too large: limit 64 MiB, got 2147483647 bytes"},
		{ntconv.LimitError{Limit: "row", Value: 0, Asked: 3 << 50, Unit: "bytes"}, "row too large: limit 0 bytes, got 3072 TiB"},
		{ntconv.LimitError{Limit: "field nesting", Value: 32, Asked: 33, Unit: "levels"}, "field nesting too large: limit 32 levels, got 33"},
	} {
		err := error(&ntconv.FormatError{Format: "nettrace 4", Offset: 931, Err: &ntconv.AdviceError{Err: &c.limit, Advice: "raise it"}})
		if got, want := err.Error(), "nettrace 4: byte 931: "+c.want+"; raise it"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		var l *ntconv.LimitError
		var a *ntconv.AdviceError
		if !errors.As(err, &l) || *l != c.limit || !errors.As(err, &a) || !errors.Is(err, ntconv.ErrLimit) || errors.Is(err, ntconv.ErrCorrupt) {
			t.Errorf("%v has lost its data", err)
		}
	}
}

// A program finds out which member of reader.Limits a trace exceeds.
func ExampleLimitError() {
	f, err := os.Open("testdata/cpu-env.nettrace.zst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	r, err := reader.New(f, &reader.Options{Limits: reader.Limits{Types: 3}})
	for err == nil {
		_, err = r.Next()
	}
	var limit *ntconv.LimitError
	if errors.As(err, &limit) && limit.Limit == reader.LimitTypes {
		fmt.Printf("Limits.Types is %d and must be %d or more\n", limit.Value, limit.Asked)
	}
	fmt.Println(err)
	// Output:
	// Limits.Types is 3 and must be 4 or more
	// nettrace 4: byte 1105: metadata: too many event types: limit 3, got 4
}
