package fileio

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/ntconv/ntconv"
)

// skippable is a zstd frame that holds no data.
func skippable(data string) []byte {
	return join([]byte{0x5e, 0x2a, 0x4d, 0x18, byte(len(data)), 0, 0, 0}, []byte(data))
}

// encodings are ways to store content, each with what a stream of it must give.
func encodings(t testing.TB) map[string][2][]byte {
	text, rnd := seq(1, 20000), noise(300<<10)
	return map[string][2][]byte{
		"empty":               {nil, nil},
		"one byte of magic":   {{0x1f}, {0x1f}},
		"two bytes of magic":  {{0x28, 0xb5}, {0x28, 0xb5}},
		"almost gzip":         {{0x1f, 0x8b, 0x07, 0, 1, 2}, {0x1f, 0x8b, 0x07, 0, 1, 2}},
		"almost skippable":    {[]byte("Q\x2a\x4d\x19rest"), []byte("Q\x2a\x4d\x19rest")},
		"plain text":          {text, text},
		"plain noise":         {rnd, rnd},
		"gzip":                {gz(t, text), text},
		"gzip noise":          {gz(t, rnd), rnd},
		"gzip of nothing":     {gz(t, nil), nil},
		"gzip members":        {join(gz(t, text), gz(t, nil), gz(t, rnd), gz(t, text[:1])), join(text, rnd, text[:1])},
		"gzip in gzip":        {gz(t, gz(t, text)), gz(t, text)},
		"zstd":                {zst(t, text), text},
		"zstd noise":          {zst(t, rnd), rnd},
		"zstd frames":         {join(zst(t, text), zst(t, nil), zst(t, rnd)), join(text, rnd)},
		"zstd skippable":      {join(skippable("x"), zst(t, text), skippable(""), zst(t, rnd), skippable("end")), join(text, rnd)},
		"zstd only skippable": {skippable("nothing"), nil},
	}
}

func TestStreamGivesTheContentHoweverItArrives(t *testing.T) {
	noLeaks(t)
	for name, p := range encodings(t) {
		for _, c := range choppers {
			in, s := open(t, once(c.chop(bytes.NewReader(p[0]))), InputOptions{})
			got, err := io.ReadAll(s)
			if err != nil || !bytes.Equal(got, p[1]) {
				t.Errorf("%s, chopped %s: %d bytes, %v; want %d bytes", name, c.name, len(got), err, len(p[1]))
			}
			if in.Read() != int64(len(p[0])) {
				t.Errorf("%s, chopped %s: Read() = %d at the end of %d", name, c.name, in.Read(), len(p[0]))
			}
		}
		// A file is read ahead; its consumer may be the chopped side too.
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, p[0], 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := Open(file, InputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s, err := in.Stream()
			if err != nil {
				t.Fatal(err)
			}
			if err := iotest.TestReader(s, p[1]); err != nil {
				t.Errorf("%s from a file: %v", name, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if in.Read() != in.Size() {
				t.Errorf("%s: Read() = %d at the end of %d", name, in.Read(), in.Size())
			}
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStreamReadsWhatTheToolsWrite(t *testing.T) {
	for _, name := range []string{"gzip-two-named-members.gz", "zstd-frame-skippable-frame.zst"} {
		in, err := Open(filepath.Join("testdata", name), InputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		s, err := in.Stream()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, seq(1, 6000)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// Cut anywhere, compressed data gives a prefix of the content that never shrinks as the cut moves on, then says
// that it ended early, unless the cut is between members, where nothing is missing.
func TestStreamCutAtEveryByte(t *testing.T) {
	first, second := seq(1, 150), seq(151, 300)
	zFirst := join(zst(t, first), skippable("four"))
	for _, c := range []struct {
		name  string
		data  []byte
		clean []int
	}{
		{"gzip", join(gz(t, first), gz(t, second)), []int{len(gz(t, first))}},
		{"named gzip", namedGzip(t, first), nil},
		{"zstd", join(zFirst, zst(t, second)), []int{len(zst(t, first)), len(zFirst)}},
	} {
		whole := c.data
		_, s := open(t, once(bytes.NewReader(whole)), InputOptions{})
		full, err := io.ReadAll(s)
		if err != nil {
			t.Fatal(err)
		}
		had := 0
		for cut := maxMagic; cut < len(whole); cut++ {
			_, s := open(t, once(bytes.NewReader(whole[:cut])), InputOptions{})
			got, err := io.ReadAll(s)
			if !bytes.HasPrefix(full, got) || len(got) < had {
				t.Fatalf("%s cut at %d: %d bytes, want a prefix at least as long as %d", c.name, cut, len(got), had)
			}
			had = len(got)
			clean := false
			for _, at := range c.clean {
				clean = clean || at == cut
			}
			if clean != (err == nil) || !clean && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d of %d: %v", c.name, cut, len(whole), err)
			}
			if errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s cut at %d: called corrupt: %v", c.name, cut, err)
			}
		}
		if had != len(full) {
			t.Errorf("%s: the last byte of a checksum is missing and %d of %d bytes are delivered", c.name, had, len(full))
		}
	}
}

func namedGzip(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name, w.Comment, w.Extra = "trace.nettrace", "a comment", []byte("extra")
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func TestStreamDamage(t *testing.T) {
	text := seq(1, 5000)
	flip := func(data []byte, at int, bit byte) []byte {
		data = bytes.Clone(data)
		data[at] ^= bit
		return data
	}
	g, z := gz(t, text), zst(t, text)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"gzip checksum":        {flip(g, len(g)-6, 1), "checksum"},
		"gzip reserved flag":   {flip(g, 3, 0x40), "header"},
		"gzip then garbage":    {join(g, []byte("this is not a gzip member")), "not another member"},
		"zstd checksum":        {flip(z, len(z)-1, 1), "CRC"},
		"zstd then garbage":    {join(z, []byte("this is not a frame")), "magic"},
		"zstd reserved bit":    {flip(z, 4, 8), "reserved"},
		"zstd unknown block":   {join([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 7, 0, 0}, noise(99)), "block"},
		"zstd block too large": {join([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0xff, 0xff}, noise(99)), "window"},
	} {
		for _, ch := range choppers {
			in, s := open(t, once(ch.chop(bytes.NewReader(c.data))), InputOptions{})
			got, err := io.ReadAll(s)
			if !errors.Is(err, ErrCorrupt) || errors.Is(err, ntconv.ErrLimit) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, chopped %s: error %v", name, ch.name, err)
				continue
			}
			if !strings.Contains(err.Error(), in.Name()) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: message %q", name, err)
			}
			if !bytes.HasPrefix(text, got) {
				t.Errorf("%s: delivered other than the content", name)
			}
			if _, again := s.Read(make([]byte, 1)); again != err {
				t.Errorf("%s: the error did not stay: %v", name, again)
			}
		}
	}
}

// A failing reader is reported as itself, not as the end or damage of the data: zstd's decoder would take an
// io.ErrUnexpectedEOF from below for a clean end.
func TestStreamReadErrors(t *testing.T) {
	text := seq(1, 5000)
	for _, cause := range []error{errors.New("cable pulled"), io.ErrUnexpectedEOF, fs.ErrClosed} {
		for name, data := range map[string][]byte{"plain": text, "gzip": gz(t, text), "zstd": zst(t, text)} {
			for cut := 0; cut <= len(data); cut += max(1, len(data)/37) {
				r := io.MultiReader(bytes.NewReader(data[:cut]), iotest.ErrReader(cause))
				_, s := open(t, once(r), InputOptions{})
				got, err := io.ReadAll(s)
				var e *Error
				if !errors.Is(err, cause) || !errors.As(err, &e) || errors.Is(err, ErrCorrupt) {
					t.Fatalf("%s at %d: %v", name, cut, err)
				}
				if e.Op != "read" || e.Bytes != int64(cut) {
					t.Fatalf("%s at %d: reported as %q", name, cut, err)
				}
				if !bytes.HasPrefix(text, got) || name == "plain" && len(got) != cut {
					t.Fatalf("%s at %d: %d bytes before the error", name, cut, len(got))
				}
			}
		}
	}
}

// Everything that has been sent and flushed is readable while the sender is silent. In a synctest bubble,
// Wait returns when the reader cannot go on without more input: no clock is involved.
func TestLiveStreamIsNeverWaitedFor(t *testing.T) {
	type flusher interface {
		io.Writer
		Flush() error
	}
	for name, begin := range map[string]func(io.Writer) (send func([]byte) error){
		"plain": func(w io.Writer) func([]byte) error {
			return func(p []byte) error { _, err := w.Write(p); return err }
		},
		"plain by bytes": func(w io.Writer) func([]byte) error {
			return func(p []byte) error { _, err := io.Copy(w, iotest.OneByteReader(bytes.NewReader(p))); return err }
		},
		"gzip flushed": func(w io.Writer) func([]byte) error {
			g := gzip.NewWriter(w)
			return func(p []byte) error { g.Write(p); return flusher(g).Flush() }
		},
		"gzip members": func(w io.Writer) func([]byte) error {
			return func(p []byte) error { _, err := w.Write(gz(t, p)); return err }
		},
		"zstd flushed": func(w io.Writer) func([]byte) error {
			z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			return func(p []byte) error { z.Write(p); return flusher(z).Flush() }
		},
		"zstd frames": func(w io.Writer) func([]byte) error {
			return func(p []byte) error { _, err := w.Write(zst(t, p)); return err }
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			pr, pw := io.Pipe()
			_, s := open(t, pr, InputOptions{})
			var got []byte
			go func() {
				buf := make([]byte, 1<<20)
				for {
					n, err := s.Read(buf)
					got = append(got, buf[:n]...)
					if err != nil {
						return
					}
				}
			}()
			send := begin(pw)
			var sent []byte
			for i, chunk := range [][]byte{[]byte("Nettrace"), {1}, seq(1, 300), noise(5000), []byte("end")} {
				if err := send(chunk); err != nil {
					t.Fatal(err)
				}
				sent = append(sent, chunk...)
				synctest.Wait()
				if !bytes.Equal(got, sent) {
					t.Fatalf("%s: %d bytes readable after chunk %d, %d sent", name, len(got), i, len(sent))
				}
			}
			pw.CloseWithError(io.EOF)
			synctest.Wait()
		})
	}
}

// gunzipPadded decompresses with compress/gzip, which rejects the zeros that may pad the last member: they are removed
// one by one, because a member may end with zeros itself.
func gunzipPadded(data []byte) (out []byte, err error) {
	for {
		var r *stdgzip.Reader
		if r, err = stdgzip.NewReader(bytes.NewReader(data)); err == nil {
			out, err = io.ReadAll(r)
		}
		if err == nil || len(data) == 0 || data[len(data)-1] != 0 {
			return out, err
		}
		data = data[:len(data)-1]
	}
}

// Arbitrary bytes: no panic; chopping changes nothing; what the standard library's gzip accepts is the same here.
func FuzzStream(f *testing.F) {
	for _, p := range encodings(f) {
		f.Add(p[0][:min(len(p[0]), 4096)])
	}
	f.Add(join([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x88, 7, 0, 0}))
	limits := &Limits{Ratio: 200, Floor: 1 << 20, Output: 4 << 20, Window: 1 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, s := open(t, once(bytes.NewReader(data)), InputOptions{Limits: limits})
		got, err := io.ReadAll(s)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ntconv.ErrLimit) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("error without a class: %v", err)
		}
		_, s = open(t, once(iotest.OneByteReader(bytes.NewReader(data))), InputOptions{Limits: limits})
		chopped, cerr := io.ReadAll(s)
		// The ratio depends on how much was read when the limit was hit; nothing else may.
		if !errors.Is(err, ntconv.ErrLimit) && !errors.Is(cerr, ntconv.ErrLimit) && (!bytes.Equal(got, chopped) || (err == nil) != (cerr == nil)) {
			t.Fatalf("whole: %d bytes, %v; chopped: %d bytes, %v", len(got), err, len(chopped), cerr)
		}
		c, sure := sniff(data)
		switch {
		case c == plain || !sure:
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("plain input changed: %v", err)
			}
		case c == gzipped && err == nil:
			if want, err := gunzipPadded(data); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes; compress/gzip: %d bytes, %v", len(got), len(want), err)
			}
		}
	})
}
