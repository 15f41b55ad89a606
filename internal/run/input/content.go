package input

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Sum returns the SHA-256 hash of the decompressed content of the first input, which must be rereadable: a trace and
// its compressed copy have the same hash. The hash of a directory covers the names and contents of its members, except
// names that begin with a dot or an underscore. Compressed content that is truncated or corrupt ends where it cannot be
// decompressed.
func (in *Input) Sum() ([]byte, error) {
	h := sha256.New()
	if err := addContent(h, in.raw); err != nil {
		return nil, &Error{in.raw.Name(), err}
	}
	return h.Sum(nil), nil
}

func addContent(h hash.Hash, in *fileio.Input) error {
	if in.IsDir() {
		return addMembers(h, in)
	}
	s, err := in.Stream()
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = io.Copy(h, s)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fileio.ErrCorrupt) {
		return nil
	}
	return err
}

func addMembers(h hash.Hash, dir *fileio.Input) error {
	names, err := dir.Members()
	if err != nil {
		return err
	}
	for _, name := range names {
		if base := name[strings.LastIndexByte(name, '/')+1:]; isHidden(base) {
			continue
		}
		one := sha256.New()
		m, err := dir.Member(name)
		if err == nil {
			err = addContent(one, m)
			m.Close()
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d %s %x\n", len(name), name, one.Sum(nil))
	}
	return nil
}

// isHidden reports whether the name of a file marks it as not being data.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }
