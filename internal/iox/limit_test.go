package iox

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// zeros is a reader of n zero bytes.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), z.n)]
	clear(p)
	z.n -= int64(len(p))
	return len(p), nil
}

// bomb compresses n zeros while it is read.
func bomb(t testing.TB, format compression, n int64) io.Reader {
	pr, pw := io.Pipe()
	t.Cleanup(func() { pr.Close() })
	go func() {
		var w io.WriteCloser
		var err error
		if format == gzipped {
			w, err = gzip.NewWriterLevel(pw, 1)
		} else {
			w, err = zstd.NewWriter(pw, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10))
		}
		if err == nil {
			_, err = io.Copy(w, &zeros{n: n})
		}
		if err == nil {
			err = w.Close()
		}
		pw.CloseWithError(err)
	}()
	return pr
}

// allocated returns the bytes f allocated, in all goroutines.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestBombStopsAtTheRatio(t *testing.T) {
	noLeaks(t)
	for _, c := range []compression{gzipped, zstandard} {
		pipe := bomb(t, c, 1<<30)
		file := filepath.Join(t.TempDir(), "bomb")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, bomb(t, c, 100<<20)); err != nil {
			t.Fatal(err)
		}
		f.Close()
		in, err := Open(file, InputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		stored, err := in.Stream()
		if err != nil {
			t.Fatal(err)
		}
		defer stored.Close()

		_, live := open(t, pipe, InputOptions{})
		for name, s := range map[string]io.Reader{"pipe": live, "file": stored} {
			var n int64
			used := allocated(func() { n, err = io.Copy(io.Discard, s) })
			var limit *LimitError
			if !errors.Is(err, ErrLimit) || !errors.As(err, &limit) || limit.Flag != FlagRatio {
				t.Fatalf("%v %s: %d bytes, %v", c, name, n, err)
			}
			if most := max(64<<20, 200*limit.In); n > most || n < 64<<20 || limit.Out != n {
				t.Errorf("%v %s: delivered %d bytes, allowed %d, reported %d", c, name, n, most, limit.Out)
			}
			if used > 8<<20 {
				t.Errorf("%v %s: allocated %d bytes", c, name, used)
			}
			if !strings.Contains(err.Error(), "--max-ratio") || strings.ContainsAny(err.Error(), "\n%!") {
				t.Errorf("message %q", err)
			}
		}
	}
}

func TestRatioZeroMeansNone(t *testing.T) {
	_, s := open(t, bomb(t, gzipped, 70<<20), InputOptions{Limits: &Limits{}})
	if n, err := io.Copy(io.Discard, s); n != 70<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A limit lets exactly as many bytes through as it says, and content of exactly that size is no error.
func TestOutputLimitIsExact(t *testing.T) {
	text := seq(1, 5000)
	for name, data := range map[string][]byte{"gzip": gz(t, text), "zstd": zst(t, text), "plain": text} {
		for _, c := range choppers {
			for _, most := range []int{1, 1000, len(text) - 1, len(text), len(text) + 1} {
				l := DefaultLimits()
				l.Output = int64(most)
				_, s := open(t, once(c.chop(bytes.NewReader(data))), InputOptions{Limits: l})
				got, err := io.ReadAll(s)
				over := name != "plain" && most < len(text)
				if over != errors.Is(err, ErrLimit) || !over && err != nil {
					t.Errorf("%s at %d of %d: %v", name, most, len(text), err)
				}
				want := text
				if over {
					want = text[:most]
					if !strings.Contains(err.Error(), FlagOutput) {
						t.Errorf("message %q", err)
					}
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s at %d: %d bytes", name, most, len(got))
				}
			}
		}
	}
}

func TestAllowed(t *testing.T) {
	d := DefaultLimits()
	for _, c := range []struct {
		l    *Limits
		in   int64
		want int64
		flag string
	}{
		{d, 0, 64 << 20, FlagRatio},
		{d, 64 << 20 / 200, 64 << 20, FlagRatio},
		{d, 1 << 20, 200 << 20, FlagRatio},
		{d, 1 << 40, 16 << 30, FlagOutput},
		{&Limits{}, 5, -1, ""},
		{&Limits{Output: 7}, 5, 7, FlagOutput},
		{&Limits{Ratio: 3}, 5, 15, FlagRatio},
		{&Limits{Ratio: math.MaxInt64}, 5, math.MaxInt64, FlagRatio},
		{&Limits{Ratio: 1 << 40}, 1 << 40, math.MaxInt64 >> 40 << 40, FlagRatio},
	} {
		if n, _, flag, _ := c.l.allowed(c.in); n != c.want || flag != c.flag {
			t.Errorf("%+v after %d: %d %s, want %d %s", *c.l, c.in, n, flag, c.want, c.flag)
		}
	}
}

// Nine bytes that ask for a window: refused over the limit, before anything of that size is allocated.
func TestZstdWindow(t *testing.T) {
	single := func(size uint32) []byte { // single segment: the window is the claimed content
		return []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24), 1, 0, 0}
	}
	tool, err := os.ReadFile(filepath.Join("testdata", "zstd-window-128MiB.zst"))
	if err != nil {
		t.Fatal(err)
	}
	l128 := DefaultLimits()
	l128.Window = 128 << 20
	for _, c := range []struct {
		name   string
		data   []byte
		limits *Limits
		refuse bool
	}{
		{"64 MiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x80, 1, 0, 0}, nil, false},
		{"72 MiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x81, 1, 0, 0}, nil, true},
		{"3.75 TiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, nil, true},
		{"3.75 TiB unlimited", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, &Limits{}, true},
		{"4 GiB single segment", single(math.MaxUint32), nil, true},
		{"tool's 128 MiB", tool, nil, true},
		{"tool's 128 MiB allowed", tool, l128, false},
		{"second frame", join(zst(t, []byte("first")), tool), nil, true},
	} {
		for _, ch := range choppers {
			_, s := open(t, once(ch.chop(bytes.NewReader(c.data))), InputOptions{Limits: c.limits})
			used := allocated(func() { _, err = io.Copy(io.Discard, s) })
			if errors.Is(err, ErrLimit) != c.refuse || !c.refuse && err != nil {
				t.Errorf("%s, chopped %s: %v", c.name, ch.name, err)
			}
			if c.refuse && (used > 4<<20 || !strings.Contains(err.Error(), FlagWindow)) {
				t.Errorf("%s: allocated %d bytes, message %q", c.name, used, err)
			}
		}
	}
}
