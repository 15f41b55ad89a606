package fileio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
)

// Data that is compressed several times has the limits of the outermost level, and a ratio to what is stored there,
// whichever levels there are and however often the input is opened again.
func TestLayersShareTheLimits(t *testing.T) {
	const size = 4 << 20
	data := make([]byte, size)
	for name, stored := range map[string][]byte{
		"gzip in gzip":                  gz(t, gz(t, data)),
		"zstd in gzip":                  gz(t, zst(t, data)),
		"gzip in zstd":                  zst(t, gz(t, data)),
		"gzip in gzip in gzip":          gz(t, gz(t, gz(t, data))),
		"members":                       join(gz(t, gz(t, data[:size/2])), gz(t, gz(t, data[size/2:]))),
		"deflate in zip":                zipOf(t, 8, map[string]string{"m": string(data)}),
		"gzip in zip":                   zipOf(t, 8, map[string]string{"m": string(gz(t, data))}),
		"zstd in gzip in stored in zip": zipOf(t, 0, map[string]string{"m": string(gz(t, zst(t, data)))}),
	} {
		most := int64(len(stored)) * 20
		for _, limits := range []*Limits{
			{Ratio: 20, Window: 64 << 20}, {Output: most, Window: 64 << 20}, {Ratio: 20, Floor: size, Window: 64 << 20}, {Window: 64 << 20},
		} {
			n, err := unpackAll(t, stored, limits)
			ends := limits.Ratio > 0 && limits.Floor < size || limits.Output > 0
			var of *ntconv.LimitError
			var at *Error
			if ends != errors.As(err, &of) || ends && (n > most || !errors.As(err, &at) || filepath.Base(at.Name) != "in" && filepath.Base(at.Name) != "m") {
				t.Errorf("%s of %d bytes, %+v: %d bytes, %v", name, len(stored), limits, n, err)
			}
			if !ends && (n != size || err != nil) {
				t.Errorf("%s, %+v: %d bytes, %v", name, limits, n, err)
			}
		}
	}
}

// unpackAll returns the size of the content after all levels were decompressed. The inner ones are opened as a reader
// of a format does.
func unpackAll(t *testing.T, stored []byte, limits *Limits) (int64, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, stored, 0o600); err != nil {
		t.Fatal(err)
	}
	in := openWith(t, path, InputOptions{Limits: limits})
	if m, err := in.Member("m"); err == nil {
		defer m.Close()
		in = m
	}
	var r io.Reader
	for {
		s, err := in.Stream()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		head := make([]byte, maxMagic)
		n, err := io.ReadFull(s, head)
		r = replayed{io.MultiReader(bytes.NewReader(head[:n]), s), s}
		if c, sure := sniff(head[:n]); err != nil || !sure || c == plain {
			break
		}
		if in, err = FromReader("inner", r, InputOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return io.Copy(io.Discard, r)
}

// A replayed reader begins with what was read of another one.
type replayed struct {
	io.Reader
	of io.Reader
}

func (r replayed) Layer() *Layer { return LayerOf(r.of) }
