package fileio

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

func createOutputs(t testing.TB, name string, opts OutputsOptions) *Outputs {
	t.Helper()
	o, err := CreateOutputs(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Abort() })
	return o
}

// fill writes a set as a format does: some members are closed, some are left open for Commit.
func fill(o *Outputs, files map[string]string) error {
	for i, name := range slices.Sorted(maps.Keys(files)) {
		m, err := o.Create(name)
		if err != nil {
			return err
		}
		for rest := files[name]; len(rest) > 0; {
			n := min(len(rest), 10007)
			if _, err := m.Write([]byte(rest[:n])); err != nil {
				return err
			}
			rest = rest[n:]
		}
		if i%2 == 0 && name != "" {
			if err := m.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func newFiles() map[string]string {
	return map[string]string{
		"a.nettrace": string(noise(200 << 10)), "b": "small", "sub/c": string(noise(70000)), "sub/deep/d": "", "z": "last",
	}
}

// Members may be written in turns, closed twice, and a thousand of them need no thousand descriptors.
func TestMembers(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "out")
	o := createOutputs(t, dest+"/", OutputsOptions{OutputOptions: OutputOptions{fs: &faultFS{noSync: true}}})
	a, _ := o.Create("a")
	b, err := o.Create("b")
	if err != nil {
		t.Fatal(err)
	}
	var want [2]bytes.Buffer
	for i, size := range []int{1, memberBuffer - 1, memberBuffer, 3, 5 * memberBuffer, memberBuffer - 4, 0, 9} {
		p := noise(size)
		for j, m := range []*Member{a, b} {
			if n, err := m.Write(p[:size-min(i*j, size)]); err != nil || n != size-min(i*j, size) {
				t.Fatal(n, err)
			}
			want[j].Write(p[:size-min(i*j, size)])
		}
		clear(p) // Write has copied it
	}
	if err := errors.Join(a.Flush(), a.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("late")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	if a.Name() != filepath.Join(dest, "a") || a.Written() != int64(want[0].Len()) {
		t.Errorf("Name %s, Written %d of %d", a.Name(), a.Written(), want[0].Len())
	}
	before := descriptors()
	for i := range 1000 {
		m, err := o.Create(fmt.Sprintf("many/%d/%d", i%7, i))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(m, i)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := descriptors(); after > before+5 {
		t.Errorf("%d descriptors before a thousand members, %d after", before, after)
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	got := treeOf(t, dest)
	if got["a"] != want[0].String() || got["b"] != want[1].String() || got["many/0/994"] != "994" || len(got) != 1002 {
		t.Errorf("%d files, a has %d bytes, b %d", len(got), len(got["a"]), len(got["b"]))
	}
}

// descriptors returns how many files this process has open, 0 where that is not to be had.
func descriptors() int {
	fds, _ := os.ReadDir("/proc/self/fd")
	return len(fds)
}

func TestMemberNames(t *testing.T) {
	dir := t.TempDir()
	o := createOutputs(t, filepath.Join(dir, "out/"), OutputsOptions{Dir: true})
	for _, name := range []string{"a", "sub/b"} {
		if _, err := o.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{
		"": fs.ErrInvalid, ".": fs.ErrInvalid, "..": fs.ErrInvalid, "../x": fs.ErrInvalid, "x/../../y": fs.ErrInvalid, "/x": fs.ErrInvalid,
		"x/": fs.ErrInvalid, "x//y": fs.ErrInvalid, "x/./y": fs.ErrInvalid, "x\x00y": fs.ErrInvalid,
		"a": fs.ErrExist, "sub": fs.ErrExist, "a/b": fs.ErrExist, "a/b/c": fs.ErrExist, "sub/b": fs.ErrExist,
	} {
		if _, err := o.Create(name); !errors.Is(err, want) {
			t.Errorf("member %q: %v, want %v", name, err, want)
		}
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := treeOf(t, dir); !maps.Equal(got, map[string]string{"out/a": "", "out/sub/b": ""}) {
		t.Errorf("%q", got)
	}
}

func TestNoOutputs(t *testing.T) {
	o := NoOutputs(nil)
	if _, err := o.Create("x"); err == nil {
		t.Error("created a member of nothing")
	}
	if err := errors.Join(o.Flush(), o.Commit(), o.Abort(), o.Commit()); err != nil || o.Atomic() || o.IsDir() || o.Name() != "" {
		t.Errorf("%v, Atomic %v, IsDir %v, Name %q", err, o.Atomic(), o.IsDir(), o.Name())
	}
	o = NoOutputs(nil)
	o.Abort()
	if err := o.Commit(); !errors.Is(err, ErrAborted) {
		t.Errorf("commit after abort: %v", err)
	}
}

// Directories that must not be lost are rejected even with Force: the current directory, the home directory, their
// parents, roots.
func TestProtectedDirectories(t *testing.T) {
	dir := t.TempDir()
	home, cwd := filepath.Join(dir, "home", "me"), filepath.Join(dir, "work", "here")
	if err := errors.Join(os.MkdirAll(home, 0o755), os.MkdirAll(cwd, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(cwd)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, name := range []string{
		"/", "//", ".", "./", "..", "../", "../here", "../here/", "../../work", cwd, dir, filepath.Dir(dir), home, filepath.Dir(home), "x/..", "x/.",
	} {
		_, err := CreateOutputs(name, OutputsOptions{OutputOptions: OutputOptions{Force: true}, Dir: true})
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := produce("../other", map[string]string{"a": ""}, OutputOptions{}); err != nil {
		t.Error(err)
	}
}

// A signal comes while several goroutines write members: nothing is left, and every writer gets an error.
func TestAbortWhileMembersAreWritten(t *testing.T) {
	for i := range 20 {
		dir := t.TempDir()
		c := new(Cleaner)
		o := createOutputs(t, filepath.Join(dir, "out"), OutputsOptions{OutputOptions: OutputOptions{Cleaner: c}, Dir: true})
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for n := 0; ; n++ {
					m, err := o.Create(fmt.Sprintf("%d/%d", g, n))
					for k := 0; k < 5 && err == nil; k++ {
						_, err = m.Write(noise(30000))
					}
					if err == nil && n%2 == 0 {
						err = m.Close()
					}
					if err != nil {
						if !errors.Is(err, ErrAborted) {
							t.Errorf("writer: %v", err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(i) * 300 * time.Microsecond)
		if err := c.AbortAll(); err != nil {
			t.Error(err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 && runtime.GOOS != "windows" {
			t.Errorf("left: %v", entries)
		}
		wg.Wait()
		if err := o.Commit(); !errors.Is(err, ErrAborted) {
			t.Errorf("Commit: %v", err)
		}
	}
}

// Two runs write the same destination at once: without Force one wins, with Force the last; never a mixture.
func TestTwoWritersOfOneDirectory(t *testing.T) {
	for i := range 40 {
		force := i%2 == 1
		dir := t.TempDir()
		dest := filepath.Join(dir, "out")
		if force {
			writeTree(t, dest, map[string]string{"old": "tree"})
		}
		sets := []map[string]string{{"a": "1", "sub/b": "1"}, {"a": "2", "sub/b": "2", "c": "2"}}
		errs := make([]error, len(sets))
		opts := OutputOptions{Force: force}
		if i%4 == 3 {
			opts.fs = noExchangeFS{} // the directories swap in two steps
		}
		var wg sync.WaitGroup
		for k, files := range sets {
			wg.Go(func() { errs[k] = produce(dest, files, opts) })
		}
		wg.Wait()
		got := treeOf(t, dest)
		winner := slices.IndexFunc(sets, func(s map[string]string) bool { return maps.Equal(s, got) })
		if winner < 0 || errs[winner] != nil {
			t.Errorf("force %v: errors %v, the directory holds %v", force, errs, got)
		}
		if force && i%4 != 3 && errors.Join(errs...) != nil || !force && !errors.Is(errs[1-max(winner, 0)], fs.ErrExist) {
			t.Errorf("force %v: errors %v", force, errs)
		}
		if left := temps(t, dir); len(left) != 0 {
			t.Errorf("left %q", left)
		}
	}
}

// noExchangeFS is a system that cannot exchange two names.
type noExchangeFS struct{ osFS }

func (noExchangeFS) exchange(string, string) error { return errors.ErrUnsupported }
