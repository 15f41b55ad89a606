package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// A tree is a directory of outputs that appears as a whole. Its members are written to temp, a directory next to the
// destination, which Commit renames. The states and locks are those of an [Output]; in addition, sealed rejects new
// members from the beginning of Commit, which runs without mu while it closes and syncs members.
type tree struct {
	name    string      // as the user wrote it
	path    string      // the destination, without trailing separators
	temp    string      // the directory for the members
	lease   *lease      // lease of temp
	old     string      // the directory that was replaced, as long as it exists
	mode    fs.FileMode // mode of the directory to replace, with fs.ModeDir; 0 if there is none
	force   bool
	fs      fileSystem
	cleaner *Cleaner
	count   atomic.Int64 // bytes written
	aborted atomic.Bool  // state is stateAborted

	mu      sync.Mutex // guards the following fields and the existence of temp
	state   outputState
	sealed  bool // Commit has begun
	renamed bool // temp has been renamed or belongs to the user; do not remove it
	open    map[*treeFile]struct{}
	dirs    []string          // subdirectories, parents first
	names   map[string]isName // members and subdirectories by path
	broken  error             // error of the first member that failed to close
	err     error             // result of the commit that ended in stateFailed
}

// An isName is the kind of an entry of a tree.
type isName uint8

const (
	isFile isName = iota + 1
	isDir
)

// createTree checks the destination and creates the temporary directory.
func createTree(name string, opts OutputOptions) (*tree, error) {
	t := &tree{
		name: name, force: opts.Force, fs: opts.fs, cleaner: opts.Cleaner,
		open: make(map[*treeFile]struct{}), names: make(map[string]isName),
	}
	if err := CheckAddress(name); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	removeStale(t.fs, t.path, t.removeTree)
	if err := t.cleaner.Add(t, t.createTemp); err != nil {
		return nil, err
	}
	return t, nil
}

// createTemp creates the temporary directory. It has the permissions of the directory that it replaces from the start,
// so that private data is never readable by others, and in addition is writable for its owner.
func (t *tree) createTemp() error {
	dir, base := filepath.Split(t.path)
	perm := fs.FileMode(0o777)
	if t.mode != 0 {
		perm = t.mode.Perm() | 0o700
	}
	for range 100 {
		temp := filepath.Join(dir, tempName(base, rand.Uint64()))
		err := t.fs.mkdir(temp, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			t.temp, t.lease = temp, hold(t.fs, temp)
		}
		return err
	}
	return errors.New("no free name for a temporary directory")
}

// create implements target.
func (t *tree) create(member string) (*Member, error) {
	fail := func(err error) (*Member, error) {
		return nil, &Error{Name: t.name, Op: "create member " + member, Bytes: -1, Err: err}
	}
	local, err := filepath.Localize(member)
	if err != nil || member == "." {
		return fail(fmt.Errorf("not a relative path with slashes inside the directory: %w", fs.ErrInvalid))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.state == stateAborted:
		return fail(ErrAborted)
	case t.sealed:
		return fail(fs.ErrClosed)
	}
	switch t.names[member] {
	case isFile:
		return fail(errTwice)
	case isDir:
		return fail(fmt.Errorf("a subdirectory has this name: %w", fs.ErrExist))
	}
	if err := t.makeDirs(path.Dir(member)); err != nil {
		return fail(err)
	}
	f, err := t.fs.open(filepath.Join(t.temp, local), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fail(err)
	}
	t.names[member] = isFile
	m := &treeFile{t: t, name: filepath.Join(t.path, local), f: f}
	t.open[m] = struct{}{}
	return &Member{name: m.name, to: m}, nil
}

// makeDirs creates a subdirectory and its parents.
func (t *tree) makeDirs(dir string) error {
	if dir == "." || t.names[dir] == isDir {
		return nil
	}
	if t.names[dir] == isFile {
		return fmt.Errorf("%s is a file and not a directory: %w", dir, fs.ErrExist)
	}
	if err := t.makeDirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := t.fs.mkdir(t.local(dir), 0o777); err != nil {
		return err
	}
	t.names[dir] = isDir
	t.dirs = append(t.dirs, dir)
	return nil
}

// local returns the path of a subdirectory below temp.
func (t *tree) local(dir string) string { return filepath.Join(t.temp, filepath.FromSlash(dir)) }

// closed is called by a member after it has closed its file, with the result.
func (t *tree) closed(m *treeFile, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, m)
	if t.broken == nil {
		t.broken = err
	}
}

func (t *tree) written() int64 { return t.count.Load() }

// flush implements target.
func (t *tree) flush() error {
	var errs []error
	for _, m := range t.stillOpen() {
		errs = append(errs, m.Flush())
	}
	return errors.Join(errs...)
}

func (t *tree) stillOpen() []*treeFile {
	t.mu.Lock()
	defer t.mu.Unlock()
	files := make([]*treeFile, 0, len(t.open))
	for m := range t.open {
		files = append(files, m)
	}
	return files
}

func (t *tree) located(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Name: t.name, Op: op, Bytes: t.count.Load(), Err: err}
}

// commit implements target. It is [Output.Commit] for a directory.
func (t *tree) commit() error {
	t.mu.Lock()
	state, err := t.state, t.err
	t.sealed = true
	t.mu.Unlock()
	if state == stateAborted {
		return t.located("commit", ErrAborted)
	}
	if state != stateOpen {
		return err
	}
	// Not under mu, because Abort must not wait for the disk.
	err = t.complete()

	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == stateAborted {
		return t.located("commit", ErrAborted)
	}
	if err == nil {
		err = t.publish()
	}
	t.state = stateCommitted
	if err != nil {
		t.state, t.err = stateFailed, errors.Join(err, t.discard())
		err = t.err
	}
	t.lease.end()
	t.cleaner.Remove(t)
	return err
}

// complete closes all members and syncs their directories.
func (t *tree) complete() error {
	for _, m := range t.stillOpen() {
		m.close()
	}
	t.mu.Lock()
	err := t.broken
	t.mu.Unlock()
	if err != nil {
		return err
	}
	for i := len(t.dirs) - 1; i >= 0; i-- {
		if err := t.fs.syncDir(t.local(t.dirs[i])); err != nil {
			return t.located("sync directory", err)
		}
	}
	if t.mode != 0 {
		// Only after the last member, because the mode may forbid writing.
		if err := t.fs.chmod(t.temp, t.mode); err != nil {
			return t.located("set permissions", err)
		}
	}
	return t.located("sync directory", t.fs.syncDir(t.temp))
}

// Abort implements Aborter.
func (t *tree) Abort() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != stateOpen {
		return nil
	}
	t.state = stateAborted
	t.aborted.Store(true)
	err := t.discard()
	t.lease.end()
	t.cleaner.Remove(t)
	return err
}

// discard closes the members and removes the temporary directory. It waits for writes in progress, because Windows
// cannot remove an open file, but not for a sync. The caller holds mu.
func (t *tree) discard() error {
	for m := range t.open {
		m.f.Close() // the content is discarded
	}
	for m := range t.open {
		m.wait()
	}
	if t.renamed {
		return nil
	}
	if err := t.removeTree(t.temp); err != nil {
		return &Error{Name: t.name, Op: "remove temporary directory " + t.temp, Bytes: -1, Err: err}
	}
	return nil
}
