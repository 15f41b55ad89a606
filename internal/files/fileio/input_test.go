package fileio

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func writeFile(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.nettrace")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOpenErrors(t *testing.T) {
	for name, want := range map[string]error{
		filepath.Join(t.TempDir(), "absent"): fs.ErrNotExist,
		t.TempDir():                          syscall.EISDIR,
	} {
		in, err := Open(name, InputOptions{})
		if in != nil || !errors.Is(err, want) {
			t.Errorf("Open(%s): %v, want %v", name, err, want)
		}
		if n := strings.Count(err.Error(), name); n != 1 {
			t.Errorf("the name is in the message %d times: %q", n, err)
		}
	}
}

func TestFileIsReadAgainAndAtRandom(t *testing.T) {
	data := noise(700 << 10)
	in, err := Open(writeFile(t, data), InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if !in.Rereadable() || in.Size() != int64(len(data)) || in.Read() != 0 {
		t.Errorf("Rereadable %v, Size %d, Read %d", in.Rereadable(), in.Size(), in.Read())
	}
	// Two streams and the random access do not move each other.
	a, _ := in.Stream()
	defer a.Close()
	half := make([]byte, len(data)/2)
	if _, err := io.ReadFull(a, half); err != nil {
		t.Fatal(err)
	}
	b, _ := in.Stream()
	defer b.Close()
	at, size, err := in.At()
	if err != nil || size != int64(len(data)) {
		t.Fatalf("At: %d, %v", size, err)
	}
	if err := errors.Join(matches(b, data), matches(io.NewSectionReader(at, 0, size), data), matches(a, data[len(half):])); err != nil {
		t.Error(err)
	}
}

func matches(r io.Reader, want []byte) error {
	got, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(got, want) {
		return errors.New("other bytes than expected")
	}
	return err
}

// The file that was opened is the one that is read, even if its name was given to another file.
func TestStreamOfAReplacedFile(t *testing.T) {
	name := writeFile(t, []byte("old content"))
	in, err := Open(name, InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := os.Rename(writeFile(t, []byte("new")), name); err != nil {
		t.Skipf("an open file cannot be replaced on this system: %v", err)
	}
	for range 2 {
		s, _ := in.Stream()
		if err := matches(s, []byte("old content")); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

// Standard input may be a file of which a shell has read a part.
func TestFileBeginsWhereTheDescriptorStands(t *testing.T) {
	data := seq(1, 3000)
	f, err := os.Open(writeFile(t, data))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Seek(100, io.SeekStart)
	in, err := FromReader("standard input", f, InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at, size, err := in.At()
	if err != nil || size != in.Size() || size != int64(len(data)-100) {
		t.Fatalf("Size %d, At %d, %v", in.Size(), size, err)
	}
	for range 2 {
		s, _ := in.Stream()
		if err := errors.Join(matches(s, data[100:]), matches(io.NewSectionReader(at, 0, size), data[100:])); err != nil {
			t.Error(err)
		}
		s.Close()
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Stat(); err != nil {
		t.Errorf("the caller's file was closed: %v", err)
	}
}

func TestFromReader(t *testing.T) {
	data := seq(1, 100)
	in, _ := FromReader("memory", bytes.NewReader(data), InputOptions{})
	if !in.Rereadable() || in.Size() != int64(len(data)) || in.Name() != "memory" {
		t.Errorf("bytes.Reader: Again %v, Size %d", in.Rereadable(), in.Size())
	}
	in, s := open(t, once(bytes.NewReader(data)), InputOptions{})
	if in.Rereadable() || in.Size() != -1 {
		t.Errorf("plain reader: Again %v, Size %d", in.Rereadable(), in.Size())
	}
	if err := matches(s, data); err != nil {
		t.Error(err)
	}
	if _, err := in.Stream(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("second stream of a plain reader: %v", err)
	}
	if _, _, err := in.At(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("At of a plain reader: %v", err)
	}
}

// The progress bar asks from its own goroutine. The race detector must report nothing, and the count must be right.
func TestReadIsSafeFromAnotherGoroutine(t *testing.T) {
	noLeaks(t)
	data := gz(t, noise(2<<20))
	in, err := Open(writeFile(t, data), InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for last := int64(0); ; {
			select {
			case <-stop:
				return
			default:
			}
			n := in.Read()
			if n < last || n > in.Size() {
				t.Errorf("Read() went from %d to %d of %d", last, n, in.Size())
				return
			}
			last = n
		}
	})
	s, _ := in.Stream()
	_, err = io.Copy(io.Discard, s)
	close(stop)
	wg.Wait()
	s.Close()
	if err != nil || in.Read() != in.Size() {
		t.Errorf("%v; Read() = %d of %d", err, in.Read(), in.Size())
	}
}

func TestReadAfterClose(t *testing.T) {
	for name, data := range map[string][]byte{"plain": []byte("text"), "gzip": gz(t, []byte("text")), "zstd": zst(t, []byte("text"))} {
		for _, r := range []io.Reader{bytes.NewReader(data), once(bytes.NewReader(data))} {
			_, s := open(t, r, InputOptions{})
			s.Read(make([]byte, 1))
			for range 2 {
				if err := s.Close(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if n, err := s.Read(make([]byte, 9)); n != 0 || !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: %d, %v after Close", name, n, err)
			}
		}
	}
}
