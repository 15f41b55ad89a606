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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// treeOf returns the files below a directory with their content, and its empty subdirectories; nil if there is no
// directory.
func treeOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[name] = content(t, filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// writeTree makes a directory of files without the code under test.
func writeTree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

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
		if i%2 == 0 {
			if err := m.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// produceTree writes a set as a command does.
func produceTree(dest string, files map[string]string, opts OutputsOptions) (err error) {
	opts.Dir = true
	o, err := CreateOutputs(dest, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Abort()) }()
	if err := fill(o, files); err != nil {
		return err
	}
	return o.Commit()
}

func newFiles() map[string]string {
	return map[string]string{
		"a.nettrace": string(noise(200 << 10)), "b": "small", "sub/c": string(noise(70000)), "sub/deep/d": "", "z": "last",
	}
}

func TestDirectoryAppearsAtCommit(t *testing.T) {
	want := newFiles()
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	for _, c := range []struct {
		name string
		opts OutputsOptions
		old  map[string]string
	}{
		{dest + "/", OutputsOptions{}, nil},
		{dest, OutputsOptions{Dir: true}, nil},
		{dest, OutputsOptions{}, map[string]string{}},
		{dest + "//", OutputsOptions{OutputOptions: OutputOptions{Force: true}}, map[string]string{"old": "x", "sub/old": "y"}},
	} {
		os.RemoveAll(dest)
		if c.old != nil {
			writeTree(t, dest, c.old)
		}
		o := createOutputs(t, c.name, c.opts)
		if err := fill(o, want); err != nil {
			t.Fatal(err)
		}
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		size := int64(0)
		for _, text := range want {
			size += int64(len(text))
		}
		if !o.IsDir() || !o.Atomic() || o.Name() != c.name || o.Written() != size {
			t.Errorf("IsDir %v, Atomic %v, Name %s, Written %d of %d", o.IsDir(), o.Atomic(), o.Name(), o.Written(), size)
		}
		if got := o.Members(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("members %q", got)
		}
		if got := treeOf(t, dest); !maps.Equal(got, c.old) || len(temps(t, dir)) != 1 {
			t.Errorf("before Commit: %d files, temporary %q", len(got), temps(t, dir))
		}
		if err := errors.Join(o.Commit(), o.Commit(), o.Abort()); err != nil {
			t.Fatal(err)
		}
		if got := treeOf(t, dest); !maps.Equal(got, want) || len(temps(t, dir)) != 0 {
			t.Errorf("after Commit: %d files, temporary %q", len(got), temps(t, dir))
		}
		if _, err := o.Create("late"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Create after Commit: %v", err)
		}
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

func TestDirectoryIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	old := map[string]string{"precious": "data"}
	force := OutputOptions{Force: true}
	writeTree(t, dest, old)
	if _, err := CreateOutputs(dest, OutputsOptions{}); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), dest) {
		t.Errorf("existing directory: %v", err)
	}
	if _, err := CreateOutputs(dest, OutputsOptions{OutputOptions: force, File: true}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("one file over a directory: %v", err)
	}
	file := filepath.Join(dir, "file")
	os.WriteFile(file, []byte("text"), 0o600)
	for _, opts := range []OutputOptions{{}, force} {
		if _, err := CreateOutputs(file, OutputsOptions{OutputOptions: opts, Dir: true}); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("a directory over a file: %v", err)
		}
	}
	os.RemoveAll(dest)

	// What appears during the work is kept as well, a file even with Force.
	for _, appears := range []string{"tree", "file"} {
		for _, opts := range []OutputOptions{{}, force} {
			if appears == "tree" && opts.Force {
				continue
			}
			o := createOutputs(t, dest, OutputsOptions{OutputOptions: opts, Dir: true})
			if err := fill(o, newFiles()); err != nil {
				t.Fatal(err)
			}
			if appears == "tree" {
				writeTree(t, dest, old)
			} else {
				os.WriteFile(dest, []byte("precious"), 0o600)
			}
			err := o.Commit()
			if again := o.Commit(); err == nil || again != err {
				t.Errorf("a %s appeared: %v, again %v", appears, err, again)
			}
			if appears == "tree" && !(errors.Is(err, fs.ErrExist) && maps.Equal(treeOf(t, dest), old)) ||
				appears == "file" && !(errors.Is(err, syscall.ENOTDIR) && content(t, dest) == "precious") {
				t.Errorf("a %s appeared, force %v: %v", appears, opts.Force, err)
			}
			if left := temps(t, dir); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
			os.RemoveAll(dest)
		}
	}
}

// A set of one file is the Output of that name: same result, same errors.
func TestSingleFile(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	for _, closed := range []bool{false, true} {
		o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Force: true}})
		m, err := o.Create("")
		if err != nil {
			t.Fatal(err)
		}
		_, twice := o.Create("")
		_, other := o.Create("b")
		if !errors.Is(twice, fs.ErrExist) || other == nil {
			t.Errorf("a second member: %v, %v", twice, other)
		}
		data := noise(1 << 20)
		m.Write(data)
		if closed {
			if err := errors.Join(m.Close(), m.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if o.IsDir() || !o.Atomic() || m.Name() != dest || !slices.Equal(o.Members(), []string{""}) {
			t.Errorf("IsDir %v, Atomic %v, Name %s, members %q", o.IsDir(), o.Atomic(), m.Name(), o.Members())
		}
		if err := errors.Join(o.Commit(), o.Commit(), o.Abort()); err != nil {
			t.Fatal(err)
		}
		if content(t, dest) != string(data) || o.Written() != int64(len(data)) || len(temps(t, dir)) != 0 {
			t.Errorf("closed %v: %d bytes written, left %q", closed, o.Written(), temps(t, dir))
		}
		_, err = CreateOutputs(dest, OutputsOptions{})
		_, same := Create(dest, OutputOptions{})
		if err == nil || err.Error() != same.Error() {
			t.Errorf("%v, want %v", err, same)
		}
	}
	o := createOutputs(t, filepath.Join(dir, "none"), OutputsOptions{})
	if err := o.Commit(); err == nil || len(treeOf(t, dir)) != 1 {
		t.Errorf("commit without a member: %v, left %d files", err, len(treeOf(t, dir)))
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

func TestEmptyDirectory(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "out")
	if err := produceTree(dest, nil, OutputsOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := treeOf(t, dest); got == nil || len(got) != 0 {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"-", "/dev/stdout"} {
		if _, err := CreateOutputs(name, OutputsOptions{Dir: true}); err == nil {
			t.Errorf("standard output became a directory")
		}
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
	if err := produceTree("../other", map[string]string{"a": ""}, OutputsOptions{}); err != nil {
		t.Error(err)
	}
}

func TestStaleTreesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-61 * time.Minute)
	gone := map[string]bool{}
	make := func(name string, want, fresh bool) {
		path := filepath.Join(dir, name)
		writeTree(t, path, map[string]string{"a": "", "sub/b": ""})
		filepath.WalkDir(path, func(p string, _ fs.DirEntry, _ error) error { return os.Chtimes(p, old, old) })
		if fresh { // a member is being written; nothing else shows that
			os.Chtimes(filepath.Join(path, "sub", "b"), time.Now(), time.Now())
		}
		gone[name] = want
	}
	make(tempName("out", 1), true, false)
	make(tempName("out", 2), false, true)
	make(tempName("out2", 3), false, false)
	make(strings.TrimSuffix(tempName("out", 4), tempSuffix)+asideSuffix, false, false) // the only copy
	file := tempName("out", 5)
	os.WriteFile(filepath.Join(dir, file), nil, 0o600)
	os.Chtimes(filepath.Join(dir, file), old, old)
	gone[file] = true
	createOutputs(t, filepath.Join(dir, "out"), OutputsOptions{Dir: true})
	for name, want := range gone {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) != want {
			t.Errorf("%s: %v, gone wanted: %v", name, err, want)
		}
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

// At any moment of a commit an abort wins or has lost: the directory is the old one or the new one, and Commit says
// which.
func TestAbortDuringCommitOfDirectory(t *testing.T) {
	files, old := newFiles(), map[string]string{"old": "tree"}
	for i := range 25 {
		dir := t.TempDir()
		dest := filepath.Join(dir, "out")
		writeTree(t, dest, old)
		c := new(Cleaner)
		o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Cleaner: c, Force: true}})
		if err := fill(o, files); err != nil {
			t.Fatal(err)
		}
		aborted := make(chan error)
		go func() {
			time.Sleep(time.Duration(i*i*10) * time.Microsecond) // spread over the commit; any moment is right
			aborted <- c.AbortAll()
		}()
		err := o.Commit()
		if aerr := <-aborted; aerr != nil {
			t.Errorf("AbortAll: %v", aerr)
		}
		want := files
		if err != nil {
			want = old
			if !errors.Is(err, ErrAborted) {
				t.Errorf("Commit: %v", err)
			}
		}
		if got := treeOf(t, dest); !maps.Equal(got, want) || len(temps(t, dir)) != 0 {
			t.Errorf("Commit said %v, destination holds %d files, left %q", err, len(got), temps(t, dir))
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
		opts := OutputsOptions{OutputOptions: OutputOptions{Force: force}}
		if i%4 == 3 {
			opts.fs = noExchangeFS{} // the directories swap in two steps
		}
		var wg sync.WaitGroup
		for k, files := range sets {
			wg.Go(func() { errs[k] = produceTree(dest, files, opts) })
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
