package fileio

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// seq is the text of the files in testdata.
func seq(from, to int) []byte {
	var b []byte
	for i := from; i <= to; i++ {
		b = fmt.Appendln(b, i)
	}
	return b
}

// noise returns n bytes that do not compress, the same in every run.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

func gz(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func zst(t testing.TB, data []byte) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(data, nil)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// A chopper is a way for bytes to arrive.
type chopper struct {
	name string
	chop func(io.Reader) io.Reader
}

// sized delivers at most n bytes at once.
type sized struct {
	r io.Reader
	n int
}

func (s sized) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.n)]) }

// stutter returns 0, nil before every delivery, as io.Reader permits.
type stutter struct {
	r    io.Reader
	idle bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.idle = !s.idle; s.idle {
		return 0, nil
	}
	return s.r.Read(p)
}

var choppers = []chopper{
	{"whole", func(r io.Reader) io.Reader { return r }},
	{"1", iotest.OneByteReader},
	{"7", func(r io.Reader) io.Reader { return sized{r, 7} }},
	{"4096", func(r io.Reader) io.Reader { return sized{r, 4096} }},
	{"half", iotest.HalfReader},
	{"dataErr", iotest.DataErrReader},
	{"stutter", func(r io.Reader) io.Reader { return &stutter{r: r} }},
}

// once hides every method of r but Read, as a pipe would.
func once(r io.Reader) io.Reader { return struct{ io.Reader }{r} }

func open(t testing.TB, r io.Reader, opts InputOptions) (*Input, io.ReadCloser) {
	t.Helper()
	in, err := FromReader("trace.nettrace", r, opts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.Stream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return in, s
}

// noLeaks fails the test if goroutines of this package are left at its end.
func noLeaks(t testing.TB) {
	t.Cleanup(func() {
		var stacks string
		for range 500 { // a goroutine that was stopped may need a moment
			stacks = ours()
			if stacks == "" {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("goroutines left:\n%s", stacks)
	})
}

// ours returns the stacks of the goroutines that run the package's own loops.
func ours() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(g, "fileio.(*readAhead).run") || strings.Contains(g, "fileio.(*WriteBehind).run") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
