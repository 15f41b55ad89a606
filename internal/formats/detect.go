package formats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
)

const (
	// SniffSize is how many bytes of an input are enough to recognize a live trace, which may not have more yet.
	SniffSize = 8
	// HeadSize is how many bytes Detect should see; inputs that are shorter are given whole.
	HeadSize = 4096
)

// SniffDir returns the format of the table whose directories have these members, or nil.
func SniffDir(table []*Format, members []string) *Format {
	for _, f := range table {
		if f.In.SniffDir != nil && f.In.SniffDir(members) {
			return f
		}
	}
	return nil
}

// Sniff returns the format of the table whose inputs begin with head, or nil.
func Sniff(table []*Format, head []byte) *Format {
	for _, f := range table {
		if f.In.Sniff != nil && f.In.Sniff(head) {
			return f
		}
	}
	return nil
}

// Detect returns the format of the table that an input is of. head is its beginning, decompressed: if that is packed
// still, the input is packed twice. name is the input's name; its extension decides nothing, but serves to name what
// cannot be read. The error says what the input seems to be and what to do with it; it wraps ntconv.ErrFormat.
func Detect(table []*Format, name string, head []byte) (*Format, error) {
	if f := Sniff(table, head); f != nil {
		return f, nil
	}
	want := "expected " + strings.Join(NamesOf(table), " or ")
	unsupported := func(list []unsupportedInput) error {
		for _, f := range list {
			if f.is(strings.ToLower(name), head) {
				return &Unknown{
					What: f.what,
					Err:  fmt.Errorf("this is %s, %s: %w; %s", f.what, want, ntconv.ErrFormat, f.next),
				}
			}
		}
		return nil
	}
	for _, list := range [][]unsupportedInput{unsupportedInputs(strings.ToLower(name)), packedInputs(), documentInputs()} {
		if err := unsupported(list); err != nil {
			return nil, err
		}
	}
	for _, f := range table {
		if f.In.Hint != nil && f.In.Hint(head) {
			return f, nil
		}
	}
	if err := unsupported(unsupportedText()); err != nil {
		return nil, err
	}
	return nil, &Unknown{
		Err: fmt.Errorf(
			"%s, and found % x: %w; check that this is the file that was recorded, or name its format with --from",
			want,
			head[:min(8, len(head))],
			ntconv.ErrFormat,
		),
	}
}

// Unknown is the error of Detect.
type Unknown struct {
	What string // what the input seems to be; "" if that is unknown too
	Err  error
}

func (e *Unknown) Error() string { return "byte 0: " + e.Err.Error() }

// Unwrap returns the cause, which wraps ntconv.ErrFormat.
func (e *Unknown) Unwrap() error { return e.Err }

// IsUnknown reports whether err says that the format of an input is not known.
func IsUnknown(err error) bool {
	var u *Unknown
	return errors.As(err, &u)
}
