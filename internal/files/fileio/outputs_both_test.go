package fileio

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// treeOf returns the files below a directory with their content; a file is its own member "". It returns nil if there is
// neither.
func treeOf(t testing.TB, name string) map[string]string {
	t.Helper()
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		return map[string]string{"": content(t, name)}
	}
	files := map[string]string{}
	err = fs.WalkDir(os.DirFS(name), ".", func(member string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[member] = content(t, filepath.Join(name, member))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sameTree also distinguishes an empty directory from none.
func sameTree(a, b map[string]string) bool { return maps.Equal(a, b) && (a == nil) == (b == nil) }

// writeTree makes a directory of files, or the file "", without the code under test. It does nothing for nil.
func writeTree(t testing.TB, name string, files map[string]string) {
	t.Helper()
	if text, ok := files[""]; ok {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if files == nil {
		return
	}
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	for member, text := range files {
		path := filepath.Join(name, member)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// needsDir reports whether a set of files needs a directory.
func needsDir(files map[string]string) bool {
	_, file := files[""]
	return !file
}

// produce writes a set as a command does.
func produce(dest string, files map[string]string, opts OutputOptions) (err error) {
	o, err := CreateOutputs(dest, OutputsOptions{OutputOptions: opts, Dir: needsDir(files), File: !needsDir(files)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Abort()) }()
	if err := fill(o, files); err != nil {
		return err
	}
	return o.Commit()
}

// The sets that tests write, and what they replace.
func newFile() map[string]string { return map[string]string{"": string(noise(1<<20 + 7))} }

var oldFile, oldTree = map[string]string{"": "old content"}, map[string]string{"old": "tree", "sub/x": "y"}

// both are a file and a directory.
func both() []struct{ old, files map[string]string } {
	return []struct{ old, files map[string]string }{{oldFile, newFile()}, {oldTree, newFiles()}}
}

func TestAppearsAtCommit(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	dest := filepath.Join(dir, "out.pb.gz")
	force := OutputOptions{Force: true}
	for _, c := range []struct {
		name       string
		opts       OutputsOptions
		old, files map[string]string
	}{
		{dest, OutputsOptions{}, nil, newFile()},
		{dest, OutputsOptions{OutputOptions: force}, oldFile, newFile()},
		{dest, OutputsOptions{OutputOptions: force}, oldFile, map[string]string{"": ""}},
		{dest + "/", OutputsOptions{}, nil, newFiles()},
		{dest, OutputsOptions{Dir: true}, nil, newFiles()},
		{dest, OutputsOptions{Dir: true}, nil, map[string]string{}},
		{dest, OutputsOptions{}, map[string]string{}, newFiles()},
		{dest + "//", OutputsOptions{OutputOptions: force}, oldTree, newFiles()},
	} {
		os.RemoveAll(dest)
		writeTree(t, dest, c.old)
		o := createOutputs(t, c.name, c.opts)
		if err := errors.Join(fill(o, c.files), o.Flush()); err != nil {
			t.Fatal(err)
		}
		size := int64(0)
		for _, text := range c.files {
			size += int64(len(text))
		}
		if o.IsDir() != needsDir(c.files) || !o.Atomic() || o.Name() != c.name || o.Written() != size {
			t.Errorf("IsDir %v, Atomic %v, Name %s, Written %d of %d", o.IsDir(), o.Atomic(), o.Name(), o.Written(), size)
		}
		if got := o.Members(); !slices.Equal(got, slices.Sorted(maps.Keys(c.files))) {
			t.Errorf("members %q", got)
		}
		if got, left := treeOf(t, dest), temps(t, dir); !sameTree(got, c.old) || len(left) != 1 || !strings.Contains(left[0], "out.pb.gz") {
			t.Errorf("before Commit: %d files, temporary %q", len(got), left)
		}
		if err := errors.Join(o.Commit(), o.Commit(), o.Abort()); err != nil {
			t.Fatal(err)
		}
		if got := treeOf(t, dest); !sameTree(got, c.files) || len(temps(t, dir)) != 0 {
			t.Errorf("after Commit: %d files, temporary %q", len(got), temps(t, dir))
		}
		if _, err := o.Create("late"); err == nil || o.IsDir() && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Create after Commit: %v", err)
		}
	}
	for _, name := range []string{"-", "/dev/stdout"} {
		if _, err := CreateOutputs(name, OutputsOptions{Dir: true}); err == nil {
			t.Errorf("standard output became a directory")
		}
	}
}

// A set of one file has one member, and nothing else may be written to it.
func TestSingleFile(t *testing.T) {
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	o := createOutputs(t, dest, OutputsOptions{})
	m, err := o.Create("")
	if err != nil {
		t.Fatal(err)
	}
	_, twice := o.Create("")
	_, other := o.Create("b")
	if !errors.Is(twice, fs.ErrExist) || other == nil || m.Name() != dest {
		t.Errorf("a second member of %s: %v, %v", m.Name(), twice, other)
	}
	m.Write([]byte("data"))
	if err := errors.Join(m.Close(), m.Close(), o.Commit()); err != nil || content(t, dest) != "data" || o.Written() != 4 {
		t.Errorf("%v; %d bytes written, %q", err, o.Written(), content(t, dest))
	}
	if _, err := m.Write([]byte("late")); err == nil {
		t.Error("Write after Commit succeeded")
	}
	o = createOutputs(t, filepath.Join(dir, "none"), OutputsOptions{})
	if err := o.Commit(); err == nil || len(treeOf(t, dir)) != 1 {
		t.Errorf("commit without a member: %v, left %d files", err, len(treeOf(t, dir)))
	}
}

func TestAbort(t *testing.T) {
	noLeaks(t)
	for _, c := range both() {
		dir := t.TempDir()
		dest := filepath.Join(dir, "out")
		writeTree(t, dest, c.old)
		o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Force: true}})
		m, err := o.Create(slices.Min(slices.Collect(maps.Keys(c.files))))
		if err != nil {
			t.Fatal(err)
		}
		m.Write(noise(5 << 20))
		if err := errors.Join(o.Abort(), o.Abort()); err != nil {
			t.Fatal(err)
		}
		if got := temps(t, dir); !sameTree(treeOf(t, dest), c.old) || len(got) != 0 {
			t.Errorf("after Abort: %q, %q", treeOf(t, dest), got)
		}
		_, write := m.Write([]byte("late"))
		for _, err := range []error{o.Commit(), o.Commit(), write} {
			if !errors.Is(err, ErrAborted) {
				t.Errorf("after Abort: %v", err)
			}
		}
	}
}

// Without Force an existing destination is refused before any work. One that appears during the work is not overwritten
// either, and with Force only by a set of its kind.
func TestDoesNotOverwrite(t *testing.T) {
	force := OutputOptions{Force: true}
	dir := t.TempDir()
	dest := filepath.Join(dir, "out")
	for _, c := range []struct {
		old, files   map[string]string
		opts         OutputOptions
		first, later error // of the creation, and of the commit if the destination appears during the work
	}{
		{oldFile, newFile(), OutputOptions{}, fs.ErrExist, fs.ErrExist},
		{oldTree, newFiles(), OutputOptions{}, fs.ErrExist, fs.ErrExist},
		{oldTree, newFile(), force, syscall.EISDIR, fs.ErrExist},
		{oldFile, newFiles(), OutputOptions{}, syscall.ENOTDIR, syscall.ENOTDIR},
		{oldFile, newFiles(), force, syscall.ENOTDIR, syscall.ENOTDIR},
	} {
		opts := OutputsOptions{OutputOptions: c.opts, Dir: needsDir(c.files), File: !needsDir(c.files)}
		writeTree(t, dest, c.old)
		if _, err := CreateOutputs(dest, opts); !errors.Is(err, c.first) || !strings.Contains(err.Error(), dest) {
			t.Errorf("%v existed: %v, want %v", c.old, err, c.first)
		}
		os.RemoveAll(dest)
		o := createOutputs(t, dest, opts)
		if err := fill(o, c.files); err != nil {
			t.Fatal(err)
		}
		writeTree(t, dest, c.old)
		err := o.Commit()
		if again := o.Commit(); !errors.Is(err, c.later) || again != err {
			t.Errorf("%v appeared: %v, again %v, want %v", c.old, err, again, c.later)
		}
		if left := temps(t, dir); !sameTree(treeOf(t, dest), c.old) || len(left) != 0 {
			t.Errorf("%v appeared: %v, left: %q", c.old, treeOf(t, dest), left)
		}
		os.RemoveAll(dest)
	}
}

// An hour later the temporary files and directories of a killed run are removed, and nothing else.
func TestStaleTempsAreRemoved(t *testing.T) {
	now := time.Now()
	old, recent := now.Add(-61*time.Minute), now.Add(-50*time.Minute)
	tree := map[string]string{"a": "", "sub/b": ""}
	aside := strings.TrimSuffix(tempName("out", 7), tempSuffix) + asideSuffix // the only copy
	for _, asDir := range []bool{false, true} {
		dir := t.TempDir()
		for _, f := range []struct {
			name  string
			files map[string]string
			when  time.Time
		}{
			{tempName("out", 1), oldFile, old}, {tempName("out", 2), oldFile, recent}, {tempName("out2", 3), oldFile, old},
			{".ntconv-out.tmp", oldFile, old}, {"out.tmp", oldFile, old}, {aside, tree, old}, {tempName("out2", 8), tree, old},
			{tempName("out", 4), tree, old}, {tempName("out", 5), tree, recent},
		} {
			path := filepath.Join(dir, f.name)
			writeTree(t, path, f.files)
			err := filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Chtimes(p, old, old)) })
			if needsDir(f.files) { // a member is being written; nothing else shows that
				path = filepath.Join(path, "sub", "b")
			}
			if err := errors.Join(err, os.Chtimes(path, f.when, f.when)); err != nil {
				t.Fatal(err)
			}
		}
		createOutputs(t, filepath.Join(dir, "out"), OutputsOptions{Dir: asDir})
		for n := range uint64(5) {
			_, err := os.Lstat(filepath.Join(dir, tempName("out", n+1)))
			gone := errors.Is(err, fs.ErrNotExist)
			if want := n == 0 || n == 3 && asDir; n != 2 && gone != want {
				t.Errorf("directory %v: %d gone: %v", asDir, n+1, gone)
			}
		}
		for _, name := range []string{tempName("out2", 3), ".ntconv-out.tmp", "out.tmp", aside, tempName("out2", 8)} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				t.Errorf("directory %v: %v", asDir, err)
			}
		}
	}
}

// A signal comes at any moment of a commit: the destination is the old one or the new one, never a part, and Commit says
// which.
func TestAbortDuringCommit(t *testing.T) {
	noLeaks(t)
	for _, c := range both() {
		for i := range 25 {
			dir := t.TempDir()
			dest := filepath.Join(dir, "out")
			writeTree(t, dest, c.old)
			cleaner := new(Cleaner)
			o := createOutputs(t, dest, OutputsOptions{OutputOptions: OutputOptions{Cleaner: cleaner, Force: true}})
			if err := fill(o, c.files); err != nil {
				t.Fatal(err)
			}
			aborted := make(chan error)
			go func() {
				time.Sleep(time.Duration(i*i*10) * time.Microsecond) // spread over the commit; any moment is right
				aborted <- cleaner.AbortAll()
			}()
			err := o.Commit()
			if aerr := <-aborted; aerr != nil {
				t.Errorf("AbortAll: %v", aerr)
			}
			want := c.files
			if err != nil {
				want = c.old
				if !errors.Is(err, ErrAborted) {
					t.Errorf("Commit: %v", err)
				}
			}
			if got := treeOf(t, dest); !maps.Equal(got, want) || len(temps(t, dir)) != 0 {
				t.Errorf("Commit said %v, destination holds %d files, left %q", err, len(got), temps(t, dir))
			}
		}
	}
}
