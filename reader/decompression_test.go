package reader

import (
	"bytes"
	"compress/gzip"
	"errors"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// TestCompressionLimit checks that exceeding a limit of decompression is the same kind of error.
func TestCompressionLimit(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	s := wirestream.New(z, wire.V6)
	for range 6 {
		s.Block(77, make([]byte, 15<<20))
	}
	s.End()
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := count(b.Bytes(), nil)
	var l *ntconv.LimitError
	if !errors.As(err, &l) || l.Limit != LimitRatio || l.Value != 200 || l.Asked <= 200 || l.Asked > 1032 {
		t.Errorf("%v", err)
	}
	for _, d := range []ntconv.DecompressionLimits{{Ratio: 2000}, {Ratio: -1}, {Ratio: 2000, Bytes: 91 << 20}} {
		if _, err = count(b.Bytes(), &Options{Decompression: d}); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
	}
	_, err = count(b.Bytes(), &Options{Decompression: ntconv.DecompressionLimits{Bytes: 1 << 20}})
	if !errors.As(err, &l) || l.Limit != LimitOutput || l.Value != 1<<20 || l.Asked <= 1<<20 {
		t.Errorf("at most 1 MiB: %v", err)
	}
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x81, 1, 0, 0}
	_, err = count(window, &Options{Decompression: ntconv.DecompressionLimits{Window: 1 << 20}})
	if !errors.As(err, &l) || l.Limit != LimitWindow || l.Value != 1<<20 {
		t.Errorf("a window of at most 1 MiB: %v", err)
	}
	_, err = count([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x89, 1, 0, 0}, nil) // a frame header with a window of 144 MiB
	if want := (ntconv.LimitError{Limit: LimitWindow, Value: 128 << 20, Asked: 144 << 20, Unit: "bytes"}); !exceeds(err, want) {
		t.Errorf("%v, want %+v", err, want)
	}
}
