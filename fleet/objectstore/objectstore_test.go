package objectstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ntconv/ntconv/fleet/storefake"
	"github.com/ntconv/ntconv/internal/files/store"
)

// each runs a test with a store of each kind, whose objects are then those of its scheme.
func each(t *testing.T, test func(t *testing.T, s *storefake.Server)) {
	t.Helper()
	register()
	storefake.Each(t, func(t *testing.T, s *storefake.Server) {
		s.Setenv(t)
		test(t, s)
	})
}

var register = sync.OnceFunc(Register)

// content returns bytes that do not repeat.
func content(n int, seed uint64) []byte {
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestObjects writes, reads, lists and removes objects as if they were files.
func TestObjects(t *testing.T) {
	each(t, func(t *testing.T, s *storefake.Server) {
		sizes := map[string]int{"a/empty": 0, "a/small": 10, "a/b/block": store.BlockSize, "a/b/large": 12<<20 + 7, "c": 1}
		for key, n := range sizes {
			must(t, store.WriteBytes(s.Name(key), content(n, 1), store.CreateOptions{Absent: true}))
		}
		for key, n := range sizes {
			f, err := store.Open(s.Name(key))
			must(t, err)
			data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
			if err != nil || !bytes.Equal(data, content(n, 1)) {
				t.Errorf("%s: %d bytes, %v", key, len(data), err)
			}
			part := make([]byte, min(n, 100))
			if _, err := f.ReadAt(part, int64(n/3)); n > 1000 && (err != nil || !bytes.Equal(part, content(n, 1)[n/3:n/3+len(part)])) {
				t.Errorf("%s: a range differs: %v", key, err)
			}
			must(t, f.Close())
		}
		var names []string
		entries, err := store.ReadDir(s.Name("a"))
		must(t, err)
		for _, e := range entries {
			names = append(names, fmt.Sprint(e.Name(), e.IsDir()))
		}
		if got := fmt.Sprint(names); got != "[btrue emptyfalse smallfalse]" {
			t.Errorf("directory: %s", got)
		}
		for name, dir := range map[string]bool{strings.TrimSuffix(s.Name(""), "/"): true, s.Name("a"): true, s.Name("a/"): true, s.Name("a/b/"): true, s.Name("c"): false} {
			if info, err := store.Stat(name); err != nil || info.IsDir() != dir {
				t.Errorf("%s: directory %v, %v", name, !dir, err)
			}
		}
		must(t, store.Remove(s.Name("c")))
		if _, err := store.Stat(s.Name("c")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after removal: %v", err)
		}
		if _, err := store.Open(s.Name("no")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing object: %v", err)
		}
		if _, err := store.Open(s.Scheme + "://other/no"); err == nil {
			t.Error("an object of a bucket that does not exist was opened")
		}
	})
}

// TestAbsent checks that of many writers of one name one succeeds, and that nobody replaces its object.
func TestAbsent(t *testing.T) {
	each(t, func(t *testing.T, s *storefake.Server) {
		var won atomic.Int64
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				err := store.WriteBytes(s.Name("lock"), []byte{byte(i)}, store.CreateOptions{Absent: true})
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, fs.ErrExist):
					t.Errorf("writer %d: %v", i, err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%d writers succeeded", won.Load())
		}
	})
}

// TestNoBucket checks that a bucket that does not exist is not reported as a missing file.
func TestNoBucket(t *testing.T) {
	each(t, func(t *testing.T, s *storefake.Server) {
		for name, want := range map[string]bool{s.Scheme + "://absent/a": true, s.Scheme + "://absent/a/b": true, s.Name("a"): false} {
			_, opened := store.Open(name)
			_, found := store.Stat(name)
			_, listed := store.ReadDir(name)
			for what, err := range map[string]error{"open": opened, "stat": found, "list": listed} {
				if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "no such bucket") != want {
					t.Errorf("%s %s: %v", what, name, err)
				}
			}
		}
		if err := store.WriteBytes(s.Scheme+"://absent/a", nil, store.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "no such bucket") {
			t.Errorf("write: %v", err)
		}
	})
}

// TestWhole checks that an object appears when it is committed, and not at all after Abort.
func TestWhole(t *testing.T) {
	each(t, func(t *testing.T, s *storefake.Server) {
		for name, end := range map[string]func(store.Writer) error{"commit": store.Writer.Commit, "abort": store.Writer.Abort} {
			w, err := store.Create(s.Name(name), store.CreateOptions{})
			must(t, err)
			for range 20 {
				_, err = w.Write(content(1<<20, 3))
				must(t, err)
			}
			if _, err := store.Stat(s.Name(name)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: before the end: %v", name, err)
			}
			must(t, end(w))
			if info, err := store.Stat(s.Name(name)); (err == nil) != (name == "commit") || err == nil && info.Size() != 20<<20 {
				t.Errorf("%s: afterwards: %v", name, err)
			}
		}
	})
}

// TestFaults makes a fifth of the requests fail in all ways; every object is read as it was written.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, s *storefake.Server) {
		s.Fail(0.2, 7)
		for i := range 40 {
			name, data := fmt.Sprintf(s.Name("%d"), i%10), content(i*1000, uint64(i))
			err := store.WriteBytes(name, data, store.CreateOptions{})
			must(t, err)
			got, err := store.ReadFile(name)
			must(t, err)
			if !bytes.Equal(got, data) {
				t.Fatalf("object %d differs", i)
			}
		}
		for i := range 20 {
			must(t, store.WriteBytes(fmt.Sprintf(s.Name("once/%d"), i), []byte{byte(i)}, store.CreateOptions{Absent: true}))
		}
		entries, err := store.ReadDir(s.Name("once"))
		if err != nil || len(entries) != 20 {
			t.Errorf("%d entries: %v", len(entries), err)
		}
		if s.Failed.Load() < 20 {
			t.Errorf("only %d requests failed", s.Failed.Load())
		}
	})
}

// TestChanged checks that an object that is replaced while it is read is not a mixture.
func TestChanged(t *testing.T) {
	each(t, func(t *testing.T, s *storefake.Server) {
		must(t, store.WriteBytes(s.Name("a"), content(20<<20, 1), store.CreateOptions{}))
		f, err := store.Open(s.Name("a"))
		must(t, err)
		buf := make([]byte, 100)
		_, err = f.ReadAt(buf, 0)
		must(t, err)
		must(t, store.WriteBytes(s.Name("a"), content(20<<20+1, 2), store.CreateOptions{}))
		if _, err := f.ReadAt(buf, 15<<20); !errors.Is(err, store.ErrChanged) {
			t.Errorf("got %v, want ErrChanged", err)
		}
	})
}
