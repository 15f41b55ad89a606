package input

import (
	"io"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// FromReader is Open for a reader that the caller has opened. name is the name in errors. The caller closes r after the
// Input. r is rereadable if it is a regular file, or if it has the methods ReadAt and Size of a bytes.Reader.
func FromReader(name string, r io.Reader, o *Options) (*Input, error) {
	in := &Input{opts: o}
	opts := fileio.InputOptions{Limits: o.Limits}
	raw, err := fileio.FromReader(name, r, opts)
	if err == nil && o.Again && !raw.Rereadable() {
		raw, err = in.copyPipe(name, r, opts)
	}
	if err == nil {
		in.raw = raw
		if in.Format == nil {
			err = in.recognize()
		}
	}
	if err != nil {
		in.Close()
		return nil, &Error{name, err}
	}
	return in, nil
}
