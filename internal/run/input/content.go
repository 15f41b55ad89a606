package input

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// A Sum is a hash of the content of an input.
type Sum struct {
	SHA256 []byte
	Bytes  int64 // that were hashed; 0 for a directory
	// Beginnings are the hashes of the first bytes of the content, by their number.
	Beginnings map[int64][]byte
}

// Sum returns the SHA-256 hash of the decompressed content of the first input, which must be rereadable: a trace and
// its compressed copy have the same hash. The hash of a directory covers the names and contents of its members, except
// names that begin with a dot or an underscore; that of a trace of a dataset is the one of its manifest. Compressed content that is
// truncated or corrupt ends where it cannot be decompressed. lengths are those of the beginnings that are hashed, too.
func (in *Input) Sum(lengths []int64) (*Sum, error) {
	if m := in.Manifest(); m != nil {
		if sum, err := hex.DecodeString(m.SHA256); err == nil && len(sum) == sha256.Size {
			return &Sum{SHA256: sum, Bytes: m.Content}, nil
		}
	}
	s := &summer{hash: sha256.New(), lengths: slices.Sorted(slices.Values(lengths)), beginnings: make(map[int64][]byte)}
	if err := addContent(s, in.raw); err != nil {
		return nil, &Error{in.raw.Name(), err}
	}
	return &Sum{s.hash.Sum(nil), s.bytes, s.beginnings}, nil
}

// A summer is a hash that notes its value after some numbers of bytes.
type summer struct {
	hash       hash.Hash
	bytes      int64
	lengths    []int64 // that are not reached, ascending
	beginnings map[int64][]byte
}

func (s *summer) Write(b []byte) (int, error) {
	n := len(b)
	for len(s.lengths) > 0 && s.lengths[0] <= s.bytes+int64(len(b)) {
		at := max(0, s.lengths[0]-s.bytes)
		s.hash.Write(b[:at])
		s.bytes, b = s.bytes+at, b[at:]
		s.beginnings[s.bytes] = s.hash.Sum(nil)
		s.lengths = s.lengths[1:]
	}
	s.hash.Write(b)
	s.bytes += int64(len(b))
	return n, nil
}

func addContent(h io.Writer, in *fileio.Input) error {
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

func addMembers(h io.Writer, dir *fileio.Input) error {
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
