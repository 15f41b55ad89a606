package fileio

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
	"github.com/ntconv/ntconv"
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
			var limit *ntconv.LimitError
			var at *Error
			if !errors.Is(err, ntconv.ErrLimit) || !errors.As(err, &limit) || !errors.As(err, &at) || limit.Limit != LimitRatio || limit.Value != 200 || limit.Asked <= 200 {
				t.Fatalf("%v %s: %d bytes, %v", c, name, n, err)
			}
			if most := max(64<<20, 200*at.Bytes); n > most || n < 64<<20 {
				t.Errorf("%v %s: delivered %d bytes, allowed %d", c, name, n, most)
			}
			if used > 8<<20 {
				t.Errorf("%v %s: allocated %d bytes", c, name, used)
			}
			if !strings.Contains(err.Error(), "decompression ratio too large: limit 200 to 1, got ") || strings.ContainsAny(err.Error(), "\n%!") {
				t.Errorf("message %q", err)
			}
		}
	}
}

// A limit permits exactly the stated number of bytes, and content of exactly that size is not an error.
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
				if over != errors.Is(err, ntconv.ErrLimit) || !over && err != nil {
					t.Errorf("%s at %d of %d: %v", name, most, len(text), err)
				}
				want := text
				if over {
					want = text[:most]
					var limit *ntconv.LimitError
					if !errors.As(err, &limit) || limit.Limit != LimitOutput || limit.Value != int64(most) || limit.Asked <= int64(most) || limit.Asked > int64(len(text)) {
						t.Errorf("%s at %d of %d: %v", name, most, len(text), err)
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
		l     *Limits
		in    int64
		want  int64
		limit string
	}{
		{d, 0, 64 << 20, LimitRatio},
		{d, 64 << 20 / 200, 64 << 20, LimitRatio},
		{d, 1 << 20, 200 << 20, LimitRatio},
		{d, 1 << 40, 16 << 30, LimitOutput},
		{&Limits{}, 5, -1, ""},
		{&Limits{Output: 7}, 5, 7, LimitOutput},
		{&Limits{Ratio: 3}, 5, 15, LimitRatio},
		{&Limits{Ratio: math.MaxInt64}, 5, math.MaxInt64, LimitRatio},
		{&Limits{Ratio: 1 << 40}, 1 << 40, math.MaxInt64 >> 40 << 40, LimitRatio},
	} {
		if n, limit := c.l.allowed(c.in); n != c.want || limit != c.limit {
			t.Errorf("%+v after %d: %d %s, want %d %s", *c.l, c.in, n, limit, c.want, c.limit)
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
	l64 := DefaultLimits()
	l64.Window = 64 << 20
	for _, c := range []struct {
		name   string
		data   []byte
		limits *Limits
		refuse int64 // the window that is refused
	}{
		{"128 MiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x88, 1, 0, 0}, nil, 0},
		{"144 MiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x89, 1, 0, 0}, nil, 144 << 20},
		{"256 MiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x90, 1, 0, 0}, nil, 256 << 20},
		{"2 GiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, 1, 0, 0}, nil, 2 << 30},
		{"3.75 TiB", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, nil, 15 << 38},
		{"3.75 TiB unlimited", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, &Limits{}, 15 << 38},
		{"4 GiB single segment", single(math.MaxUint32), nil, math.MaxUint32},
		{"tool's 128 MiB", tool, nil, 0},
		{"tool's 128 MiB refused", tool, l64, 128 << 20},
		{"second frame", join(zst(t, []byte("first")), tool), l64, 128 << 20},
	} {
		for _, ch := range choppers {
			_, s := open(t, once(ch.chop(bytes.NewReader(c.data))), InputOptions{Limits: c.limits})
			used := allocated(func() { _, err = io.Copy(io.Discard, s) })
			var limit *ntconv.LimitError
			if errors.As(err, &limit) != (c.refuse > 0) || c.refuse == 0 && err != nil {
				t.Errorf("%s, chopped %s: %v", c.name, ch.name, err)
			}
			if c.refuse == 0 {
				continue
			}
			want := ntconv.LimitError{Limit: LimitWindow, Value: 128 << 20, Asked: c.refuse, Unit: "bytes"}
			if c.limits != nil {
				want.Value = c.limits.Window
			}
			if want.Value == 0 {
				want.Limit, want.Value = LimitDecoder, 2<<30
			}
			if used > 4<<20 || *limit != want {
				t.Errorf("%s, chopped %s: allocated %d bytes, %+v, want %+v", c.name, ch.name, used, *limit, want)
			}
		}
	}
}
