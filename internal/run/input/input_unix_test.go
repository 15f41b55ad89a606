//go:build unix

package input_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/run/formats"
	"github.com/ntconv/ntconv/internal/run/input"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/spf13/pflag"
)

func options(t *testing.T) *input.Options {
	return &input.Options{Openers: new(formats.Openers), Temp: func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") }}
}

// count returns the number of events of one pass over an input.
func count(t *testing.T, in *input.Input) (n int) {
	t.Helper()
	src, closer, err := in.Source(&formats.ReadOptions{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			n++
		}
	}
	return n
}

// A file can be read any number of times. A pipe can be read once, or any number of times on request.
func TestAgain(t *testing.T) {
	path := corpus.Path("cpu-env.nettrace.zst")
	data := corpus.Trace(t, "cpu-env").Data
	for _, again := range []bool{false, true} {
		o := options(t)
		o.Again = again
		in, err := input.Open([]string{path}, o)
		if err != nil {
			t.Fatal(err)
		}
		if first, second := count(t, in), count(t, in); !in.Rereadable() || in.Format.Name != "nettrace" || first != second {
			t.Errorf("again %v: a file is read differently a second time", again)
		}
		in.Close()

		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Skip(err)
		}
		go func() {
			if w, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
				_, _ = w.Write(data)
				w.Close()
			}
		}()
		if in, err = input.Open([]string{fifo}, o); err != nil {
			t.Fatal(err)
		}
		if n := count(t, in); n != 1786 || in.Rereadable() != again {
			t.Errorf("again %v: %d events, can be read again: %v", again, n, in.Rereadable())
		}
		if again && count(t, in) != 1786 {
			t.Error("the copy of a pipe is read differently a second time")
		} else if _, _, err := in.Source(&formats.ReadOptions{}); !again && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a pipe is read twice: %v", err)
		}
		in.Close()
	}
}

// A pipe is copied only if its format is known and its data can be decompressed, and only up to the limit. Otherwise
// the endless pipe of this test would not end.
func TestCopyOfPipe(t *testing.T) {
	data := corpus.Trace(t, "cpu-env").Data
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0} // a zstd frame with a window of terabytes
	for _, c := range []struct {
		name   string
		start  []byte
		from   *formats.Format
		want   error
		copied bool
	}{
		{"unknown", []byte("some text "), nil, ntconv.ErrFormat, false},
		{"window", window, nil, ntconv.ErrLimit, false},
		{"window of a stated format", window, formats.Nettrace(), ntconv.ErrLimit, false},
		{"endless", data, nil, ntconv.ErrLimit, true},
	} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Skip(err)
		}
		go func() {
			w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
			for b := c.start; err == nil; b = make([]byte, 1<<16) {
				_, err = w.Write(b)
			}
			w.Close()
		}()
		o := options(t)
		var temp *os.File
		create := o.Temp
		o.Temp = func() (f *os.File, err error) {
			temp, err = create()
			return temp, err
		}
		var copied func() int64
		stopped := false
		o.Copying = func(n func() int64) func() {
			copied = n
			return func() { stopped = true }
		}
		o.Again, o.MaxTemp, o.From = true, 2<<20, c.from
		_, err := input.Open([]string{fifo}, o)
		if !errors.Is(err, c.want) || strings.Count(err.Error(), fifo) != 1 || (temp != nil) != c.copied || stopped != c.copied {
			t.Errorf("%s: %v, temporary file %v", c.name, err, temp)
		}
		if c.copied && (copied() <= int64(len(data)) || copied() > o.MaxTemp) {
			t.Errorf("%s: %d bytes copied", c.name, copied())
		}
	}
}

// Several inputs are read as one, and an error names its input once.
func TestSeveral(t *testing.T) {
	path := corpus.Path("cpu-env.nettrace.zst")
	in, err := input.Open([]string{path, corpus.Path("go-cpu.pb.gz")}, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if n := count(t, in); n != 1786+99 || in.Name() != path+" and 1 more" {
		t.Errorf("%d events of %s", n, in.Name())
	}
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.nettrace")
	if err := os.WriteFile(cut, corpus.Trace(t, "cpu-env").Data[:100_000], 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := input.Open([]string{path, cut}, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	src, closer, err := both.Source(&formats.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	_, err = ntconvtest.Record(src)
	var of *input.Error
	if !errors.As(err, &of) || of.Name != cut || strings.Count(err.Error(), cut) != 1 || !errors.Is(err, ntconv.ErrTruncated) {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]error{"": input.ErrNoName, filepath.Join(dir, "absent"): os.ErrNotExist, dir: syscall.EISDIR, corpus.Path("README.md"): ntconv.ErrFormat} {
		_, err := input.Open([]string{path, name}, options(t))
		if !errors.Is(err, want) || !errors.As(err, &of) || name != "" && strings.Count(err.Error(), name) != 1 {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// A directory is recognized by the names of its members, and a format reads them.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"parts/b", "parts/a", "manifest"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened := new(partsOpener)
	o := options(t)
	o.Table = []*formats.Format{formats.Nettrace(), {Name: "parts", Exts: []string{".parts"}, In: &formats.In{
		SniffDir: func(members []string) bool { return slices.Contains(members, "manifest") },
		Bind:     func(*pflag.FlagSet) formats.Opener { return opened },
	}}}
	in, err := input.Open([]string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if in.Format.Name != "parts" {
		t.Fatalf("recognized as %s", in.Format.Name)
	}
	if count(t, in); opened.text != "manifest parts/a parts/b " {
		t.Errorf("read %q", opened.text)
	}
	o.Table = o.Table[:1]
	if _, err := input.Open([]string{dir}, o); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory of no format: %v", err)
	}
}

// A partsOpener reads all members of an input, and the first one with random access.
type partsOpener struct{ text string }

func (p *partsOpener) Open(in formats.Input, _ *formats.ReadOptions) (ntconv.Source, error) {
	if _, err := in.Stream(); err == nil {
		return nil, errors.New("a directory has a stream")
	}
	names, err := in.Members()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := in.Member(name)
		if err != nil {
			return nil, err
		}
		r, err := m.Stream()
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		at, size, err := m.At()
		if err != nil {
			return nil, err
		}
		var first [1]byte
		if _, err := at.ReadAt(first[:], 0); err != nil || size != int64(len(b)) || first[0] != b[0] {
			return nil, fmt.Errorf("random access to %s: %d bytes, %v", name, size, err)
		}
		p.text += string(b) + " "
	}
	_, err = in.Member("../escape")
	if err == nil {
		return nil, errors.New("a member outside of the directory")
	}
	return ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1}}), nil
}

func (p *partsOpener) Notes() []string        { return nil }
func (p *partsOpener) ForRun() formats.Opener { return p }
