package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
)

const (
	// SniffSize is the number of bytes that suffice to recognize a live trace, which may not have written more yet.
	SniffSize = 8
	// HeadSize is the number of bytes that Detect needs; it gets shorter inputs as a whole.
	HeadSize = 4096
)

// SniffDir returns the first format of the table that accepts a directory with these members, or nil.
func SniffDir(table []*Format, members []string) *Format {
	for _, f := range table {
		if f.In.SniffDir != nil && f.In.SniffDir(members) {
			return f
		}
	}
	return nil
}

// SniffArchive returns the first format of the table that accepts a zip archive with these members, or nil.
func SniffArchive(table []*Format, members []string) *Format {
	for _, f := range table {
		if f.In.Archive && f.In.SniffDir(members) {
			return f
		}
	}
	return nil
}

// IsArchive reports whether an input that begins with head is a zip archive.
func IsArchive(head []byte) bool { return bytes.HasPrefix(head, []byte(zipMagic)) }

// zipMagic begins the first member of a zip archive.
const zipMagic = "PK\x03\x04"

// Sniff returns the first format of the table whose magic number head begins with, or nil.
func Sniff(table []*Format, head []byte) *Format {
	for _, f := range table {
		if f.In.Sniff != nil && f.In.Sniff(head) {
			return f
		}
	}
	return nil
}

// Detect returns the format of an input. head is the beginning of its decompressed content; if head is still
// compressed, the input was compressed twice. name is the name of the input; the extension does not decide the format,
// but distinguishes files that ntconv cannot read. The error is an *Unknown, which says what the input seems to be and
// what to do with it, and wraps ntconv.ErrFormat.
//
// The order matters: magic numbers first, then files that are known and unsupported, then hints, because a hint may
// match a file that only resembles its format.
func Detect(table []*Format, name string, head []byte) (*Format, error) {
	if f := Sniff(table, head); f != nil {
		return f, nil
	}
	want := orList(NamesOf(table))
	unsupported := func(list []unsupportedInput) error {
		for _, f := range list {
			if f.matches(strings.ToLower(name), head) {
				if len(head) == 0 {
					subject := "the file"
					if name == fileio.StdinName {
						subject = name
					}
					return &Unknown{What: f.what, problem: subject + " is empty", next: f.next}
				}
				return &Unknown{
					What: f.what, problem: fmt.Sprintf("%v: want %s, got %s", ntconv.ErrFormat, want, f.what), next: f.next,
				}
			}
		}
		return nil
	}
	if err := unsupported(unsupportedInputs(strings.ToLower(name))); err != nil {
		return nil, err
	}
	for _, f := range table {
		if f.In.Hint != nil && f.In.Hint(head) {
			return f, nil
		}
	}
	if err := unsupported(unsupportedText(head)); err != nil {
		return nil, err
	}
	return nil, &Unknown{
		problem: fmt.Sprintf("%v: want %s, got the bytes % x", ntconv.ErrFormat, want, head[:min(8, len(head))]),
		next:    "check that this is the recorded file",
	}
}

// Unknown is the error of Detect. It wraps ntconv.ErrFormat.
type Unknown struct {
	What    string // what the input seems to be, such as "a PNG image"; "" if that is unknown
	problem string
	next    string // the next step, with FILE for the input and "ntconv info -" for the command
}

func (e *Unknown) Error() string { return e.problem + "; " + e.next }

// Unwrap returns ntconv.ErrFormat.
func (e *Unknown) Unwrap() error { return ntconv.ErrFormat }

// For returns the error with the file in the commands that it proposes, and with command in place of ntconv info. Both
// are quoted for a shell.
func (e *Unknown) For(file, command string) error {
	own := *e
	own.next = strings.NewReplacer("ntconv info -", command+" -", " FILE", " "+file).Replace(e.next)
	return &own
}

// IsUnknown reports whether err wraps an *Unknown.
func IsUnknown(err error) bool {
	var u *Unknown
	return errors.As(err, &u)
}

// orList returns names separated by commas, with "or" before the last name.
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
