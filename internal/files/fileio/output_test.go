package fileio

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// temps returns the temporary files in dir.
func temps(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".ntconv-*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// content returns what a file holds, "absent" if it does not exist.
func content(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func create(t testing.TB, name string, opts OutputOptions) *Output {
	t.Helper()
	o, err := Create(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Abort() })
	return o
}

// Systems without an exclusive rename fall back on hard links.
func TestLinkNew(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for i, want := range []error{nil, fs.ErrExist} {
		os.WriteFile(from, []byte{byte('0' + i)}, 0o600)
		if err := linkNew(from, to); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
		if content(t, to) != "0" {
			t.Errorf("%d: destination holds %q", i, content(t, to))
		}
	}
	os.Remove(to)
	if err := linkNew(filepath.Join(dir, "nothing"), to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("renaming nothing: %v", err)
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]error{
		dir:                               syscall.EISDIR,
		filepath.Join(dir, "no", "out"):   fs.ErrNotExist,
		filepath.Join(dir, "\x00invalid"): nil,
	} {
		o, err := Create(name, OutputOptions{Force: true})
		if o != nil || err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("Create(%q): %v, want %v", name, err, want)
		}
		if err != nil && strings.Contains(err.Error(), ".tmp") {
			t.Errorf("the temporary name reached the user: %v", err)
		}
	}
}

func TestTempNames(t *testing.T) {
	long := strings.Repeat("ä", 120) // 240 bytes, cut inside a letter
	for _, base := range []string{"out", "out.0123456789abcdef", "a b.json", long} {
		name := tempName(base, 0x12ab)
		if len(name) > 255 || !isTemp(name, base) || !strings.HasPrefix(name, ".ntconv-") || !strings.HasSuffix(name, ".tmp") {
			t.Errorf("%q: %q", base, name)
		}
	}
	for _, c := range [][2]string{
		{tempName("out.0123456789abcdef", 1), "out"},
		{tempName("out", 1), "out2"},
		{".ntconv-out.tmp", "out"},
		{".ntconv-out.000000000000000g.tmp", "out"},
		{".ntconv-out.0000000000000001.txt", "out"},
	} {
		if isTemp(c[0], c[1]) {
			t.Errorf("%q taken for a temporary file of %q", c[0], c[1])
		}
	}
}

func TestCleaner(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	c := new(Cleaner)
	opts := OutputOptions{Cleaner: c}
	done := create(t, at("done"), opts)
	done.Write([]byte("complete"))
	if err := done.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		create(t, at(name), opts).Write(make([]byte, 1<<20))
	}
	if err := errors.Join(c.AbortAll(), c.AbortAll()); err != nil {
		t.Error(err)
	}
	if _, err := Create(at("late"), opts); !errors.Is(err, ErrAborted) {
		t.Errorf("Create after AbortAll: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 || content(t, at("done")) != "complete" {
		t.Errorf("left: %v", entries)
	}
	var none *Cleaner
	if err := none.AbortAll(); err != nil {
		t.Error(err)
	}
}

// openFS calls a function when it has opened a file.
type openFS struct {
	osFS
	opened func()
}

func (o openFS) open(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := o.osFS.open(name, flag, perm)
	o.opened()
	return f, err
}

// TestAbortAllWhileCreating: a file that is being created when all are aborted is gone when that is done.
func TestAbortAllWhileCreating(t *testing.T) {
	dir := t.TempDir()
	c := new(Cleaner)
	left := make(chan []string, 1)
	opened := func() {
		go func() {
			if err := c.AbortAll(); err != nil {
				t.Error(err)
			}
			left <- temps(t, dir)
		}()
		select { // it must not end before the file is known; if it does, it has some time for that
		case l := <-left:
			left <- l
		case <-time.After(100 * time.Millisecond):
		}
	}
	o, err := Create(filepath.Join(dir, "out"), OutputOptions{Cleaner: c, fs: openFS{opened: opened}})
	if l := <-left; len(l) != 0 {
		t.Errorf("all are aborted, and %q is there", l)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); !errors.Is(err, ErrAborted) {
		t.Errorf("commit: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "out"), OutputOptions{Cleaner: c}); !errors.Is(err, ErrAborted) || len(temps(t, dir)) > 0 {
		t.Errorf("created after the end: %v, %q", err, temps(t, dir))
	}
}

// A hookFS calls back in the middle of a commit.
type hookFS struct {
	osFS
	atSync, atRename func()
}

func (h hookFS) open(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := h.osFS.open(name, flag, perm)
	return hookFile{f, h.atSync}, err
}

func (h hookFS) renameNew(from, to string) error {
	h.atRename()
	return h.osFS.renameNew(from, to)
}

type hookFile struct {
	file
	atSync func()
}

func (h hookFile) Sync() error {
	h.atSync()
	return h.file.Sync()
}

// Until the rename, an abort wins over a commit and does not wait for its disk; from then on, it has lost.
func TestAbortInsideCommit(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	var o *Output
	var aborted sync.WaitGroup
	none := func() {}
	o = create(t, dest, OutputOptions{fs: hookFS{atRename: none, atSync: func() {
		if err := o.Abort(); err != nil {
			t.Error(err)
		}
	}}})
	o.Write([]byte("new"))
	if err := o.Commit(); !errors.Is(err, ErrAborted) || content(t, dest) != "absent" || len(temps(t, dir)) != 0 {
		t.Errorf("aborted during sync: %v, destination %q, left %q", err, content(t, dest), temps(t, dir))
	}

	o = create(t, dest, OutputOptions{fs: hookFS{atSync: none, atRename: func() {
		aborted.Go(func() {
			if err := o.Abort(); err != nil {
				t.Error(err)
			}
		})
	}}})
	o.Write([]byte("new"))
	if err := o.Commit(); err != nil || content(t, dest) != "new" {
		t.Errorf("aborted during rename: %v, destination %q", err, content(t, dest))
	}
	aborted.Wait()
	if err := o.Commit(); err != nil || content(t, dest) != "new" {
		t.Errorf("afterwards: %v, destination %q", err, content(t, dest))
	}
}

func TestNewGzip(t *testing.T) {
	data := append(bytes.Repeat(seq(1, 2000), 30), noise(100<<10)...)
	for level := -1; level <= 9; level++ {
		var first []byte
		for _, size := range []int{len(data), 1 << 12, 7} {
			var b bytes.Buffer
			w, err := NewGzip(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			for rest := data; len(rest) > 0; rest = rest[min(size, len(rest)):] {
				w.Write(rest[:min(size, len(rest))])
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
				_, s := open(t, once(bytes.NewReader(first)), InputOptions{})
				if err := matches(s, data); err != nil {
					t.Errorf("level %d: %v", level, err)
				}
			}
			if !bytes.Equal(b.Bytes(), first) {
				t.Errorf("level %d: writes of %d bytes give other output", level, size)
			}
		}
		// No flags (so no name), and no time.
		if head := first[3:8]; !bytes.Equal(head, make([]byte, 5)) {
			t.Errorf("level %d: header % x", level, head)
		}
	}
	for _, level := range []int{-4, -3, -2, 10} {
		if _, err := NewGzip(nil, level); err == nil {
			t.Errorf("level %d accepted", level)
		}
	}
}
