package fileio_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// Data written before a Flush can be read although the stream is incomplete, and all of it after Close.
func TestCompressor(t *testing.T) {
	for _, ext := range []string{".gz", ".zst"} {
		var out bytes.Buffer
		z, err := fileio.NewCompressor(&out, ext)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range []string{"first", "second"} {
			if _, err := io.WriteString(z, text); err != nil {
				t.Fatal(err)
			}
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
			if got := decompressed(t, out.Bytes()); got != "firstsecond"[:5+6*i] {
				t.Errorf("%s: after %d writes: %q", ext, i+1, got)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if got := decompressed(t, out.Bytes()); got != "firstsecond" {
			t.Errorf("%s: %q", ext, got)
		}
	}
	if _, err := fileio.NewCompressor(io.Discard, ".xz"); err == nil {
		t.Error(".xz was accepted")
	}
}

// decompressed returns what can be read of data that may be incomplete.
func decompressed(t *testing.T, data []byte) string {
	t.Helper()
	in, err := fileio.FromReader("x", bytes.NewReader(data), fileio.InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.Stream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, _ := io.ReadAll(s) // the error of incomplete data
	return string(b)
}
